"""The register of a fleet: rows of its database, the same for all hosts.

Implements `agent.operators.register.Register`. Not a cache that serves on without its database.
Invariants: what a host knows is at most `FRESH_S` old, or it lets no operator in; a register that
is older than this host knows it, or that came back with a restored store, lets no operator in until
its owner has confirmed it; who may write the database is its owner, and needs no right of it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from secrets import token_hex

import msgspec

from agent.errors import ConfigError, StoreError
from agent.operators.file_register import FILE_NAME
from agent.operators.operator import Operator
from agent.operators.register import Change, changed
from agent.store.postgres.link import Link
from agent.store.postgres.opening import open_records
from agent.store.postgres.operator_table import (
    REGISTER_CHANNEL,
    RegisterMetadata,
    RegisterRows,
    confirm,
    locked_register,
    put,
    read_register,
)

FRESH_S = 10.0
"""How long operators are let in by what was read last."""
KNOWN_NAME = "operators.known"
"""In the data directory: the newest register that this host has read."""
_LOOK_S = 0.5
_LARGEST_BYTES = 4096
_CONFIRM = (
    "List them (switchboard operators list), remove what should not be there, then: switchboard "
    "operators confirm"
)
_log = logging.getLogger(__name__)
_decoder = msgspec.json.Decoder(Operator)


class FleetRegister:
    """The register of a fleet's database.

    Args:
        dsn: of the database; it is never told or logged.
        data_dir: of this host.
        name: of this host, among the server's connections.
    """

    def __init__(self, dsn: str, data_dir: Path, *, name: str) -> None:
        self._dsn = dsn
        self._name = name
        self._own_file = data_dir / FILE_NAME
        self._known_path = data_dir / KNOWN_NAME
        self._link = Link(dsn, f"{name} operators", patience_s=0, is_written=False)
        self._known = RegisterMetadata()
        self._operators: dict[str, Operator] = {}
        self._problem: ConfigError | None = None
        self._read_s = float("-inf")
        self._now_ms = 0

    @classmethod
    @asynccontextmanager
    async def opened(cls, dsn: str, data_dir: Path) -> AsyncIterator[FleetRegister]:
        """Read the register once, for a command. Raises StoreError."""
        register = cls(dsn, data_dir, name="command")
        try:
            await open_records(register._link, expected="")
            register._known = _read_known(register._known_path)
            await register._read()
            yield register
        finally:
            await register._link.close()

    @classmethod
    @asynccontextmanager
    async def followed(cls, dsn: str, data_dir: Path, *, name: str) -> AsyncIterator[FleetRegister]:
        """Follow the register for the length of a `with` block, as the core of a host.

        Raises StoreError: it cannot be read now.
        """
        register = cls(dsn, data_dir, name=name)
        register._known = _read_known(register._known_path)
        try:
            await register.refresh()
            following = asyncio.create_task(register._follow(), name="operators")
            try:
                yield register
            finally:
                following.cancel()
                await asyncio.wait({following})
        finally:
            await register._link.close()

    # --- looking ----------

    @property
    def is_used(self) -> bool:
        """See `Register.is_used`.

        A host that knows of no operators stays open to the programs of its own user while the
        database is away: that user can read the database's address.
        """
        return bool(self._operators) or self._refusal(is_stale_trouble=False) is not None

    def operators(self) -> tuple[Operator, ...]:
        """See `Register.operators`."""
        trouble = self._refusal()
        if trouble is not None:
            raise ConfigError(trouble.message, trouble.remedy)
        return tuple(self._operators.values())

    def find(self, name: str) -> Operator | None:
        """See `Register.find`."""
        return None if self._refusal() is not None else self._operators.get(name)

    def clock_ms(self) -> int:
        """Return the database's time; see `Register.clock_ms`."""
        return self._now_ms + int((time.monotonic() - max(self._read_s, 0)) * 1000)

    def _refusal(self, *, is_stale_trouble: bool = True) -> ConfigError | None:
        if self._own_file.exists():
            return ConfigError(
                f"This host still has operators of its own in {self._own_file}; a fleet has one "
                "register, so no operator can sign in here.",
                "Import them: switchboard operators import. Or move the file away.",
            )
        if self._problem is not None:
            return self._problem
        if is_stale_trouble and time.monotonic() - self._read_s > FRESH_S:
            return ConfigError(
                "The fleet's register of operators cannot be read, so no operator can sign in.",
                "It is retried continuously; check the database: switchboard fleet doctor",
            )
        return None

    async def refresh(self) -> None:
        """Read the register now, and remember which it is. Raises StoreError."""
        before = self._known
        await self._read()
        if self._known != before:
            await asyncio.to_thread(_write_known, self._known_path, self._known)

    async def _read(self) -> None:
        began_s = time.monotonic()
        found = await read_register(self._link, self._known.revision)
        self._problem = _problem(self._known, found)
        if self._problem is None:
            self._known = found.standing
        self._operators = _decoded(found)
        self._read_s, self._now_ms = began_s, found.now_ms

    async def _follow(self) -> None:
        number = 0
        while True:
            try:
                if self._link.number != number or not number:
                    await self._link.rows(f"LISTEN {REGISTER_CHANNEL}")
                    number = self._link.number
                await self.refresh()
                await self._link.notices(_LOOK_S)
            except StoreError as error:
                _log.warning("The register of operators cannot be read: %s", error)
                await asyncio.sleep(_LOOK_S)

    # --- changing ----------

    async def change(self, name: str, change: Change) -> None:
        """Replace one operator; see `Register.change`.

        A register that waits to be confirmed may be changed, and waits on.
        """
        async with self._locked() as (link, found):
            known = _decoded(found)
            if name not in known and name in dict(found.records):
                raise ConfigError(
                    f"The register's record of {name} cannot be read.",
                    "A newer Switchboard wrote it: change it from a host of that version.",
                )
            kept = changed(known, name, change).get(name)
            record = None if kept is None else msgspec.json.encode(kept).decode()
            await put(link, name, record)
        await self._read()

    async def confirm(self) -> None:
        """Vouch for a register that came back with an older copy of the database.

        Raises StoreError.
        """
        async with self._locked() as (link, _):
            await confirm(link)
        await self._read()

    @property
    def problem(self) -> ConfigError | None:
        """Why its owner has to confirm it; None where that is not so."""
        return self._problem

    def all_operators(self) -> tuple[Operator, ...]:
        """List the operators, also while they are let in nowhere."""
        return tuple(self._operators.values())

    @asynccontextmanager
    async def _locked(self) -> AsyncIterator[tuple[Link, RegisterRows]]:
        # Not the link that reads: what it read meanwhile would be part of the transaction.
        link = Link(self._dsn, f"{self._name} operators changed")
        try:
            async with locked_register(link):
                yield link, await read_register(link, self._known.revision)
        finally:
            await link.close()


def is_older(known: RegisterMetadata, found: RegisterMetadata, mark_then: str) -> bool:
    """Whether a register lacks changes that this host has seen.

    Args:
        known: the newest that this host has seen.
        found: the one that the database has.
        mark_then: the mark that the database has for the revision that is known.
    """
    if not known.store or known.store != found.store:
        # The first look, or another database that the operator took on purpose (`store adopt`).
        return False
    if found.confirmed_ms != known.confirmed_ms:
        return found.confirmed_ms < known.confirmed_ms
    return found.revision < known.revision or mark_then != known.mark


def _problem(known: RegisterMetadata, found: RegisterRows) -> ConfigError | None:
    if found.is_unconfirmed:
        return ConfigError(
            "The database was restored, but its operators were not: no operator can sign in.",
            "Add them again, or import a file of them, then: switchboard operators confirm",
        )
    if is_older(known, found.standing, found.mark_then):
        return ConfigError(
            "The database has an older register of operators than this host has seen, which may "
            "hold revoked rights: no operator can sign in.",
            _CONFIRM,
        )
    return None


def _decoded(found: RegisterRows) -> dict[str, Operator]:
    operators: dict[str, Operator] = {}
    for name, record in found.records:
        try:
            one = _decoder.decode(record)
        except (msgspec.MsgspecError, RecursionError):
            # Not the message: it may quote what stands there. The others are let in all the same.
            _log.error("The record of operator %s cannot be read; %s is not let in.", name, name)
            continue
        if one.name == name:
            operators[name] = one
    return operators


def _read_known(path: Path) -> RegisterMetadata:
    """Read what this host knew. Raises ConfigError: it cannot be read."""
    try:
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(_LARGEST_BYTES), type=RegisterMetadata)
    except FileNotFoundError:
        return RegisterMetadata()
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path} cannot be read: this host does not know which register it has seen.",
            "Check the operators (switchboard operators list), then remove that file.",
        ) from error


def _write_known(path: Path, known: RegisterMetadata) -> None:
    part = path.with_name(f".{path.name}.{token_hex(4)}")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(known))
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        _log.warning("Which operators this host knows cannot be written down: %s", error)
