"""Names for the devices of one adb server, of which several may have the same serial.

Not the list (`agent.devices.adb.device_list`). Cheap phones, boards and tablets of one batch share
a serial, and adb tells them apart by where they are plugged in and by a number that is new for each
connection. Invariants: a name stands for one phone as long as the server is watched; where two are
there at the start neither has the bare serial, so that no name means another phone after a restart.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from agent.devices.adb.device_list import DeviceRow
from agent.records import DeviceState

_NOT_IN_NAMES = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class _Connection:
    transport_id: int
    port: str


class SameSerials:
    """The names of one server's devices."""

    def __init__(self) -> None:
        self._seen: dict[str, dict[str, _Connection]] = {}  # By serial, then by name.

    def named(self, rows: Iterable[DeviceRow]) -> tuple[DeviceRow, ...]:
        """Return rows with distinct serials."""
        groups: dict[str, list[DeviceRow]] = {}
        for row in rows:
            groups.setdefault(row.serial, []).append(row)
        return tuple(row for serial, its in groups.items() for row in self._of_one(serial, its))

    def _of_one(self, serial: str, rows: list[DeviceRow]) -> list[DeviceRow]:
        seen = self._seen.setdefault(serial, {})
        if len(seen) < 2 and any(row.state is DeviceState.ONLINE for row in rows):
            # A phone that was plugged in again is listed twice for a moment.
            rows = [row for row in rows if row.state is not DeviceState.OFFLINE]
        if len(rows) == 1 and len(seen) < 2:
            names = [next(iter(seen), serial)]
        else:
            names = self._match(serial, rows, seen)
        for name, row in zip(names, rows, strict=True):
            seen[name] = _Connection(row.transport_id, row.port)
        if len(rows) == 1 and names == [serial]:
            return rows
        return [
            replace(row, serial=name, listed=row.listed or serial)
            for name, row in zip(names, rows, strict=True)
        ]

    def _match(self, serial: str, rows: list[DeviceRow], seen: dict[str, _Connection]) -> list[str]:
        """Return a name for each row: by its connection, else its port, else a new one."""
        left = dict(seen)
        names = [""] * len(rows)

        def settle(field: str) -> None:
            for at, row in enumerate(rows):
                value = getattr(row, field)
                if names[at] or not value:
                    continue
                name = next((n for n, one in left.items() if getattr(one, field) == value), "")
                names[at] = name
                left.pop(name, None)

        settle("transport_id")
        settle("port")
        for at, row in enumerate(rows):
            names[at] = names[at] or _new_name(serial, row, {*seen, *names})
        return names


def _new_name(serial: str, row: DeviceRow, taken: set[str]) -> str:
    """Name a phone by its serial and where it is plugged in, as `0123456789ABCDEF@usb-1-3`."""
    where = row.port if row.port.startswith("usb") or not row.port else f"usb-{row.port}"
    where = _NOT_IN_NAMES.sub("-", where) or f"connection-{row.transport_id}"
    name, number = f"{serial}@{where}", 2
    while name in taken:
        name, number = f"{serial}@{where}-{number}", number + 1
    return name
