"""What every dialog has: a way out for the mouse, keys at its foot that can be pressed, and over it
what is wrong with the connection to the core.

Not what a dialog asks. Invariants: what the mouse does is pressed as a key, where every key is
handled; a press beside the dialog is its esc; what lies beneath is a picture that is drawn between
keys, never for one.
"""

from typing import Any, Self, TypeVar

from textual._context import visible_screen_stack
from textual.content import Content
from textual.events import Click
from textual.geometry import Region
from textual.renderables.background_screen import BackgroundScreen
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.style import Style

from console.base_app import ConsoleApp
from console.core.connection import connection_part
from widgets.base.fault_isolation import FaultIsolated
from widgets.base.header_line import PartsLine

T = TypeVar("T")
_BENEATH_S = 1.0  # How often at most the picture beneath a dialog is drawn again.


def foot(*keys: tuple[str, str]) -> Content:
    """Write keys, each with its word, for the lower border of a dialog: both can be pressed."""
    return Content(" · ").join(
        Content.styled(f"{key} {word}", Style.from_meta({"@click": f"screen.press({key!r})"}))
        for key, word in keys
    )


class Beneath:
    """The picture of what lies under a dialog, dimmed.

    Args:
        dialog: what lies over it.
    """

    def __init__(self, dialog: ModalScreen[Any]) -> None:
        self.is_stale = False
        """Whether it has changed since."""
        self._drawn_for = _drawn_for(dialog)
        strips = []
        if below := dialog.app._background_screens:
            visible_screen_stack.set(below[:-1])
            strips = below[-1]._compositor.render_strips()
        background = dialog.styles.background
        self._strips = [
            Strip(BackgroundScreen.process_segments(strip, background)) for strip in strips
        ]

    def fits(self, dialog: ModalScreen[Any]) -> bool:
        """Return whether it is of this size, of these screens and in these colours."""
        return self._drawn_for == _drawn_for(dialog)

    def lines(self, crop: Region) -> list[Strip]:
        """Return a part of it, blank where it has none."""
        width = crop.right
        blank = Strip.blank(width)
        rows = (
            self._strips[y] if y < len(self._strips) else blank for y in range(crop.y, crop.bottom)
        )
        return [row.adjust_cell_length(width).crop(crop.x, width) for row in rows]


def _drawn_for(dialog: ModalScreen[Any]) -> tuple[object, ...]:
    app = dialog.app
    return (app.size, app.theme, tuple(map(id, app._background_screens)))


class Dialog(FaultIsolated, ModalScreen[T]):
    """A dialog over any screen."""

    _beneath: Beneath | None = None

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw the dimmed picture of what lies beneath, as it was last drawn."""
        if self._beneath is None or not self._beneath.fits(self):
            self._beneath = Beneath(self)
        return self._beneath.lines(crop)

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:
        """Draw again. Regions are what changed beneath: they are drawn once no key is under way."""
        if regions and not (layout or recompose):
            if self._beneath is not None:
                self._beneath.is_stale = True
            return self
        return super().refresh(repaint=repaint, layout=layout, recompose=recompose)

    def _look_beneath(self) -> None:
        assert isinstance(self.app, ConsoleApp)
        stale = self._beneath is not None and self._beneath.is_stale
        gate = self.app.gate
        if stale and self.is_current and gate.is_idle and gate.rests_s >= _BENEATH_S:
            self._beneath = None
            super().refresh()

    def on_mount(self) -> None:
        self.set_interval(_BENEATH_S, self._look_beneath, name="beneath a dialog")
        self.mount(PartsLine(id="connection"))
        self.call_after_refresh(self.show_connection)

    def show_connection(self) -> None:
        """Show what is wrong with the connection; called at most once a tick."""
        assert isinstance(self.app, ConsoleApp)
        for line in self.query("#connection").results(PartsLine):
            part = connection_part(self.app.bridge)
            line.show(((f" {part[0]}", part[1]),) if part is not None else ())
            line.set_class(part is not None, "-shown")

    def on_click(self, event: Click) -> None:
        if event.widget is self:
            self.action_press("esc")

    def action_press(self, name: str) -> None:
        """Press a key, by the name that the operator reads."""
        assert isinstance(self.app, ConsoleApp)
        self.app.keyboard.press_named_later(name)
