"""What every dialog has: a way out for the mouse, keys at its foot that can be pressed, and over it
what is wrong with the connection to the core.

Not what a dialog asks. Invariant: what the mouse does is pressed as a key, where every key is
handled; a press beside the dialog is its esc.
"""

from typing import TypeVar

from textual.content import Content
from textual.events import Click
from textual.screen import ModalScreen
from textual.style import Style

from console.base_app import ConsoleApp
from console.core.connection import connection_part
from widgets.base.fault_isolation import FaultIsolated
from widgets.base.header_line import PartsLine

T = TypeVar("T")


def foot(*keys: tuple[str, str]) -> Content:
    """Write keys, each with its word, for the lower border of a dialog: both can be pressed."""
    return Content(" · ").join(
        Content.styled(f"{key} {word}", Style.from_meta({"@click": f"screen.press({key!r})"}))
        for key, word in keys
    )


class Dialog(FaultIsolated, ModalScreen[T]):
    """A dialog over any screen."""

    def on_mount(self) -> None:
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
