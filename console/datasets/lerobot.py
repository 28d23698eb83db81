"""Write a dataset in LeRobot's layout, version 3.0, so that its loaders and trainers read it.

After `lerobot/datasets` of lerobot 0.6 (`utils.py`, `dataset_metadata.py`, `io_utils.py`): paths,
`info.json`, `tasks.parquet` with the task as its index, a row of `meta/episodes` an episode.
Invariants: every row has a picture of one size; a time is a row's number over the rate, as its
loader checks, and the true time is a column of its own.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from agent.devices.frames.png import jpeg_of, scaled_rgb
from agent.errors import StoreError, SwitchboardError, UsageError
from console.datasets.importing import open_dataset
from console.datasets.manifest import Manifest, write_whole
from console.datasets.tables import STEPS

VERSION = "v3.0"
FPS = 1  # Rows a second of LeRobot's clock: a decision is one tick, however long it took.
IMAGE = "observation.images.screen"
NO_PLACE = -1.0  # A coordinate of an action that touches nothing: no model can take it for a place.
ACTION = ("tool", "x", "y", "to_x", "to_y")
_ROWS_AT_ONCE = 32
_FILES_A_CHUNK = 1000


class Converted(msgspec.Struct, frozen=True, kw_only=True):
    """What a conversion came to."""

    path: Path
    episodes: int
    frames: int
    without_picture: int  # Rows that were left out, because they have no picture that can be read.


async def convert(
    folder: Path, place: Path, size_px: tuple[int, int], told: Callable[[int, int], None]
) -> Converted:
    """Convert a dataset.

    Args:
        folder: the dataset's.
        place: a new folder.
        size_px: width and height of every picture.
        told: hears of each part: how many episodes are written, of how many.

    Raises:
        UsageError: no dataset, or the place is there.
        StoreError: a file cannot be written.
    """
    manifest = await asyncio.to_thread(open_dataset, folder)
    if await asyncio.to_thread(place.exists):
        raise UsageError(f"{place} already exists.", "Name a new folder.")
    writing = _Conversion(folder, place, manifest, size_px)
    try:
        return await asyncio.to_thread(writing.run, told)
    except OSError as error:
        raise StoreError(
            f"{place} could not be written: {error.strerror or error}.",
            "Name a writable folder with free space.",
        ) from error


class _Stats:
    """Least, largest, mean and spread of an array's columns, row by row (Welford's way)."""

    def __init__(self) -> None:
        self._count = 0
        self._mean: Any = 0.0
        self._spread: Any = 0.0
        self._least: Any = None
        self._most: Any = None

    def add(self, value: Any) -> None:
        """Take a row in."""
        self._count += 1
        away = value - self._mean
        self._mean = self._mean + away / self._count
        self._spread = self._spread + away * (value - self._mean)
        self._least = value if self._least is None else np.minimum(self._least, value)
        self._most = value if self._most is None else np.maximum(self._most, value)

    def as_json(self, shape: tuple[int, ...]) -> dict[str, Any]:
        """Return them as `meta/stats.json` has them."""
        count = max(1, self._count)
        figures = {
            "min": self._least,
            "max": self._most,
            "mean": self._mean,
            "std": np.sqrt(np.asarray(self._spread) / count),
        }
        rows = {
            name: np.asarray(value, dtype=float).reshape(shape).tolist()
            for name, value in figures.items()
        }
        return {**rows, "count": [self._count]}


class _Conversion:
    """One dataset on its way."""

    def __init__(
        self, folder: Path, place: Path, manifest: Manifest, size_px: tuple[int, int]
    ) -> None:
        self._folder = folder
        self._place = place
        self._manifest = manifest
        self._size_px = size_px
        self._tasks: dict[str, int] = {}
        self._tools: dict[str, int] = {"": 0}
        self._episodes: list[dict[str, Any]] = []
        self._frames = 0
        self._without = 0
        self._image_stats = _Stats()
        self._action_stats = _Stats()

    def run(self, told: Callable[[int, int], None]) -> Converted:
        """Write all files; `info.json` comes last, so that a place without it is no dataset."""
        total = len(self._manifest.episodes)
        for number, part in enumerate(self._manifest.parts):
            self._write_part(number, [file.path for file in part.files])
            told(sum(len(one.episodes) for one in self._manifest.parts[: number + 1]), total)
        self._write_meta()
        return Converted(
            path=self._place,
            episodes=len(self._episodes),
            frames=self._frames,
            without_picture=self._without,
        )

    def _write_part(self, number: int, paths: list[str]) -> None:
        chunk, file = divmod(number, _FILES_A_CHUNK)
        path = self._place / f"data/chunk-{chunk:03d}/file-{file:03d}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        schema = self._schema()
        rows: list[dict[str, Any]] = []
        with pq.ParquetWriter(path, schema, compression="zstd") as writer:
            for source in paths:
                if not source.startswith(f"{STEPS.name}/"):
                    continue
                for step in _steps(self._folder / source):
                    row = self._row(step, (chunk, file))
                    if row is None:
                        self._without += 1
                        continue
                    rows.append(row)
                    if len(rows) == _ROWS_AT_ONCE:
                        writer.write_table(pa.Table.from_pylist(rows, schema=schema))
                        rows = []
            if rows:
                writer.write_table(pa.Table.from_pylist(rows, schema=schema))

    def _row(self, step: dict[str, Any], place: tuple[int, int]) -> dict[str, Any] | None:
        picture = self._picture(step)
        if picture is None:
            return None
        episode = self._episode(step, place)
        at = episode["length"]
        episode["length"] += 1
        episode["dataset_to_index"] += 1
        self._frames += 1
        action = self._action(step)
        self._action_stats.add(np.asarray(action))
        return {
            IMAGE: {"bytes": picture, "path": None},
            "observation.elements": step["elements"] or "[]",
            "observation.screen_text": step["screen_text"] or "",
            "action": action,
            "action.tool": step["tool"] or "",
            "action.arguments": step["arguments"] or "",
            "next.reward": step["reward"] or 0.0,
            "next.done": bool(step["terminated"] or step["truncated"]),
            "time_ms": step["timestamp_ms"] or 0,
            "timestamp": at / FPS,
            "frame_index": at,
            "episode_index": episode["episode_index"],
            "index": self._frames - 1,
            "task_index": self._tasks[episode["tasks"][0]],
        }

    def _episode(self, step: dict[str, Any], place: tuple[int, int]) -> dict[str, Any]:
        name, goal = step["episode_id"], step["goal"] or ""
        if self._episodes and self._episodes[-1]["episode_id"] == name:
            return self._episodes[-1]
        self._tasks.setdefault(goal, len(self._tasks))
        made = {
            "episode_index": len(self._episodes),
            "episode_id": name,
            "tasks": [goal],
            "length": 0,
            "data/chunk_index": place[0],
            "data/file_index": place[1],
            "dataset_from_index": self._frames,
            "dataset_to_index": self._frames,
            "meta/episodes/chunk_index": 0,
            "meta/episodes/file_index": 0,
        }
        self._episodes.append(made)
        return made

    def _picture(self, step: dict[str, Any]) -> bytes | None:
        data = (step["image"] or {}).get("bytes")
        if not data:
            return None
        try:
            [rgb] = scaled_rgb(step["episode_id"], data, (self._size_px,))
        except SwitchboardError:
            return None
        pixels = np.frombuffer(rgb, np.uint8).reshape(-1, 3) / 255.0
        self._image_stats.add(pixels.mean(axis=0))
        return jpeg_of(rgb, self._size_px)

    def _action(self, step: dict[str, Any]) -> list[float]:
        tool = self._tools.setdefault(step["tool"] or "", len(self._tools))
        places = [(step["x"], step["y"])]
        try:
            places += [(x, y) for x, y in msgspec.json.decode(step["path"] or "[]")]
        except (msgspec.DecodeError, ValueError, TypeError):
            places = places[:1]
        known = [pair for pair in places if None not in pair] or [(NO_PLACE, NO_PLACE)]
        end = known[-1] if len(known) > 1 else (NO_PLACE, NO_PLACE)
        return [float(value) for value in (tool, *known[0], *end)]

    # --- meta ----------

    def _features(self) -> dict[str, dict[str, Any]]:
        width_px, height_px = self._size_px

        def one(dtype: str) -> dict[str, Any]:
            return {"dtype": dtype, "shape": [1], "names": None}

        return {
            IMAGE: {
                "dtype": "image",
                "shape": [height_px, width_px, 3],
                "names": ["height", "width", "channels"],
            },
            "observation.elements": one("string"),
            "observation.screen_text": one("string"),
            "action": {"dtype": "float32", "shape": [len(ACTION)], "names": list(ACTION)},
            "action.tool": one("string"),
            "action.arguments": one("string"),
            "next.reward": one("float32"),
            "next.done": one("bool"),
            "time_ms": one("int64"),
            "timestamp": one("float32"),
            "frame_index": one("int64"),
            "episode_index": one("int64"),
            "index": one("int64"),
            "task_index": one("int64"),
        }

    def _schema(self) -> pa.Schema:
        arrow = {
            "image": pa.struct([("bytes", pa.binary()), ("path", pa.string())]),
            "string": pa.string(),
            "float32": pa.float32(),
            "int64": pa.int64(),
            "bool": pa.bool_(),
        }
        return pa.schema(
            [
                (
                    name,
                    pa.list_(pa.float32(), len(ACTION))
                    if name == "action"
                    else arrow[feature["dtype"]],
                )
                for name, feature in self._features().items()
            ]
        )

    def _write_meta(self) -> None:
        meta = self._place / "meta"
        (meta / "episodes/chunk-000").mkdir(parents=True, exist_ok=True)
        rows = pa.Table.from_pylist(self._episodes) if self._episodes else pa.table({})
        pq.write_table(rows, meta / "episodes/chunk-000/file-000.parquet")
        pq.write_table(_tasks_table(self._tasks), meta / "tasks.parquet")
        stats = {
            IMAGE: self._image_stats.as_json((3, 1, 1)),
            "action": self._action_stats.as_json((len(ACTION),)),
        }
        _write_json(meta / "stats.json", stats if self._frames else {})
        _write_json(meta / "tools.json", list(self._tools))
        _write_json(
            meta / "info.json",
            {
                "codebase_version": VERSION,
                "robot_type": "android_phone",
                "total_episodes": len(self._episodes),
                "total_frames": self._frames,
                "total_tasks": len(self._tasks),
                "chunks_size": _FILES_A_CHUNK,
                "data_files_size_in_mb": 100,
                "video_files_size_in_mb": 200,
                "fps": FPS,
                "splits": {"train": f"0:{len(self._episodes)}"},
                "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
                "video_path": None,
                "features": self._features(),
            },
        )


def _steps(path: Path) -> Iterator[dict[str, Any]]:
    for batch in pq.ParquetFile(path).iter_batches(batch_size=_ROWS_AT_ONCE):
        yield from batch.to_pylist()


def _tasks_table(tasks: dict[str, int]) -> pa.Table:
    """Write tasks as pandas would with the task as index, which is how LeRobot reads them."""
    columns = [
        {
            "name": name,
            "field_name": name,
            "pandas_type": kind,
            "numpy_type": numpy,
            "metadata": None,
        }
        for name, kind, numpy in (("task_index", "int64", "int64"), ("task", "unicode", "object"))
    ]
    told = {
        "index_columns": ["task"],
        "column_indexes": [],
        "columns": columns,
        "creator": {"library": "pyarrow", "version": pa.__version__},
        "pandas_version": "2.2.0",
    }
    table = pa.table(
        {
            "task_index": pa.array(list(tasks.values()), pa.int64()),
            "task": pa.array(list(tasks), pa.string()),
        }
    )
    return table.replace_schema_metadata({"pandas": json.dumps(told)})


def _write_json(path: Path, value: object) -> None:
    write_whole(path, json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n")
