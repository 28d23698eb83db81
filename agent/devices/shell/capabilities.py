"""What a phone has that work may need: Android's level, language, packages and their versions.

`pm list packages` and the line `versionName=` of `dumpsys package NAME` (PackageManagerService,
`Settings.dumpPackageLPr`); of an app that was updated the newer one comes first. Invariant: what
the phone does not say is unknown, with its answer; a list that failed is never an empty one.
"""

import re
from collections.abc import Collection, Mapping

from agent.devices.facts.fact import Fact, Known, Unknown, known
from agent.devices.facts.packages import packages_command, read_packages
from agent.devices.facts.users import first_words
from agent.records.record import Record
from agent.text import one_line

MOST_VERSIONS = 40
NOT_ASKED = Unknown(reason="it was not asked")
_MARK = "switchboard-capability"
_NAME = re.compile(r"[A-Za-z]\w*(\.\w+)+", re.ASCII)
_VERSION = re.compile(r"^\s*versionName=(.{1,200}?)\s*$", re.MULTILINE)
_SDK = re.compile(r"^\s*(\d{1,4})\s*$", re.MULTILINE)
_LOCALE = re.compile(r"^\s*([A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3})-?\s*$", re.MULTILINE)
_HEADING = re.compile(rf"^@{_MARK} (\S+)\r*$", re.MULTILINE)


class Capabilities(Record, frozen=True, kw_only=True):
    """One phone at one moment."""

    sdk: Fact[int] = NOT_ASKED
    locale: Fact[str] = NOT_ASKED
    packages: Fact[frozenset[str]] = NOT_ASKED
    """Those of the current user."""
    versions: Mapping[str, Fact[str]] = {}
    """The version's name of each package that was asked for and is there; foreign text."""


def is_package(name: str) -> bool:
    """Return whether a name is a package's, as far as its letters tell."""
    return _NAME.fullmatch(name) is not None


def capabilities_command(packages: Collection[str]) -> str:
    """Return the shell command that asks a phone; names that are no package's are left out."""
    asked = [name for name in packages if is_package(name)][:MOST_VERSIONS]
    return "; ".join(
        (
            f"echo '@{_MARK} sdk'; getprop ro.build.version.sdk 2>&1",
            # The second is Android 5's and older, in two parts.
            f"echo '@{_MARK} locale'; getprop persist.sys.locale 2>&1; "
            'echo "$(getprop persist.sys.language)-$(getprop persist.sys.country)"; '
            "getprop ro.product.locale",
            f"echo '@{_MARK} packages'; {packages_command()}",
            *(
                f"echo '@{_MARK} {name}'; dumpsys package {name} 2>&1 | grep versionName="
                for name in asked
            ),
        )
    )


def read_capabilities(text: str) -> Capabilities:
    """Read what the command printed."""
    said: dict[str, str] = {}
    headings = list(_HEADING.finditer(text))
    ends = [*(one.start() for one in headings[1:]), len(text)][: len(headings)]
    for heading, end in zip(headings, ends, strict=True):
        said.setdefault(heading[1], text[heading.end() : end])
    sdk, locale = said.pop("sdk", ""), said.pop("locale", "")
    packages = read_packages(said.pop("packages", ""))
    there = packages.value if isinstance(packages, Known) else frozenset(said)
    level = _read(_SDK, sdk, "its level")
    return Capabilities(
        sdk=level.map(int) if isinstance(level, Known) else level,
        locale=_read(_LOCALE, locale, "its language"),
        packages=packages,
        versions={
            name: _read(_VERSION, its, f"the version of {name}")
            for name, its in said.items()
            if name in there
        },
    )


def _read(pattern: re.Pattern[str], text: str, what: str) -> Fact[str]:
    found = pattern.search(text)
    if found is None:
        return Unknown(reason=f"asked for {what}, it answered: {first_words(text)}")
    return known(one_line(found[1], 80).strip(), found[0])
