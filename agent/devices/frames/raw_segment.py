"""The newest picture alone in POSIX shared memory: height × width × 3 bytes from offset 0, no head.

For programs that map it by themselves, as android_env's clients do; who reads while it is written
sees parts of two pictures, which the ring of `agent.devices.frames.shared_memory` never shows.
Invariant: only this user may open it, and its writer removes it.
"""

from agent.devices.frames import shared_segment
from agent.errors import UsageError


class RawSegment:
    """One picture that is written over and over.

    Args:
        name: what clients map; a new one by default.

    Raises:
        UsageError: the size or the name cannot be.
        DeviceError: there is no memory for it, or the name is taken.
    """

    def __init__(self, width_px: int, height_px: int, *, name: str = "") -> None:
        shared_segment.check_size(width_px, height_px)
        shared_segment.remove_abandoned()
        self.name = name or shared_segment.new_name()
        self.size_bytes = width_px * height_px * shared_segment.BYTES_PER_PIXEL
        self._memory = shared_segment.map_new(self.name, self.size_bytes)
        self._is_open = True

    @property
    def url(self) -> str:
        """Where it is: `shm://NAME`."""
        return f"{shared_segment.SCHEME}{self.name}"

    def write(self, rgb: bytes) -> None:
        """Replace the picture. Raises UsageError: it has another size."""
        if len(rgb) != self.size_bytes:
            raise UsageError(
                f"A picture of {len(rgb)} bytes does not fit in {self.url}.",
                f"Give {self.size_bytes} bytes.",
            )
        self._memory[:] = rgb

    def close(self) -> None:
        """Remove it; may be repeated. Who has mapped it keeps the last picture."""
        if self._is_open:
            self._is_open = False
            shared_segment.unlink(self.name)
            self._memory.close()
