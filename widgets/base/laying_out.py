"""What Textual does for a screen some time later: layout, and what waits for the next picture.

Textual marks what is to be laid out and does it by a timer of 60 Hz, in nobody's name. A press of
the mouse goes by the layout, and keys by what the layout gave: rows of a page, columns of a list, a
scrolled place. So the layout that a key asked for is a part of what the key caused. Not the layout
itself. Invariant: once `bring_up_to_date` says that there is nothing to do, a screen is laid out as
it will be while nothing happens.

Uses private parts of Textual, as `widgets.cells.direct_route` does.
"""

from __future__ import annotations

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
    """Let what a screen does later be done within the cause that is open then."""
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


def bring_up_to_date(app: App[Any]) -> bool:
    """Begin what is still to be laid out on the screen that is seen.

    Returns:
        Whether anything was: what follows from it is to be waited for, and then asked once more.
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
    """Return whether a screen was told to lay out and has not heard it yet."""
    waiting = (screen._pending_message, *screen._message_queue.values)
    return any(isinstance(message, Layout | UpdateScroll) for message in waiting)
