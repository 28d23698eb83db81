"""Read a dataset back: each episode becomes a session of the store, by way of a rollout.

The files may be anybody's. Invariants: every file's checksum is compared before a row is read; the
rows pass the same gate as a rollout from elsewhere (`agent.sessions.rollout.rollout_read`); memory
holds a few rows at a time.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import pyarrow as pa
import pyarrow.dataset as pd
import pyarrow.parquet as pq

from agent.errors import UsageError
from agent.protocol import EventMsg
from agent.records import Session
from agent.sessions.rollout.rollout_lines import BlobLine, EventLine, SessionMeta, line_of
from console.datasets.manifest import Manifest, Part, check_file, read_manifest
from console.datasets.tables import BLOBS, EPISODES, EVENTS, FORMAT, STEPS, TABLES, Table

_ROWS_AT_ONCE = 16
_PICTURES = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"RIFF": "image/webp"}

Store = Callable[[Path, str], Awaitable[bool]]
"""Stores the session of a rollout that has an id; returns whether it was new."""


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What an import came to."""

    episodes: int
    known: int  # In the store already, and left as they are.
    skipped_rows: int  # Rows of `events` that are no event of this Switchboard.


def open_dataset(folder: Path) -> Manifest:
    """Read a dataset's manifest and compare every file with it. Blocks; call it in a thread.

    Raises UsageError for what is no dataset, or not the one that was written.
    """
    manifest = read_manifest(folder, newest=FORMAT)
    if manifest is None:
        raise UsageError(
            f"{folder} does not contain a dataset.",
            "Name a folder that `switchboard dataset export` wrote.",
        )
    for part in manifest.parts:
        for file in part.files:
            check_file(folder, file)
            table = next(one for one in TABLES if file.path.startswith(f"{one.name}/"))
            _check_columns(folder / file.path, table)
    return manifest


def _check_columns(path: Path, table: Table) -> None:
    try:
        found = pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        raise UsageError(f"{path} is not Parquet: {error}.", "Export it again.") from error
    for wanted in table.schema:
        at = found.get_field_index(wanted.name)
        if at < 0 or found.field(at).type != wanted.type:
            raise UsageError(
                f"{path} has no column {wanted.name!r} of type {wanted.type}.",
                "Export it again with this Switchboard.",
            )


async def import_sessions(folder: Path, store: Store, told: Callable[[int, int], None]) -> Imported:
    """Store every episode of a dataset as a session.

    Args:
        folder: the dataset's.
        store: stores one rollout.
        told: hears of each episode: how many are over, of how many.

    Raises:
        UsageError: no dataset, a file that was changed, or a session that cannot be stored.
    """
    manifest = await asyncio.to_thread(open_dataset, folder)
    total, new, known, skipped = len(manifest.episodes), 0, 0, 0
    with tempfile.TemporaryDirectory(prefix="dataset-") as scratch:
        place = Path(scratch) / "session.jsonl"
        for part in manifest.parts:
            for episode in part.episodes:
                skipped += await asyncio.to_thread(_write_rollout, folder, part, episode, place)
                if await store(place, episode):
                    new += 1
                else:
                    known += 1
                told(new + known, total)
    return Imported(episodes=new, known=known, skipped_rows=skipped)


def _write_rollout(folder: Path, part: Part, episode: str, place: Path) -> int:
    """Write one episode as a rollout; returns how many of its rows are no events."""
    row = next(_rows(folder, part, EPISODES, episode), None)
    if row is None:
        raise UsageError(f"{folder} names the episode {episode[:80]!r} but has no row for it.")
    try:
        session = msgspec.json.decode(row["session"] or "", type=Session)
    except msgspec.DecodeError as error:
        raise UsageError(
            f"The session record of {episode[:80]!r} cannot be read: {error}.",
            "Export it again with this Switchboard.",
        ) from error
    with place.open("wb") as file:
        meta = SessionMeta(id=episode, session=session)
        file.write(line_of(meta, session.created_ms))
        for one in _rows(folder, part, STEPS, episode):
            _write_held(file, one)
        for one in _rows(folder, part, BLOBS, episode):
            blob = BlobLine(
                digest=one["digest"] or "",
                media_type=one["media_type"] or "",
                data=one["data"] or b"",
            )
            file.write(line_of(blob, 0))
        return _write_events(file, _rows(folder, part, EVENTS, episode))


def _write_held(file: BinaryIO, row: dict[str, Any]) -> None:
    """Write the blobs that a row of `steps` holds."""
    picture = (row["image"] or {}).get("bytes") or b""
    if picture:
        kind = next((k for head, k in _PICTURES.items() if picture.startswith(head)), "")
        line = BlobLine(digest=row["image_digest"] or "", media_type=kind, data=picture)
        file.write(line_of(line, 0))
    for name in ("prompt", "reply"):
        if row[name]:
            line = BlobLine(
                digest=row[f"{name}_digest"] or "",
                media_type="application/json",
                data=row[name].encode(),
            )
            file.write(line_of(line, 0))


def _write_events(file: BinaryIO, rows: Iterator[dict[str, Any]]) -> int:
    skipped = 0
    for row in rows:
        try:
            msg = msgspec.json.decode(row["payload"] or "", type=EventMsg)
        except msgspec.DecodeError:
            skipped += 1
            continue
        file.write(line_of(EventLine(seq=row["seq"] or 0, ts_ms=row["ts_ms"] or 0, msg=msg), 0))
    return skipped


def _rows(folder: Path, part: Part, table: Table, episode: str) -> Iterator[dict[str, Any]]:
    paths = [folder / file.path for file in part.files if file.path.startswith(f"{table.name}/")]
    try:
        found = pd.dataset(paths, schema=table.schema, format="parquet")
        scanner = found.scanner(
            filter=pd.field("episode_id") == episode,
            batch_size=_ROWS_AT_ONCE,
            batch_readahead=1,
            fragment_readahead=1,
            use_threads=False,
        )
        for batch in scanner.to_batches():
            yield from batch.to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise UsageError(
            f"{folder} cannot be read: {error}.", "Copy the dataset again, or export it again."
        ) from error
