"""How large one phone's display is as it is turned now, and which pixel a normalized place is.

Whoever learns the size says so: a tree, a picture, the focus. Invariant: a place is always a pixel
of the display; one that is no number is refused.
"""

from agent.devices.shell.focus import parse_current_size, parse_natural_size
from agent.devices.shell.phone_shell import PhoneShell
from agent.errors import DeviceError, UsageError
from agent.records import Point

_ASK_TIMEOUT_S = 5.0


class DisplaySize:
    """The size of one phone's main display in pixels."""

    def __init__(self, shell: PhoneShell) -> None:
        self._shell = shell
        self._size: tuple[int, int] | None = None

    def forget(self) -> None:
        """Ask the phone again at the next need."""
        self._size = None

    def learn(self, size: tuple[int, int] | None) -> None:
        """Take the size, as it is turned now, from what was read of the phone anyway."""
        self._size = size or self._size

    def learn_from_picture(self, width_px: int, height_px: int) -> None:
        """Turn the known size when a picture shows that the phone was turned."""
        size = self._size
        if size is not None and (width_px > height_px) != (size[0] > size[1]):
            self._size = (size[1], size[0])

    async def current(self) -> tuple[int, int]:
        """Return width and height. Raises DeviceError when the phone does not tell."""
        if self._size is None:
            result = await self._shell.run("dumpsys window displays; wm size", _ASK_TIMEOUT_S)
            self._size = parse_current_size(result.text) or parse_natural_size(result.text)
        if self._size is None:
            raise DeviceError(
                f"{self._shell.serial} does not report the size of its display.",
                "Wait until the phone has started, then try again.",
            )
        return self._size

    async def pixel(self, at: Point) -> tuple[int, int]:
        """Return the pixel of a normalized place, clipped to the display."""
        if at.x != at.x or at.y != at.y:
            raise UsageError("A place on a screen is not a number.", "Give x and y in [0, 1].")
        width, height = await self.current()
        x = min(int(min(max(at.x, 0.0), 1.0) * width), width - 1)
        y = min(int(min(max(at.y, 0.0), 1.0) * height), height - 1)
        return x, y
