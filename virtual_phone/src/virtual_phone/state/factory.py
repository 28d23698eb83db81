"""What a new phone holds, made once for all phones of one seed and minute, and shared by them.

A phone takes an app's state out of here when somebody first looks at it (`AppData.of`), so a
thousand phones cost what they changed. Invariant: what is shared is bytes, so no phone can change
another's.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import msgspec

from virtual_phone.app import Seed
from virtual_phone.apps import all_apps
from virtual_phone.display.displays import displays_of
from virtual_phone.packages.installed import PackageInfo
from virtual_phone.state.profiles import profile_of
from virtual_phone.state.records import PhoneState

FIRST_UID = 10_040
MINUTE_S = 60.0


@dataclass(frozen=True, slots=True)
class Factory:
    """A new phone: its record without apps, and the apps' states, all as JSON."""

    record: bytes
    apps: Mapping[str, bytes]


def seed_for(seed: int, package: str, now: float) -> Seed:
    """Return what an app of a phone with a seed makes its first state from."""
    return Seed(random.Random(f"{seed}/{package}"), now)


def whole_minute(now: float) -> float:
    """Return the minute of a time, so that phones made together share their first state."""
    return now // MINUTE_S * MINUTE_S


@lru_cache(maxsize=8)
def factory(seed: int, born: float, profile: str) -> Factory:
    """Return the new phone of a seed that was made at a time (seconds since the epoch)."""
    seeded = {p: (app, app.seed(seed_for(seed, p, born))) for p, app in all_apps().items()}
    record = PhoneState(
        born=born,
        profile=profile,
        battery_charging=profile_of(profile).charging,
        notices=[
            notice
            for app, data in seeded.values()
            if app.first_notices is not None
            for notice in app.first_notices(data)
        ],
        displays=displays_of(profile_of(profile)),
    )
    states = {package: msgspec.json.encode(data) for package, (_, data) in seeded.items()}
    return Factory(msgspec.json.encode(record), MappingProxyType(states))


_ADB_KEYBOARD = PackageInfo(
    package="com.android.adbkeyboard",
    label="ADB Keyboard",
    version_name="2.4",
    version_code=24,
    path="/system/app/AdbKeyboard/AdbKeyboard.apk",
    uid=FIRST_UID - 1,
)
"""An input method that types what adb broadcasts: there for text that no key writes, as on a phone
that was prepared for automation, and not in use until somebody chooses it."""


@lru_cache(maxsize=1)
def built_in() -> tuple[PackageInfo, ...]:
    apps = tuple(app.info(FIRST_UID + i) for i, app in enumerate(all_apps().values()))
    return (*apps, _ADB_KEYBOARD)
