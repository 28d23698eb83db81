"""What kind of device a phone is, and how it is folded.

Invariant: the properties name the kind that the display shows.
"""

from typing import TYPE_CHECKING

from virtual_phone.errors import PhoneError
from virtual_phone.state.profiles import Posture, Profile, profile_of

if TYPE_CHECKING:
    from virtual_phone.phone import Phone


class FormFactor:
    """The profile and posture of one phone.

    Args:
        phone: the device.
        profile: the name of its kind; what its record says where None.
    """

    def __init__(self, phone: "Phone", profile: str | None) -> None:
        self._phone = phone
        self._profile = profile

    @property
    def profile(self) -> Profile:
        """What kind of device it is."""
        return profile_of(self._profile or self._phone.state_record.profile)

    @property
    def posture(self) -> Posture:
        """How the device is folded, and so which screen it has."""
        postures = self.profile.postures
        return postures[min(self._phone.state_record.posture, len(postures) - 1)]

    def fold(self, number: int) -> None:
        """Fold or unfold the device: apps stay and are laid out for the other screen.

        Raises:
            PhoneError: it has no such posture.
        """
        if not 0 <= number < len(self.profile.postures):
            raise PhoneError(
                f"A {self.profile.name} has no posture {number}.",
                "See cmd device_state print-states.",
            )
        self._phone.state_record.posture = number
        now = self.posture
        self._phone.displays.resize(width=now.width, height=now.height, density=now.density)
        self._phone.animations.begin()

    def apply(self) -> None:
        """Be of this kind from now on, whatever the record said."""
        if self._profile is not None and self._phone.state_record.profile != self._profile:
            self._phone.state_record.profile = self._profile
            self.fold(0)
        kind = self.profile
        screen = kind.postures[0]
        self._phone.properties.set_base(
            {
                "ro.product.model": kind.model,
                "ro.product.system.model": kind.model,
                "ro.product.vendor.model": kind.model,
                "ro.build.characteristics": kind.characteristics,
                "ro.sf.lcd_density": str(screen.density),
                "ro.virtual_phone.display": f"{screen.width}x{screen.height}",
            }
        )
