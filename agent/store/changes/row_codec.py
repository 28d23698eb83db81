"""Convert records to rows and back.

The reader has the queries. Invariants: a row's columns repeat values of its record for the indices;
the record is authoritative; every database of a store understands these statements.
"""

from typing import TypeVar

import msgspec

from agent.errors import StoreError
from agent.protocol import Event, decode_msg
from agent.protocol.session_filter import facts_of, foldable
from agent.records import Commitment, Job, Question, RunRecord, Session, Watcher, WatcherStatus
from agent.store.changes.event_ledger import EventLedger
from agent.store.leases import Lease
from agent.store.rows import Row, Statement, Value

_INSERT_EVENT = (
    "INSERT INTO event (id, session_id, seq, ts_ms, submission_id, type, body) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_PUT_SESSION = (
    "INSERT INTO session (session_id, parent_id, state, last_seq, job_id, is_pruned, record, "
    "created_ms, place, model, labels) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (session_id) DO UPDATE SET parent_id = excluded.parent_id, "
    "state = excluded.state, last_seq = excluded.last_seq, is_pruned = excluded.is_pruned, "
    "record = excluded.record, created_ms = excluded.created_ms, place = excluded.place, "
    "model = excluded.model, labels = excluded.labels"
)
# Most events leave a session in the place that the indices know: they need not be written then.
_MOVE_SESSION = "UPDATE session SET last_seq = ?, record = ? WHERE session_id = ?"
_PUT_QUESTION = (
    "INSERT INTO question (question_id, session_id, is_open, record) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (question_id) DO UPDATE SET is_open = excluded.is_open, record = excluded.record"
)
_PUT_JOB = (
    "INSERT INTO job (id, status, next_run_at, running_at, search, record) "
    "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET status = excluded.status, "
    "next_run_at = excluded.next_run_at, running_at = excluded.running_at, "
    "search = excluded.search, record = excluded.record"
)
_PUT_WATCHER = (
    "INSERT INTO watcher (id, is_live, search, record) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (id) DO UPDATE SET is_live = excluded.is_live, search = excluded.search, "
    "record = excluded.record"
)
_PUT_COMMITMENT = (
    "INSERT INTO commitment (id, is_live, search, record) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (id) DO UPDATE SET is_live = excluded.is_live, search = excluded.search, "
    "record = excluded.record"
)
KEPT_RUNS = 200
"""How many runs of one job are kept."""
_PUT_RUN = (
    "INSERT INTO job_run (run_id, job_id, record) VALUES (?, ?, ?) "
    "ON CONFLICT (run_id) DO UPDATE SET record = excluded.record"
)
_DROP_RUNS = (
    "DELETE FROM job_run WHERE job_id = ? AND number <= (SELECT number FROM job_run "
    f"WHERE job_id = ? ORDER BY number DESC LIMIT 1 OFFSET {KEPT_RUNS})"
)
_DROP_JOB = ("DELETE FROM job_run WHERE job_id = ?", "DELETE FROM job WHERE id = ?")
_PUT_BLOB = (
    "INSERT INTO blob (digest, media_type, size_bytes, stored_ms) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (digest) DO NOTHING"
)

_DROP_USES = "DELETE FROM blob_use WHERE session_id = ?"
_PUT_USE = "INSERT INTO blob_use (session_id, digest) VALUES (?, ?) ON CONFLICT DO NOTHING"
_DELETE_SESSION = (
    "DELETE FROM event WHERE session_id = ?",
    "DELETE FROM question WHERE session_id = ?",
    "DELETE FROM session WHERE session_id = ?",
    _DROP_USES,
)
_FORGET_BLOB = (
    "DELETE FROM blob WHERE digest = ? "
    "AND NOT EXISTS (SELECT 1 FROM blob_use WHERE blob_use.digest = blob.digest)"
)
_PUT_LEASE = (
    "INSERT INTO lease (key, owner, epoch, expires_ms) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, epoch = excluded.epoch, "
    "expires_ms = excluded.expires_ms"
)

LEASE = "SELECT key, owner, epoch, expires_ms FROM lease WHERE key = ?"
"""What `lease_of` reads."""

EVENT_COLUMNS = "id, session_id, seq, ts_ms, submission_id, body"
"""What `event_of` reads, in its order."""

T = TypeVar("T")

_encoder = msgspec.json.Encoder()
_session_decoder = msgspec.json.Decoder(Session)
_question_decoder = msgspec.json.Decoder(Question)
_job_decoder = msgspec.json.Decoder(Job)
_run_decoder = msgspec.json.Decoder(RunRecord)
_watcher_decoder = msgspec.json.Decoder(Watcher)
_commitment_decoder = msgspec.json.Decoder(Commitment)


def rows_of(ledger: EventLedger) -> tuple[Statement, ...]:
    """Return the statements that write a ledger's changes, each with its rows."""
    dropped: list[tuple[Value, ...]] = [(job_id,) for job_id in ledger.dropped_jobs]
    deleted: list[tuple[Value, ...]] = [(session_id,) for session_id in ledger.deleted]
    placed, moved = _sessions_of(ledger)
    return (
        (
            _INSERT_EVENT,
            [
                (
                    event.event_id,
                    event.session_id or None,
                    event.seq,
                    event.ts_ms,
                    event.submission_id,
                    type(event.msg).__struct_config__.tag,
                    body.decode(),
                )
                for event, body in ledger.events
            ],
        ),
        (_PUT_SESSION, placed),
        (_MOVE_SESSION, moved),
        (
            _PUT_QUESTION,
            [
                (question_id, question.session_id, int(is_open), _json(question))
                for question_id, (question, is_open) in ledger.questions.maps[0].items()
            ],
        ),
        (
            _PUT_JOB,
            [
                (job.id, job.status, job.next_run_at, job.running_at, _search(job), _json(job))
                for job in ledger.jobs.maps[0].values()
            ],
        ),
        (
            _PUT_WATCHER,
            [
                (one.id, int(_is_live(one)), _watcher_search(one), _json(one))
                for one in ledger.watchers.values()
            ],
        ),
        (
            _PUT_COMMITMENT,
            [
                (one.id, int(not one.status.is_over), _commitment_search(one), _json(one))
                for one in ledger.commitments.values()
            ],
        ),
        (_PUT_RUN, [(run.run_id, run.job_id, _json(run)) for run in ledger.runs.values()]),
        (_DROP_RUNS, [(run.job_id, run.job_id) for run in ledger.runs.values() if run.ended_at]),
        *((sql, dropped) for sql in _DROP_JOB),
        (_PUT_BLOB, [tuple(row) for row in ledger.blobs]),
        (_DROP_USES, [(session_id,) for session_id in sorted(ledger.pruned)]),
        (_PUT_USE, list(ledger.uses)),
        *((sql, deleted) for sql in (_DELETE_SESSION if deleted else ())),
        (_FORGET_BLOB, [(digest,) for digest in ledger.unnamed]),
        (
            _PUT_LEASE,
            [(at.key, at.owner, at.epoch, at.expires_ms) for at in ledger.leases.maps[0].values()],
        ),
    )


def _sessions_of(ledger: EventLedger) -> tuple[list[tuple[Value, ...]], list[tuple[Value, ...]]]:
    """Return the rows of sessions that are new or changed their index values, and the others."""
    placed: list[tuple[Value, ...]] = []
    moved: list[tuple[Value, ...]] = []
    for session_id, (last_seq, session) in ledger.sessions.maps[0].items():
        before = ledger.sessions.stored(session_id)
        record = _json(session)
        if before is not None and _place_of(before.session) == _place_of(session):
            moved.append((last_seq, record, session_id))
            continue
        placed.append(
            (
                session_id,
                session.parent_id,
                session.state,
                last_seq,
                session.job_id,
                int(session.pruned),
                record,
                *facts_of(session),
            )
        )
    return placed, moved


def _place_of(session: Session) -> tuple[object, ...]:
    """Return what the mutable index values of a session's row are made of."""
    return (
        *(session.parent_id, session.state, session.pruned, session.kept, session.tags),
        *(session.host, session.serial, session.model, session.verdict, session.verified_by),
    )


def event_of(row: Row) -> Event:
    """Decode a row of EVENT_COLUMNS. Raises StoreError."""
    event_id, session_id, seq, ts_ms, submission_id, body = row
    try:
        msg = decode_msg(as_text(body))
    except msgspec.MsgspecError as error:
        raise StoreError(
            f"Event {event_id!r} cannot be read: {error}.",
            "It may be from a newer Switchboard: upgrade, then try again.",
        ) from error
    return Event(
        event_id=as_int(event_id),
        session_id=as_text(session_id or ""),
        seq=as_int(seq),
        ts_ms=as_int(ts_ms),
        submission_id=as_text(submission_id),
        msg=msg,
    )


def lease_of(row: Row) -> Lease:
    """Decode a row of LEASE. Raises StoreError."""
    key, owner, epoch, expires_ms = row
    return Lease(
        key=as_text(key), owner=as_text(owner), epoch=as_int(epoch), expires_ms=as_int(expires_ms)
    )


def decode_session(record: Value) -> Session:
    """Decode a session's record. Raises StoreError."""
    return _decode(_session_decoder, record, "session")


def decode_question(record: Value) -> Question:
    """Decode a question's record. Raises StoreError."""
    return _decode(_question_decoder, record, "question")


def decode_job(record: Value) -> Job:
    """Decode a job's record. Raises StoreError."""
    return _decode(_job_decoder, record, "job")


def decode_run(record: Value) -> RunRecord:
    """Decode the record of a job's run. Raises StoreError."""
    return _decode(_run_decoder, record, "run of a job")


def decode_watcher(record: Value) -> Watcher:
    """Decode a watcher's record. Raises StoreError."""
    return _decode(_watcher_decoder, record, "watcher")


def decode_commitment(record: Value) -> Commitment:
    """Decode a commitment's record. Raises StoreError."""
    return _decode(_commitment_decoder, record, "commitment")


def as_int(value: Value) -> int:
    """Return an integer column's value, as STRICT tables guarantee."""
    if isinstance(value, int):
        return value
    raise StoreError(f"The store has {value!r} where a number is expected.")


def as_text(value: Value) -> str:
    """Return a text column's value, as STRICT tables guarantee."""
    if isinstance(value, str):
        return value
    raise StoreError(f"The store has {value!r} where text is expected.")


def _decode(decoder: msgspec.json.Decoder[T], record: Value, what: str) -> T:
    try:
        return decoder.decode(as_text(record))
    except msgspec.MsgspecError as error:
        raise StoreError(f"A {what} in the store cannot be read: {error}.") from error


def _json(record: Session | Question | Job | RunRecord | Watcher | Commitment) -> str:
    return _encoder.encode(record).decode()


def _search(job: Job) -> str:
    return _found_by(job.title, job.prompt, " ".join(job.places), job.status)


def _is_live(watcher: Watcher) -> bool:
    return watcher.status is WatcherStatus.ACTIVE or watcher.unread


def _watcher_search(watcher: Watcher) -> str:
    prompt = f"{watcher.delivery_json.get('prompt', '')}"
    places = " ".join(watcher.places)
    return _found_by(f"{watcher.title}\n{watcher.type}", prompt, places, watcher.status)


def _commitment_search(one: Commitment) -> str:
    return _found_by(one.title, one.description, " ".join(one.places), one.status)


def _found_by(title: str, text: str, places: str, status: str) -> str:
    """Return what a query is looked for in: lines, of which the last is the status."""
    lines = (title, text, *((places,) if places else ()), status)
    return foldable("\n".join(lines))
