"""Keep the register in a file of the data directory, which the core reads and its owner writes.

Implements `agent.operators.register.Register`. Invariants: the file is replaced atomically, by one
process at a time; an unreadable file lets no operator in; anyone who can write to the data
directory is its owner, and needs no right of this file.
"""

import asyncio
import fcntl
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from agent.errors import ConfigError, StoreError
from agent.operators.operator import NAME, Operator
from agent.operators.register import Change, changed

FILE_NAME = "operators.json"
_LARGEST_BYTES = 4 << 20


class _RegisterFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: int
    operators: tuple[Operator, ...]


_Mark = tuple[int, int, int, int]


class FileRegister:
    """The register of a data directory; checks the file at each call."""

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / FILE_NAME
        self._mark: _Mark | None = None
        self._operators: dict[str, Operator] = {}
        self._trouble: ConfigError | None = None

    @property
    def is_used(self) -> bool:
        """Return whether clients must sign in: there are operators, or the file is unreadable."""
        self._look()
        return bool(self._operators) or self._trouble is not None

    def operators(self) -> tuple[Operator, ...]:
        """List the operators by name. Raises ConfigError if the file is invalid."""
        self._look()
        if self._trouble is not None:
            raise ConfigError(self._trouble.message, self._trouble.remedy)
        return tuple(self._operators.values())

    def find(self, name: str) -> Operator | None:
        """Return an operator; None if there is none, or the file is invalid."""
        self._look()
        return None if self._trouble is not None else self._operators.get(name)

    def _look(self) -> None:
        try:
            found = self.path.stat(follow_symlinks=False)
        except FileNotFoundError:
            self._mark, self._operators, self._trouble = None, {}, None
            return
        except OSError as error:
            self._mark = None
            self._trouble = _unreadable(self.path, error.strerror or str(error))
            return
        mark = (found.st_ino, found.st_mtime_ns, found.st_size, found.st_mode)
        if mark == self._mark:
            return
        self._mark = mark
        try:
            self._operators, self._trouble = read_operators(self.path), None
        except ConfigError as error:
            self._operators, self._trouble = {}, error

    def clock_ms(self) -> int:
        """Return this computer's time; see `Register.clock_ms`."""
        return time.time_ns() // 1_000_000

    async def refresh(self) -> None:
        """Do nothing: each call checks the file."""

    async def change(self, name: str, change: Change) -> None:
        """Replace one operator; see `Register.change`."""
        await asyncio.to_thread(self._change, name, change)

    def _change(self, name: str, change: Change) -> None:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _locked(self.path.with_name(f".{FILE_NAME}.lock")):
                kept = changed(read_operators(self.path), name, change)
                self._write(tuple(kept[one] for one in sorted(kept)))
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be written: {error.strerror or error}.",
                "Check the data directory.",
            ) from error

    def _write(self, operators: tuple[Operator, ...]) -> None:
        data = msgspec.json.format(msgspec.json.encode(_RegisterFile(1, operators)), indent=1)
        part = self.path.with_name(f".{FILE_NAME}.{secrets.token_hex(4)}")
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data + b"\n")
                file.flush()
                os.fsync(file.fileno())
            part.replace(self.path)
        except BaseException:
            with suppress(OSError):
                part.unlink()
            raise


def read_operators(path: Path) -> dict[str, Operator]:
    """Read the operators of a file, by name; empty without a file. Raises ConfigError."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(file.fileno())
            if found.st_uid not in {os.geteuid(), 0}:
                raise _unreadable(path, "it belongs to another user")
            if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise _unreadable(path, "others may read or write it (chmod 600)")
            data = file.read(_LARGEST_BYTES + 1)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    try:
        kept = msgspec.json.decode(data, type=_RegisterFile)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        # Not the message: it may quote what stands there.
        raise _unreadable(path, "it is not a register of operators") from error
    names = [one.name for one in kept.operators]
    if kept.version != 1:
        raise _unreadable(path, "a newer Switchboard wrote it")
    if len(set(names)) < len(names) or not all(NAME.fullmatch(one) for one in names):
        raise _unreadable(path, "it is not a register of operators")
    return {one.name: one for one in kept.operators}


def _unreadable(path: Path, why: str) -> ConfigError:
    return ConfigError(
        f"The operators in {path} cannot be used, so no operator can sign in: {why}.",
        "Repair the file or restore it from a backup. Without it, only this user of the computer "
        "has access.",
    )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
