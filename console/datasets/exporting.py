"""Write sessions into a dataset's folder, a part at a time, and go on where an export ended.

Invariants: a part is in the manifest once all its files are whole and synced; an episode that the
manifest names is not written again; memory holds a few rows, however long a session is.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from agent.errors import StoreError, UsageError
from agent.protocol import Event
from agent.records import Session
from console.datasets.manifest import (
    DatasetFile,
    Manifest,
    Part,
    file_of,
    read_manifest,
    write_manifest,
    write_whole,
)
from console.datasets.rows import Blobs, Row, blob_rows, episode_row, event_row, step_rows
from console.datasets.tables import BLOBS, EPISODES, EVENTS, FORMAT, STEPS, TABLES, Table, card
from console.report.recorded import Source, read_events

EPISODES_A_PART = 16
_ROWS_AT_ONCE = 32
"""Also the size of a row group: a reader that wants one episode reads little else."""


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """What an export came to."""

    path: Path
    episodes: int  # Written now.
    known: int  # Written before, and left as they are.
    steps: int
    missing_blobs: int


async def export_sessions(
    source: Source, sessions: Sequence[Session], folder: Path, told: Callable[[int, int], None]
) -> Exported:
    """Write sessions as a dataset; those that are in it already are left as they are.

    Args:
        source: the core or store that has them.
        sessions: which, in order.
        folder: new, empty, or an earlier export's.
        told: hears of each part: how many episodes are written, of how many.

    Raises:
        UsageError: the folder holds something else, or an export of a newer Switchboard.
        StoreError: a file cannot be written; what is in the manifest stays good.
    """
    manifest = await asyncio.to_thread(_opened, folder)
    known = set(manifest.episodes)
    wanted = {session.session_id: session for session in sessions}
    todo = [session for name, session in wanted.items() if name not in known]
    done = 0
    for at in range(0, len(todo), EPISODES_A_PART):
        some = todo[at : at + EPISODES_A_PART]
        part, missing = await _write_part(
            source, some, folder, len(manifest.parts), first=len(manifest.episodes)
        )
        manifest = Manifest(
            format=FORMAT,
            parts=(*manifest.parts, part),
            missing_blobs=manifest.missing_blobs + missing,
        )
        await asyncio.to_thread(write_manifest, folder, manifest)
        done += len(some)
        told(done, len(todo))
    page = card(len(manifest.episodes), manifest.rows(STEPS.name))
    await asyncio.to_thread(write_whole, folder / "README.md", page.encode())
    return Exported(
        path=folder,
        episodes=done,
        known=len(wanted) - len(todo),
        steps=manifest.rows(STEPS.name),
        missing_blobs=manifest.missing_blobs,
    )


def _opened(folder: Path) -> Manifest:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        manifest = read_manifest(folder, newest=FORMAT)
        if manifest is None and any(not one.name.startswith(".") for one in folder.iterdir()):
            left = {one.name for one in folder.iterdir()} - {table.name for table in TABLES}
            # A part that was broken off before the first manifest leaves folders of ours alone.
            if left:
                raise UsageError(
                    f"{folder} is neither empty nor a dataset.",
                    "Name a new folder, or an earlier one.",
                )
        for table in TABLES:
            (folder / table.name).mkdir(exist_ok=True, mode=0o700)
    except OSError as error:
        raise StoreError(
            f"{folder} cannot be used: {error.strerror}.", "Name a writable folder."
        ) from error
    return manifest or Manifest(format=FORMAT)


async def _write_part(
    source: Source, sessions: Sequence[Session], folder: Path, number: int, *, first: int
) -> tuple[Part, int]:
    missing = 0
    try:
        with ExitStack() as stack:
            files = {
                table.name: stack.enter_context(_Writer(folder, table, number)) for table in TABLES
            }
            for at, session in enumerate(sessions):
                missing += await _write_episode(source, session, first + at, files)
        written = await asyncio.to_thread(_finished, folder, files.values())
    except OSError as error:
        raise StoreError(
            f"{folder} could not be written: {error.strerror or error}.",
            "Name a folder with free space; run the command again to resume.",
        ) from error
    return Part(episodes=tuple(one.session_id for one in sessions), files=written), missing


def _finished(folder: Path, writers: Iterable[_Writer]) -> tuple[DatasetFile, ...]:
    return tuple(file_of(folder, writer.path, writer.rows) for writer in writers)


async def _write_episode(
    source: Source, session: Session, index: int, files: dict[str, _Writer]
) -> int:
    events = await read_events(source, session.session_id)
    blobs = Blobs(source.blob)
    length = await files[STEPS.name].write(step_rows(session, index, events, blobs))
    await files[BLOBS.name].write(blob_rows(events, blobs))
    await files[EVENTS.name].write(_each(events))
    await files[EPISODES.name].write(_one(episode_row(session, index, length)))
    return blobs.missing


async def _each(events: Sequence[Event]) -> AsyncIterator[Row]:
    for event in events:
        yield event_row(event)


async def _one(row: Row) -> AsyncIterator[Row]:
    yield row


class _Writer:
    """One Parquet file as it is written."""

    def __init__(self, folder: Path, table: Table, number: int) -> None:
        self.path = folder / table.name / f"part-{number:05d}.parquet"
        self.rows = 0
        self._schema = table.schema
        self._writer: pq.ParquetWriter = pq.ParquetWriter(
            self.path, self._schema, compression="zstd", write_page_index=True
        )

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    async def write(self, rows: AsyncIterator[Row]) -> int:
        """Write rows as they come; returns how many."""
        before, held = self.rows, list[Row]()
        async for row in rows:
            held.append(row)
            if len(held) == _ROWS_AT_ONCE:
                await self._flush(held)
                held = []
        if held:
            await self._flush(held)
        return self.rows - before

    async def _flush(self, rows: list[Row]) -> None:
        table = pa.Table.from_pylist(rows, schema=self._schema)
        await asyncio.to_thread(self._writer.write_table, table)
        self.rows += len(rows)
