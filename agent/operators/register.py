"""The operators of one data directory: a file that the core reads, and its owner writes.

Invariants: the file is written whole or not at all, by one at a time; what cannot be read lets
nobody in; whoever may write the data directory is its owner, and needs no right of this file.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from agent.errors import ConfigError, StoreError, UsageError
from agent.operators.operator import MOST_CREDENTIALS, MOST_GRANTS, NAME, Operator

FILE_NAME = "operators.json"
_MOST_OPERATORS = 500
_LARGEST_BYTES = 4 << 20


class _Register(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: int
    operators: tuple[Operator, ...]


_Mark = tuple[int, int, int, int]


class Register:
    """The register of a data directory; looks at the file whenever it is asked."""

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / FILE_NAME
        self._mark: _Mark | None = None
        self._operators: dict[str, Operator] = {}
        self._trouble: ConfigError | None = None

    @property
    def is_used(self) -> bool:
        """Whether there are operators, or a file that cannot be read: then all have to sign in."""
        self._look()
        return bool(self._operators) or self._trouble is not None

    def operators(self) -> tuple[Operator, ...]:
        """List the operators by their names. Raises ConfigError where the file cannot be used."""
        self._look()
        if self._trouble is not None:
            raise ConfigError(self._trouble.message, self._trouble.remedy)
        return tuple(self._operators.values())

    def find(self, name: str) -> Operator | None:
        """Return an operator; None where there is none, or the file cannot be used."""
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
            self._operators, self._trouble = _read(self.path), None
        except ConfigError as error:
            self._operators, self._trouble = {}, error

    def change(self, name: str, changed: Callable[[Operator | None], Operator | None]) -> None:
        """Put what a function makes of an operator in its place.

        Args:
            name: whose.
            changed: is told the operator, None where there is none of that name; returns what is
                kept, None to remove.

        Raises:
            ConfigError: the file cannot be used.
            StoreError: it cannot be written.
            UsageError: there would be too many of something.
        """
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _locked(self.path.with_name(f".{FILE_NAME}.lock")):
                known = {one.name: one for one in self.operators()}
                kept = changed(known.get(name))
                if kept is None:
                    known.pop(name, None)
                else:
                    known[name] = kept
                _check_size(known)
                self._write(tuple(known[one] for one in sorted(known)))
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be written: {error.strerror or error}.",
                "Check the data directory.",
            ) from error

    def _write(self, operators: tuple[Operator, ...]) -> None:
        data = msgspec.json.format(msgspec.json.encode(_Register(1, operators)), indent=1)
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


def _check_size(known: dict[str, Operator]) -> None:
    if len(known) > _MOST_OPERATORS:
        raise UsageError(f"There would be more than {_MOST_OPERATORS} operators.", "Remove some.")
    for one in known.values():
        if len(one.grants) > MOST_GRANTS:
            raise UsageError(
                f"{one.name} would have more than {MOST_GRANTS} grants.", "Revoke some."
            )
        if len(one.keys) > MOST_CREDENTIALS or len(one.tokens) > MOST_CREDENTIALS:
            raise UsageError(
                f"{one.name} would have more than {MOST_CREDENTIALS} keys or tokens.",
                "Revoke some.",
            )


def _read(path: Path) -> dict[str, Operator]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(file.fileno())
            if found.st_uid not in {os.geteuid(), 0}:
                raise _unreadable(path, "it belongs to another user")
            if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise _unreadable(path, "others may read or write it (chmod 600)")
            data = file.read(_LARGEST_BYTES + 1)
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    try:
        kept = msgspec.json.decode(data, type=_Register)
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
        f"The operators in {path} cannot be used, so nobody is let in: {why}.",
        "Mend the file or bring it back from a backup; without it, only its user gets in.",
    )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
