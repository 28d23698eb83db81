"""The launcher: home screen, app drawer and recent apps.

An app like the others, drawn over the wallpaper. Invariant: an icon starts the package it names.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from virtual_phone.app import App, AppIcon, Host, NoState, Page, no_state
from virtual_phone.ui import vocabulary as ui
from virtual_phone.ui.canvas import Canvas
from virtual_phone.ui.patterns import search_field
from virtual_phone.ui.views import MATCH, Align, Rect, TextStyle, View
from virtual_phone.ui.vocabulary import icon, stack, text

launcher = App(
    package="com.android.launcher3",
    label="Launcher",
    icon=AppIcon("home", "#5566AA", "#223377"),
    state=NoState,
    seed=no_state,
    hidden=True,
)

DOCK = (
    "com.android.dialer",
    "com.android.messaging",
    "com.android.browser",
    "com.android.camera2",
    "com.android.contacts",
)
COLUMNS = 4


def icon_art(app_icon: AppIcon) -> Callable[[Canvas, Rect], None]:
    """Return a painter of an app's round icon."""

    def paint(canvas: Canvas, rect: Rect) -> None:
        if app_icon.paint is not None:
            app_icon.paint(canvas, rect)
            return
        canvas.disc(rect, canvas.color(app_icon.top), canvas.color(app_icon.bottom))
        inset = round(rect.width * 0.24)
        canvas.icon(
            app_icon.drawing,
            Rect(rect.left + inset, rect.top + inset, rect.right - inset, rect.bottom - inset),
            canvas.color(app_icon.ink),
        )

    return paint


def shortcut(
    host: Host,
    package: str,
    app_icon: AppIcon,
    label: str,
    open_it: Callable[[], None],
    *,
    labelled: bool = True,
    role: str = "on_wallpaper",
) -> View:
    """Draw an app's icon with its name, as one view that starts it."""
    made = ui.column(
        ui.art(icon_art(app_icon), 60, 60, hidden_from_tree=True),
        text(
            label,
            TextStyle(12.5, 500, role, max_lines=1, align=Align.CENTER),
            hidden_from_tree=True,
        )
        if labelled
        else None,
        cls="android.widget.TextView",
        desc=label,
        id="icon",
        on_click=open_it,
        on_long_click=open_it_info(host, package),
        cross=Align.CENTER,
        gap=7,
        pad=ui.edges(2, 8),
        width=84,
        key=f"icon {package} {labelled}",
    )
    made.text = label if labelled else ""
    return made


def open_it_info(host: Host, package: str) -> Callable[[], None]:
    """Return what a long press on an icon does: open the app's page in Settings."""
    from virtual_phone.state.records import PageState

    def act() -> None:
        host.activities.open(
            PageState(""),
            "com.android.settings",
            "com.android.settings.applications.InstalledAppDetails",
            {"package": package},
        )

    return act


def _icons(page: Page[NoState]) -> dict[str, AppIcon]:
    from virtual_phone.apps import icon_of

    return {
        info.package: icon_of(info.package)
        for info in page.host.packages
        if info.launcher_activity is not None
    }


def _starter(page: Page[NoState], package: str) -> Callable[[], None]:
    def act() -> None:
        info = page.host.packages.get(package)
        page.set("mode", "")
        if info is not None and info.launcher_activity is not None:
            page.host.activities.open(page.state, package, info.launcher_activity, {})

    return act


@launcher.page("com.android.launcher3.uioverrides.QuickstepLauncher", launcher=True)
def home(page: Page[NoState]) -> View:
    """Show the home screen, or the drawer or recents over it."""
    mode = page.local("mode")
    if mode == "drawer":
        return drawer(page)
    if mode == "recents":
        from virtual_phone.system.recents import recents

        return recents(page)
    local = datetime.fromtimestamp(page.now, UTC)
    icons = _icons(page)
    labels = {i.package: i.label for i in page.host.packages}
    dock = [p for p in DOCK if p in icons][:4]
    first = [p for p in sorted(icons, key=lambda p: labels[p].lower()) if p not in dock][:16]

    def swiped(direction: str) -> bool:
        if direction == "up":
            page.set("mode", "drawer")
        return direction == "up"

    def tile(package: str, labelled: bool) -> View:
        return shortcut(
            page.host,
            package,
            icons[package],
            labels[package],
            _starter(page, package),
            labelled=labelled,
        )

    page.on_back = lambda: True
    white = "on_wallpaper"
    return ui.column(
        ui.column(
            text(
                f"{local:%A}, {local:%B} {local.day}", TextStyle(22, 400, white), id="date", desc=""
            ),
            ui.row(
                icon("brightness", 18, white),
                text("21°C  Partly cloudy", TextStyle(15, 400, white)),
                gap=8,
                id="weather",
            ),
            pad=(26, 26, 26, 0),
            gap=6,
            id="smartspace",
        ),
        ui.space(weight=1),
        ui.grid(
            COLUMNS,
            *(tile(p, True) for p in first),
            gap=10,
            pad=ui.edges(10, 0),
            id="workspace",
            cls="android.view.ViewGroup",
        ),
        ui.space(14),
        ui.row(
            *(tile(p, False) for p in dock),
            width=MATCH,
            main=Align.BETWEEN,
            pad=ui.edges(18, 0),
            id="hotseat",
            cls="android.view.ViewGroup",
        ),
        ui.row(
            icon("search", 22, "text2"),
            text("Search apps and web", TextStyle(16, 400, "text2"), weight=1),
            icon("mic", 22, "accent"),
            on_click=page.setter("mode", "drawer"),
            desc="Search",
            fill="surface",
            radius=28,
            height=54,
            width=MATCH,
            margin=(18, 10, 18, 14),
            pad=ui.edges(18, 0),
            gap=14,
            id="search_container_hotseat",
            cls="android.widget.FrameLayout",
        ),
        width=MATCH,
        height=MATCH,
        on_swipe=swiped,
        id="drag_layer",
        clickable=False,
        cls="android.widget.FrameLayout",
    )


def drawer(page: Page[NoState]) -> View:
    """Show every app in a grid with a search field over it."""
    icons = _icons(page)
    labels = {i.package: i.label for i in page.host.packages if i.package in icons}
    wanted = page.field("drawer_search").strip().lower()
    shown = sorted(
        (p for p in icons if wanted in labels[p].lower()), key=lambda p: labels[p].lower()
    )

    def close() -> bool:
        page.set("mode", "")
        page.set_field("drawer_search", "")
        return True

    def swiped(direction: str) -> bool:
        return direction == "down" and close()

    page.on_back = close
    tiles: list[ui.Child] = [
        shortcut(page.host, p, icons[p], labels[p], _starter(page, p), role="text") for p in shown
    ]
    return ui.column(
        search_field("drawer_search", "Search apps", id="fallback_search_view"),
        ui.recycler(
            "apps_list",
            ui.grid(COLUMNS, *tiles, gap=12, pad=ui.edges(10, 8), cls="android.view.ViewGroup")
            if tiles
            else text("No apps found", TextStyle(16, 400, "text2"), margin=ui.edges(24, 24)),
            id="apps_list_view",
            pad=(0, 0, 0, 24),
        ),
        fill="background",
        width=MATCH,
        height=MATCH,
        on_swipe=swiped,
        clickable=False,
        id="apps_view",
        cls="android.widget.RelativeLayout",
        pad=(0, 8, 0, 0),
    )


__all__ = ["drawer", "home", "icon_art", "launcher", "shortcut", "stack"]
