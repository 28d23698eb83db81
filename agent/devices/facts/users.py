"""The users and profiles of a phone, and which of them its screen belongs to.

Formats: `pm list users` prints `Users:` and a line `UserInfo{ID:NAME:FLAGS} running` for each
(UserInfo.toString and UserManagerService, AOSP 5 to 16; a comment there promises the format);
`am get-current-user` prints the number alone, `am get-started-user-state N` RUNNING_LOCKED or
RUNNING_UNLOCKED (ActivityManagerShellCommand). A work profile, a secure folder and a second space
are users of their own, with apps that the shell may not list.
"""

import re

from agent.devices.facts.dump_text import lines_of
from agent.devices.facts.fact import Fact, Unknown, known
from agent.records.record import Record
from agent.text import one_line

USERS = "pm list users 2>&1"
CURRENT_USER = "am get-current-user 2>&1"
_NUMBER = re.compile(r"\s*(\d{1,6})\s*")
_USER = re.compile(r"\s*(?:\d{1,3}: )?UserInfo\{(\d{1,6}):(.*):([0-9a-fA-F]{1,8})\}(.*)")
_STATE = re.compile(r"\s*(RUNNING_LOCKED|RUNNING_UNLOCKED|RUNNING_UNLOCKING)\s*")
_MANAGED_PROFILE, _PROFILE = 0x20, 0x1000
_LINES = 500


class PhoneUser(Record, frozen=True, kw_only=True):
    """One user or profile."""

    number: int
    name: str
    is_profile: bool
    """Whether it belongs to another user: a work profile, apps that are there twice."""
    is_running: bool


def read_users(text: str) -> Fact[tuple[PhoneUser, ...]]:
    """Read what USERS printed."""
    lines = lines_of(text)[:_LINES]
    found = [match for line in lines if (match := _USER.fullmatch(line))]
    if not found:
        return Unknown(reason=f"`pm list users` answered: {first_words(text)}")
    users = (
        PhoneUser(
            number=int(match[1]),
            name=one_line(match[2], 80),
            is_profile=bool(int(match[3], 16) & (_MANAGED_PROFILE | _PROFILE)),
            is_running="running" in match[4],
        )
        for match in found
    )
    return known(tuple(users), found[0][0])


def read_current_user(text: str) -> Fact[int]:
    """Read what CURRENT_USER printed."""
    found = next((f for line in lines_of(text)[:_LINES] if (f := _NUMBER.fullmatch(line))), None)
    if found is None:
        return Unknown(reason=f"`am get-current-user` answered: {first_words(text)}")
    return known(int(found[1]), found[0])


def read_unlocked(text: str) -> Fact[bool]:
    """Read whether a user was unlocked since the boot; until then most apps cannot be found."""
    found = next((f for line in lines_of(text)[:_LINES] if (f := _STATE.fullmatch(line))), None)
    if found is None:
        return Unknown(reason=f"`am get-started-user-state` answered: {first_words(text)}")
    return known(found[1] == "RUNNING_UNLOCKED", found[0])


def first_words(text: str) -> str:
    """Return the first line of an answer that says anything, for a reason."""
    said = next((line for line in lines_of(text[:20_000]) if line.strip()), "")
    return one_line(said.strip(), 200) or "nothing"
