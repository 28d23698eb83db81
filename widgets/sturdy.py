"""A widget that outlives its own mistakes: an exception becomes a message, the pump goes on.

Textual ends the message pump of a widget whose handler raised, and the app with it. Invariant: an
error in drawing or handling never takes the screen down, and is never swallowed: `Broke` bubbles
to the app, which logs it and says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

if TYPE_CHECKING:
    from textual.widget import Widget as _Drawn
else:
    _Drawn = object


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
            doing = type(message).__name__
            self.app.post_message(Broke(error, f"{type(self).__name__} on {doing}"))

    def render_lines(self, crop: Region) -> list[Strip]:
        try:
            return super().render_lines(crop)
        except Exception as error:
            # Drawing repeats at every refresh; once is enough to know.
            if not self._drawing_broke:
                self._drawing_broke = True
                self.app.post_message(Broke(error, f"{type(self).__name__} while drawing"))
            return [Strip.blank(crop.width)] * crop.height
