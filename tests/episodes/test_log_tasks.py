"""Tasks of android_env: what their files say, and what an app's log pays for on a phone."""

import math
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.devices.pool.allocation import PooledPhone
from agent.episodes.adb_phones import AdbPhone
from agent.episodes.episode import Episode
from agent.episodes.in_process import InProcessPhones
from agent.episodes.phones import EpisodePhones
from agent.errors import DeviceError, UsageError
from agent.exercises.exercise import Exercise
from agent.exercises.log_task import LogRules, LogScore
from agent.settings import PoolSettings
from console.evaluation.suites import read_tasks

SETTINGS = "com.android.settings/.Settings"
TASK = """
id: "catch_the_settings"
name: "Catch"
description: "Open the settings"
setup_steps: {
  adb_request: { settings: { name_space: SYSTEM put: { key: "caught" value: "a b" } } }
}
setup_steps: {
  success_condition: { check_install: { package_name: "com.android.settings" timeout_sec: 5 } }
}
reset_steps: {
  adb_request: {
    start_activity: { full_activity: "com.android.settings/.Settings" force_stop: true }
  }
  success_condition: { num_retries: 2 wait_for_app_screen: {
    app_screen: { activity: "com.android.settings/.Settings" } timeout_sec: 10 } } }
reset_steps: { sleep: { time_sec: 0.1 } }
reset_steps: { adb_request: { generic: { args: ["shell", "log", "-t", "game", "score: 100"] } } }
max_episode_steps: 9
log_parsing_config: {
  filters: ["game", "ActivityManager"]
  log_regexps: {
    score: "^score: ([0-9.-]+)$"
    reward: "^reward (.*)$"
    reward_event: { event: "Killing .*settings" reward: -0.5 }
    episode_end: "^over"
    extra: "^extra (?P<name>\\\\w+)(=(?P<extra>.*))?$"
    json_extra: "^json (?P<json_extra>.*)$"
  }
}
extras_spec: { name: "lives" shape: 1 dtype: INT32 }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "catch.textproto"
    path.write_text(TASK)
    return path


@pytest.fixture(params=["in process", pytest.param("over adb", marks=pytest.mark.slow)])
async def episode(
    request: pytest.FixtureRequest, tmp_path: Path, file: Path
) -> AsyncIterator[Episode]:
    folder = tmp_path / "phones"
    over_adb = request.param == "over adb"
    made = EpisodePhones(PoolSettings(virtual=1), folder) if over_adb else InProcessPhones(1)
    async with made as phones:
        episode = Episode(phones.source, read_tasks(str(file)), looks="tree")
        yield episode
        await episode.close()


async def logged(episode: Episode, *messages: str) -> None:
    for message in messages:
        assert await episode.phone.run(f"log -t game '{message}'") == (0, "")


async def test_a_task_is_set_up_and_its_log_pays_and_ends_the_episode(episode: Episode) -> None:
    seen = await episode.reset()
    assert (seen.package, episode.task and episode.task.goal) == (
        "com.android.settings",
        "Open the settings",
    )
    assert await episode.phone.run("settings get system caught") == (0, "a b\n")
    # What was logged while it was set up is worth nothing.
    seen = await episode.step("press_button", {"button": "VOLUME_UP"})
    assert (seen.reward, seen.done) == (0.0, False)
    await logged(episode, "score: 3", "reward 0.5", "reward many", "score: 5", "not score: 50")
    await logged(episode, "extra lives=2", "extra boss", 'json {"x": [1], "y": "z"}', "json 5")
    seen = await episode.step("press_button", {"button": "VOLUME_UP"})
    assert (seen.reward, seen.terminated) == (5.5, False)
    assert seen.extras == {"lives": [2], "boss": [1], "x": [[1]], "y": ["z"]}
    await episode.phone.run("log -t other 'score: 1000'; am force-stop com.android.settings")
    seen = await episode.step("press_button", {"button": "VOLUME_UP"})
    assert (seen.reward, seen.done, seen.extras) == (-0.5, False, {})
    await logged(episode, "score: 4", "over and out")
    seen = await episode.step("press_button", {"button": "VOLUME_UP"})
    assert (seen.reward, seen.terminated, seen.truncated) == (-1.0, True, False)
    seen = await episode.reset()
    await logged(episode, "score: 1")
    assert (await episode.step("tap", {"x": 0, "y": 0})).reward == 1.0


def tasks_of(file: Path, text: str) -> tuple[Exercise, ...]:
    file.write_text(text)
    return read_tasks(str(file))


async def test_who_leaves_the_app_or_takes_too_long_is_truncated(file: Path) -> None:
    tasks = tasks_of(
        file,
        f'''id: "a" max_episode_sec: 5 expected_app_screen: {{ activity: "{SETTINGS}" }}
        reset_steps: {{ adb_request: {{ start_activity: {{ full_activity: "{SETTINGS}" }} }} }}''',
    )
    async with InProcessPhones(1) as phones:
        episode = Episode(phones.source, tasks, looks="tree")
        await episode.reset()
        seen = await episode.step("press_button", {"button": "HOME"})
        assert seen.truncated and "no longer in front" in seen.error
        await episode.reset()
        while episode.steps == 0 or not seen.done:
            seen = await episode.step("press_button", {"button": "VOLUME_UP"})
        # A step takes a second of the phone's clock.
        assert seen.truncated and "5 s are over" in seen.error and episode.steps in (5, 6)


async def test_a_step_that_fails_is_named(file: Path) -> None:
    line = 'adb_request: { generic: { args: ["shell", "false"] } }'
    tasks = tasks_of(file, f'id: "a" setup_steps: {{ {line} }}')
    async with InProcessPhones(1) as phones:
        episode = Episode(phones.source, tasks, looks="tree")
        with pytest.raises(DeviceError, match=r"setup_steps\[0\] failed 3 times"):
            await episode.reset()
        assert phones.stats().taken == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('id: "a" wings: 2', "wings"),
        ('id: "a', "1:"),
        ("setup_steps: { }", r"setup_steps\[0\] has neither"),
        (
            'reset_steps: { adb_request: { install_apk: { filesystem: { path: "a" } } } }',
            r"reset_steps\[0\].adb_request.install_apk.filesystem is not followed",
        ),
        (
            'setup_steps: { adb_request: { generic: { args: ["reboot"] } } }',
            r"adb_request.generic.args is not followed",
        ),
        (
            "setup_steps: { adb_request: { settings: { name_space: GLOBAL list: {} } } }",
            r"settings.list is not followed",
        ),
        (
            "setup_steps: { adb_request: { tap: { x: 1 } press_button: { button: BACK } } }",
            "has tap and press_button",
        ),
        (
            'expected_app_screen: { activity: "a/.B" view_hierarchy_path: "x" }',
            "expected_app_screen.view_hierarchy_path is not followed",
        ),
        ('expected_app_screen: { activity: "Main" }', "is not a component"),
        ('log_parsing_config: { log_regexps: { score: "(" } }', "score is not a pattern"),
        ('log_parsing_config: { log_regexps: { reward: "a" } }', r"reward\[0\] has no group"),
        ('log_parsing_config: { log_regexps: { extra: "a" } }', "no group 'name'"),
        ("max_episode_steps: -1", "max_episode_steps"),
    ],
)
def test_what_cannot_be_followed_is_named(file: Path, text: str, said: str) -> None:
    file.write_text(text)
    with pytest.raises(UsageError, match=said) as refused:
        read_tasks(str(file))
    assert str(file) in refused.value.message and refused.value.remedy


@given(st.text(max_size=60) | st.text(alphabet='idsetup_steps:{}" 0\n', max_size=60))
def test_any_file_is_a_task_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.textproto"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        [task] = read_tasks(str(path))
    except UsageError as refused:
        assert refused.message and refused.remedy
    else:
        assert task.name and task.goal


@given(st.lists(st.text(max_size=20) | st.floats().map(lambda one: f"score: {one}")))
def test_any_log_is_worth_a_number(messages: list[str]) -> None:
    score = LogScore(LogRules(score=re.compile("score: (.*)"), ends=(re.compile("over"),)))
    gain = score.take(messages)
    assert math.isfinite(gain.reward) or any("e+3" in one for one in messages)


def test_an_emulators_phone_is_not_told_to_reset_as_a_virtual_one_is() -> None:
    def phone(tag: str) -> AdbPhone:
        return AdbPhone(PooledPhone("a", "127.0.0.1:5037", frozenset({tag}), 0, 0))

    assert phone("virtual")._is_virtual
    assert not phone("emulator")._is_virtual and not phone("real")._is_virtual
