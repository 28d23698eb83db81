"""A scrollable pane of text, with the scroll keys of every list."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll

from widgets.base.fault_isolation import FaultIsolated


class ScrollPane(FaultIsolated, VerticalScroll, can_focus=True):
    """Base of scrollable panes."""

    DEFAULT_CSS = """
    ScrollPane { height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "scroll_down", "Down", show=False, id="view.down"),
        Binding("up,k", "scroll_up", "Up", show=False, id="view.up"),
        Binding(
            "ctrl+d,pagedown", "page_down", "Half a page down", show=False, id="view.page_down"
        ),
        Binding("ctrl+u,pageup", "page_up", "Half a page up", show=False, id="view.page_up"),
    ]
