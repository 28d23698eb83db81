"""The ledger of resources: what was taken on a phone or on this computer and is to be given back.

Not the giving back (`reclaim`). One file a resource, so that any number of processes share a
folder without a lock. Invariants: a record is there before its resource is taken and goes once that
was given back, so a kill at any moment leaves a record too many and never one too few; a record
whose process ended, or which could not be given back, is `left` for the next core that sees the
phone.
"""

import logging
import os
import time
from enum import StrEnum
from pathlib import Path
from secrets import token_hex

import msgspec
from msgspec.structs import replace

from agent.devices.resources.processes import is_running, start_mark
from agent.errors import DeviceError

FOLDER = "resources"  # Of the data directory.
_RECORD_LIMIT_BYTES = 64 * 1024
_log = logging.getLogger(__name__)


class ResourceKind(StrEnum):
    """What can be taken."""

    SCRCPY_SERVER = "scrcpy server"
    """A server process on a phone; its name is the id of the run (scid, eight hex digits)."""
    DISPLAY = "display"
    """A virtual display and the scrcpy server that keeps it; named like one."""
    REVERSE = "reverse forward"
    """A socket on a phone that leads to a port here, such as `localabstract:scrcpy_0123abcd`."""
    INPUT_METHOD = "input method"
    """The phone's keyboard, replaced for a text; its name is the one that was chosen before."""
    FILE = "file"
    """A temporary file on a phone; its name is the path."""
    UI_AUTOMATION = "UiAutomation"
    """uiautomator2's service, which no other program can use meanwhile."""
    EMULATOR = "emulator"
    """An emulator's process on this computer; its name is its AVD."""


class Resource(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is out."""

    resource_id: str
    kind: ResourceKind
    name: str
    serial: str = ""  # The phone that it is on; empty: this computer.
    pid: int  # The process that took it; 0: it could not be given back.
    start_mark: str = ""
    taken_ms: int = 0
    child_pid: int = 0  # The process that it is, where it is one of this computer's.
    child_mark: str = ""

    @property
    def is_left(self) -> bool:
        """Whether nobody has it any more."""
        return not is_running(self.pid, self.start_mark)


class ResourceLedger:
    """The ledger of one data directory, or of this process alone.

    Args:
        folder: where the records are; made when the first is. None: they are kept in memory, for
            a program that has no data directory.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._mark = start_mark(os.getpid()) if folder is not None else ""
        self._memory: dict[str, Resource] = {}

    def take(self, kind: ResourceKind, name: str, *, serial: str = "") -> Resource:
        """Write down what is about to be taken. Raises DeviceError where that cannot be written."""
        resource = Resource(
            resource_id=f"{os.getpid()}-{token_hex(6)}",
            kind=kind,
            name=name,
            serial=serial,
            pid=os.getpid(),
            start_mark=self._mark,
            taken_ms=time.time_ns() // 1_000_000,
        )
        self._write(resource)
        return resource

    def started(self, resource: Resource, pid: int) -> None:
        """Add the process that was taken to its record. Raises DeviceError as `take` does."""
        self._write(replace(resource, child_pid=pid, child_mark=start_mark(pid)))

    def settle(self, resource: Resource) -> None:
        """Strike out what was given back; settling twice is fine."""
        self._memory.pop(resource.resource_id, None)
        if self._folder is not None:
            try:
                self._path(resource).unlink(missing_ok=True)
            except OSError as error:
                _log.warning("The record of a resource stays: %s", error)

    def abandon(self, resource: Resource) -> None:
        """Leave what could not be given back to the next core that sees the phone."""
        try:
            self._write(replace(resource, pid=0, start_mark=""))
        except DeviceError as error:
            # The record stays as it was, and is left when this process ends.
            _log.warning("A resource that is out could not be marked so: %s", error)

    def out(self) -> tuple[Resource, ...]:
        """List everything that is out, of every process, the oldest first.

        Raises DeviceError where the folder cannot be read.
        """
        found = list(self._memory.values()) if self._folder is None else self._read()
        return tuple(sorted(found, key=lambda one: (one.taken_ms, one.resource_id)))

    def left(self, serial: str = "", kind: ResourceKind | None = None) -> tuple[Resource, ...]:
        """List what nobody has any more on a phone, or with no serial, on this computer."""
        return tuple(
            one
            for one in self.out()
            if one.serial == serial and (kind is None or one.kind is kind) and one.is_left
        )

    # --- files ----------

    def _path(self, resource: Resource) -> Path:
        assert self._folder is not None
        return self._folder / f"{resource.resource_id}.json"

    def _write(self, resource: Resource) -> None:
        if self._folder is None:
            self._memory[resource.resource_id] = resource
            return
        path = self._path(resource)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            new = path.with_suffix(".new")
            new.write_bytes(msgspec.json.encode(resource))
            new.replace(path)
        except OSError as error:
            raise DeviceError(
                f"{path} cannot be written: {error.strerror or error}; nothing was taken.",
                "Free space in the data directory or correct its permissions.",
            ) from error

    def _read(self) -> list[Resource]:
        assert self._folder is not None
        found: list[Resource] = []
        try:
            paths = sorted(self._folder.glob("*.json"))
        except OSError as error:
            raise DeviceError(
                f"{self._folder} cannot be read: {error.strerror or error}.",
                "Correct the permissions of the data directory.",
            ) from error
        for path in paths:
            try:
                with path.open("rb") as file:
                    resource = msgspec.json.decode(file.read(_RECORD_LIMIT_BYTES), type=Resource)
            except FileNotFoundError:
                continue  # It was settled meanwhile.
            except (OSError, msgspec.DecodeError) as error:
                _log.warning("%s is not a record of a resource: %s", path, error)
                continue
            # A record names its own file; anything else was put there by another hand.
            if path.stem == resource.resource_id:
                found.append(resource)
        return found
