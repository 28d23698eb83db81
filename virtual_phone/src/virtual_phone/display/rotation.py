"""How the default display is turned: by the setting while it is locked, by a hand while it is free.

Not what is drawn. Invariant: freeing the screen turns nothing by itself where the device lies flat.
"""

from __future__ import annotations

from virtual_phone.errors import PhoneError
from virtual_phone.state.records import PhoneState
from virtual_phone.state.settings_provider import SettingsTable


class Turning:
    """Turn the device and its screen."""

    name: str
    settings: SettingsTable
    state_record: PhoneState

    def invalidate(self) -> None:
        """Note a change."""
        raise NotImplementedError

    def _transition(self) -> None:
        raise NotImplementedError

    @property
    def rotation(self) -> int:
        """How the default display is turned, in quarter turns."""
        if self.settings.flag("system", "accelerometer_rotation"):
            return self.state_record.turned
        return int(self.settings.number("system", "user_rotation", 0)) % 4

    def turn(self, quarters: int) -> None:
        """Turn the device as a hand does; the screen follows if it rotates by itself.

        Upside down turns no screen, as phones have it (config_allowAllRotations).

        Raises:
            PhoneError: that is no quarter turn.
        """
        if quarters not in range(4):
            raise PhoneError(
                f"The phone {self.name} cannot be held at {quarters} quarter turns.",
                "Turn it by 0, 90, 180 or 270 degrees.",
            )
        before = self.rotation
        self.state_record.held = quarters
        self._follow_hand()
        if self.rotation != before:
            self._transition()
        self.invalidate()

    def lock_rotation(self, quarters: int, *, stays: bool = True) -> None:
        """Turn the screen whatever a hand does.

        Args:
            stays: whether it is locked from now on; else it rotates by itself if it did.
        """
        free = self.settings.flag("system", "accelerometer_rotation")
        self.settings.put("system", "user_rotation", str(quarters % 4))
        self.settings.put("system", "accelerometer_rotation", "0")
        if free and not stays:
            self.settings.put("system", "accelerometer_rotation", "1")

    def set_auto_rotate(self, on: bool) -> None:
        """Let the screen rotate by itself, or keep it as it is now; a switch does this."""
        if on:
            self.settings.put("system", "accelerometer_rotation", "1")
        else:
            self.lock_rotation(self.rotation)

    def _follow_hand(self) -> None:
        if self.state_record.held in (0, 1, 3):
            self.state_record.turned = self.state_record.held

    def _freed(self) -> None:
        """Begin to rotate by itself: as the screen is, until a hand holds the device."""
        self.state_record.turned = int(self.settings.number("system", "user_rotation", 0)) % 4
        self._follow_hand()
