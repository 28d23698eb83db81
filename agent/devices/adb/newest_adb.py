"""Choose between the adb of the system and the one that came with us: the newest serves best.

An old adb works, and lacks things: Debian's 29.0.6 words refusals of pairing otherwise and forgets
a phone that restarts. Invariant: the system's is taken unless ours is known to be newer, for what
cannot be compared is the operator's choice.
"""

import re
import subprocess
from functools import lru_cache
from pathlib import Path

_VERSION = re.compile(rb"^Version (\d+)\.(\d+)\.(\d+)", re.MULTILINE)
_TIMEOUT_S = 10.0

Version = tuple[int, int, int]
FIRST_WHOLE: Version = (30, 0, 0)


def newest(on_path: Path, bundled: Path | None) -> Path:
    """Return the newer of two binaries; the first where they are alike or cannot be compared."""
    if bundled is None or bundled == on_path:
        return on_path
    theirs, ours = version_of(on_path), version_of(bundled)
    return bundled if theirs is not None and ours is not None and ours > theirs else on_path


def version_of(adb: Path) -> Version | None:
    """Ask a binary for its platform-tools version; None where it does not tell."""
    try:
        return _version_of(adb, adb.stat().st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=16)
def _version_of(adb: Path, _changed_ns: int) -> Version | None:
    try:
        said = subprocess.run(
            [adb, "version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_TIMEOUT_S,
            check=False,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _read(said)


def what_it_lacks(said: bytes) -> str:
    """Return what an adb cannot do, by what it said of its version; empty when it lacks nothing.

    Pairing came with platform-tools 30; Debian's 29.0.6 was tried with all of the device tests.
    """
    version = _read(said)
    if version is None or version >= FIRST_WHOLE:
        return ""
    return (
        "it is too old to pair phones over Wi-Fi, and may forget a wireless phone that restarts; "
        "everything else works"
    )


def _read(said: bytes) -> Version | None:
    found = _VERSION.search(said)
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]))
