"""What a phone has that work may need: Android's level, language, packages and their versions.

`pm list packages` and the line `versionName=` of `dumpsys package NAME` (PackageManagerService,
`Settings.dumpPackageLPr`); of an app that was updated the newer one comes first. Invariant: what
the phone does not say is left out, never guessed.
"""

import re
from collections.abc import Collection, Mapping

from agent.records.record import Record
from agent.text import one_line

MOST_PACKAGES = 5000
MOST_VERSIONS = 40
_MARK = "switchboard-capability"
_NAME = re.compile(r"[A-Za-z]\w*(\.\w+)+", re.ASCII)
_PACKAGE = re.compile(r"package:([\w.]{1,255})", re.ASCII)
_VERSION = re.compile(r"\s*versionName=(.{1,200})")


class Capabilities(Record, frozen=True, kw_only=True):
    """One phone at one moment."""

    sdk: int = 0
    locale: str = ""
    packages: frozenset[str] = frozenset()
    versions: Mapping[str, str] = {}
    """The version's name of each package that was asked for and is there; foreign text."""


def is_package(name: str) -> bool:
    """Return whether a name is a package's, as far as its letters tell."""
    return _NAME.fullmatch(name) is not None


def capabilities_command(packages: Collection[str]) -> str:
    """Return the shell command that asks a phone; names that are no package's are left out."""
    asked = [name for name in packages if is_package(name)][:MOST_VERSIONS]
    return "; ".join(
        (
            f"echo '@{_MARK} sdk'; getprop ro.build.version.sdk",
            f"echo '@{_MARK} locale'; getprop persist.sys.locale; getprop ro.product.locale",
            f"echo '@{_MARK} packages'; pm list packages 2>/dev/null",
            *(
                f"echo '@{_MARK} {name}'; dumpsys package {name} | grep versionName="
                for name in asked
            ),
        )
    )


def read_capabilities(text: str) -> Capabilities:
    """Read what the command printed."""
    said: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        mark, _, name = line.strip().partition(" ")
        if mark == f"@{_MARK}" and name not in said:
            lines = said[name] = []
        elif line.strip():
            lines.append(line)
    sdk = next(iter(said.pop("sdk", [])), "").strip()
    locale = next(iter(said.pop("locale", [])), "").strip()
    found = (_PACKAGE.fullmatch(line.strip()) for line in said.pop("packages", []))
    packages = frozenset([one[1] for one in found if one][:MOST_PACKAGES])
    versions = {
        name: one_line(match[1], 80).strip()
        for name, its in said.items()
        if its and name in packages and (match := _VERSION.match(its[0]))
    }
    return Capabilities(
        sdk=int(sdk) if sdk.isascii() and sdk.isdigit() and len(sdk) < 5 else 0,
        locale=one_line(locale, 40),
        packages=packages,
        versions=versions,
    )
