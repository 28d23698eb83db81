"""The library `datasets` loads what was written, and what LeRobot reads by it and by pandas."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from console.datasets.exporting import export_sessions
from console.datasets.lerobot import IMAGE, convert
from tests.datasets.stored_sessions import GOALS, recorded
from tests.stage import Stage

datasets = pytest.importorskip("datasets", reason="the library is no part of the extra")


def unheard(_done: int, _total: int) -> None:
    """Nobody listens to the progress."""


async def test_they_load_every_table_and_its_pictures(stage: Stage, tmp_path: Path) -> None:
    async with stage.play():
        ids = [await recorded(stage, goal) for goal in GOALS]
        sessions = [await stage.store.session(one) for one in ids]
        await export_sessions(stage.core, sessions, tmp_path / "ds", unheard)
    cache = str(tmp_path / "cache")
    steps = datasets.load_dataset(str(tmp_path / "ds"), split="train", cache_dir=cache)
    assert len(steps) == 8
    assert steps[0]["image"].size == (108, 240), "a picture, not bytes"
    assert steps[0]["goal"] == GOALS[0]
    for table, count in (("episodes", 2), ("events", None), ("blobs", 2)):
        loaded = datasets.load_dataset(str(tmp_path / "ds"), table, split="train", cache_dir=cache)
        assert count is None or len(loaded) == count

    await convert(tmp_path / "ds", tmp_path / "lr", (64, 128), unheard)
    # As lerobot.datasets does: features from info.json, tasks with the task as index.
    info = json.loads((tmp_path / "lr/meta/info.json").read_bytes())
    features = datasets.Features(
        {
            name: datasets.Image()
            if ft["dtype"] == "image"
            else datasets.Value(dtype=ft["dtype"])
            if ft["shape"] == [1]
            else datasets.Sequence(length=ft["shape"][0], feature=datasets.Value(dtype=ft["dtype"]))
            for name, ft in info["features"].items()
        }
    )
    frames = datasets.Dataset.from_parquet(
        [str(path) for path in sorted((tmp_path / "lr/data").glob("*/*.parquet"))],
        features=features,
        cache_dir=cache,
    )
    assert frames[0][IMAGE].size == (64, 128) and len(frames[0]["action"]) == 5
    import pandas

    tasks = pandas.read_parquet(tmp_path / "lr/meta/tasks.parquet")
    assert tasks.loc[GOALS[1]].task_index == 1
