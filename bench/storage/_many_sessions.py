"""Many stored sessions, cheaply: their rows in one transaction, as a core would have left them, in
a data directory or in a database of a fleet.

A few sessions are folded; the others are copies under other names, on other phones and days. Each
has the events of three steps.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import msgspec
import psycopg
from msgspec.structs import replace

from agent.protocol import (
    AgentMessage,
    Event,
    EventMsg,
    ResultPublished,
    SessionAssigned,
    SessionConfigured,
    SessionStateChanged,
    StepCompleted,
    StepStarted,
    TaskComplete,
    TaskStarted,
    ToolCallFinished,
    ToolCallRequested,
    decode_msg,
    encode,
)
from agent.protocol.session_filter import facts_of
from agent.records import ActionOutcome, Session, SessionState, TimeSplit, Usage
from agent.state.session_fold import fold_all
from agent.store.database.identity import DATABASE_NAME
from agent.store.embedded.sqlite_store import SqliteStore
from agent.store.postgres.postgres_store import PostgresStore
from agent.store.postgres.words import vector_of
from agent.store.queries.search_words import text_of
from bench.storage.store import step_draft

HOSTS = 20
PHONES = 25  # Of each host.
MODELS = ("openai/gpt-5", "anthropic/claude-sonnet", "qwen/qwen-vl-max")
_GOALS = (
    "Turn on Bluetooth",
    "Pay the invoice of the electrician",
    "Archive the newest message",
    "Find a train to Hamburg",
    "Set an alarm for 6:45",
)
_OUTCOMES = (*([SessionState.COMPLETED] * 17), SessionState.FAILED, SessionState.CANCELLED)
_MINUTE_MS = 60_000
_KEPT_MS = 13 * 24 * 60 * _MINUTE_MS
_COLUMNS = {
    "event": "id, session_id, seq, ts_ms, submission_id, type, body",
    "session": (
        "session_id, parent_id, state, last_seq, job_id, is_pruned, record, "
        "created_ms, place, model, labels"
    ),
    "words": "event_id, session_id, found",
}


class _Kind(NamedTuple):
    session: Session
    bodies: tuple[tuple[str, str], ...]  # Type and body of its events after the first.


async def fill(directory: Path, count: int, now_ms: int) -> int:
    """Store sessions, one every three minutes until now; returns how many events they have."""
    async with SqliteStore.open(directory):
        pass
    sessions = list(_copies(count, now_ms))
    with closing(sqlite3.connect(directory / DATABASE_NAME, isolation_level=None)) as database:
        database.execute("BEGIN")
        for table, rows in (("session", _rows(sessions)), ("event", _events(sessions))):
            columns = _COLUMNS[table]
            marks = ", ".join("?" * len(columns.split(",")))
            database.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)
        database.execute("COMMIT")
        [(events,)] = database.execute("SELECT max(id) FROM event")
    return int(events)


async def fill_fleet(dsn: str, count: int, now_ms: int) -> int:
    """Store sessions in an empty database, with their words; see `fill`."""
    async with PostgresStore.open(dsn, "bench"):
        pass
    sessions = list(_copies(count, now_ms))
    found: dict[str, str] = {}
    events, words = 0, list[tuple[object, ...]]()

    def counted() -> Iterator[tuple[object, ...]]:
        nonlocal events
        for row in _events(sessions):
            events, body = int(str(row[0])), str(row[-1])
            if body not in found:
                found[body] = vector_of(text_of(decode_msg(body)))
            if found[body]:
                words.append((events, row[1], found[body]))
            if row[2] == 1:
                # Every session's own; the others are shared.
                del found[body]
            yield row

    async with await psycopg.AsyncConnection.connect(dsn) as link, link.cursor() as cursor:
        await cursor.execute("SET search_path = switchboard")
        for table, rows in (("session", _rows(sessions)), ("event", counted()), ("words", words)):
            async with cursor.copy(f"COPY {table} ({_COLUMNS[table]}) FROM STDIN") as copy:
                for row in rows:
                    await copy.write_row(row)
        await cursor.execute("UPDATE tip SET event_id = %s", (events,))
    return events


def _copies(count: int, now_ms: int) -> Iterator[tuple[_Kind, Session]]:
    kinds = [_kind(goal, state) for state in _OUTCOMES for goal in _GOALS]
    for number in range(count):
        kind = kinds[number * 7 % len(kinds)]
        host, phone = f"rack-{number % HOSTS + 1}", number // HOSTS % PHONES
        created_ms = now_ms - (count - number) * 3 * _MINUTE_MS
        session_id = f"s{number:06}"
        yield (
            kind,
            replace(
                kind.session,
                session_id=session_id,
                host=host,
                serial=f"{host}/emulator-{5554 + 2 * phone}",
                model=MODELS[number % len(MODELS)],
                created_ms=created_ms,
                updated_ms=created_ms + _MINUTE_MS,
                tags=("nightly",) if number % 500 == 0 else (),
                # Retention dropped the pictures of the older ones long ago.
                pruned=created_ms < now_ms - _KEPT_MS,
            ),
        )


def _rows(sessions: list[tuple[_Kind, Session]]) -> Iterator[tuple[object, ...]]:
    for kind, one in sessions:
        record = msgspec.json.encode(one).decode()
        last_seq = len(kind.bodies) + 1
        yield (
            one.session_id,
            "",
            one.state.value,
            last_seq,
            0,
            int(one.pruned),
            record,
            *facts_of(one),
        )


def _events(sessions: list[tuple[_Kind, Session]]) -> Iterator[tuple[object, ...]]:
    event_id = 0
    for kind, session in sessions:
        begun = Session(
            session_id=session.session_id,
            goal=session.goal,
            created_ms=session.created_ms,
            host=session.host,
            model=session.model,
            tags=session.tags,
        )
        assigned = SessionAssigned(serial=session.serial)
        own = [_typed(SessionConfigured(session=begun)), _typed(assigned)]
        for seq, (tag, body) in enumerate((*own, *kind.bodies[1:]), 1):
            event_id += 1
            ts_ms = session.created_ms + seq * 2_000
            yield event_id, session.session_id, seq, ts_ms, "", tag, body


def _kind(goal: str, state: SessionState) -> _Kind:
    session = Session(session_id="s", goal=goal, created_ms=1)
    msgs: list[EventMsg] = [
        SessionConfigured(session=session),
        SessionAssigned(serial="a"),
        SessionStateChanged(state=SessionState.RUNNING),
        TaskStarted(turn_id="t1"),
    ]
    for step in range(1, 4):
        msgs += [
            StepStarted(step=step),
            step_draft("s", step, elements=8).msg,
            AgentMessage(step=step, text=f"I open the list to {goal.casefold()}."),
            ToolCallRequested(step=step, call_id=f"c{step}", tool="tap", arguments='{"element":4}'),
            ToolCallFinished(
                step=step, call_id=f"c{step}", outcome=ActionOutcome.DONE, text="Tapped 4."
            ),
            StepCompleted(
                step=step,
                time=TimeSplit(observe_ms=300, model_ms=2_000),
                usage=Usage(input_tokens=2_400, output_tokens=80, cost_usd=0.003, calls=1),
            ),
        ]
    if state is SessionState.COMPLETED:
        msgs.append(ResultPublished(text=f"Done: {goal}."))
    msgs += [TaskComplete(turn_id="t1"), SessionStateChanged(state=state)]
    events = [
        Event(event_id=seq, session_id="s", seq=seq, ts_ms=seq, msg=msg)
        for seq, msg in enumerate(msgs, 1)
    ]
    folded = fold_all(None, events)
    assert folded is not None
    return _Kind(folded, tuple(map(_typed, msgs[1:])))


def _typed(msg: EventMsg) -> tuple[str, str]:
    return str(type(msg).__struct_config__.tag), encode(msg).decode()
