"""Notices cover nothing: the mouse goes through them.

A notice comes and goes by the clock. If it took the mouse, a press would mean one thing while it
stands and another once it has gone. So what is under it is what is pressed, and it goes out of the
way of a pointer that comes near, before anything is pressed (as Notify OSD does). Not what is said.
"""

from typing import Any

from textual._compositor import Compositor
from textual.app import App
from textual.events import MouseMove
from textual.geometry import Region
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets._toast import Toast, ToastHolder, ToastRack

MOST = 3  # Notices that are seen at once.
_ROWS_A_NOTICE = 10  # Rows of the terminal that there are for one.
_NOTICES = (Toast, ToastHolder, ToastRack)


class MouseCompositor(Compositor):
    """Finds what is under the mouse, as if there were no notices."""

    @property
    def layers_visible(self) -> list[list[tuple[Widget, Region, Region]]]:
        # Textual asks for this only to find what is at a place.
        if self._layers_visible is None:
            self._layers_visible = [
                [found for found in line if not isinstance(found[0], _NOTICES)]
                for line in super().layers_visible
            ]
        return self._layers_visible


def let_mouse_through(screen: Screen[Any]) -> None:
    """Let the notices of a screen that is not laid out yet cover nothing."""
    if not isinstance(screen._compositor, MouseCompositor):
        screen._compositor = MouseCompositor()


def make_room(app: App[Any]) -> None:
    """Take the oldest notices away, so that a few are seen and not all over what they tell of."""
    most = min(MOST, max(1, app.size.height // _ROWS_A_NOTICE))
    shown = sorted(app._notifications, key=lambda one: one.raised_at)
    drawn = {toast._notification.identity: toast for toast in app.screen.query(Toast)}
    for old in shown[: max(0, len(shown) - most + 1)]:
        toast = drawn.get(old.identity)
        if toast is None:
            app._unnotify(old)
        else:
            # With its holder, whose lines would push the next one down.
            toast._expire()


def make_way(app: App[Any], event: MouseMove) -> None:
    """Take the notice away that the pointer is on."""
    for toast in app.screen.query(Toast):
        if toast.region.contains(int(event.screen_x), int(event.screen_y)):
            toast._expire()
