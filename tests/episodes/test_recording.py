"""Episodes as sessions: what is stored of them, which are, and what else then works on them."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.episodes.episode import Episode
from agent.episodes.phones import EpisodePhones
from agent.episodes.recording import KeptEpisodes, Recorder, Recording
from agent.errors import StoreError, UsageError
from agent.exercises.suite import EXERCISES
from agent.protocol import ObservationRecorded, ToolCallFinished, ToolCallRequested
from agent.records import ActionOutcome, GoalVerdict, SessionState, VerifiedBy
from agent.settings import PoolSettings
from agent.store.embedded.sqlite_store import SqliteStore
from tests.digits import holds_number
from tests.end_to_end import warm
from tests.episodes.test_episode import middle

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recorded")


@pytest.fixture
async def phones(folder: Path) -> AsyncIterator[EpisodePhones]:
    async with EpisodePhones(PoolSettings(virtual=1), folder / "phones") as opened:
        yield opened


async def play(phones: EpisodePhones, recorder: Recorder) -> None:
    """A task that is done, one that is given up, and one whose steps are used up."""
    episode = Episode(phones.source, EXERCISES, recorder=recorder, max_steps=4)
    seen = await episode.reset(task="bluetooth-on", episode_id="done")
    for label in ("Settings", "Connected devices", "Bluetooth", "Use Bluetooth"):
        seen = await episode.step("tap", middle(seen, label))
    assert seen.terminated
    await episode.reset(task="dark-theme", episode_id="given-up")
    await episode.step("swipe", {"x1": 0.5, "y1": 0.7, "x2": 0.5, "y2": 0.3})
    await episode.reset(task="dark-theme", episode_id="done")
    for _ in range(4):
        seen = await episode.step("type_text", {"text": "my card is 4111 1111 1111 1111"})
    assert seen.truncated
    await episode.close()


async def test_an_episode_is_a_session_whose_verdict_is_the_checkers(
    phones: EpisodePhones, tmp_path: Path
) -> None:
    async with Recorder(Recording(folder=tmp_path)) as recorder:
        await play(phones, recorder)
        with pytest.raises(StoreError):
            async with Recorder(Recording(folder=tmp_path)):
                pass
    async with SqliteStore.open(tmp_path) as store:
        done = await store.session("done")
        assert (done.state, done.steps, done.verdict) == (
            SessionState.COMPLETED,
            4,
            GoalVerdict.MET,
        )
        assert done.verified_by is VerifiedBy.CHECKER and "episode" in done.tags
        given_up = await store.session("given-up")
        assert (given_up.state, given_up.steps) == (SessionState.CANCELLED, 1)
        used_up = next(one for one in await store.sessions() if one.state is SessionState.FAILED)
        # Its id was taken: it has another.
        assert used_up.session_id != "done" and used_up.verdict is GoalVerdict.NOT_MET

        msgs = [event.msg for event in await store.session_events("done")]
        looks = [msg.observation for msg in msgs if isinstance(msg, ObservationRecorded)]
        assert len(looks) == 5
        for one in looks:
            assert one.frame is not None and one.elements
            assert (await store.blobs.read(one.frame.digest)).startswith(b"\x89PNG")
            assert b"<hierarchy" in await store.blobs.read(one.tree_digest)
        calls = [msg for msg in msgs if isinstance(msg, ToolCallRequested)]
        assert [msg.tool for msg in calls] == ["tap"] * 4 and all(msg.point for msg in calls)
        typed = [event.msg for event in await store.session_events(used_up.session_id)]
        assert not holds_number(str(typed), "4111") and "41111111" not in str(typed)
        ends = [msg.outcome for msg in typed if isinstance(msg, ToolCallFinished)]
        assert ends == [ActionOutcome.DONE] * 4
        assert await store.search("bluetooth")


async def test_only_failures_are_kept_where_only_they_are_asked_for(
    phones: EpisodePhones, tmp_path: Path
) -> None:
    wanted = Recording(folder=tmp_path, which=KeptEpisodes.FAILURES)
    async with Recorder(wanted) as recorder:
        await play(phones, recorder)
        await recorder.settled()
        assert recorder.stored == 2
    async with SqliteStore.open(tmp_path) as store:
        states = {one.state for one in await store.sessions()}
        assert states == {SessionState.CANCELLED, SessionState.FAILED}


async def test_a_stored_episode_is_shown_and_exported_like_any_session(
    phones: EpisodePhones, tmp_path: Path
) -> None:
    async with Recorder(Recording(folder=tmp_path / "data")) as recorder:
        await play(phones, recorder)
    for words in (
        ["sessions", "show", "done"],
        ["sessions", "export", "done", str(tmp_path / "done.jsonl")],
    ):
        line = ["--data-dir", str(tmp_path / "data"), *words]
        found = await asyncio.to_thread(warm.call, line, os.environ)
        assert found.returncode == 0, found.stderr
    assert (tmp_path / "done.jsonl").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("told", "which", "share"),
    [
        ("all", KeptEpisodes.ALL, 1.0),
        (True, KeptEpisodes.ALL, 1.0),
        ("failures", KeptEpisodes.FAILURES, 1.0),
        (0.25, KeptEpisodes.ALL, 0.25),
        ("0.1", KeptEpisodes.ALL, 0.1),
    ],
)
def test_what_is_recorded_is_said_in_a_word(told: str, which: KeptEpisodes, share: float) -> None:
    assert Recording.parse(told, Path("x")) == Recording(folder=Path("x"), which=which, share=share)


@pytest.mark.parametrize("told", ["", "no", False, 0, "0"])
def test_nothing_is_recorded_unless_it_is_asked_for(told: str) -> None:
    assert Recording.parse(told, Path("x")) is None


@pytest.mark.parametrize("told", ["some", "-1", "2", "nan", "1e9"])
def test_what_cannot_be_followed_is_refused(told: str) -> None:
    with pytest.raises(UsageError, match="record"):
        Recording.parse(told, Path("x"))


@given(st.text(max_size=40))
def test_the_share_is_the_same_for_the_same_episode(episode_id: str) -> None:
    half, all_of_them = (Recording(folder=Path("x"), share=one) for one in (0.5, 1.0))
    assert half.wants(episode_id) == half.wants(episode_id)
    assert all_of_them.wants(episode_id)
