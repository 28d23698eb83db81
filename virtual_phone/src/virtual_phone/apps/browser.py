"""Browser: a few pages that are always there, history, bookmarks and finding among them.

Nothing is fetched: an address that is not here gives the page of a phone that is offline.
Invariant: Back goes through the tab's own history before it leaves.
"""

from collections.abc import Callable
from urllib.parse import quote, unquote

import msgspec

from virtual_phone.app import App, AppIcon, Page, Seed
from virtual_phone.ui import vocabulary as ui
from virtual_phone.ui.patterns import empty, list_page, menu, progress, screen, title_bar
from virtual_phone.ui.views import MATCH, Align, TextStyle, View


class Browser(msgspec.Struct):
    """The app's state: one tab's addresses, the newest last, and the bookmarks."""

    tab: list[str] = []
    history: list[str] = []
    bookmarks: list[str] = []


def seed(_seed: Seed) -> Browser:
    """Return a browser on its start page."""
    return Browser(["home"], [], ["harbourtimes.example", "recipes.example/pancakes"])


browser = App(
    package="com.android.browser",
    label="Browser",
    icon=AppIcon("browser", "#39A0ED", "#1B6FC0"),
    state=Browser,
    seed=seed,
    version_name="127.0",
    version_code=1270,
)

# An address, the page's title, and its blocks: "# " a heading, "> text | address" a link,
# "- " a list item, "~ " a line that a canvas draws and "~> text | address" a button there,
# everything else a paragraph. What a canvas draws is in no tree.
SITES: dict[str, tuple[str, str]] = {
    "harbourtimes.example": (
        "The Harbour Times",
        """# Ferry timetable changes from Monday
The early boat leaves at 06:10 instead of 06:25. Tickets stay at 4.20.
> Read the full timetable | harbourtimes.example/ferry
# Library opens its rooftop garden
Readers can take books up to the terrace until sunset.
> More about the library | harbourtimes.example/library
# Weather
Mild, 21 degrees, a light wind from the west.""",
    ),
    "harbourtimes.example/ferry": (
        "Ferry timetable",
        """# Ferry timetable
- 06:10 Harbour to Island
- 09:40 Harbour to Island
- 13:15 Harbour to Island
- 18:50 Harbour to Island, the last boat
> Back to the front page | harbourtimes.example""",
    ),
    "harbourtimes.example/library": (
        "Rooftop garden",
        """# Library opens its rooftop garden
The garden is open from 10:00 to sunset, on dry days only.
> Back to the front page | harbourtimes.example""",
    ),
    "recipes.example/pancakes": (
        "Pancakes",
        """# Pancakes for four
- 250 g flour
- 500 ml milk
- 3 eggs
- a pinch of salt
Whisk, rest for 20 minutes, bake in butter.
> Apple cake | recipes.example/apple-cake""",
    ),
    "recipes.example/apple-cake": (
        "Apple cake",
        """# Apple cake
- 4 apples
- 200 g flour
- 150 g sugar
- 2 eggs
Bake for 45 minutes at 180 degrees.""",
    ),
    "wiki.example/android": (
        "Android",
        """# Android
Android is an operating system for phones, tablets and other devices.
> Operating system | wiki.example/operating-system""",
    ),
    "wiki.example/operating-system": (
        "Operating system",
        """# Operating system
Software that manages a computer's hardware and runs other programs.
> Android | wiki.example/android""",
    ),
    "tides.example": (
        "Tide tables",
        """~ TIDE TABLE
~ Today
~ High water at 14:20
~> TOMORROW | tides.example/tomorrow""",
    ),
    "tides.example/tomorrow": (
        "Tide tables",
        """~ TIDE TABLE
~ Tomorrow
~ High water at 15:05
~> TODAY | tides.example""",
    ),
}


LOAD_S = 0.4


def address_of(typed: str) -> str:
    """Return what was typed as an address; words become a search."""
    address = typed.strip().removeprefix("https://").removeprefix("http://")
    address = address.removeprefix("www.").rstrip("/")
    if address in SITES or address == "home":
        return address
    if "." in address and " " not in address:
        return address
    return f"search/{quote(typed.strip())}"


@browser.page(
    ".BrowserActivity",
    launcher=True,
    actions=[
        "android.intent.action.VIEW http",
        "android.intent.action.VIEW https",
        "android.intent.action.WEB_SEARCH",
    ],
)
def browse(page: Page[Browser]) -> View:
    """Show the page of the tab's newest address."""
    data = page.data
    given = page.args.get("data") or page.args.get("query", "")
    if given and page.local("given") != given:
        page.set("given", given)
        visit(page, given)
    here = data.tab[-1] if data.tab else "home"

    def back() -> bool:
        if len(data.tab) < 2:
            return False
        data.tab.pop()
        _show_address(page)
        return True

    page.on_back = back
    marked = here in data.bookmarks

    def mark() -> None:
        page.set("menu", "")
        if marked:
            data.bookmarks.remove(here)
        else:
            data.bookmarks.append(here)
            page.toast("Bookmark added")

    if page.local("menu"):
        page.show_dialog(
            menu(
                ("Home", lambda: _go(page, "home")),
                ("Remove bookmark" if marked else "Add bookmark", mark),
                ("History", lambda: _go(page, "history")),
                ("Find in page", lambda: page.toast("Use the page's own words")),
            ),
            page.setter("menu", ""),
        )
    return screen(
        ui.row(
            ui.icon_button("home", "Home", lambda: _go(page, "home")),
            ui.field(
                "url",
                value=_shown(here),
                hint="Search or type web address",
                weight=1,
                height=48,
                fill="surface2",
                radius=24,
                pad=ui.edges(18, 0),
                id="url_bar",
                on_submit=lambda typed: visit(page, typed),
            ),
            ui.icon_button(
                "bookmark", "Bookmark this page", mark, tint="accent" if marked else "text2"
            ),
            ui.icon_button("more", "More options", page.setter("menu"), id="menu_button"),
            width=MATCH,
            height=64,
            pad=ui.edges(6, 0),
            gap=2,
            id="toolbar",
        ),
        _content(page, here),
    )


def _shown(address: str) -> str:
    if address in ("home", "history"):
        return ""
    if address.startswith("search/"):
        return unquote(address.removeprefix("search/"))
    return address


def _show_address(page: Page[Browser]) -> None:
    page.set_field("url", _shown(page.data.tab[-1]))
    page.state.scroll.pop("web", None)


def visit(page: Page[Browser], typed: str) -> None:
    """Go to what was typed in the address bar."""
    if typed.strip():
        _go(page, address_of(typed))


def _go(page: Page[Browser], address: str) -> None:
    page.set("menu", "")
    page.data.tab.append(address)
    del page.data.tab[:-50]
    if address not in ("home", "history"):
        page.data.history.append(address)
        page.load(LOAD_S)
    page.state.focus = ""
    page.host.focus.hide_keyboard()
    _show_address(page)


def _content(page: Page[Browser], address: str) -> View:
    if address == "home":
        return _list(page, "Bookmarks", page.data.bookmarks, start=True)
    if address == "history":
        return _list(page, "History", list(reversed(page.data.history)))
    if address.startswith("search/"):
        words = unquote(address.removeprefix("search/")).lower().split()
        hits = [
            a
            for a, (title, body) in SITES.items()
            if all(w in f"{title} {body}".lower() for w in words)
        ]
        return _list(page, f"{len(hits)} results", hits)
    if page.loading:
        return ui.column(
            progress(),
            ui.scroll("web", fill="surface", cls="android.webkit.WebView", height=MATCH),
            width=MATCH,
            weight=1,
        )
    site = SITES.get(address)
    if site is None:
        return ui.column(
            empty("cloud", "You're offline", f"{address[:80]} is not on this phone."),
            ui.button(
                "Try again",
                lambda: page.toast("Still offline"),
                look="tonal",
                halign=Align.CENTER,
                margin=(0, 0, 0, 60),
            ),
            weight=1,
        )
    blocks = [_block(page, line) for line in site[1].splitlines() if line.strip()]
    return ui.scroll(
        "web",
        *blocks,
        ui.space(60),
        gap=12,
        pad=ui.edges(22, 14),
        fill="surface",
        cls="android.webkit.WebView",
        desc=site[0],
    )


def _block(page: Page[Browser], line: str) -> View:
    if line.startswith("~> "):
        words, _, address = line[3:].partition(" | ")
        face = ui.text(words, TextStyle(20, 600, "on_accent"), hidden_from_tree=True)
        face.halign = face.valign = Align.CENTER
        return ui.stack(
            face,
            on_click=_opener(page, address),
            width=220,
            height=60,
            radius=10,
            fill="accent",
            hidden_from_tree=True,
            key=f"canvas {address}",
        )
    if line.startswith("~ "):
        return ui.text(line[2:], TextStyle(24, 500), pad=ui.edges(0, 8), hidden_from_tree=True)
    if line.startswith("# "):
        return ui.text(line[2:], TextStyle(25, 600), pad=(0, 10, 0, 0))
    if line.startswith("> "):
        words, _, address = line[2:].partition(" | ")
        return ui.text(
            words,
            TextStyle(17, 500, "link"),
            on_click=_opener(page, address),
            cls="android.view.View",
            pad=ui.edges(0, 6),
        )
    if line.startswith("- "):
        return ui.row(
            ui.text("•", ui.BODY_LARGE),
            ui.text(line[2:], TextStyle(17, 400), weight=1),
            width=MATCH,
            gap=12,
            pad=(6, 0, 0, 0),
            cls="android.view.View",
        )
    return ui.text(line, TextStyle(17, 400, line_height=1.5))


def _opener(page: Page[Browser], address: str) -> Callable[[], None]:
    return lambda: _go(page, address)


def _list(page: Page[Browser], title: str, addresses: list[str], *, start: bool = False) -> View:
    def item(i: int, address: str) -> View:
        site = SITES.get(address)
        return ui.row(
            ui.icon("globe", 24, "text2"),
            ui.column(
                ui.text(site[0] if site else _shown(address), TextStyle(17, 400, max_lines=1)),
                ui.text(address, ui.CAPTION),
                weight=1,
                gap=2,
            ),
            on_click=_opener(page, address),
            width=MATCH,
            gap=18,
            pad=ui.edges(24, 11),
            key=f"site {i} {address}",
        )

    top: ui.Child = None
    if start:
        top = ui.text("Where to?", TextStyle(32, 500), pad=(24, 40, 24, 24))
    return list_page(
        "web",
        top,
        ui.text(title, TextStyle(15, 500, "accent"), pad=ui.edges(24, 10)),
        *(item(i, a) for i, a in enumerate(addresses)),
    )


__all__ = ["browser", "title_bar"]
