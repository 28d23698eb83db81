"""What kind of device a phone is, which Android it has, and how it is folded.

Invariant: the properties name the kind that the display shows.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from virtual_phone.android.layout import Block, layout
from virtual_phone.android.version import Android, android_of
from virtual_phone.errors import PhoneError
from virtual_phone.state.profiles import Posture, Profile, profile_of
from virtual_phone.state.properties import build_properties

if TYPE_CHECKING:
    from virtual_phone.phone import Phone


class FormFactor:
    """The profile, the version and the posture of one phone.

    Args:
        phone: the device.
        profile: the name of its kind; what its record says where None.
        android: its version; what its record says, or its kind has, where None.
    """

    def __init__(self, phone: "Phone", profile: str | None, android: int | None) -> None:
        self._phone = phone
        self._profile = profile
        self._android = android
        self._printed = (("", 0), 0, "")
        """The kind and version that the record said, and the number and maker of their lines."""

    @property
    def profile(self) -> Profile:
        """What kind of device it is."""
        return profile_of(self._profile or self._phone.state_record.profile)

    @property
    def android(self) -> Android:
        """Which version it has."""
        record = self._phone.state_record
        kept = record.android if self._profile in (None, record.profile) else 0
        return android_of(self._android or kept or self.profile.android)

    def lines(self, table: str) -> Mapping[str, Block]:
        """Return the lines that this version and maker print, by block."""
        record = self._phone.state_record
        kind = (record.profile, record.android)
        if kind != self._printed[0]:
            self._printed = (kind, self.android.number, self.profile.maker)
        return layout(table, *self._printed[1:])

    @property
    def posture(self) -> Posture:
        """How the device is folded, and so which screen it has."""
        postures = self.profile.screens
        return postures[min(self._phone.state_record.posture, len(postures) - 1)]

    def fold(self, number: int) -> None:
        """Fold or unfold the device: apps stay and are laid out for the other screen.

        Raises:
            PhoneError: it has no such posture.
        """
        if not 0 <= number < len(self.profile.screens):
            raise PhoneError(
                f"A {self.profile.name} has no posture {number}.",
                "See cmd device_state print-states.",
            )
        self._phone.state_record.posture = number
        now = self.posture
        self._phone.displays.resize(width=now.width, height=now.height, density=now.density)
        self._phone.animations.begin()

    def apply(self) -> None:
        """Be of this kind and version from now on, whatever the record said."""
        record = self._phone.state_record
        if self._profile is not None and record.profile != self._profile:
            record.android = 0
            record.profile = self._profile
            self._phone.displays.begin(self.profile)
            self.fold(0)
        if self._android is not None:
            record.android = self._android
        self._phone.refuses_injection = not self.profile.injects
        self._phone.properties.set_base(build_properties(self.profile, self.android))
