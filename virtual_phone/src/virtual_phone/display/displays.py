"""The displays of a phone: the panel, as it is held, and virtual ones.

Not what stands on them. Invariant: there is always a display 0.
"""

from typing import TYPE_CHECKING

from virtual_phone.errors import PhoneError
from virtual_phone.state.records import DisplayState

if TYPE_CHECKING:
    from virtual_phone.phone import Phone

WIDTH, HEIGHT, DENSITY = 1080, 2400, 420


class Displays:
    """Keep the displays of one phone."""

    def __init__(self, phone: "Phone") -> None:
        self._phone = phone

    @property
    def width(self) -> int:
        """The default display's width as it is held, in pixels."""
        return self.size(0)[0]

    @property
    def height(self) -> int:
        """The default display's height as it is held, in pixels."""
        return self.size(0)[1]

    @property
    def density(self) -> int:
        """The default display's density in dots per inch."""
        return self.get(0).density

    def all(self) -> list[DisplayState]:
        """Return every display, the default one first."""
        return list(self._phone.state_record.displays)

    def get(self, display: int) -> DisplayState:
        """Return a display's record.

        Raises:
            PhoneError: there is no such display.
        """
        for one in self._phone.state_record.displays:
            if one.id == display:
                return one
        raise PhoneError(
            f"The phone {self._phone.name} has no display {display}.", "See dumpsys display."
        )

    def size(self, display: int) -> tuple[int, int, int]:
        """Return a display's width, height and density as it is held.

        Raises:
            PhoneError: there is no such display.
        """
        d = self.get(display)
        turned = display == 0 and self._phone.rotation.quarters % 2 == 1
        return (d.height, d.width, d.density) if turned else (d.width, d.height, d.density)

    def resize(
        self, *, width: int = 0, height: int = 0, density: int = 0, display: int = 0
    ) -> None:
        """Override a display's size or density, as `wm size` and `wm density` do.

        Raises:
            PhoneError: the values are not ones a display can have.
        """
        d = self.get(display)
        new = (width or d.width, height or d.height, density or d.density)
        if not (200 <= new[0] <= 4096 and 200 <= new[1] <= 4096 and 72 <= new[2] <= 1000):
            raise PhoneError(
                f"A display cannot be {new[0]}x{new[1]} at density {new[2]}.",
                "Give sides from 200 to 4096 pixels and a density from 72 to 1000.",
            )
        d.width, d.height, d.density = new
        self._phone.invalidate()

    def add(self, width: int, height: int, density: int, name: str = "") -> int:
        """Add a virtual display and return its id."""
        record = self._phone.state_record
        number = max(d.id for d in record.displays) + 1
        record.displays.append(
            DisplayState(number, width, height, density, name or f"Display {number}")
        )
        self._phone.invalidate()
        return number

    def remove(self, display: int) -> None:
        """Remove a virtual display and end its tasks."""
        if display == 0:
            return
        record = self._phone.state_record
        self._phone.tasks.move_display(display)
        record.displays = [d for d in record.displays if d.id != display]
        self._phone.compositor.drop(display)
        self._phone.invalidate()
