"""The users and profiles of a phone: who they are, and which packages each has.

What `pm list users`, `pm list packages` and `dumpsys user` print. Not switching users: the owner is
in front. Invariant: the shell sees nothing of a user that does not let it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from virtual_phone.packages.installed import PackageInfo
from virtual_phone.shell.call import CommandError

if TYPE_CHECKING:
    from virtual_phone.phone import Phone
    from virtual_phone.state.profiles import User

PER_USER = 100_000  # UserHandle.PER_USER_RANGE: the uids of a user begin at its id times this.
FIRST_UID = 10_300


def user_lines(phone: Phone) -> list[str]:
    """Return `pm list users`. Format: UserInfo.toString, UserManagerService (Y29-Y34)."""
    found = phone.form_factor.profile.users
    return [
        "Users:",
        *(f"\tUserInfo{{{user.id}:{user.name}:{user.flags}}} running" for user in found),
    ]


def packages_of(phone: Phone, user: User) -> list[PackageInfo]:
    """Return what a user has, by name; the uids are those of the owner's packages."""
    own = phone.packages.list()
    if user.id == 0:
        return own
    there = [info for info in own if info.system]
    for number, name in enumerate(user.packages):
        label = name.rpartition(".")[2].title()
        uid = FIRST_UID + user.id % 100 + number
        there.append(PackageInfo(name, label, system=False, uid=uid))
    return sorted(there, key=lambda info: info.package)


def listed_users(phone: Phone, asked: str | None) -> list[User]:
    """Return whose packages are listed: the asked user's, or those of all where none is asked.

    Android 12 and older list the owner's where none is asked (PackageManagerShellCommand).

    Raises:
        CommandError: the shell may not look at one of them, or it is no user id.
    """
    users = phone.form_factor.profile.users
    everybody = asked == "all" or (
        asked is None and phone.form_factor.android.can("lists_all_users")
    )
    if everybody:
        found = list(users)
    elif asked is None or asked in ("current", "cur"):
        found = [users[0]]
    elif re.fullmatch(r"\d{1,6}", asked):
        found = [user for user in users if user.id == int(asked)]
    else:
        raise CommandError(f"Error: Invalid user: {asked}", 255)
    hidden = next((user for user in found if not user.shell), None)
    if hidden is not None:
        raise CommandError(refusal("list", hidden.id), 255)
    return found


def refusal(verb: str, user: int) -> str:
    """Return what the shell is told when it may not look at a user (UserController, reports)."""
    return (
        f"\nException occurred while executing '{verb}':\n"
        f"java.lang.SecurityException: Shell does not have permission to access user {user}\n"
        "\tat com.android.server.am.ActivityManagerService.handleIncomingUser"
        "(ActivityManagerService.java:14608)\n"
        "\tat com.android.server.pm.PackageManagerShellCommand.translateUserId"
        "(PackageManagerShellCommand.java:3433)\n"
        "\tat android.os.ShellCommand.exec(ShellCommand.java:38)"
    )
