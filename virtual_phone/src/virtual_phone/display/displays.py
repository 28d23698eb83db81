"""The displays of a phone: the panel, as it is held, the ones its kind has, and virtual ones.

Not what stands on them. Invariant: there is always a display 0, and one display is on top.
"""

from typing import TYPE_CHECKING

from virtual_phone.errors import PhoneError
from virtual_phone.state.profiles import Profile
from virtual_phone.state.records import DisplayState

if TYPE_CHECKING:
    from virtual_phone.phone import Phone


def displays_of(profile: Profile) -> list[DisplayState]:
    """Return the displays that a kind of phone starts with, the default one first."""
    first = profile.screens[0]
    return [
        DisplayState(0, first.width, first.height, first.density, "Built-in Screen"),
        *(
            DisplayState(one.id, one.width, one.height, one.density, one.name)
            for one in profile.displays
        ),
    ]


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

    def begin(self, profile: Profile) -> None:
        """Have the displays of a kind of phone and no others."""
        self._phone.state_record.displays = displays_of(profile)
        self._phone.state_record.display_order = []
        self._phone.invalidate()

    def stacked(self) -> list[DisplayState]:
        """Return every display from the bottom of the z-order up.

        As RootWindowContainer keeps them: a display comes in at the bottom, and goes to the top
        when it is touched or an activity is started on it.
        """
        order = self._phone.state_record.display_order or [0]
        below = [one for one in reversed(self.all()) if one.id not in order]
        return below + [one for number in order for one in self.all() if one.id == number]

    def bring_to_top(self, display: int) -> None:
        """Put a display on top of the z-order, so that it has the focus."""
        record = self._phone.state_record
        if record.display_order[-1:] == [display] or (not record.display_order and display == 0):
            return
        order = record.display_order or [0]
        record.display_order = [*(one for one in order if one != display), display]

    @property
    def top(self) -> int:
        """The id of the display that has the focus."""
        return self.stacked()[-1].id

    def has_focus(self, display: int) -> bool:
        """Return whether one of a display's windows has the focus.

        A virtual display that a program made keeps a focus of its own since Android 14.
        """
        form = self._phone.form_factor
        made = display != 0 and form.profile.further(display) is None
        return display == self.top or (made and form.android.can("own_focus"))

    def is_physical(self, display: int) -> bool:
        """Return whether a display is a panel or plugged in, and not made by a program."""
        return display == 0 or self._phone.form_factor.profile.further(display) is not None

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
        if self.is_physical(display):
            return
        record = self._phone.state_record
        record.display_order = [one for one in record.display_order if one != display]
        self._phone.tasks.move_display(display)
        record.displays = [d for d in record.displays if d.id != display]
        self._phone.compositor.drop(display)
        self._phone.invalidate()
