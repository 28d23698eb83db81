"""The APKs of the phone's packages as files, where `pm path` says they are.

Not kept: each is written from what the phone knows of the package when it is looked at. Invariant:
a package has its file exactly while it is installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from virtual_phone.userland.tree import Directory, GeneratedFile, Growing, Node, Tree

if TYPE_CHECKING:
    from virtual_phone.packages.installed import PackageInfo
    from virtual_phone.userland.userland import Userland

PLACES = ("/system/app/", "/data/app/")


def add_apks(tree: Tree[Userland]) -> None:
    """Let the tree show the phone's APKs."""
    for directory in ("/system", "/data"):
        tree.add_growing(directory, Growing(_node, _names))


def _node(land: Userland, path: str) -> Node[Userland] | None:
    if not path.startswith(PLACES):
        return None
    paths = _paths(land)
    info = paths.get(path)
    if info is not None:
        return GeneratedFile(lambda _: _apk(info), 0o644)
    return Directory() if any(one.startswith(f"{path}/") for one in paths) else None


def _names(land: Userland, path: str) -> set[str]:
    below = f"{path}/"
    if not below.startswith(PLACES):
        return set()
    return {one[len(below) :].partition("/")[0] for one in _paths(land) if one.startswith(below)}


def _paths(land: Userland) -> dict[str, PackageInfo]:
    from virtual_phone.commands.packages.listing import apk_path

    return {apk_path(info): info for info in land.phone.packages.list()}


def _apk(info: PackageInfo) -> bytes:
    from virtual_phone.packages.apk_writer import make_apk

    return make_apk(
        info.package,
        info.version_name,
        info.version_code,
        info.label,
        info.activities,
        info.launcher_activity,
        info.permissions,
        info.signed_by,
    )
