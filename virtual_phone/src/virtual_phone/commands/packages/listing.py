"""`pm list packages`: names, paths, versions and uids, of one user or of all.

Format: PackageManagerShellCommand.runListPackages (Y29-Y34).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from virtual_phone.commands.packages.users import PER_USER, listed_users, packages_of
from virtual_phone.shell.call import Call, CommandError

if TYPE_CHECKING:
    from virtual_phone.packages.installed import PackageInfo

_LETTERS = ("-f", "-3", "-s", "-e", "-d", "-i", "-U", "-u", "-a", "-l", "--apex-only")


def apk_path(info: PackageInfo) -> str:
    """Return the path of a package's APK."""
    return info.path or f"/system/app/{info.label.replace(' ', '')}/{info.package}.apk"


async def list_packages(call: Call, words: list[str]) -> int:
    """Run `pm list packages`."""
    letters: set[str] = set()
    filters: list[str] = []
    asked: str | None = None
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in ("--user", "--uid"):
            value = rest.pop(0) if rest else ""
            asked = value if word == "--user" else asked
        elif word == "--show-versioncode" or word in _LETTERS:
            letters.add(word)
        elif word.startswith("-"):
            raise CommandError(f"Error: Unknown option: {word}", 255)
        else:
            filters.append(word)
    uids: dict[str, list[str]] = {}
    for user in listed_users(call.phone, asked):
        if "--apex-only" in letters or "-d" in letters:
            continue
        for info in packages_of(call.phone, user):
            if _is_listed(info, letters, filters):
                row = _row(info, letters)
                uids.setdefault(row, []).append(str(user.id * PER_USER + info.uid))
    for row in sorted(uids, key=lambda one: one.partition("=")[2] or one):
        await call.line(f"{row} uid:{','.join(uids[row])}" if "-U" in letters else row)
    return 0


def _is_listed(info: PackageInfo, letters: set[str], filters: list[str]) -> bool:
    if ("-3" in letters and info.system) or ("-s" in letters and not info.system):
        return False
    return not filters or filters[0] in info.package


def _row(info: PackageInfo, letters: set[str]) -> str:
    path = f"{apk_path(info)}=" if "-f" in letters else ""
    version = f" versionCode:{info.version_code}" if "--show-versioncode" in letters else ""
    installer = "  installer=null" if "-i" in letters else ""
    return f"package:{path}{info.package}{version}{installer}"
