"""Make the pictures that a model is shown, in a thread, while their readers do something else.

Not the scaling and not the drawing (`agent.loop.scaling`, `agent.loop.marks`). Invariant: what was
made last is not made again, and of a picture that has only other elements nothing is decoded again.
"""

from __future__ import annotations

import asyncio
from typing import TypeAlias

from agent.loop.marks import Marked, marked
from agent.loop.scaling import Scaled, scaled
from agent.records import Element

Picturing: TypeAlias = "asyncio.Future[Marked]"
"""A picture that is being made."""


class Pictures:
    """The pictures of one turn."""

    def __init__(self) -> None:
        self._of: tuple[bytes, tuple[Element, ...]] = b"", ()
        self._begun: Picturing | None = None
        self._scaled: tuple[bytes, Scaled] = b"", None

    def begin(self, data: bytes, elements: tuple[Element, ...]) -> Picturing:
        """Begin to scale a frame and to number its elements.

        What it comes to is shared: shield it where a wait for it may be given up.
        """
        if self._begun is None or self._begun.cancelled() or self._of != (data, elements):
            self._of = data, elements
            loop = asyncio.get_running_loop()
            self._begun = loop.run_in_executor(None, self._made, data, elements)
        return self._begun

    def _made(self, data: bytes, elements: tuple[Element, ...]) -> Marked:
        known, picture = self._scaled
        if known != data:
            picture = scaled(data)
            self._scaled = data, picture
        return marked(picture, elements)
