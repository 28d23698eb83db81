"""A widget that outlives its own mistakes: an exception becomes a message, the pump goes on.

Textual ends the message pump of a widget whose handler raised, and the app with it. Invariant: an
error in drawing, laying out or handling never takes the screen or the app down, and is never
swallowed: `Broke` bubbles to the app, which logs it and says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.visual import Visual, visualize

if TYPE_CHECKING:
    from textual.app import App
    from textual.dom import DOMNode
    from textual.widget import Widget

    _Drawn = Widget
    _Run = App[Any]
else:
    _Drawn = _Run = object


class Broke(Message):
    """A widget raised."""

    def __init__(self, error: Exception, where: str) -> None:
        super().__init__()
        self.error = error
        self.where = where


class Sturdy(_Drawn):
    """Mix in before a widget class.

    Not a widget by itself: Textual takes the default styles of the first base that is one.
    """

    _drawing_broke = False

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            _tell(self, error, f"on {type(message).__name__}")

    def _render(self) -> Visual:
        # Also asked for how much room it takes: one that raised would keep all from being laid out.
        try:
            return super()._render()
        except Exception as error:
            self._tell_once(error)
            return visualize(self, "", markup=False)

    def render_lines(self, crop: Region) -> list[Strip]:
        try:
            return super().render_lines(crop)
        except Exception as error:
            self._tell_once(error)
            return [Strip.blank(crop.width)] * crop.height

    def _tell_once(self, error: Exception) -> None:
        # Drawing repeats at every refresh; once is enough to know.
        if not self._drawing_broke:
            self._drawing_broke = True
            _tell(self, error, "while drawing")


def _tell(widget: Widget, error: Exception, doing: str) -> None:
    widget.app.post_message(Broke(error, f"{type(widget).__name__} {doing}"))


def make_sturdy(widget: Widget) -> None:
    """Guard a widget that is not `Sturdy`, such as Textual's own, or that draws its own lines."""
    kind: Any = type(widget)
    guarded: Any = widget
    if not isinstance(widget, Sturdy):

        async def dispatch(message: Message) -> None:
            try:
                await kind._dispatch_message(widget, message)
            except Exception as error:
                _tell(widget, error, f"on {type(message).__name__}")

        guarded._dispatch_message = dispatch
    if kind.render_lines is not Sturdy.render_lines:
        has_broken = False

        def lines(crop: Region) -> list[Strip]:
            nonlocal has_broken
            try:
                drawn: list[Strip] = kind.render_lines(widget, crop)
            except Exception as error:
                if not has_broken:
                    has_broken = True
                    _tell(widget, error, "while drawing")
                return [Strip.blank(crop.width)] * crop.height
            return drawn

        guarded.render_lines = lines


class SturdyApp(_Run):
    """Mix in before an app class: it and all its widgets outlive their mistakes."""

    def _register_child(
        self, parent: DOMNode, child: Widget, before: int | None, after: int | None
    ) -> None:
        make_sturdy(child)
        super()._register_child(parent, child, before, after)

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            # Textual would end the app's pump, and with it every key.
            self._handle_exception(error)
