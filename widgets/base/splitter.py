"""A border between two panes that the mouse drags; the console moves the panes."""

from rich.segment import Segment
from textual.events import Leave, MouseDown, MouseMove, MouseUp
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from widgets.base.fault_isolation import FaultIsolated


class Splitter(FaultIsolated, Widget):
    """One column, as high as its panes."""

    DEFAULT_CSS = """
    Splitter { width: 1; height: 1fr; color: $rule; pointer: ew-resize; }
    Splitter:hover, Splitter.-dragged { color: $primary; }
    """
    ALLOW_SELECT = False

    class Dragged(Message):
        """The border was dragged to a column of the screen."""

        def __init__(self, splitter: "Splitter", column: int) -> None:
            super().__init__()
            self.splitter = splitter
            self.column = column

        @property
        def control(self) -> "Splitter":
            return self.splitter

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._is_dragged = False

    def on_mouse_down(self, event: MouseDown) -> None:
        if event.button == 1:
            self._is_dragged = True
            self.add_class("-dragged")
            self.capture_mouse()
            event.stop()

    def on_mouse_move(self, event: MouseMove) -> None:
        if self._is_dragged:
            self.post_message(self.Dragged(self, event.screen_x))

    def on_mouse_up(self, event: MouseUp) -> None:
        if self._is_dragged:
            # Also where the pointer was moved so fast that no move was told.
            self.post_message(self.Dragged(self, event.screen_x))
        self._let_go()

    def on_leave(self, _event: Leave) -> None:
        if not self.app.mouse_captured:
            self._let_go()

    def _let_go(self) -> None:
        self._is_dragged = False
        self.remove_class("-dragged")
        self.release_mouse()

    def render_line(self, y: int) -> Strip:
        return Strip([Segment("▏", self.visual_style.rich_style)], 1)
