"""The Android versions that a phone can have: how each is named, and what each can do.

Facts only. Invariant: a difference between versions is a row here or a line in `lines`, never a
condition in a command.
"""

from dataclasses import dataclass
from functools import cached_property

from virtual_phone.errors import PhoneError

SINCE = {
    # NotificationShellCmd has `list` and `get` since Android 11; before, only `post` and settings.
    "notification_list": 11,
    # DumpCommand of uiautomator: `--windows`; before, what it does not know is ignored.
    "dump_windows": 11,
    # Input.java: `-d DISPLAY` and `motionevent`; CANCEL with InputShellCommand.
    "input_display": 10,
    "input_cancel": 12,
    # PackageManagerShellCommand.runListPackages: every user where none is named.
    "lists_all_users": 13,
    # screencap.cpp: "[Warning] Multiple displays were found", and a first display by chance.
    "screencap_warns": 14,
    # DisplayManager: a virtual display can keep a focus of its own (FLAG_OWN_FOCUS).
    "own_focus": 14,
    # build/make's buildinfo.sh, Android 11.
    "release_or_codename": 11,
    # ANR: before 15 the dump of that moment is kept whole (saveANRStateLocked).
    "short_anr": 15,
}
"""The version that first did something, by name; sources beside each."""


@dataclass(frozen=True)
class Android:
    """One version; what `getprop` says of a Google build of it."""

    number: int
    sdk: int
    build_id: str
    incremental: str
    security_patch: str
    built: str
    built_s: int

    def can(self, what: str) -> bool:
        """Return whether this version does something that `SINCE` names."""
        return self.number >= SINCE[what]

    @cached_property
    def release(self) -> str:
        return str(self.number)


VERSIONS = {
    one.number: one
    for one in (
        Android(
            *(9, 28, "PQ3A.190801.002", "5670241", "2019-08-01"),
            *("Mon Jun 24 21:39:35 UTC 2019", 1_561_412_375),
        ),
        Android(
            *(11, 30, "RQ3A.211001.001", "7641976", "2021-10-01"),
            *("Fri Aug 13 20:35:19 UTC 2021", 1_628_886_919),
        ),
        Android(
            *(13, 33, "TQ3A.230901.001", "10750268", "2023-09-01"),
            *("Mon Aug 28 19:24:17 UTC 2023", 1_693_250_657),
        ),
        Android(
            *(14, 34, "UP1A.231005.007", "11207342", "2023-10-05"),
            *("Thu Oct  5 08:12:31 UTC 2023", 1_696_493_551),
        ),
        Android(
            *(16, 36, "BP2A.250605.031", "13578606", "2025-06-05"),
            *("Fri May 23 02:10:40 UTC 2025", 1_747_966_240),
        ),
    )
}
DEFAULT = VERSIONS[14]


def android_of(number: int) -> Android:
    """Return a version by its number.

    Raises:
        PhoneError: phones of that version cannot be made.
    """
    try:
        return VERSIONS[number]
    except KeyError:
        known = ", ".join(str(one) for one in VERSIONS)
        raise PhoneError(
            f"There is no virtual phone with Android {number}.", f"Choose from: {known}."
        ) from None
