"""Settings: the rows of the settings tables as pages of switches, lists and sliders.

This module has the frame: the home page, search, and how a sub-page is declared; the pages are in
`network`, `device` and `installed_apps`. Holds no truth of its own. Invariant: what a switch shows
is what `settings get` prints.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict, Unpack

from virtual_phone.app import App, AppIcon, NoState, Page, no_state
from virtual_phone.ui import patterns
from virtual_phone.ui.bind import walk
from virtual_phone.ui.views import MATCH, TextStyle, View
from virtual_phone.ui.vocabulary import column, icon, recycler, row, slider, switch, text

settings = App(
    package="com.android.settings",
    label="Settings",
    icon=AppIcon("settings", "#7C8696", "#525C6B"),
    state=NoState,
    seed=no_state,
)

Build = Callable[[Page[NoState]], list[View]]


@dataclass(frozen=True, slots=True)
class SubPage:
    """A page below the home page: its title, what it shows, and the row that leads to it."""

    name: str
    title: str
    build: Build
    icon: str = ""
    color: str = ""
    summary: str = ""
    parent: str = ""


class Place(TypedDict, total=False):
    """Where a sub-page is found: its row, and the activity and intents that lead to it."""

    activity: str
    actions: tuple[str, ...]
    icon: str
    color: str
    summary: str
    parent: str


SUB_PAGES: dict[str, SubPage] = {}


def sub_page(name: str, title: str, **place: Unpack[Place]) -> Callable[[Build], Build]:
    """Register a function as a sub-page."""
    activity, actions = place.get("activity", ""), place.get("actions", ())
    icon, color = place.get("icon", ""), place.get("color", "")
    summary, parent = place.get("summary", ""), place.get("parent", "home")

    def register(build: Build) -> Build:
        SUB_PAGES[name] = SubPage(name, title, build, icon, color, summary, parent)

        def show(page: Page[NoState]) -> View:
            return _frame(page, SUB_PAGES[name])

        if activity:
            settings.page(activity, actions=actions)(show)
        return build

    return register


def open_sub(page: Page[NoState], name: str) -> Callable[[], None]:
    return page.opener(".SubSettings", page=name)


@settings.page(".SubSettings")
def sub_settings(page: Page[NoState]) -> View:
    """Show the sub-page that the arguments name."""
    return _frame(page, SUB_PAGES[page.args.get("page", "about")])


def _frame(page: Page[NoState], sub: SubPage) -> View:
    rows = sub.build(page)
    return patterns.screen(
        patterns.title_bar("", back=page.close),
        recycler(
            "recycler_view",
            patterns.large_title(sub.title),
            *rows,
            pad=(0, 0, 0, 40),
            id="recycler_view",
        ),
    )


class FlagLook(TypedDict, total=False):
    """How a switch row looks, which values are off and on, and what switches it instead."""

    summary: str
    icon_name: str
    off: str
    on: str
    enabled: bool
    switch: Callable[[bool], None]


def flag_row(
    page: Page[NoState], title: str, namespace: str, key: str, **look: Unpack[FlagLook]
) -> View:
    """Draw a switch row that shows and sets one row of the settings tables, or by `switch`."""
    off, on = look.get("off", "0"), look.get("on", "1")
    is_on = (page.settings.get(namespace, key) or off) not in (off, "")

    def toggle() -> None:
        if "switch" in look:
            look["switch"](not is_on)
        else:
            page.settings.put(namespace, key, off if is_on else on)

    return patterns.preference(
        title,
        summary=look.get("summary", ""),
        icon_name=look.get("icon_name", ""),
        on_click=toggle,
        on=is_on,
        enabled=look.get("enabled", True),
        key=f"row {title}",
    )


def main_switch(page: Page[NoState], title: str, namespace: str, key: str) -> View:
    """Draw the large switch at the top of a page."""
    is_on = page.settings.flag(namespace, key)
    return row(
        text(
            title,
            TextStyle(19, 500, "on_accent_soft" if is_on else "text"),
            weight=1,
            id="switch_text",
        ),
        switch(is_on, clickable=False, id="android:id/switch_widget"),
        on_click=lambda: page.settings.set_flag(namespace, key, not is_on),
        id="main_switch_bar",
        fill="accent_soft" if is_on else "surface2",
        radius=30,
        width=MATCH,
        height=74,
        pad=(22, 0, 18, 0),
        margin=(16, 0, 16, 18),
        key=f"main {key}",
    )


def slider_row(
    page: Page[NoState], title: str, drawing: str, namespace: str, key: str, top: int
) -> View:
    """Draw a labelled slider over a whole-number row of the settings tables."""
    value = page.settings.number(namespace, key, 0) / top

    def change(part: float) -> None:
        page.settings.put(namespace, key, str(round(part * top)))

    return row(
        icon(drawing, 22, "text2", id="android:id/icon"),
        column(
            text(title, TextStyle(16, 400), id="android:id/title"),
            slider(value, change, id="android:id/seekbar", desc=title),
            weight=1,
        ),
        width=MATCH,
        pad=(18, 12, 22, 6),
        gap=18,
        fill="surface",
        key=f"row {title}",
    )


def choice_row(
    page: Page[NoState],
    title: str,
    options: list[tuple[str, str]],
    namespace: str,
    key: str,
    default: str = "",
) -> View:
    """Draw a row whose value is chosen from a list in a dialog."""
    value = page.settings.get(namespace, key) or default
    label = next((text for v, text in options if v == value), value)

    def choose(chosen: str) -> None:
        page.set("choice", "")
        page.settings.put(namespace, key, chosen)

    if page.local("choice") == key:
        close = page.setter("choice", "")
        page.show_dialog(patterns.choices(title, options, value, choose, close), close)
    return patterns.preference(
        title, summary=label, on_click=page.setter("choice", key), key=f"row {title}"
    )


def link_row(page: Page[NoState], name: str, summary: str | None = None) -> View:
    """Draw the row that opens a sub-page."""
    sub = SUB_PAGES[name]
    return patterns.preference(
        sub.title,
        summary=sub.summary if summary is None else summary,
        icon_name=sub.icon,
        icon_fill=sub.color,
        on_click=open_sub(page, name),
        key=f"row {sub.title}",
    )


HOME_GROUPS = (
    ("network", "devices"),
    ("apps", "notifications"),
    ("battery", "storage", "sound", "display", "wallpaper"),
    ("accessibility", "security", "location", "accounts"),
    ("system", "about"),
)


@settings.page(".Settings", launcher=True, actions=["android.settings.SETTINGS"])
def home(page: Page[NoState]) -> View:
    """Show the top page: the search box and the groups of sub-pages."""
    return patterns.screen(
        recycler(
            "recycler_view",
            text(
                "Settings",
                TextStyle(34, 400),
                pad=(24, 28, 24, 14),
                width=MATCH,
                id="homepage_title",
            ),
            row(
                icon("search", 24, "text2"),
                text(
                    "Search settings",
                    TextStyle(17, 400, "text2"),
                    weight=1,
                    id="search_action_bar_title",
                ),
                on_click=page.opener(".SearchActivity"),
                id="search_action_bar",
                width=MATCH,
                height=56,
                radius=28,
                fill="surface2",
                margin=(16, 0, 16, 18),
                pad=(18, 0, 18, 0),
                gap=14,
                cls="android.view.ViewGroup",
                desc="",
            ),
            *(patterns.group(*(link_row(page, n) for n in names)) for names in HOME_GROUPS),
            pad=(0, 0, 0, 40),
            id="recycler_view",
        )
    )


def _index(page: Page[NoState]) -> list[tuple[str, SubPage]]:
    """Return the title of every row of every sub-page, with the page it stands on."""
    found: list[tuple[str, SubPage]] = []
    for sub in SUB_PAGES.values():
        found.append((sub.title, sub))
        scratch = Page(page.host, settings, type(page.state)(page.state.activity), page.data)
        for part in sub.build(scratch):
            for view in walk(part):
                if view.id == "android:id/title" and view.text and view.style.size >= 16:
                    found.append((view.text, sub))
    return list(dict.fromkeys(found))


@settings.page(".SearchActivity", actions=["android.settings.APP_SEARCH_SETTINGS"])
def search(page: Page[NoState]) -> View:
    """Find a row by its title, wherever it is."""
    if not page.local("opened"):
        page.set("opened")
        page.host.focus.field(page.state, "query")
    wanted = page.field("query").strip().lower()
    hits = [(t, s) for t, s in _index(page) if wanted and wanted in t.lower()]
    hits.sort(key=lambda h: (not h[0].lower().startswith(wanted), h[0].lower()))

    def hit(title: str, sub: SubPage) -> View:
        return row(
            icon(sub.icon or "settings", 22, "text2"),
            column(
                text(title, TextStyle(17, 400), id="android:id/title"),
                text(_path(sub, title), TextStyle(14, 400, "text2"), id="android:id/summary"),
                weight=1,
                gap=2,
            ),
            on_click=open_sub(page, sub.name),
            width=MATCH,
            min_height=66,
            pad=(22, 10, 18, 10),
            gap=18,
            key=f"hit {sub.name} {title}",
        )

    listing = patterns.list_page("results_list", *(hit(*h) for h in hits[:40]))
    if wanted and not hits:
        listing = patterns.empty(
            "search", "No results", f"Nothing matches “{page.field('query')[:40]}”."
        )
    return patterns.screen(
        patterns.search_field(
            "query",
            "Search settings",
            back=page.close,
            clear=(lambda: page.set_field("query", "")) if wanted else None,
        ),
        listing,
    )


def _path(sub: SubPage, title: str) -> str:
    parent = SUB_PAGES.get(sub.parent)
    parts = [parent.title] if parent is not None else ["Settings"]
    if title != sub.title:
        parts.append(sub.title)
    return " > ".join(parts)


from virtual_phone.apps.settings import device, installed_apps, network  # noqa: E402

__all__ = ["device", "installed_apps", "network", "settings"]
