"""The packages of a phone's current user, their versions, and the apps that can be started.

Formats: `pm list packages` prints `package:NAME[ versionCode:N][ uid:N]`, with `-f`
`package:PATH=NAME` (PackageManagerShellCommand). Without `--user` it lists user 0 up to Android 12,
and the union of all users since 13, which fails where one of them is closed to the shell: a secure
folder, a work profile, a second space. So the user is named. `cmd package query-activities
--brief` prints `N activities found:` and a component on an indented line of each.

Invariant: a list that failed, ended early or was not asked for is unknown; it is never "no apps".
"""

import re
from collections.abc import Mapping

from agent.devices.facts.dump_text import lines_of
from agent.devices.facts.fact import Fact, Known, Unknown, known
from agent.devices.facts.users import first_words, read_current_user, read_unlocked
from agent.records.record import Record

MOST_PACKAGES = 20_000
_MARK = "switchboard-packages"
_USER = 'u=$(am get-current-user 2>/dev/null); case "$u" in ""|*[!0-9]*) u=;; esac'
_LIST = 'pm list packages{options} ${{u:+--user $u}} 2>&1; echo "@{mark} end $?"'
_APP_CATEGORIES = ("LAUNCHER", "LEANBACK_LAUNCHER", "CAR_LAUNCHER", "CAR_MODE")
"""What launchers show apps by, on phones, televisions and in cars (android.content.Intent)."""
_PACKAGE = re.compile(r"\s*package:(?:\S+=)?(\w+(?:\.\w+)*)((?:\s+\w+:\S*)*)\s*", re.ASCII)
_BROKEN = re.compile(r"\s*(?:package:|(?:p?a?c?k?a?g?e)?:[\w.]+$)", re.ASCII)
"""A package whose line another program broke into, or the rest of such a line."""
_CODE = re.compile(r"\bversionCode:(\d{1,18})\b")
_FAILED = re.compile(r"\b(?:\w*Exception|Error|Failure|Failed transaction|Killed)\b")
_COMPONENT = re.compile(r"\s*(android|[A-Za-z]\w{0,99}(?:\.\w{1,99})+)/[\w.$]{1,255}\s*", re.ASCII)
_COUNT = re.compile(r"^\s*(\d{1,6}) activit(?:y|ies) found:", re.MULTILINE)
_NONE_FOUND = re.compile(r"^\s*No activit(?:y|ies) found", re.MULTILINE)
_HEADING = re.compile(rf"^@{_MARK} (\w+)(?: (-?\d+))?\r*$", re.MULTILINE)


class Launchable(Record, frozen=True, kw_only=True):
    """What a phone said of the apps that can be started."""

    user: Fact[int]
    unlocked: Fact[bool]
    packages: Fact[frozenset[str]]


def packages_command(*, versions: bool = False) -> str:
    """Return the command that lists the packages of the current user."""
    options = " --show-versioncode" if versions else ""
    asked = _LIST.format(options=options, mark=_MARK)
    return f'({_USER}; echo "@{_MARK} user"; echo "$u"; echo \'@{_MARK} list\'; {asked})'


def launchable_command() -> str:
    """Return the command that asks for the apps that can be started."""
    asked = "; ".join(
        f"echo '@{_MARK} category'; cmd package query-activities --brief "
        f"-a android.intent.action.MAIN -c android.intent.category.{name} 2>&1"
        for name in _APP_CATEGORIES
    )
    return (
        f'({_USER}; echo "@{_MARK} user"; echo "$u"; '
        f"echo '@{_MARK} state'; am get-started-user-state \"${{u:-0}}\" 2>&1; {asked}; "
        f"echo '@{_MARK} end 0')"
    )


def read_packages(text: str) -> Fact[frozenset[str]]:
    """Read the packages that `packages_command`, or `pm list packages` itself, printed."""
    found = _read_list(text)
    return found.map(frozenset) if isinstance(found, Known) else found


def read_version_codes(text: str) -> Fact[Mapping[str, int]]:
    """Read the version of each package that `packages_command(versions=True)` printed."""
    found = _read_list(text)
    if isinstance(found, Unknown):
        return found
    codes = {
        name: int(code[1]) for name, more in found.value.items() if (code := _CODE.search(more))
    }
    if not codes:
        return Unknown(reason="it lists packages without versions, as Android 7 and older do")
    return Known(value=codes, line=found.line)


def read_user(text: str) -> Fact[int]:
    """Read whose packages were listed."""
    parts = _parts(text)
    if "list" not in parts:
        return Unknown(reason="the answer was cut off")
    return read_current_user(parts.get("user", ("", ""))[0])


def read_launchable(text: str) -> Launchable:
    """Read what `launchable_command` printed."""
    packages: set[str] = set()
    failures: list[str] = []
    answers = [body for name, _, body in _sections(text) if name == "category"]
    for body in answers:
        components = [found[1] for line in lines_of(body) if (found := _COMPONENT.fullmatch(line))]
        packages.update(components)
        count = _COUNT.search(body)
        if len(components) != (int(count[1]) if count else 0) or not (
            count or _NONE_FOUND.search(body)
        ):
            failures.append(first_words(body))
    parts = _parts(text)
    said: Fact[frozenset[str]]
    if "end" not in parts or failures or not answers:
        why = failures[0] if failures else "nothing"
        said = Unknown(reason=f"`cmd package query-activities` answered: {why}")
    else:
        said = known(frozenset(packages), f"{len(packages)} packages with an activity to start")
    return Launchable(
        user=read_current_user(parts.get("user", ("", ""))[0]),
        unlocked=read_unlocked(parts.get("state", ("", ""))[0]),
        packages=said,
    )


def _read_list(text: str) -> Fact[dict[str, str]]:
    parts = _parts(text)
    body = parts["list"][0] if "list" in parts else text
    found: dict[str, str] = {}
    first = ""
    lines = lines_of(body)
    for at, line in enumerate(lines):
        if match := _PACKAGE.fullmatch(line):
            found.setdefault(match[1], match[2])
            first = first or line
        elif _BROKEN.match(line):
            return Unknown(reason=f"`pm list packages` printed a broken line: {first_words(line)}")
        elif _FAILED.search(line):
            # The exception itself may stand below the line that says that there was one.
            why = next((one for one in lines[at : at + 4] if "Exception:" in one), line)
            return Unknown(reason=f"`pm list packages` answered: {first_words(why)}")
    if "list" in parts and parts.get("end", ("", ""))[1] != "0":
        return Unknown(reason=f"`pm list packages` ended early: {first_words(body)}")
    if not found:
        return Unknown(reason=f"`pm list packages` answered: {first_words(body)}")
    if len(found) > MOST_PACKAGES:
        return Unknown(reason=f"it lists more than {MOST_PACKAGES} packages")
    return known(found, first)


def _sections(text: str) -> list[tuple[str, str, str]]:
    """Divide an answer at its headings: the name, the number behind it, what follows."""
    headings = list(_HEADING.finditer(text))
    ends = [*(one.start() for one in headings[1:]), len(text)][: len(headings)]
    return [
        (one[1], one[2] or "", text[one.end() : end])
        for one, end in zip(headings, ends, strict=True)
    ]


def _parts(text: str) -> dict[str, tuple[str, str]]:
    parts: dict[str, tuple[str, str]] = {}
    for name, number, body in _sections(text):
        parts.setdefault(name, (body, number))
    return parts
