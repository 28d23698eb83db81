"""A PostgreSQL server of a test's own: made, started, thrown away, beside any of the system's.

PostgreSQL does not run as root, so a test that does runs it as `nobody`.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from agent.store.database.identity import new_identity
from agent.store.postgres.schema import MIGRATIONS, SCHEMA
from tests.orphans import folder_prefix

_NOBODY = 65534
_STARTS_S = 60.0
_LOGS_COPIES = 150_000


def binaries() -> Path | None:
    """Find the newest server that is installed; None where there is none."""
    versions = [one.parent for one in Path("/usr/lib/postgresql").glob("*/bin/postgres")]
    on_path = shutil.which("postgres")
    found = sorted(versions, key=lambda one: int(one.parent.name))
    found += [Path(on_path).resolve().parent] if on_path and not found else []
    return found[-1] if found else None


class _Said(NamedTuple):
    """What a server answered."""

    rows: str
    error: str


class PostgresServer:
    """A cluster in a directory, reached through a socket in it."""

    def __init__(self, programs: Path, directory: Path) -> None:
        self._programs = programs
        self.directory = directory
        self._as: dict[str, Any] = (
            {"user": _NOBODY, "group": _NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        )
        self._process: subprocess.Popen[bytes] | None = None
        self._databases = 0
        self._version = 0
        self._templates: dict[int, str] = {}
        self._settings: dict[str, str] = {}

    def make(self, **settings: str) -> None:
        """Make the cluster; settings are those of `postgresql.conf` for each of its starts."""
        if self._as:
            os.chown(self.directory, _NOBODY, _NOBODY)
        self._settings = settings
        self._run(
            *("initdb", "-D", self.directory / "data", "-U", "switchboard", "-A", "trust"),
            *("-E", "UTF8", "--locale=C", "--no-sync"),
        )
        if addresses := settings.get("listen_addresses"):
            with (self.directory / "data" / "pg_hba.conf").open("a") as rules:
                rules.write(f"host all all {addresses.partition(',')[0]}/24 trust\n")

    def start(self, *, is_durable: bool = False) -> None:
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.directory),
            "max_connections": "100",
            "shared_buffers": "16MB",
            "fsync": "on" if is_durable else "off",
            # It would look into each of hundreds of databases once a minute, and finds nothing.
            "autovacuum": "off",
            **self._settings,
        }
        words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        with (self.directory / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", self.directory / "data", *words],
                stdout=log,
                stderr=log,
                **self._as,
            )
        end = time.monotonic() + _STARTS_S
        while (said := self._ask("SHOW server_version_num")).error:
            assert self._process.poll() is None, (self.directory / "log").read_text()
            assert time.monotonic() < end, "PostgreSQL did not start"
            time.sleep(0.05)
        self._version = int(said.rows)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it: SIGINT in order, SIGQUIT as a crash."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(_STARTS_S)
            self._process = None

    @contextmanager
    def replica(self) -> Iterator[Path]:
        """Run a replica that follows this server; returns the directory of its socket."""
        with tempfile.TemporaryDirectory(
            prefix=folder_prefix("pg"), ignore_cleanup_errors=True
        ) as name:
            follower = PostgresServer(self._programs, Path(name))
            if self._as:
                os.chown(name, _NOBODY, _NOBODY)
            place = ("-h", self.directory, "-U", "switchboard", "-D", Path(name) / "data")
            self._run("pg_basebackup", *place, "-R", "-X", "stream", "-c", "fast", "--no-sync")
            follower.start()
            try:
                yield follower.directory
            finally:
                follower.stop(signal.SIGQUIT)

    @contextmanager
    def asking_for_passwords(self, database: str) -> Iterator[None]:
        """Have the server ask for a password that no role has, at one database."""
        rules = self.directory / "data" / "pg_hba.conf"
        before = rules.read_text()
        rules.write_text(f"local {database} all scram-sha-256\n{before}")
        self.sql("SELECT pg_reload_conf()")
        end = time.monotonic() + _STARTS_S
        while not self._ask("SELECT 1", database).error:
            assert time.monotonic() < end, "PostgreSQL did not read its rules"
            time.sleep(0.05)
        try:
            yield
        finally:
            rules.write_text(before)
            self.sql("SELECT pg_reload_conf()")

    def new_database(self, template: str = "template1") -> str:
        """Make a database, as empty as its template; returns its address."""
        self._databases += 1
        name = f"fleet_{self._databases}"
        # A copy of the files takes a third of writing each page through the log, as 15 began to.
        how = " STRATEGY FILE_COPY" if self._version >= _LOGS_COPIES else ""
        self.sql(f"CREATE DATABASE {name} TEMPLATE {template}{how}")
        return f"postgresql:///{name}?host={self.directory}&user=switchboard"

    def new_store(self, version: int = len(MIGRATIONS)) -> str:
        """Make a database with an empty store of a schema's version; returns its address. All are
        copies with one identity, three times as fast as a store that makes its schema.
        """
        if version not in self._templates:
            template = self.new_database().removeprefix("postgresql:///").partition("?")[0]
            made = [f"CREATE SCHEMA {SCHEMA}", f"SET search_path = {SCHEMA}"]
            made += [sql for migration in MIGRATIONS[:version] for sql in migration]
            made += [f"UPDATE tip SET version = {version}, store = '{new_identity()}'"]
            self.sql(";".join(made), database=template)
            self._templates[version] = template
        return self.new_database(self._templates[version])

    @property
    def is_running(self) -> bool:
        """Whether its process has not ended, by itself or by `stop`."""
        return self._process is not None and self._process.poll() is None

    def takes(self, statement: str) -> bool:
        """Run a statement; whether the server carried it out."""
        return not self._ask(statement).error

    def sql(self, statement: str, *, database: str = "postgres") -> str:
        """Run statements; returns the rows of the last, a line each, with `|` between columns."""
        done = self._ask(statement, database)
        assert not done.error, done.error
        return done.rows

    def _ask(self, statement: str, database: str = "postgres") -> "_Said":
        """Run statements through a connection of their own, a tenth of what a psql costs."""
        from psycopg import pq  # An extra.

        where = f"host={self.directory} user=switchboard dbname={database} connect_timeout=60"
        link = pq.PGconn.connect(where.encode())
        try:
            if link.status != pq.ConnStatus.OK:
                return _Said("", link.get_error_message())
            done = link.exec_(statement.encode())
            if done.status not in (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK):
                return _Said("", done.get_error_message())
            rows = [
                b"|".join(done.get_value(row, column) or b"" for column in range(done.nfields))
                for row in range(done.ntuples)
            ]
            return _Said(b"\n".join(rows).decode(), "")
        finally:
            link.finish()

    def _run(self, program: str, *words: str | Path) -> None:
        done = subprocess.run(
            [self._programs / program, *words],
            cwd="/",
            capture_output=True,
            text=True,
            timeout=_STARTS_S,
            check=False,
            **self._as,
        )
        assert done.returncode == 0, done.stderr


@contextmanager
def running_server(
    *, is_durable: bool = False, directory: Path | None = None, **settings: str
) -> Iterator[PostgresServer]:
    """Run a server of one's own; its files go at the end.

    Args:
        is_durable: whether what it commits outlives a crash of the computer.
        directory: an empty one for its files; None: one is made.
        settings: of `postgresql.conf`.
    """
    programs = binaries()
    assert programs is not None, "PostgreSQL is not installed"
    # Not below pytest's folders, where no other user may look; short, as a socket's path has to be.
    directory = directory or Path(tempfile.mkdtemp(prefix=folder_prefix("pg")))
    server = PostgresServer(programs, directory)
    try:
        server.make(**settings)
        server.start(is_durable=is_durable)
        yield server
    finally:
        server.stop(signal.SIGQUIT)
        shutil.rmtree(directory, ignore_errors=True)
