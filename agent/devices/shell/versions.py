"""Which boot a phone is in and which versions its apps have: what tells that something changed.

Not a watch: it is asked once at a time. Sources: Linux's `/proc/sys/kernel/random/boot_id`, made
anew at each boot, and `pm list packages --show-versioncode` (Android 8, PackageManagerShellCommand;
before that it lists the packages without versions). Invariant: what cannot be read is left out,
never guessed.
"""

import re
from collections.abc import Mapping

from agent.records.record import Record

COMMAND = "cat /proc/sys/kernel/random/boot_id; pm list packages --show-versioncode 2>/dev/null"
_BOOT_ID = re.compile(r"\A\s*([0-9a-f-]{36})\s", re.IGNORECASE)
_PACKAGE = re.compile(r"^package:([\w.]{1,255}) versionCode:(\d{1,18})", re.MULTILINE)
MOST_PACKAGES = 5000


class PhoneVersions(Record, frozen=True, kw_only=True):
    """One phone at one moment."""

    boot_id: str = ""
    packages: Mapping[str, int] = {}  # The version code of each installed package.


def read_versions(text: str) -> PhoneVersions:
    """Read what COMMAND printed; empty parts for what is not there."""
    boot = _BOOT_ID.match(text)
    found = {m[1]: int(m[2]) for m in list(_PACKAGE.finditer(text))[:MOST_PACKAGES]}
    return PhoneVersions(boot_id=boot[1].lower() if boot else "", packages=found)
