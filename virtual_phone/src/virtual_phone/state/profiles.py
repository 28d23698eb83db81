"""What kinds of phone there are: version, maker, screens, users and other facts, from data files.

A kind is a file in `virtual_phone/profiles`, named after it. Not how a version prints
(`virtual_phone.android`). Invariants: a profile has at least one screen, and the first is the one
it starts with; user 0 is its owner.
"""

from functools import lru_cache
from importlib.resources import files
from typing import Literal

import msgspec

from virtual_phone.android.version import DEFAULT, Android, android_of
from virtual_phone.errors import PhoneError

DEFAULT_PROFILE = "phone"
LAUNCHER = "android.intent.category.LAUNCHER"


class Posture(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One way to hold a device, and the screen it has then: pixels and dots per inch."""

    name: str
    width: int
    height: int
    density: int


class FurtherDisplay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A display beside the first: a cover, a cluster, a screen that is plugged in."""

    id: int
    name: str
    width: int
    height: int
    density: int
    type: Literal["INTERNAL", "EXTERNAL"] = "INTERNAL"
    home: str = ""  # The component that stands there where no app was started.
    locked: bool = False  # Whether its own keyguard is shown.


class User(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A user or profile of the phone; the flags are those of `UserInfo`, in hex."""

    id: int
    name: str
    flags: str
    type: str
    shell: bool = True  # Whether adb's shell may look at it.
    packages: tuple[str, ...] = ()  # Installed there, and for its owner where they are built in.


OWNER = User(0, "Owner", "4c13", "full.SYSTEM")


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of device."""

    summary: str
    model: str
    screens: tuple[Posture, ...]
    name: str = ""
    maker: str = "aosp"  # Whose overlay prints its lines: `MAKER` in the tables of lines.
    brand: str = "virtual"
    manufacturer: str = "Virtual"
    android: int = DEFAULT.number
    characteristics: str = "nosdcard"
    properties: dict[str, str] = {}
    displays: tuple[FurtherDisplay, ...] = ()
    users: tuple[User, ...] = (OWNER,)
    injects: bool = True  # Whether the system lets adb's shell inject touches and keys.
    launcher_category: str = LAUNCHER
    touchscreen: bool = True
    system_keys: bool = True  # Home, back and the like as physical keys of some input device.
    battery: Literal["usb", "ac"] = "usb"  # What powers it while it charges.
    charging: bool = False
    features: tuple[str, ...] = ()
    without_features: tuple[str, ...] = ()

    @property
    def version(self) -> Android:
        return android_of(self.android)

    def further(self, display: int) -> FurtherDisplay | None:
        """Return what it says of a display beside the first."""
        return next((one for one in self.displays if one.id == display), None)


def profile_names() -> tuple[str, ...]:
    """Return the names of every kind of phone, the default one first."""
    folder = files("virtual_phone") / "profiles"
    found = sorted(one.name.removesuffix(".toml") for one in folder.iterdir())
    names = [name for name in found if not name.startswith(("_", DEFAULT_PROFILE + "."))]
    return (DEFAULT_PROFILE, *(name for name in names if name != DEFAULT_PROFILE))


@lru_cache(maxsize=64)
def profile_of(name: str) -> Profile:
    """Return a profile by its name.

    Raises:
        PhoneError: there is none of that name.
    """
    if name not in profile_names():
        raise PhoneError(
            f"There is no kind of phone {name!r}.", f"Choose from: {', '.join(profile_names())}."
        )
    text = (files("virtual_phone") / "profiles" / f"{name}.toml").read_text(encoding="utf-8")
    found = msgspec.toml.decode(text, type=Profile)
    return msgspec.structs.replace(found, name=name)
