"""The environments as Gymnasium's own programs meet them: its checker, its loop, many at once."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent.extras import is_installed

if not is_installed("gym"):
    pytest.skip("the extra is not installed", allow_module_level=True)

import gymnasium
from gymnasium.utils.env_checker import check_env

from agent.episodes.blocking import BlockingPhones
from agent.errors import UsageError, WrongStateError
from console.evaluation.suites import BUILT_IN, read_tasks
from console.gymnasium import NAME
from console.gymnasium.spaces import TOOL_NAMES
from tests.gymnasium.random_agent import play

TASKS = read_tasks(BUILT_IN)
"""Without those that are done by asking: nothing has to be done for them here."""


@pytest.fixture(scope="module")
def phones(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockingPhones]:
    with BlockingPhones(2, TASKS, folder=tmp_path_factory.mktemp("gym")) as opened:
        yield opened


def tap(env: Any, seen: dict[str, Any], text: str) -> dict[str, Any]:
    node = next(one for one in seen["tree"] if text in (one["text"], one["description"]))
    left, top, right, bottom = node["bounds"]
    place = np.array([(left + right) / 2, (top + bottom) / 2], np.float32)
    return {**env.action_space.sample(), "tool": TOOL_NAMES.index("tap"), "point": place}


def test_a_task_is_done_and_a_saved_state_is_begun_again(
    phones: BlockingPhones, tmp_path: Path
) -> None:
    env = gymnasium.make(NAME, phones=phones, wait_s=60, task="bluetooth-on")
    try:
        seen, info = env.reset(seed=1)
        assert seen["goal"] and info["task"] == "bluetooth-on" and info["episode_id"]
        assert seen["pixels"].shape == (512, 256, 3) and seen["pixels"].any()
        for label in ("Settings", "Connected devices", "Bluetooth"):
            seen, reward, terminated, truncated, info = env.step(tap(env, seen, label))
            assert (reward, terminated, truncated, info["error"]) == (0.0, False, False, "")
        kept = tmp_path / "in-bluetooth"
        kept.write_bytes(env.unwrapped.save())
        for snapshot in (kept, kept.read_bytes()):
            seen, _ = env.reset(options={"task": "bluetooth-on", "snapshot": snapshot})
            _, reward, terminated, truncated, _ = env.step(tap(env, seen, "Use Bluetooth"))
            assert (reward, terminated, truncated) == (1.0, True, False)
        with pytest.raises(WrongStateError, match="reset"):
            env.step(env.action_space.sample())
    finally:
        env.close()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"task": "world-peace"}, "no task"),
        ({"task": 3}, "task"),
        ({"tasks": "dark-theme"}, "tasks"),
        ({"snapshot": 3}, "snapshot"),
        ({"snapshot": b"nothing"}, "snapshot"),
        ({"snapshot": "/nowhere/at all"}, "snapshot"),
        ({"episode_id": 3}, "episode_id"),
    ],
)
def test_wrong_options_are_named(
    phones: BlockingPhones, options: dict[str, Any], said: str
) -> None:
    env = gymnasium.make(NAME, phones=phones, wait_s=60, looks="tree")
    try:
        with pytest.raises(UsageError, match=said):
            env.reset(options=options)
    finally:
        env.close()


def test_a_program_that_imports_gymnasium_alone_makes_it() -> None:
    program = (
        "import gymnasium, sys; assert 'console.gymnasium' not in sys.modules;"
        "env = gymnasium.make('console.gymnasium:switchboard/Phone-v0');"
        "print(env.spec.id); env.close()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == NAME, done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"looks": "hard"}, "looks"),
        ({"size_px": (0, 5)}, "size_px"),
        ({"max_steps": -1}, "max_steps"),
        ({"render_mode": "human"}, "render_mode"),
        ({"rewards": "gold"}, "rewards"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], said: str) -> None:
    from console.gymnasium.environment import PhoneEnv

    with pytest.raises(UsageError, match=said):
        PhoneEnv(**arguments)


def test_gymnasiums_checker_finds_nothing(
    phones: BlockingPhones, recwarn: pytest.WarningsRecorder
) -> None:
    # Without pixels, which show a clock: it may strike between two looks that are compared.
    env = gymnasium.make(NAME, phones=phones, wait_s=60, looks="tree", task="dark-theme")
    try:
        check_env(env.unwrapped)
        assert [str(one.message) for one in recwarn if "WARN" in str(one.message)] == []
    finally:
        env.close()
    assert phones.run(free(phones)) == 0


async def free(phones: BlockingPhones) -> int:
    assert phones._phones is not None
    return phones._phones.stats().taken


def test_many_phones_act_at_once_and_begin_anew(phones: BlockingPhones) -> None:
    env = gymnasium.make_vec(NAME, num_envs=2, phones=phones, looks="tree", max_steps=2, wait_s=60)
    try:
        seen, infos = env.reset(seed=[4, None])
        assert env.observation_space.contains(seen) and len(set(infos["serial"])) == 2
        assert infos["task"][0] == TASKS[4 % len(TASKS)].name
        home = {**env.single_action_space.sample(), "tool": TOOL_NAMES.index("press_button")}
        wrong = gymnasium.vector.utils.concatenate(
            env.single_action_space,
            [home, {**home, "tool": np.int64(99)}],
            gymnasium.vector.utils.create_empty_array(env.single_action_space, 2),
        )
        with pytest.raises(UsageError, match="tool"):
            env.step(wrong)
        ends = []
        for _ in range(6):
            seen, _, _, truncated, infos = env.step(env.action_space.sample())
            assert env.observation_space.contains(seen)
            ends.append(truncated.tolist())
            # Each third step begins anew: its action counts for nothing.
        assert ends == [[False] * 2, [True] * 2, [False] * 2] * 2
        assert infos["steps"].tolist() == [0, 0]
    finally:
        env.close()


def test_a_random_agent_plays_episodes_to_their_end() -> None:
    counts = play(8, phones=2, max_steps=3, looks="both", seed=1)
    assert counts["episodes"] >= 8
    assert counts["terminated"] + counts["truncated"] == counts["episodes"]
