"""A phone's live frames in shared memory, for programs beside us.

Not the memory (`agent.devices.frames.shared_memory`) and not the frames
(`agent.devices.frames.feed`). Invariants: only a picture is written, never a failure: what is not
vouched for any more keeps its time of capture; each picture is filled in where readers map it.
"""

from collections.abc import AsyncIterator, Callable

from agent.devices.frames.shared_memory import FrameWriter
from agent.records import FrameStatus, LiveFrame

_NO_PICTURE = frozenset({FrameStatus.LOST, FrameStatus.ERROR})


async def share(
    frames: AsyncIterator[LiveFrame],
    *,
    on_address: Callable[[str], None],
    on_trouble: Callable[[str], None],
) -> None:
    """Write each new picture of `frames` to shared memory until they end.

    Args:
        on_address: told `shm://NAME` once the first picture can be mapped there.
        on_trouble: told why there is no picture now, once for each reason.

    Raises DeviceError when the system gives no shared memory.
    """
    import numpy as np

    writer: FrameWriter | None = None
    shown, trouble = b"", ""
    try:
        async for frame in frames:
            if frame.status in _NO_PICTURE or not frame.rgb:
                if frame.detail != trouble:
                    on_trouble(frame.detail)
                trouble = frame.detail
                continue
            trouble = ""
            if writer is not None and frame.rgb is shown:
                # The same picture, seen again: it is not newer than it was.
                continue
            shown, is_first = frame.rgb, writer is None
            writer = writer or FrameWriter(frame.width_px, frame.height_px)
            size = (frame.height_px, frame.width_px, 3)
            with writer.filling(
                frame.width_px, frame.height_px, captured_ms=frame.captured_ms
            ) as place:
                place[...] = np.frombuffer(frame.rgb, np.uint8).reshape(size)
            if is_first:
                on_address(writer.url)
    finally:
        if writer is not None:
            writer.close()
