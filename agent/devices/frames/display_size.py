"""How large one phone's display is as it is turned now, and which pixel a normalized place is.

Whoever learns the size says so: a tree, a picture, the focus. Invariant: a place is always a pixel
of the display; one that is no number is refused.
"""

from agent.devices.facts.fact import value_or_none
from agent.devices.facts.sizes import (
    NATURAL_SIZE,
    VIEWPORTS,
    read_natural_size,
    read_size,
    read_viewport_rotation,
    read_viewport_size,
)
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
            said = (await self._shell.run("dumpsys window displays", _ASK_TIMEOUT_S)).text
            self._size = value_or_none(read_size(said)) or await self._from_viewport()
        if self._size is None:
            raise DeviceError(
                f"{self._shell.serial} does not report the size of its display.",
                "Wait until the phone has started, then try again.",
            )
        return self._size

    async def _from_viewport(self) -> tuple[int, int] | None:
        """Ask the other services, where the windows say nothing of display 0."""
        asked = f"{VIEWPORTS}; {NATURAL_SIZE}"
        said = (await self._shell.run(asked, _ASK_TIMEOUT_S)).text
        size = value_or_none(read_viewport_size(said))
        natural = value_or_none(read_natural_size(said))
        if size is not None or natural is None:
            return size
        turns = value_or_none(read_viewport_rotation(said)) or 0
        return (natural[1], natural[0]) if turns % 2 else natural

    async def pixel(self, at: Point) -> tuple[int, int]:
        """Return the pixel of a normalized place, clipped to the display."""
        if at.x != at.x or at.y != at.y:
            raise UsageError("A place on a screen is not a number.", "Give x and y in [0, 1].")
        width, height = await self.current()
        x = min(int(min(max(at.x, 0.0), 1.0) * width), width - 1)
        y = min(int(min(max(at.y, 0.0), 1.0) * height), height - 1)
        return x, y
