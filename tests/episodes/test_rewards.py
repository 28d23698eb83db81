"""Rewards follow a task's requirements, and a checker that reads what is not there is an error."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.episodes.blocking import BlockingPhones
from agent.episodes.rewards import RECORD, Progress, Rewards, check_checker, is_done
from agent.errors import UsageError
from agent.exercises.exercise import Exercise, requirements
from agent.exercises.suite import EXERCISES
from agent.exercises.suite.checks import all_of, becomes, finished, unchanged
from console.evaluation.suites import read_suite


def task(*names: str, kept: str = "money") -> Exercise:
    wanted = (becomes(lambda s, name=name: s[name], True, name) for name in names)
    check = all_of(all_of(*wanted), unchanged(lambda s: s[kept], kept), finished)
    return Exercise(name="mine", goal="Do it", check=check, tags=())


START = {"a": False, "b": False, "c": False, "money": 1}


def paid(one: Exercise, states: Iterable[dict[str, Any]]) -> list[float]:
    progress = Progress(one, START)
    return [progress.reward(s, done=is_done(one, START, s)) for s in states]


def test_each_requirement_pays_its_share_and_what_is_undone_is_paid_back() -> None:
    one = task("a", "b")
    assert len(requirements(one.check)) == 4
    half = START | {"a": True}
    assert paid(one, [START, half, half, START, half, half | {"b": True}]) == [
        0.0,
        0.5,
        0.0,
        -0.5,
        0.5,
        0.5,
    ]
    assert paid(one, [START | {"money": 2}]) == [-0.5]


@given(
    st.lists(
        st.fixed_dictionaries(
            {"a": st.booleans(), "b": st.booleans(), "c": st.booleans(), "money": st.integers(1, 2)}
        )
    )
)
def test_shaped_rewards_sum_to_one_whatever_came_before_the_end(
    states: list[dict[str, Any]],
) -> None:
    one = task("a", "b", "c")
    done = START | {"a": True, "b": True, "c": True}
    assert sum(paid(one, [*states, done])) == pytest.approx(1.0)
    for given_ in (paid(one, [state]) for state in states if not is_done(one, START, state)):
        assert given_[0] < 1.0


def test_a_task_of_one_part_pays_at_its_end_alone() -> None:
    one = Exercise(name="x", goal="x", check=lambda _b, a, _r: "" if a["a"] else "no", tags=())
    assert paid(one, [START, START | {"a": True}]) == [0.0, 1.0]


def written(path: Path, state: str, condition: str = "equals = true") -> Exercise:
    path.write_text(
        f'[[exercise]]\nname = "x"\ngoal = "x"\n[[exercise.check]]\nstate = "wifi"\n'
        f'equals = false\n[[exercise.check]]\nstate = "{state}"\n{condition}\n'
    )
    (one,) = read_suite(str(path), has_ocr=True).exercises
    return one


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("bluetoth", "bluetooth"),
        ("settings.globl.wifi_on", "global"),
        ("apps.com/android/note.notes", "com/android/notes"),
        ("apps.com/android/notes.note.0.title", "notes"),
        ("wifi.on", "wifi.on leads nowhere"),
        ("notes.title", "leads nowhere"),
        ("apps.com.android.notes", "apps.com"),
    ],
)
@pytest.mark.parametrize("condition", ["equals = true", "unchanged = true", "changed = true"])
def test_a_mistyped_path_is_an_error_and_says_what_there_is(
    tmp_path: Path, phone: BlockingPhones, state: str, said: str, condition: str
) -> None:
    one = written(tmp_path / "mine.toml", state, condition)
    start = start_of(phone)
    with pytest.raises(UsageError, match="does not have") as refused:
        check_checker(one, start)
    assert said in refused.value.message


@pytest.mark.parametrize("state", ["settings.global.mine", "notes.7.title", "bluetooth"])
def test_what_may_come_is_no_error(tmp_path: Path, phone: BlockingPhones, state: str) -> None:
    one = written(tmp_path / "mine.toml", state)
    check_checker(one, start_of(phone))
    assert not is_done(one, start_of(phone), start_of(phone))


@pytest.fixture(scope="module")
def phone() -> Iterable[BlockingPhones]:
    with BlockingPhones(1, EXERCISES) as phones:
        yield phones


def start_of(phone: BlockingPhones) -> dict[str, Any]:
    with phone.episode(looks="tree") as episode:
        episode.reset(task="bluetooth-on")
        return dict(phone.run(episode.inner.phone.state(keep=True)))


def test_an_episode_refuses_a_task_that_cannot_be_judged_and_pays_as_it_was_told(
    phone: BlockingPhones,
) -> None:
    broken = Exercise(name="broken", goal="x", check=lambda s, _a, _r: s["wfi"], tags=())
    with BlockingPhones(1, (broken, *EXERCISES)) as phones, phones.episode(looks="tree") as episode:
        with pytest.raises(UsageError, match="KeyError: 'wfi'"):
            episode.reset(task="broken")
        seen = episode.reset(task="bluetooth-on", rewards=Rewards.SHAPED)
        total = 0.0
        for label in ("Settings", "Connected devices", "Bluetooth", "Use Bluetooth"):
            node = next(n for n in seen.nodes if label in (n.text, n.description))
            place = {
                "x": (node.bounds.left + node.bounds.right) / 2,
                "y": (node.bounds.top + node.bounds.bottom) / 2,
            }
            seen = episode.step("tap", place)
            total += seen.reward
        assert seen.terminated
        assert total == 1.0


def test_every_task_of_the_suite_can_be_judged_where_it_begins() -> None:
    with BlockingPhones(1, EXERCISES) as phones, phones.episode(looks="tree") as episode:
        for one in (each for each in EXERCISES if each.operator.approves):
            episode.reset(task=one.name)
            start = phones.run(episode.inner.phone.state(keep=True))
            assert one.check(start, start, RECORD), one.name
