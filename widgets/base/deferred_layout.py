"""Attribute Textual's deferred layout, and callbacks after a refresh, to the key that caused them.

Textual marks what needs layout and lays it out by a timer of 60 Hz, outside any cause. Mouse
presses depend on the layout, and keys on its results: rows of a page, columns of a list, a scroll
position. So the layout is part of the key's effects. Invariant: once `bring_up_to_date` reports
that there is nothing to do, the layout stays stable until the next event.

Uses private parts of Textual, as `widgets.cells.direct_route` does.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from textual.app import ScreenStackError
from textual.messages import Layout, UpdateScroll
from textual.screen import Screen
from textual.widget import Widget

if TYPE_CHECKING:
    from textual.app import App


def follow(screen: Screen[Any], in_open_cause: Callable[[], AbstractContextManager[None]]) -> None:
    """Attribute a screen's deferred work to the cause that is open at that time."""
    patched: Any = screen
    update, call_back = screen._on_timer_update, screen._invoke_and_clear_callbacks

    def update_in_cause() -> None:
        with in_open_cause():
            update()

    async def call_back_in_cause() -> None:
        with in_open_cause():
            await call_back()

    patched._on_timer_update = update_in_cause
    patched._invoke_and_clear_callbacks = call_back_in_cause


def bring_up_to_date(app: "App[Any]") -> bool:
    """Start the visible screen's pending layout.

    Returns:
        Whether any was pending: wait for its effects, then call this again.
    """
    try:
        screen = app.screen
    except ScreenStackError:
        return False
    if not screen.is_running or app._batch_count:
        return False
    is_due = False
    for widget in screen.walk_children(Widget):
        if widget.is_running and (
            widget._layout_required or widget._scroll_required or widget._refresh_styles_required
        ):
            # It tells the screen, which it would do when it is idle.
            widget._check_refresh()
            is_due = True
    if screen._layout_required or screen._scroll_required:
        screen._on_timer_update()
        return True
    if screen._callbacks:
        screen.call_next(screen._invoke_and_clear_callbacks)
        return True
    return is_due or _is_told(screen)


def _is_told(screen: Screen[Any]) -> bool:
    """Return whether a screen's layout message is still queued."""
    waiting = (screen._pending_message, *screen._message_queue.values)
    return any(isinstance(message, Layout | UpdateScroll) for message in waiting)
