"""Read a rollout that anybody may have written.

Not the storing of it (`agent.sessions.lifecycle.archive`). Invariants: a broken line is skipped and
counted; the first `session_meta` decides what the rollout is of; facts of the whole store, of jobs
or of phones, are broken lines; nothing outside the file and its own directory of blobs is opened;
memory is bounded by what the limits below allow.
"""

import hashlib
import os
import re
import stat
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import msgspec
import msgspec.structs

from agent.errors import UsageError
from agent.protocol import (
    OF_NO_SESSION,
    Event,
    SessionConfigured,
    SessionEndpointChosen,
    TextLetThrough,
)
from agent.records import Session
from agent.sessions.rollout.rollout_lines import (
    FORMAT,
    LARGEST_NUMBER,
    LONGEST_LINE_BYTES,
    BlobLine,
    EventLine,
    SessionMeta,
    payload_of,
)
from agent.sessions.rollout.rollout_write import blobs_directory
from agent.sessions.rules.creation import STEPS_LIMIT
from agent.store.changes.blob_refs import digests_of

MOST_EVENTS = 200_000
MOST_EVENT_BYTES = 1 << 28
"""What a rollout's events may take up, which are held and stored at once; blobs come one by one.

Twice what the longest session writes: 10,000 steps of a dozen events, each of about a kilobyte.
"""
LARGEST_FILE_BYTES = 1 << 32
LARGEST_BLOB_BYTES = 1 << 25
_REMEDY = "Name a file that `switchboard sessions export` wrote."
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Rollout(msgspec.Struct, frozen=True, kw_only=True):
    """What a rollout holds but for its blobs."""

    session_id: str
    events: tuple[Event, ...]  # In order, numbered as they were; the first configures the session.
    skipped_lines: int = 0


def read_rollout(path: Path) -> Rollout:
    """Read the events of a rollout. Blocks; call it in a thread.

    Raises:
        UsageError: no file, not a regular one, too large, of a newer version, or no rollout.
    """
    meta: SessionMeta | None = None
    lines: dict[int, EventLine] = {}
    skipped = event_bytes = 0
    with _opened(path) as file:
        for line in _lines(file, path):
            read = payload_of(line) if line is not None else None
            match read:
                case SessionMeta() if meta is None:
                    meta = _checked(read, path)
                case EventLine() if _counts(read) and read.seq not in lines:
                    lines[read.seq] = read
                    event_bytes += len(line or b"")
                    _check_bounds(path, len(lines), event_bytes)
                case EventLine() | None:
                    skipped += 1
                case _:
                    pass
    if meta is None:
        raise UsageError(f"{path} is not a rollout: it has no session_meta line.", _REMEDY)
    events = _events(meta, [lines[seq] for seq in sorted(lines)], path)
    return Rollout(session_id=meta.id, events=events, skipped_lines=skipped)


def _check_bounds(path: Path, events: int, event_bytes: int) -> None:
    """Refuse a rollout whose events are too many or too long to be held. Raises UsageError."""
    if events > MOST_EVENTS:
        raise UsageError(f"{path} has more than {MOST_EVENTS:,} events.", _REMEDY)
    if event_bytes > MOST_EVENT_BYTES:
        raise UsageError(f"{path} has more than {MOST_EVENT_BYTES >> 20} MiB of events.", _REMEDY)


def _counts(line: EventLine) -> bool:
    """Return whether a line has a place and tells of its session: no other can be changed by it."""
    return 0 < line.seq < LARGEST_NUMBER and type(line.msg) not in OF_NO_SESSION


def read_blobs(path: Path, rollout: Rollout) -> Iterator[BlobLine]:
    """Yield the blobs that the rollout's events name, one by one; others are left out.

    A blob whose bytes are not those of its digest is left out too. Raises UsageError.
    """
    wanted = {digest for event in rollout.events for digest in digests_of(event.msg)}
    with _opened(path) as file:
        for line in _lines(file, path):
            if line is None or b'"blob"' not in line:
                continue
            read = payload_of(line)
            if not isinstance(read, BlobLine) or read.digest not in wanted:
                continue
            data = read.data or _beside(path, read.digest)
            if len(data) > LARGEST_BLOB_BYTES or not _is(data, read.digest):
                continue
            wanted.discard(read.digest)
            yield BlobLine(digest=read.digest, media_type=_media_type(read.media_type), data=data)


def _checked(meta: SessionMeta, path: Path) -> SessionMeta:
    if meta.format > FORMAT:
        raise UsageError(
            f"{path} is a rollout of format {meta.format}; this Switchboard reads up to {FORMAT}.",
            "Upgrade Switchboard.",
        )
    if not _ID.fullmatch(meta.id):
        raise UsageError(f"{path} names its session {meta.id[:80]!r}, which is not an id.")
    return meta


def _events(meta: SessionMeta, lines: list[EventLine], path: Path) -> tuple[Event, ...]:
    """Return the events with what configured the session first, once."""
    first = next(
        (one.msg.session for one in lines if isinstance(one.msg, SessionConfigured)), meta.session
    )
    if first is None:
        raise UsageError(f"{path} does not contain its session's configuration.")
    # What the operator of another store let through or chose, this one's did not.
    left_out = (SessionConfigured, SessionEndpointChosen, TextLetThrough)
    rest = [one for one in lines if not isinstance(one.msg, left_out)]
    began_ms = lines[0].ts_ms if lines else first.created_ms
    configured = SessionConfigured(session=_own(first, meta))
    begun = EventLine(seq=0, ts_ms=began_ms, msg=configured)
    return tuple(
        Event(
            event_id=one.seq, session_id=meta.id, seq=one.seq, ts_ms=_time(one.ts_ms), msg=one.msg
        )
        for one in (begun, *rest)
    )


def _own(first: Session, meta: SessionMeta) -> Session:
    forked_from = first.forked_from if _ID.fullmatch(first.forked_from) else ""
    return msgspec.structs.replace(
        first,
        session_id=meta.id,
        forked_from=forked_from,
        created_ms=_time(first.created_ms),
        # The operator of this store let nothing of it through, and chose no endpoint for it.
        let_through=(),
        endpoint="",
        max_steps=min(max(first.max_steps, 1), STEPS_LIMIT),
    )


def _time(ts_ms: int) -> int:
    """Bound a time to what can be shown; 1 for one that is none, which sorts before all others."""
    return ts_ms if 0 < ts_ms < LARGEST_NUMBER else 1


def _opened(path: Path) -> BinaryIO:
    """Open a regular file of a bounded size. Raises UsageError."""
    try:
        # Not blocking: a pipe of that name would make the core wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{path} cannot be read: {said}.", _REMEDY) from error
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_FILE_BYTES:
        os.close(descriptor)
        raise UsageError(
            f"{path} is not a rollout: it must be a regular file of at most "
            f"{LARGEST_FILE_BYTES >> 30} GiB.",
            _REMEDY,
        )
    return os.fdopen(descriptor, "rb")


def _lines(file: BinaryIO, path: Path) -> Iterator[bytes | None]:
    """Yield the lines that are not empty; None for one longer than any line may be.

    Raises UsageError where the disk, or what is no real file, gives none.
    """
    try:
        yield from _read_lines(file)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", _REMEDY) from error


def _read_lines(file: BinaryIO) -> Iterator[bytes | None]:
    # Some editors put a mark before the first line, which would cost it.
    if file.read(len(BOM_UTF8)) != BOM_UTF8:
        file.seek(0)
    while line := file.readline(LONGEST_LINE_BYTES):
        if line.endswith(b"\n") or len(line) < LONGEST_LINE_BYTES:
            if line.strip():
                yield line
            continue
        while (rest := file.readline(LONGEST_LINE_BYTES)) and not rest.endswith(b"\n"):
            pass
        yield None


def _beside(path: Path, digest: str) -> bytes:
    """Read a blob from the directory beside a rollout; empty when it is not there."""
    if not _DIGEST.fullmatch(digest):
        return b""
    found = blobs_directory(path) / digest
    with suppress(OSError):
        descriptor = os.open(found, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
        with os.fdopen(descriptor, "rb") as file:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                return file.read(LARGEST_BLOB_BYTES + 1)
    return b""


def _is(data: bytes, digest: str) -> bool:
    return bool(data) and hashlib.sha256(data).hexdigest() == digest


def _media_type(named: str) -> str:
    known = {"image/png", "image/jpeg", "image/webp", "application/xml", "application/json"}
    return named if named in known else "application/octet-stream"
