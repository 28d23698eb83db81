"""Sessions become Parquet and come back; LeRobot's layout holds what its loaders ask for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.errors import StoreError, SwitchboardError, UsageError
from agent.protocol import Event, SessionDelete, SessionImport
from console.datasets import exporting
from console.datasets.exporting import Exported, export_sessions
from console.datasets.importing import import_sessions, open_dataset
from console.datasets.lerobot import ACTION, IMAGE, convert
from console.datasets.manifest import NAME
from console.datasets.tables import TABLES, described
from tests.datasets.stored_sessions import GOALS, TREE, png, recorded
from tests.stage import Stage

ROOT = Path(__file__).parents[2]


def unheard(_done: int, _total: int) -> None:
    """Nobody listens to the progress."""


async def exported(stage: Stage, ids: Sequence[str], folder: Path) -> Exported:
    sessions = [await stage.store.session(one) for one in ids]
    source = stage.core
    return await export_sessions(source, sessions, folder, unheard)


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    paths = sorted((folder / table).glob("*.parquet"))
    found: list[dict[str, Any]] = pa.concat_tables([pq.read_table(p) for p in paths]).to_pylist()
    return found


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def comparable(events: Sequence[Event]) -> list[tuple[int, str, str]]:
    """Leave out the numbers that a store gives anew."""
    return [(e.ts_ms, type(e.msg).__name__, repr(e.msg)) for e in events[1:]]


async def test_rows_hold_screens_calls_texts_and_the_reward_of_who_checked(
    stage: Stage, tmp_path: Path
) -> None:
    async with stage.play():
        ids = [await recorded(stage, goal) for goal in GOALS]
        done = await exported(stage, ids, tmp_path / "ds")
    assert (done.episodes, done.known, done.steps, done.missing_blobs) == (2, 0, 8, 0)
    steps = rows(tmp_path / "ds", "steps")
    assert [row["frame_index"] for row in steps] == [0, 1, 2, 3] * 2
    first = steps[0]
    assert first["image"]["bytes"] == png(20)
    assert (first["width_px"], first["height_px"]) == (108, 240)
    assert (first["tool"], first["outcome"], first["thought"]) == ("swipe", "done", "thought 1")
    assert (first["x"], first["y"], json.loads(first["path"])[1]) == (0.5, 0.75, [0.5, 0.25])
    assert json.loads(first["prompt"]) == [{"text": f"{GOALS[0]} 1"}]
    [node] = json.loads(first["tree"])
    assert node["text"] == "Wi-Fi 📶" and node["bounds"]["right"] == 0.5
    assert [row["reward"] for row in steps] == [0, 0, 0, 1] * 2
    assert [row["terminated"] for row in steps] == [False, False, False, True] * 2
    assert steps[3]["tool"] == "", "the screen that the episode ended on"
    episodes = rows(tmp_path / "ds", "episodes")
    assert [row["goal"] for row in episodes] == list(GOALS)
    assert {row["verified_by"] for row in episodes} == {"checker"}
    assert (tmp_path / "ds").stat().st_mode & 0o077 == 0


async def test_what_is_exported_comes_back_event_by_event_and_byte_by_byte(
    stage: Stage, tmp_path: Path
) -> None:
    async with stage.play():
        ids = [await recorded(stage, goal) for goal in GOALS]
        before = {one: await stage.store.session_events(one) for one in ids}
        await exported(stage, ids, tmp_path / "ds")
        for one in ids:
            await stage.do(SessionDelete(session_id=one))
        await stage.store.blobs.collect()

        async def store(place: Path, episode: str) -> bool:
            try:
                await stage.core.session(episode)
            except UsageError:
                await stage.do(SessionImport(path=str(place)))
                return True
            return False

        first = await import_sessions(tmp_path / "ds", store, unheard)
        assert (first.episodes, first.known, first.skipped_rows) == (2, 0, 0)
        again = await import_sessions(tmp_path / "ds", store, unheard)
        assert (again.episodes, again.known) == (0, 2)
        for one in ids:
            after = await stage.store.session_events(one)
            assert comparable(after) == comparable(before[one])
        steps = rows(tmp_path / "ds", "steps")
        for row in steps:
            assert await stage.store.blobs.read(row["image_digest"]) == row["image"]["bytes"]
            assert await stage.store.blobs.read(row["tree_digest"]) == TREE


async def test_an_export_that_was_broken_off_goes_on_and_writes_nothing_twice(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "EPISODES_A_PART", 1)
    folder = tmp_path / "ds"
    async with stage.play():
        ids = [await recorded(stage, f"goal {n}", steps=1) for n in range(4)]
        sessions = [await stage.store.session(one) for one in ids]

        class Killed(Exception):
            pass

        def dies(done: int, _total: int) -> None:
            if done == 2:
                raise Killed

        with pytest.raises(Killed):
            await export_sessions(stage.core, sessions, folder, dies)
        # What a kill in the middle of the third part leaves.
        (folder / "steps/part-00002.parquet").write_bytes(b"PAR1 half a file")
        assert len(open_dataset(folder).episodes) == 2
        kept = (folder / "steps/part-00000.parquet").stat().st_mtime_ns
        told: list[tuple[int, int]] = []
        done = await export_sessions(
            stage.core, sessions, folder, lambda n, of: told.append((n, of))
        )
        assert (done.episodes, done.known) == (2, 2)
        assert told == [(1, 2), (2, 2)]
        assert (folder / "steps/part-00000.parquet").stat().st_mtime_ns == kept
        assert open_dataset(folder).episodes == tuple(ids)


async def test_a_picture_that_is_gone_is_counted_and_leaves_a_gap(
    stage: Stage, tmp_path: Path
) -> None:
    async with stage.play():
        session_id = await recorded(stage, "look", steps=1)
        session = await stage.store.session(session_id)

        class Lossy:
            session = stage.core.session
            history = stage.core.history

            async def blob(self, digest: str) -> bytes:
                raise StoreError(f"{digest} is gone.")

        done = await export_sessions(Lossy(), [session], tmp_path / "ds", unheard)
    assert done.missing_blobs == 3
    assert [row["image"] for row in rows(tmp_path / "ds", "steps")] == [None, None]


async def test_a_file_that_was_changed_is_named_before_a_row_is_read(
    stage: Stage, tmp_path: Path
) -> None:
    async with stage.play():
        await exported(stage, [await recorded(stage, "look", steps=1)], tmp_path / "ds")
    path = tmp_path / "ds/events/part-00000.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"X")
    with pytest.raises(UsageError, match="checksum"):
        open_dataset(tmp_path / "ds")
    path.unlink()
    with pytest.raises(UsageError, match="part-00000"):
        open_dataset(tmp_path / "ds")


@pytest.mark.parametrize(
    "manifest",
    [
        b"{",
        b'{"format": 99}',
        b'{"format": 1, "parts": [{"episodes": [], "files": [{"path": "../../etc/passwd",'
        b' "rows": 1, "size_bytes": 1, "sha256": "x"}]}]}',
        b'{"format": 1, "parts": [{"episodes": [], "files": [{"path": "steps/part-00000.parquet",'
        b' "rows": 1, "size_bytes": 1, "sha256": "x"}]}]}',
    ],
)
def test_a_manifest_from_elsewhere_leads_nowhere_and_says_what_is_wrong(
    manifest: bytes, tmp_path: Path
) -> None:
    (tmp_path / NAME).write_bytes(manifest)
    with pytest.raises(UsageError) as refused:
        open_dataset(tmp_path)
    assert refused.value.remedy


async def test_a_folder_of_something_else_is_left_alone(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    async with stage.play():
        session_id = await recorded(stage, "look", steps=1)
        with pytest.raises(UsageError, match="neither empty nor a dataset"):
            await exported(stage, [session_id], tmp_path)
    assert names(tmp_path) == {"thesis.txt", "data"}


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_hostile_rows_are_refused_or_skipped_and_nothing_else(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Files with good checksums and any content: an import stores, skips or says why not."""
    folder = tmp_path_factory.mktemp("hostile")
    text = st.text(max_size=20) | st.just('{"type": "agent_message"}') | st.none()
    number = st.integers(-(1 << 62), 1 << 62) | st.none()
    files = []
    for table in TABLES:
        (folder / table.name).mkdir()
        made = data.draw(
            st.lists(
                st.fixed_dictionaries(
                    {
                        c.name: st.just("one")
                        if c.name == "episode_id"
                        else text
                        if c.kind == "string"
                        else number
                        if c.kind == "int64"
                        else st.none()
                        for c in table.columns
                    }
                ),
                max_size=3,
            )
        )
        path = folder / table.name / "part-00000.parquet"
        pq.write_table(pa.Table.from_pylist(made, schema=table.schema), path)
        files.append(exporting.file_of(folder, path, len(made)))
    part = exporting.Part(episodes=("one",), files=tuple(files))
    exporting.write_manifest(folder, exporting.Manifest(format=1, parts=(part,)))
    stored = []

    async def store(place: Path, episode: str) -> bool:
        stored.append(episode)
        return True

    try:
        asyncio.run(import_sessions(folder, store, unheard))
    except SwitchboardError as error:
        assert "one" in str(error)
    assert len(stored) <= 1


async def test_lerobots_layout_has_its_paths_its_clock_and_one_size_of_pictures(
    stage: Stage, tmp_path: Path
) -> None:
    async with stage.play():
        ids = [await recorded(stage, goal) for goal in (*GOALS, GOALS[0])]
        await exported(stage, ids, tmp_path / "ds")
    done = await convert(tmp_path / "ds", tmp_path / "lr", (64, 128), unheard)
    assert (done.episodes, done.frames, done.without_picture) == (3, 12, 0)
    info = json.loads((tmp_path / "lr/meta/info.json").read_bytes())
    assert info["codebase_version"] == "v3.0"
    assert (info["total_episodes"], info["total_frames"], info["total_tasks"]) == (3, 12, 2)
    data = pq.read_table(tmp_path / "lr" / info["data_path"].format(chunk_index=0, file_index=0))
    assert set(data.column_names) == set(info["features"])
    found = data.to_pylist()
    assert [row["index"] for row in found] == list(range(12))
    assert [row["timestamp"] for row in found] == [
        row["frame_index"] / info["fps"] for row in found
    ]
    from io import BytesIO

    from PIL import Image

    assert {Image.open(BytesIO(row[IMAGE]["bytes"])).size for row in found} == {(64, 128)}
    tools = json.loads((tmp_path / "lr/meta/tools.json").read_bytes())
    assert tools[int(found[0]["action"][0])] == "swipe"
    assert dict(zip(ACTION, found[0]["action"], strict=True))["to_y"] == 0.25
    assert found[3]["action"][1:] == [-1, -1, -1, -1] and found[3]["next.done"]
    episodes = pq.read_table(tmp_path / "lr/meta/episodes/chunk-000/file-000.parquet").to_pylist()
    assert [(e["dataset_from_index"], e["dataset_to_index"]) for e in episodes] == [
        (0, 4),
        (4, 8),
        (8, 12),
    ]
    stats = json.loads((tmp_path / "lr/meta/stats.json").read_bytes())
    assert stats["action"]["count"] == [12] and len(stats[IMAGE]["mean"]) == 3
    with pytest.raises(UsageError, match="already"):
        await convert(tmp_path / "ds", tmp_path / "lr", (64, 128), unheard)


def test_the_document_has_every_column() -> None:
    page = (ROOT / "docs/datasets.md").read_text(encoding="utf-8")
    assert described().strip() in page, "put there what `tables.described()` says"
