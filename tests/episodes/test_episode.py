"""Episodes on pooled virtual phones: tasks, what is seen, rewards, ends, phones put back."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.devices.adb.address import ServerAddress
from agent.episodes.episode import Episode
from agent.episodes.in_process import InProcessPhones
from agent.episodes.observation import EpisodeObservation
from agent.episodes.phones import EpisodePhones
from agent.errors import DeviceError, UsageError, WrongStateError
from agent.exercises.suite import EXERCISES
from agent.settings import PoolSettings


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("env")


@pytest.fixture(params=["in process", "over adb"])
async def phones(
    request: pytest.FixtureRequest, folder: Path
) -> AsyncIterator[EpisodePhones | InProcessPhones]:
    if request.param == "in process":
        async with InProcessPhones(2, folder / "in-process") as made:
            yield made
        return
    async with EpisodePhones(PoolSettings(virtual=2), folder) as served:
        yield served


@pytest.fixture
async def served(folder: Path) -> AsyncIterator[EpisodePhones]:
    async with EpisodePhones(PoolSettings(virtual=1), folder / "served") as phones:
        yield phones


def middle(seen: EpisodeObservation, text: str) -> dict[str, object]:
    """Where something that says this is; what it lies in may be what is pressed."""
    node = next(one for one in seen.nodes if text in (one.text, one.description))
    box = node.bounds
    return {"x": (box.left + box.right) / 2, "y": (box.top + box.bottom) / 2}


async def test_a_task_is_done_by_touch_and_paid_once_and_seeds_choose_tasks(
    phones: EpisodePhones | InProcessPhones,
) -> None:
    episode = Episode(phones.source, EXERCISES)
    try:
        seen = await episode.reset(task="bluetooth-on")
        assert seen.png.startswith(b"\x89PNG") and seen.nodes and not seen.done
        assert (seen.width_px, seen.height_px, seen.orientation) == (1080, 2400, 0)
        first = episode.episode_id
        for label in ("Settings", "Connected devices", "Bluetooth"):
            seen = await episode.step("tap", middle(seen, label))
            assert (seen.reward, seen.done, seen.error) == (0.0, False, "")
        seen = await episode.step("tap", middle(seen, "Use Bluetooth"))
        assert (seen.reward, seen.terminated, seen.truncated) == (1.0, True, False)
        assert episode.steps == 4
        with pytest.raises(WrongStateError, match="reset"):
            await episode.step("tap", {"x": 0.5, "y": 0.5})

        await episode.reset(seed=3)
        assert episode.task is EXERCISES[3 % len(EXERCISES)] and episode.episode_id != first
        assert (await episode.reset(task="bluetooth-on", episode_id="mine")).reward == 0.0
        assert (episode.episode_id, episode.steps) == ("mine", 0)
        with pytest.raises(UsageError, match="no task"):
            await episode.reset(task="world-peace")
        with pytest.raises(UsageError, match="no tool"):
            await episode.step("teleport", {})
        assert episode.steps == 0
    finally:
        await episode.close()


async def test_what_is_typed_arrives_and_a_refusal_is_in_the_observation(
    phones: EpisodePhones | InProcessPhones,
) -> None:
    episode = Episode(phones.source, EXERCISES, looks="tree")
    try:
        seen = await episode.reset(task="note-many-scripts")
        assert seen.png == b"" and (seen.width_px, seen.height_px) == (1080, 2400)
        # Nothing is focused: the phone refuses, and the episode goes on.
        seen = await episode.step("type_text", {"text": "nowhere"})
        assert not seen.done
        seen = await episode.step("tap", middle(seen, "Notes"))
        seen = await episode.step("tap", middle(seen, "New note"))
        seen = await episode.step("tap", middle(seen, "Note"))
        goal = episode.task.goal if episode.task else ""
        text = goal.partition('"')[2].rpartition('"')[0]
        seen = await episode.step("type_text", {"text": text})
        # A note is kept as it is written.
        assert (seen.error, seen.terminated, seen.reward) == ("", True, 1.0)
    finally:
        await episode.close()


async def test_an_episode_ends_truncated_at_its_limit_and_its_phone_goes_back(
    phones: EpisodePhones | InProcessPhones,
) -> None:
    from dataclasses import replace

    tasks = [replace(EXERCISES[0], max_steps=2)]
    episode = Episode(phones.source, tasks, looks="tree")
    await episode.reset()
    assert not (await episode.step("scroll_down", {})).done
    seen = await episode.step("press_button", {"button": "HOME"})
    assert (seen.terminated, seen.truncated, seen.reward) == (False, True, 0.0)
    assert phones.stats().taken == 1
    await episode.close()
    await episode.close()
    assert phones.stats().taken == 0


async def test_no_phone_is_shared_and_a_full_pool_says_so(
    phones: EpisodePhones | InProcessPhones,
) -> None:
    many = [Episode(phones.source, EXERCISES, looks="tree", wait_s=0.2) for _ in range(3)]
    try:
        await asyncio.gather(*(one.reset(seed=1) for one in many[:2]))
        assert len({one.serial for one in many[:2]}) == 2
        with pytest.raises(DeviceError, match="came free"):
            await many[2].reset()
        await many[0].close()
        patient = Episode(phones.source, EXERCISES, looks="tree", wait_s=30)
        await patient.reset(seed=1)
        await patient.close()
    finally:
        for one in many:
            await one.close()
    assert phones.stats().taken == 0


async def test_a_phone_that_is_lost_ends_the_episode_as_truncated(served: EpisodePhones) -> None:
    from agent.devices.adb.client import AdbClient

    episode = Episode(served.source, EXERCISES, looks="tree")
    try:
        await episode.reset(seed=1)
        taken = episode._taken
        assert taken is not None
        await AdbClient(ServerAddress.parse(taken.server)).disconnect(taken.serial)
        seen = await episode.step("tap", {"x": 0.5, "y": 0.5})
        assert (seen.terminated, seen.truncated, seen.reward) == (False, True, 0.0)
        assert episode.serial in seen.error
    finally:
        await episode.close()


async def test_a_saved_state_is_begun_again_on_any_phone_and_what_is_none_is_refused(
    phones: EpisodePhones | InProcessPhones,
) -> None:
    one = Episode(phones.source, EXERCISES, looks="tree")
    two = Episode(phones.source, EXERCISES, looks="tree")
    try:
        with pytest.raises(WrongStateError, match="no phone"):
            await one.save()
        seen = await one.reset(task="bluetooth-on")
        for label in ("Settings", "Connected devices", "Bluetooth"):
            seen = await one.step("tap", middle(seen, label))
        saved = await one.save()
        await two.reset(task="bluetooth-on")
        begun = await two.reset(task="bluetooth-on", snapshot=saved)
        assert two.serial != one.serial and begun.nodes == seen.nodes
        done = await two.step("tap", middle(begun, "Use Bluetooth"))
        assert (done.reward, done.terminated, two.steps) == (1.0, True, 1)
        for wrong in (b"nothing", b"\x1f\x8b nothing", saved[:-9]):
            with pytest.raises(UsageError, match="snapshot"):
                await two.reset(task="bluetooth-on", snapshot=wrong)
        assert (await two.reset(task="bluetooth-on", snapshot=saved)).nodes == seen.nodes
    finally:
        await one.close()
        await two.close()
