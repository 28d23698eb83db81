"""Write a session's rollout from any core, embedded or over the socket.

Not the reader. Invariants: the file appears whole or not at all, readable by its owner only; every
event of the session is in it, those that were rolled back, approvals and questions included; a
secret answer is not, for it was never stored.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator
from enum import StrEnum
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO, Protocol

import msgspec

from agent.errors import StoreError, UsageError
from agent.protocol import Event, SessionAssigned, SessionConfigured, TaskStarted
from agent.records import Session
from agent.sessions.rollout.rollout_lines import (
    BlobLine,
    EventLine,
    Payload,
    SessionMeta,
    TurnContext,
    iso,
    line_of,
)
from agent.store.changes.blob_refs import Use, uses_of

PAGE_EVENTS = 500


class Blobs(StrEnum):
    """Where frames, trees, prompts and replies go."""

    INLINE = "inline"  # Into the rollout, as base64.
    BESIDE = "beside"  # Into a directory beside it, each under its digest.
    NONE = "none"


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """What was written."""

    path: Path
    session_id: str
    events: int = 0
    blobs: int = 0
    missing_blobs: int = 0  # Named by an event and gone: pruned, damaged, or never there.


class Source(Protocol):
    """What a rollout is read from; every Core is one."""

    async def session(self, session_id: str) -> Session: ...

    async def history(
        self, session_id: str, *, after_seq: int = 0, limit: int = 10_000
    ) -> tuple[Event, ...]: ...

    async def blob(self, digest: str) -> bytes: ...


def rollout_name(session: Session) -> str:
    """Name the file as Codex does: by local time of creation and by id."""
    at = time.strftime("%Y-%m-%dT%H-%M-%S", time.localtime(session.created_ms / 1000))
    return f"rollout-{at}-{session.session_id}.jsonl"


def blobs_directory(path: Path) -> Path:
    return path.with_name(path.name + ".blobs")


async def export_rollout(
    source: Source,
    session_id: str,
    path: Path,
    *,
    blobs: Blobs = Blobs.INLINE,
    overwrite: bool = False,
    version: str = "",
) -> Exported:
    """Write one session to a file; into a directory, under its own name.

    Raises:
        UsageError: no such session, or the file is there and shall not be overwritten.
        StoreError: the file cannot be written; nothing is left of it.
    """
    session = await source.session(session_id)
    path = await asyncio.to_thread(_place, path, session, overwrite)
    part = path.with_name(f".{path.name}.{token_hex(4)}.part")
    writing = _Writing(source, session, path, blobs, version)
    try:
        file = await asyncio.to_thread(_begin, part)
        try:
            await writing.write(file)
            await asyncio.to_thread(_sync, file)
        finally:
            file.close()
        await asyncio.to_thread(part.replace, path)
    except OSError as error:
        raise StoreError(
            f"{path} could not be written: {error.strerror or error}.",
            "Name a file in a writable directory with free space.",
        ) from error
    finally:
        with contextlib.suppress(OSError):
            await asyncio.to_thread(part.unlink, missing_ok=True)
    return writing.exported


def _place(path: Path, session: Session, overwrite: bool) -> Path:
    if path.is_dir():
        path = path / rollout_name(session)
    if path.exists() and not overwrite:
        raise UsageError(f"{path} already exists.", "Name another file, or add --overwrite.")
    return path


def _begin(part: Path) -> BinaryIO:
    return open(part, "xb", opener=_private)


class _Writing:
    """One rollout as it is written."""

    def __init__(
        self, source: Source, session: Session, path: Path, blobs: Blobs, version: str
    ) -> None:
        self.exported = Exported(path=path, session_id=session.session_id)
        self._source = source
        self._session = session
        self._blobs = blobs
        self._version = version
        self._events = self._written = self._missing = 0
        self._known: set[str] = set()

    async def write(self, file: BinaryIO) -> None:
        one = self._session
        meta = SessionMeta(
            id=one.session_id,
            forked_from_id=one.forked_from,
            timestamp=iso(one.created_ms),
            cli_version=self._version,
            session=one,
        )
        await _put(file, meta, one.created_ms)
        serial = one.serial
        async for event in self._all_events():
            match event.msg:
                case SessionConfigured(session=session):
                    serial = session.serial
                case SessionAssigned(serial=assigned):
                    serial = assigned
                case TaskStarted(turn_id=turn_id, kind=kind):
                    context = TurnContext(
                        turn_id=turn_id,
                        kind=kind,
                        model=one.model,
                        serial=serial,
                        autonomy=str(one.autonomy),
                    )
                    await _put(file, context, event.ts_ms)
                case _:
                    pass
            # Before the event, so that a reader has what the event names when it comes to it.
            for use in uses_of(event.msg):
                await self._put_blob(file, use, event.ts_ms)
            line = EventLine(seq=event.seq, ts_ms=event.ts_ms, msg=event.msg)
            await _put(file, line, event.ts_ms)
            self._events += 1
        self.exported = Exported(
            path=self.exported.path,
            session_id=one.session_id,
            events=self._events,
            blobs=self._written,
            missing_blobs=self._missing,
        )

    async def _all_events(self) -> AsyncIterator[Event]:
        last = 0
        while page := await self._source.history(
            self._session.session_id, after_seq=last, limit=PAGE_EVENTS
        ):
            for event in page:
                yield event
            last = page[-1].seq

    async def _put_blob(self, file: BinaryIO, use: Use, ts_ms: int) -> None:
        if self._blobs is Blobs.NONE or use.digest in self._known:
            return
        self._known.add(use.digest)
        try:
            data = await self._source.blob(use.digest)
        except (StoreError, UsageError):
            # Gone; or no digest at all, in an event that came from elsewhere.
            self._missing += 1
            return
        inline = self._blobs is Blobs.INLINE
        if not inline:
            directory = blobs_directory(self.exported.path)
            await asyncio.to_thread(_write_beside, directory, use.digest, data)
        line = BlobLine(digest=use.digest, media_type=use.media_type, data=data if inline else b"")
        await _put(file, line, ts_ms)
        self._written += 1


async def _put(file: BinaryIO, payload: Payload, ts_ms: int) -> None:
    await asyncio.to_thread(file.write, line_of(payload, ts_ms))


def _write_beside(directory: Path, digest: str, data: bytes) -> None:
    directory.mkdir(mode=0o700, exist_ok=True)
    path = directory / digest
    part = directory / f".{digest}.part"
    with open(part, "wb", opener=_private) as file:
        file.write(data)
    part.replace(path)


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)
