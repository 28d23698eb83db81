"""Make the pictures that a model is shown, in a thread, while their readers do something else.

Not the scaling and not the drawing (`agent.loop.images.scaling`, `agent.loop.images.set_of_marks`).
Invariant: what was made last is not made again, and of a picture that has only other elements
nothing is decoded again.
"""

import asyncio
from typing import TypeAlias

from agent.loop.images.scaling import Scaled, scaled
from agent.loop.images.set_of_marks import Marked, marked
from agent.loop.signals.picture_distance import distance, is_drawn, shows, thumbnail
from agent.records import Bounds, Element

Picturing: TypeAlias = "asyncio.Future[Marked]"  # A picture that is being made.


class Pictures:
    """The pictures of one turn."""

    def __init__(self) -> None:
        self._of: tuple[bytes, tuple[Element, ...]] = b"", ()
        self._begun: Picturing | None = None
        self._scaled: dict[bytes, Scaled] = {}

    def begin(self, data: bytes, elements: tuple[Element, ...]) -> Picturing:
        """Begin to scale a frame and to number its elements.

        What it comes to is shared: shield it where a wait for it may be given up.
        """
        if self._begun is None or self._begun.cancelled() or self._of != (data, elements):
            self._of = data, elements
            loop = asyncio.get_running_loop()
            self._begun = loop.run_in_executor(None, self._made, data, elements)
        return self._begun

    async def shows(self, data: bytes, elements: tuple[Element, ...]) -> bool:
        """Return whether a frame can be of a screen with these elements; True when it is none."""

        def look() -> bool:
            picture = self._small(data)
            return picture is None or shows(picture, elements)

        return await asyncio.to_thread(look)

    async def is_drawn(self, data: bytes, region: Bounds, elements: tuple[Element, ...]) -> bool:
        """Return whether a frame shows something in a region beside these elements."""

        def look() -> bool:
            picture = self._small(data)
            return picture is not None and is_drawn(picture, region, elements)

        return await asyncio.to_thread(look)

    async def distance(self, one: bytes, other: bytes, elements: tuple[Element, ...]) -> float:
        """Return the share of two frames that differs, in [0, 1]; 0 when either is no picture.

        Args:
            elements: what the screen has now, for the field with a caret.
        """
        if one == other:
            return 0.0

        def look() -> float:
            first, second = self._small(one), self._small(other)
            if first is None or second is None:
                return 0.0
            if first.size != second.size:
                return 1.0
            return distance(thumbnail(first), thumbnail(second), elements)

        return await asyncio.to_thread(look)

    def _made(self, data: bytes, elements: tuple[Element, ...]) -> Marked:
        return marked(self._small(data), elements)

    def _small(self, data: bytes) -> Scaled:
        """Scale a frame; the newest two are kept. Blocks."""
        known = self._scaled
        if data in known:
            return known[data]
        picture = scaled(data)
        last = list(known.items())[-1:]
        self._scaled = {**dict(last), data: picture}
        return picture
