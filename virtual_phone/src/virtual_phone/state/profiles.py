"""What kinds of phone there are: their screens, and what their properties say.

Facts only. Invariant: a profile has at least one screen, and the first is the one it starts with.
"""

from dataclasses import dataclass

from virtual_phone.errors import PhoneError


@dataclass(frozen=True, slots=True)
class Posture:
    """One way to hold a device, and the screen it has then: pixels and dots per inch."""

    name: str
    width: int
    height: int
    density: int


@dataclass(frozen=True, slots=True)
class Profile:
    """One kind of device."""

    name: str
    model: str
    postures: tuple[Posture, ...]
    characteristics: str = "nosdcard"


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("phone", "Virtual Phone", (Posture("DEFAULT", 1080, 2400, 420),)),
        Profile("small", "Virtual Small", (Posture("DEFAULT", 720, 1280, 320),)),
        Profile("tablet", "Virtual Tablet", (Posture("DEFAULT", 1600, 2560, 320),), "tablet"),
        Profile(
            "foldable",
            "Virtual Fold",
            (Posture("CLOSED", 1080, 2092, 420), Posture("OPENED", 1840, 2208, 420)),
        ),
    )
}
DEFAULT_PROFILE = "phone"


def profile_of(name: str) -> Profile:
    """Return a profile by its name.

    Raises:
        PhoneError: there is none of that name.
    """
    try:
        return PROFILES[name]
    except KeyError:
        raise PhoneError(
            f"There is no kind of phone {name!r}.", f"Choose from: {', '.join(PROFILES)}."
        ) from None
