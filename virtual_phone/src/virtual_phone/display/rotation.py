"""How the default display is turned: by the setting while it is locked, by a hand while it is free.

Not what is drawn. Invariant: freeing the screen turns nothing by itself where the device lies flat.
"""

from typing import Protocol

from virtual_phone.display.animations import Animations
from virtual_phone.errors import PhoneError
from virtual_phone.state.records import PhoneState
from virtual_phone.state.settings_provider import SettingsTable


class RotatedDisplay(Protocol):
    """What is turned: the phone."""

    name: str
    settings: SettingsTable
    state_record: PhoneState
    animations: Animations

    def invalidate(self) -> None:
        """Note a change."""


class Rotation:
    """Turn a device and its screen.

    Args:
        phone: the device.
    """

    def __init__(self, phone: RotatedDisplay) -> None:
        self._phone = phone

    @property
    def is_free(self) -> bool:
        """Whether the screen follows the hand."""
        return self._phone.settings.flag("system", "accelerometer_rotation")

    @property
    def quarters(self) -> int:
        """How the default display is turned, in quarter turns."""
        return self._phone.state_record.turned if self.is_free else self._locked_at

    @property
    def _locked_at(self) -> int:
        return int(self._phone.settings.number("system", "user_rotation", 0)) % 4

    def turn(self, quarters: int) -> None:
        """Turn the device as a hand does; the screen follows if it rotates by itself.

        Upside down turns no screen, as phones have it (config_allowAllRotations).

        Raises:
            PhoneError: that is no quarter turn.
        """
        if quarters not in range(4):
            raise PhoneError(
                f"The phone {self._phone.name} cannot be held at {quarters} quarter turns.",
                "Turn it by 0, 90, 180 or 270 degrees.",
            )
        before = self.quarters
        self._phone.state_record.held = quarters
        self._follow_hand()
        if self.quarters != before:
            self._phone.animations.begin()
        self._phone.invalidate()

    def lock(self, quarters: int, *, stays: bool = True) -> None:
        """Turn the screen whatever a hand does.

        Args:
            quarters: how it is turned.
            stays: whether it is locked from now on; else it rotates by itself if it did.
        """
        settings, was_free = self._phone.settings, self.is_free
        settings.put("system", "user_rotation", str(quarters % 4))
        settings.put("system", "accelerometer_rotation", "0")
        if was_free and not stays:
            settings.put("system", "accelerometer_rotation", "1")

    def set_free(self, on: bool) -> None:
        """Let the screen rotate by itself, or keep it as it is now; a switch does this."""
        if on:
            self._phone.settings.put("system", "accelerometer_rotation", "1")
        else:
            self.lock(self.quarters)

    def freed(self) -> None:
        """Begin to rotate by itself: as the screen is, until a hand holds the device."""
        self._phone.state_record.turned = self._locked_at
        self._follow_hand()

    def _follow_hand(self) -> None:
        record = self._phone.state_record
        if record.held in (0, 1, 3):
            record.turned = record.held
