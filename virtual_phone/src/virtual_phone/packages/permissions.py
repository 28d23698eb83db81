"""What apps were allowed: granted by an answer or by `pm grant`, taken back by `pm revoke`."""

from typing import Protocol

from virtual_phone.running import AppProcesses
from virtual_phone.state.records import PhoneState


class Granting(Protocol):
    """The phone whose apps they are."""

    state_record: PhoneState
    processes: AppProcesses

    def invalidate(self) -> None:
        """Note a change."""


class Permissions:
    """The permissions of every package.

    Args:
        phone: whose packages.
    """

    def __init__(self, phone: Granting) -> None:
        self._phone = phone

    def of(self, package: str) -> list[str]:
        """Return the permissions that were granted to a package."""
        return list(self._phone.state_record.granted.get(package, []))

    def grant(self, package: str, permission: str) -> None:
        """Allow a package something."""
        granted = self._phone.state_record.granted.setdefault(package, [])
        if permission not in granted:
            granted.append(permission)
        self._phone.invalidate()

    def revoke(self, package: str, permission: str) -> None:
        """Take a permission back; the process of an app that had it is ended, as Android does."""
        granted = self._phone.state_record.granted.get(package, [])
        if permission in granted:
            granted.remove(permission)
            self._phone.processes.end(package)
        self._phone.invalidate()
