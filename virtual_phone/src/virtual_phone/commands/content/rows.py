"""What a content provider's table is, and how conditions choose its rows: SQLite decides.

A table in memory for one question. Not the phone's data. Invariant: a condition reads these rows
and nothing else, within bounded steps and memory, whatever it says.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Protocol, TypeVar

from virtual_phone.shell.call import CommandError

if TYPE_CHECKING:
    from virtual_phone.phone import Phone

Value = str | int | float | None
Row = Mapping[str, Value]
Values = Mapping[str, Value]
StateT = TypeVar("StateT")
STEPS = 2_000_000
CHECK_EVERY = 10_000
LARGEST_BYTES = 1_000_000
_ALLOWED = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)


class Provider(Protocol):
    """One table of a provider."""

    @property
    def columns(self) -> tuple[str, ...]: ...
    def rows(self) -> list[Row]: ...
    def insert(self, values: Values) -> None: ...
    def update(self, row: Row, values: Values) -> None: ...
    def delete(self, row: Row) -> None: ...


class ReadOnly:
    """A table that the shell may only read."""

    def insert(self, values: Values) -> None:
        raise _refused(self)

    def update(self, row: Row, values: Values) -> None:
        raise _refused(self)

    def delete(self, row: Row) -> None:
        raise _refused(self)


def _refused(table: object) -> CommandError:
    return CommandError(
        f"java.lang.UnsupportedOperationException: {type(table).__name__.lower()} is read-only here"
    )


def select(
    rows: Sequence[Row], columns: Sequence[str], *, shown: Sequence[str], where: str, order: str
) -> list[dict[str, Value]]:
    """Return the rows that a condition picks, with the columns that were asked for.

    Raises:
        CommandError: the condition, the order or a column is not one SQLite takes.
    """
    wanted = ", ".join(shown) if shown else ", ".join(_quoted(name) for name in columns)
    text = f"SELECT {wanted} FROM rows"
    if where:
        text += f" WHERE ({where})"
    if order:
        text += f" ORDER BY {order}"
    with closing(sqlite3.connect(":memory:")) as base:
        base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_BYTES)
        base.execute(f"CREATE TABLE rows ({', '.join(_quoted(name) for name in columns)})")
        marks = ", ".join("?" * len(columns))
        base.executemany(
            f"INSERT INTO rows VALUES ({marks})",
            ([_short(row.get(name)) for name in columns] for row in rows),
        )
        base.commit()
        base.set_authorizer(_only_reading)
        left = [STEPS // CHECK_EVERY]

        def too_long() -> int:
            left[0] -= 1
            return left[0] < 0

        base.set_progress_handler(too_long, CHECK_EVERY)
        try:
            answer = base.execute(text)
            names = [item[0] for item in answer.description]
            return [dict(zip(names, one, strict=True)) for one in answer.fetchmany(100_000)]
        except (sqlite3.Error, sqlite3.Warning, UnicodeEncodeError) as error:
            raise CommandError(
                f"android.database.sqlite.SQLiteException: {error} (code 1 SQLITE_ERROR): , "
                f"while compiling: {text}"
            ) from error


def _only_reading(action: int, *about: str | None) -> int:
    del about
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _short(value: Value) -> Value:
    return value[: LARGEST_BYTES // 8] if isinstance(value, str) else value


def state_of(phone: "Phone", package: str, kind: type[StateT]) -> StateT:
    """Return what an app keeps, which is of this kind."""
    state = phone.app_data.of_package(package)
    assert isinstance(state, kind), package
    return state


def text_of(value: Value) -> str:
    """Return a bound value as text; nothing for null."""
    return "" if value is None else str(value)


def number_of(value: Value, default: float) -> float:
    """Return a bound value as a number. Raises CommandError, in Java's words."""
    try:
        return float(default if value is None else value)
    except ValueError as error:
        raise CommandError(f'java.lang.NumberFormatException: For input string: "{value}"') from (
            error
        )
