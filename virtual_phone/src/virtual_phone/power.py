"""The screen's sleep and the power button of a phone.

The secret of the lock screen is `virtual_phone.lock`. Invariant: a screen that is off has no
keyboard and no shade.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from virtual_phone import lock

if TYPE_CHECKING:
    from virtual_phone.phone import Phone


class Power:
    """Turn one phone's screen on and off, and lock it."""

    def __init__(self, phone: "Phone") -> None:
        self._phone = phone
        self.began_s = phone.now()
        """When the phone started, in its own time; the three below are in that time too."""
        self.woke_s = self.slept_s = self.used_s = self.began_s
        self.on_power: Callable[[str], None] | None = None
        """Turns the phone off, or off and on again; None where nobody can."""

    @property
    def screen_on(self) -> bool:
        return self._phone.state_record.screen_on

    @property
    def locked(self) -> bool:
        return self._phone.state_record.locked

    @property
    def battery_percent(self) -> int:
        return self._phone.state_record.battery_level

    def note_use(self) -> None:
        """Note that somebody touches the phone, or presses a key of it."""
        self.used_s = self._phone.now()

    def since_start_ms(self, at_s: float) -> int:
        """Return a time as the phone's services write it: milliseconds since the start."""
        return max(0, round((at_s - self.began_s) * 1000))

    def sleep(self) -> None:
        """Turn the screen off and lock the phone, unless locking is disabled."""
        phone = self._phone
        self.slept_s = phone.now()
        phone.touch.cancel_all()
        phone.state_record.screen_on = False
        phone.state_record.locked = lock.locks(phone)
        phone.state_record.keyboard_shown = False
        phone.shade.shown = ""
        phone.invalidate()

    def wake(self) -> None:
        """Turn the screen on."""
        self._phone.state_record.screen_on = True
        self.woke_s = self._phone.now()
        self._phone.invalidate()

    def unlock(self) -> None:
        """Take the lock screen away."""
        self._phone.state_record.locked = False
        self._phone.animations.begin()
        self._phone.invalidate()
