"""Which boot a phone is in and which versions its apps have: what tells that something changed.

Not a watch: it is asked once at a time. Sources: Linux's `/proc/sys/kernel/random/boot_id`, made
anew at each boot, and `pm list packages --show-versioncode` (Android 8). Invariant: what cannot be
read is unknown, with the reason, and is no change.
"""

import re
from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from agent.devices.facts.fact import Fact, Unknown, known
from agent.devices.facts.packages import packages_command, read_version_codes
from agent.devices.facts.users import first_words
from agent.records.record import Record

COMMAND = f"cat /proc/sys/kernel/random/boot_id 2>&1; {packages_command(versions=True)}"
_BOOT_ID = re.compile(r"^\s*([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\s*$", re.I | re.M)


class PhoneVersions(Record, frozen=True, kw_only=True):
    """One phone at one moment."""

    boot_id: Fact[str]
    packages: Fact[Mapping[str, int]]
    """The version code of each package of the current user."""


@runtime_checkable
class TellsVersions(Protocol):
    """A device that can say which boot it is in and which versions its apps have."""

    async def versions(self, *, timeout_s: float = 10.0) -> PhoneVersions:
        """Ask it. Raises DeviceError."""


def read_versions(text: str) -> PhoneVersions:
    """Read what COMMAND printed."""
    boot = _BOOT_ID.search(text)
    return PhoneVersions(
        boot_id=(
            known(boot[1].lower(), boot[0])
            if boot
            else Unknown(reason=f"the phone's boot cannot be read: {first_words(text)}")
        ),
        packages=read_version_codes(text),
    )
