"""Pages of Settings as tables: what a page has is a list of rows, each made anew for the page.

Not how a row looks (`settings.app`). Invariant: a row belongs to no page until it is drawn.
"""

from collections.abc import Callable
from typing import Unpack

from virtual_phone.app import NoState, Page
from virtual_phone.apps.settings import app
from virtual_phone.ui import patterns
from virtual_phone.ui.views import View

Row = Callable[[Page[NoState]], View]  # A row, or any other part of a page, as it is drawn on one.


def table(name: str, title: str, *parts: Row, **place: Unpack[app.Place]) -> None:
    """Register a sub-page that has these parts; `place` is what `sub_page` takes."""
    app.sub_page(name, title, **place)(lambda page: [part(page) for part in parts])


def section(*rows: Row, title: str = "") -> Row:
    """Group rows on one card, under a title where there is one."""
    return lambda page: patterns.group(*(row(page) for row in rows), title=title)


def hint(words: str) -> Row:
    """Return a note that stands below the cards."""
    return lambda _: patterns.note(words)


def flag(title: str, setting: str, **look: Unpack[app.FlagLook]) -> Row:
    """Switch one row of the settings tables, `namespace key`."""
    namespace, key = setting.split()
    return lambda page: app.flag_row(page, title, namespace, key, **look)


def choice(title: str, setting: str, options: list[tuple[str, str]], default: str = "") -> Row:
    """Choose the value of one row of the settings tables, `namespace key`."""
    namespace, key = setting.split()
    return lambda page: app.choice_row(page, title, options, namespace, key, default)


def level(title: str, drawing: str, setting: str, top: int) -> Row:
    """Slide the value of one row of the settings tables, `namespace key`, between 0 and `top`."""
    namespace, key = setting.split()
    return lambda page: app.slider_row(page, title, drawing, namespace, key, top)


def toast_row(title: str, toast: str, summary: str = "", icon: str = "", key: str = "") -> Row:
    """Answer a tap with a toast."""
    return lambda page: patterns.preference(
        title,
        summary=summary,
        icon_name=icon,
        on_click=lambda: page.toast(toast),
        key=f"row {key or title}",
    )


def link(title: str, name: str, summary: str = "", icon: str = "") -> Row:
    """Open another sub-page."""
    return lambda page: patterns.preference(
        title,
        summary=summary,
        icon_name=icon,
        on_click=app.open_sub(page, name),
        key=f"row {title}",
    )
