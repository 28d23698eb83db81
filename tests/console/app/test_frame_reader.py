"""A stored frame is read once for the screen that shows it, and shown when it is there."""

from collections.abc import Coroutine
from typing import Any, cast

from agent.core import Core
from agent.devices.frames.png import png_of
from agent.records import Frame
from console.input.gate import Wait
from console.steps.stored_frames import FrameReader, StoredFrames


class Console:
    """A core with one blob, and work that is run when it is told to."""

    def __init__(self) -> None:
        self.stored = StoredFrames(cast("Core", self))
        self.work: list[Coroutine[Any, Any, Any]] = []
        self.asked: list[str] = []

    async def blob(self, digest: str) -> bytes:
        self.asked.append(digest)
        return png_of(bytes(4 * 4 * 3), (4, 4))

    def spawn(self, work: Coroutine[Any, Any, Any], name: str, wait: Wait = Wait.ANSWER) -> None:
        self.work.append(work)


async def test_a_frame_is_asked_for_once_at_each_size_and_then_shown() -> None:
    console, shown = Console(), 0

    def show() -> None:
        nonlocal shown
        shown += 1

    reader = FrameReader(show)
    frame = Frame(digest="d", width_px=4, height_px=4, captured_ms=1)
    for size_px in ((4, 4), (4, 4), (2, 2)):
        assert reader.get(console, frame, size_px, serial="p") is None
    assert len(console.work) == 2
    for work in console.work:
        await work
    assert (shown, console.asked) == (2, ["d", "d"])
    ready = reader.get(console, frame, (2, 2), serial="p")
    assert ready is not None and (ready.width_px, len(ready.rgb)) == (2, 12)
