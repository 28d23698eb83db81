"""The packages a phone has installed: what `pm list packages` and `dumpsys package` see.

A table of facts about packages; starting one is the activity stack's work. Invariant: a package
that is built in is always present, and only installed ones can be removed.
"""

import builtins
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from virtual_phone.errors import PhoneError


@dataclass(frozen=True, slots=True)
class PackageInfo:
    """What `pm` knows of one package; `path` is the APK's path on the phone."""

    package: str
    label: str
    version_name: str = "1.0"
    version_code: int = 1
    system: bool = True
    path: str = ""
    launcher_activity: str | None = None
    activities: tuple[str, ...] = ()
    permissions: tuple[str, ...] = ()
    uid: int = 10000
    actions: dict[str, str] = field(default_factory=dict)
    """Intent action (or `ACTION scheme:`) to the activity that answers it."""
    signer: str = ""
    """The name of the key that it is signed with; empty: the platform's, or one of its own."""

    @property
    def signed_by(self) -> str:
        return self.signer or ("platform" if self.system else self.package)


class PackageTable:
    """Hold the installed packages by name."""

    def __init__(self, built_in: Iterable[PackageInfo]) -> None:
        self._built_in = {info.package: info for info in built_in}
        self._installed: dict[str, PackageInfo] = {}

    def list(self) -> "list[PackageInfo]":
        """Return every package, sorted by name."""
        return sorted((self._built_in | self._installed).values(), key=lambda p: p.package)

    def get(self, package: str) -> PackageInfo | None:
        """Return a package, or None where there is no such one."""
        return self._installed.get(package) or self._built_in.get(package)

    def __iter__(self) -> Iterator[PackageInfo]:
        return iter(self.list())

    def __contains__(self, package: object) -> bool:
        return package in self._built_in or package in self._installed

    def install(self, info: PackageInfo) -> None:
        """Add a package or replace one that was installed before."""
        self._installed[info.package] = info

    def remove(self, package: str) -> None:
        """Remove an installed package.

        Raises:
            PhoneError: it is built in, or not there.
        """
        if package in self._installed:
            del self._installed[package]
        elif package in self._built_in:
            raise PhoneError(
                f"Failure [DELETE_FAILED_INTERNAL_ERROR] {package} is a system package.",
                "Remove a package that was installed.",
            )
        else:
            raise PhoneError(f"Failure [not installed for 0] {package}.", "See pm list packages.")

    def installed(self) -> builtins.list[PackageInfo]:
        """Return what was installed after the factory, for the saved state."""
        return list(self._installed.values())

    def load_installed(self, packages: Iterable[PackageInfo]) -> None:
        """Replace the installed packages by saved ones."""
        self._installed = {info.package: info for info in packages}
