"""A connection to PostgreSQL that reconnects: the only importer of psycopg.

Invariants: every error from this module is a StoreError; no error or log contains the DSN, which
may hold a password; a statement that may have been executed is not sent again, unless it only
reads.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import lru_cache
from typing import cast

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.types.numeric import Int8Dumper

from agent.errors import StoreError, UnwritableError
from agent.schedules import zone_of
from agent.store.changes.write_queue import StoreAwayError
from agent.store.postgres.schema import SCHEMA
from agent.store.rows import Row, Statement, Value
from agent.text import one_line

PATIENCE_S = 20.0
"""How long a database that is away is waited for: one that is started again takes a few seconds."""
_TRY_S = 5
_PORT = 5432
_LONGEST_NAMES = 200
_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 1.0
_SETTINGS = (
    f"SET search_path = {SCHEMA}",
    # A host that stops in the middle of a commit, frozen or cut off, would keep all others waiting.
    "SET idle_in_transaction_session_timeout = '5s'",
    "SET lock_timeout = '15s'",
    # The server forgets a host whose network is gone within half a minute, with what it locked.
    "SET tcp_keepalives_idle = 10",
    "SET tcp_keepalives_interval = 5",
    "SET tcp_keepalives_count = 3",
    # Our statements take a millisecond. The server compiles a join of tables that it has not
    # analyzed yet, which takes a quarter of a second each time.
    "SET jit = off",
)
_READ_ONLY = "SET default_transaction_read_only = on"
_IDLE = psycopg.pq.TransactionStatus.IDLE
_FULL = frozenset({"53100"})
_REFUSED = frozenset({"42501", "25006"})
_IS_REPLICA = "25006"
_TLS = {
    "root certificate file": "no certificate of an authority is here to check its own with",
    "certificate verify failed": "its certificate is not of the authority that is trusted here",
    "does not match host name": "its certificate is for another name than the address has",
    "does not support SSL": "it does not offer TLS",
    "no encryption": "it admits connections by TLS only",
    "group or world access": "other users of this computer may read the client's private key",
}
_FOR_GOOD = _TLS | {
    "could not translate host name|failed to resolve": "its host's name is not known",
    "authentication failed|no password supplied": "it refuses the role or its password",
    "no pg_hba.conf entry": "it does not admit this host",
    'role ".*" does not exist': "it has no such role",
    'database ".*" does not exist': "it has no such database",
    "permission denied for database": "it does not admit this role",
}
_WHY = _FOR_GOOD | {
    "Connection refused": "nothing answers there",
    "No such file or directory": "there is no server's socket",
    "timeout|timed out": "it does not answer in time",
    "starting up|shutting down|recovery": "it starts or stops just now",
    "too many|remaining connection slots": "it has no connection left",
    "closed the connection": "it ended the connection",
}
"""What libpq and the server say of connecting, and what we do."""


class _Number(Loader):
    """Read what PostgreSQL adds up without bounds."""

    def load(self, data: Buffer) -> int | float:
        text = bytes(data).decode()
        return int(text) if text.lstrip("-").isdigit() else float(text)


@lru_cache(maxsize=256)
def _translated(sql: str, has_values: bool = True) -> bytes:
    """Return a statement for psycopg: its placeholders, without hints for another planner."""
    plain = re.sub(r" INDEXED BY \w+", "", sql)
    return (plain.replace("?", "%s") if has_values else plain).encode()


class Link:
    """A connection that is made when it is first used, and again after it broke.

    Args:
        dsn: a libpq connection string or address.
        name: what it is for; shown among the server's sessions.
        patience_s: how long a database that is away is waited for.
        is_written: whether anything may be changed through it.
    """

    def __init__(
        self, dsn: str, name: str, *, patience_s: float = PATIENCE_S, is_written: bool = True
    ) -> None:
        self._dsn = dsn
        self._is_written = is_written
        self._name = name
        self._patience_s = patience_s
        self._connection: psycopg.AsyncConnection[Row] | None = None
        self._held: psycopg.AsyncConnection[Row] | None = None
        """The connection of the open transaction: no other may take part in it."""
        self._opening = asyncio.Lock()
        self._is_closed = False

    async def rows(self, sql: str, parameters: Sequence[Value] = ()) -> list[Row]:
        """Run one statement and fetch all it gives; inside `transaction`, as a part of it.

        Outside, a statement that only reads is asked again once where the connection broke.

        Raises StoreError.
        """
        if self._held is not None:
            return await self._ask(self._held, sql, parameters)
        # No text there has a NUL, so what is looked for with one is not found.
        parameters = [p.replace("\0", "\ufffd") if isinstance(p, str) else p for p in parameters]
        connection = await self._opened()
        try:
            return await self._ask(connection, sql, parameters)
        except StoreAwayError:
            if not sql.startswith("SELECT "):
                raise
        return await self._ask(await self._opened(), sql, parameters)

    @asynccontextmanager
    async def transaction(
        self, *first: Statement, is_snapshot: bool = False
    ) -> AsyncIterator[list[list[Row]]]:
        """Run statements in one transaction; `commit` ends it, and leaving without that undoes it.

        Only for one task at a time.

        Args:
            first: what is asked at its beginning, in the same message.
            is_snapshot: whether all that is read is of one moment.

        Returns:
            The rows of each of `first`.

        Raises:
            StoreError: the database cannot be reached, or one of `first` failed.
        """
        connection = await self._opened()
        how = "BEGIN ISOLATION LEVEL REPEATABLE READ" if is_snapshot else "BEGIN"
        self._held = connection
        try:
            _, *found = await self._sent(connection, ((how, [()]), *first))
            yield found
        finally:
            self._held = None
            if not connection.closed and connection.info.transaction_status != _IDLE:
                with suppress(StoreError):
                    await self._ask(connection, "ROLLBACK", ())

    async def commit(self, *last: Statement) -> None:
        """Run the last statements of the open transaction and end it, in one message; it is durable
        on return.

        Raises:
            StoreAwayError: no answer came: it may have been committed or not.
            StoreError: one of the statements failed; nothing was committed.
        """
        assert self._held is not None, "no transaction is open"
        await self._sent(self._held, (*last, ("COMMIT", [()])))

    async def run(self, statements: Iterable[Statement]) -> None:
        """Run statements in the open transaction, in one message. Raises StoreError."""
        assert self._held is not None, "no transaction is open"
        await self._sent(self._held, statements)

    async def copied_out(self, sql: str) -> AsyncIterator[bytes]:
        """Run a COPY … TO STDOUT in the open transaction and read what it gives.

        Raises StoreError.
        """
        assert self._held is not None, "no transaction is open"
        connection = self._held
        try:
            async with connection.cursor() as cursor, cursor.copy(sql.encode()) as copy:
                async for chunk in copy:
                    yield bytes(chunk)
        except psycopg.Error as error:
            raise await self._failed(connection, error) from error

    async def copy_in(self, sql: str, chunks: Iterable[bytes]) -> None:
        """Run a COPY … FROM STDIN in the open transaction. Raises StoreError."""
        assert self._held is not None, "no transaction is open"
        connection = self._held
        try:
            async with connection.cursor() as cursor, cursor.copy(sql.encode()) as copy:
                for chunk in chunks:
                    await copy.write(chunk)
        except psycopg.Error as error:
            raise await self._failed(connection, error) from error

    async def close(self) -> None:
        """Close the connection for good."""
        self._is_closed = True
        await self._drop()

    async def notices(self, wait_s: float) -> bool:
        """Wait for a notice on a channel that this connection listens to; False on time-out.

        Raises StoreError.
        """
        connection = await self._opened()
        is_told = False
        try:
            # All that came at once count as one.
            async for _ in connection.notifies(timeout=wait_s, stop_after=1):
                is_told = True
        except psycopg.Error as error:
            raise await self._failed(connection, error) from error
        return is_told

    @property
    def number(self) -> int:
        """Return the connection's number, which changes after a reconnect; 0 without one."""
        return id(self._connection) if self._connection is not None else 0

    @property
    def database(self) -> str:
        """Return the names of the database and its server, for people; empty without a connection.

        They are those of the connection: parts of an address that libpq misread may be of the
        password.
        """
        if self._connection is None or self._connection.closed:
            return ""
        info = self._connection.info
        port = f":{info.port}" if info.port != _PORT else ""
        return one_line(f"{info.dbname} on {info.host}{port}", _LONGEST_NAMES)

    async def _ask(
        self, connection: psycopg.AsyncConnection[Row], sql: str, parameters: Sequence[Value]
    ) -> list[Row]:
        try:
            cursor = await connection.execute(
                _translated(sql, bool(parameters)), parameters or None
            )
            rows = await cursor.fetchall() if cursor.description is not None else []
            await cursor.close()
        except (psycopg.Error, UnicodeError) as error:
            raise await self._failed(connection, error) from error
        return rows

    async def _sent(
        self, connection: psycopg.AsyncConnection[Row], statements: Iterable[Statement]
    ) -> list[list[Row]]:
        """Run statements, each with each of its rows, and return what each gave.

        They go as one message, not as a pipeline: where this host freezes, the server has all of it
        or nothing, and knows that it waits for the host. In the middle of a pipeline it does not,
        and lets the host keep what it locked.
        """
        found: list[list[Row]] = []
        try:
            async with psycopg.AsyncClientCursor(connection) as cursor:
                parts = [
                    cursor.mogrify(_translated(sql, bool(row)), row or None)
                    for sql, rows in statements
                    for row in rows
                ]
                if not parts:
                    return []
                await cursor.execute(";".join(parts).encode(), prepare=False)
                while True:
                    has_rows = cursor.description is not None
                    found.append(await cursor.fetchall() if has_rows else [])
                    if not cursor.nextset():
                        return found
        except (psycopg.Error, UnicodeError) as error:
            raise await self._failed(connection, error) from error

    async def _failed(
        self, connection: psycopg.AsyncConnection[Row], error: Exception
    ) -> StoreError:
        """Return what failed; a connection that broke is dropped."""
        if connection.closed or connection.broken:
            if self._connection is connection:
                await self._drop()
            return StoreAwayError(
                f"The connection to the database broke: {_server_message(error)}.",
                "Check that PostgreSQL runs and can be reached. The store then continues "
                "automatically.",
            )
        state = getattr(error, "sqlstate", None)
        if state in _FULL:
            return UnwritableError(
                "The database server has no space left.", "Free some space on its server."
            )
        if state in _REFUSED:
            if state == _IS_REPLICA and self._connection is connection and self._is_written:
                # The next connection looks for the server that is the primary now.
                await self._drop()
            return UnwritableError(
                f"The database cannot be written: {_server_message(error)}.",
                "Connect to its primary server, as a role that may write to it.",
            )
        return StoreError(f"The database refused a statement: {_server_message(error)}.")

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                await connection.close()

    async def _opened(self) -> psycopg.AsyncConnection[Row]:
        """Return the connection; where there is none, wait for one as long as there is patience."""
        connection = self._connection
        if connection is not None and not connection.closed:
            return connection
        async with self._opening:
            if self._connection is not None and not self._connection.closed:
                return self._connection
            loop = asyncio.get_running_loop()
            end, pause_s = loop.time() + self._patience_s, _FIRST_PAUSE_S
            while not self._is_closed:
                try:
                    self._connection = await self._connect()
                    return self._connection
                except psycopg.OperationalError as error:
                    if not _may_pass(error) or loop.time() + pause_s > end:
                        raise _no_connection(error) from None
                except psycopg.Error as error:
                    # A connection string that cannot be read is quoted by libpq.
                    raise StoreError(
                        f"The database's address cannot be used ({type(error).__name__}).",
                        "Give it as postgresql://ROLE@HOST/DATABASE.",
                    ) from None
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        raise StoreError("The store is closed.")

    async def _connect(self) -> psycopg.AsyncConnection[Row]:
        connection = await psycopg.AsyncConnection.connect(
            self._dsn,
            autocommit=True,
            application_name=f"switchboard {self._name}",
            connect_timeout=_TRY_S,
            client_encoding="UTF8",
        )
        try:
            connection.adapters.register_dumper(int, Int8Dumper)
            connection.adapters.register_loader("numeric", _Number)
            for sql in _SETTINGS if self._is_written else (*_SETTINGS, _READ_ONLY):
                await connection.execute(sql.encode())
            zone = getattr(zone_of(""), "key", "UTC")
            await connection.execute("SELECT set_config('TimeZone', %s, false)", (zone,))
            cursor = await connection.execute("SHOW synchronous_commit")
            if await cursor.fetchall() == [("off",)]:
                await connection.execute("SET synchronous_commit = on")
        except BaseException:
            await connection.close()
            raise
        return cast(psycopg.AsyncConnection[Row], connection)


def _no_connection(error: psycopg.OperationalError) -> StoreAwayError:
    """Return in our words why there is no connection: libpq's quote parts of the address, and of
    one that it misread those may be of the password.
    """
    said = str(error)
    signs = (sign for sign in _WHY if re.search(sign, said))
    sign = next(signs, "")
    if sign in _TLS:
        remedy = "Check the server's ssl settings, and sslmode and sslrootcert in the address."
    else:
        remedy = "Check that PostgreSQL runs there and admits this role."
    why = _WHY.get(sign, "for no known reason")
    return StoreAwayError(f"The database cannot be reached: {why}.", remedy)


def _may_pass(error: psycopg.OperationalError) -> bool:
    """Return whether waiting may help."""
    return error.sqlstate is None and not re.search("|".join(_FOR_GOOD), str(error))


def _server_message(error: Exception) -> str:
    """Return the server's message on one line."""
    primary = getattr(getattr(error, "diag", None), "message_primary", None)
    said = primary or str(error).strip() or type(error).__name__
    return " ".join(said.split()).rstrip(".")[:300]
