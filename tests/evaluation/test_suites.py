"""A suite is found by its name or read from a file, and what is wrong in one is named."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.exercises.exercise import Record, Tag, requirements
from agent.exercises.suite import EXERCISES
from console.evaluation.suites import only, read_suite

GOOD = """
[[exercise]]
name = "wifi-off"
goal = "Turn off Wi-Fi"
shell = ["svc wifi enable"]
tags = ["text"]
approves = false
[exercise.answers]
"which" = "the first"
[[exercise.check]]
state = "wifi"
equals = false
[[exercise.check]]
state = "apps.com/android/notes.notes.0.title"
contains = "milk"
[[exercise.check]]
state = "bluetooth"
unchanged = true
"""
DONE = Record(finished=True, result="ok")


def written(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_the_built_in_suite_is_there_whole_and_by_tag() -> None:
    whole = read_suite("everyday", has_ocr=True)
    assert whole.exercises == EXERCISES
    bare = read_suite("everyday", has_ocr=False)
    assert {e.name for e in whole.exercises} - {e.name for e in bare.exercises} == {
        e.name for e in EXERCISES if Tag.PICTURE in e.tags
    }
    assert whole.digest != bare.digest
    texts = read_suite("everyday:text", has_ocr=False)
    assert texts.exercises and all(Tag.TEXT in e.tags for e in texts.exercises)
    assert only(texts, [texts.exercises[0].name]).exercises == texts.exercises[:1]


def test_a_file_of_toml_checks_the_true_state(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    suite = read_suite(written(path, GOOD), has_ocr=False)
    [one] = suite.exercises
    assert (suite.name, one.name, one.shell) == ("mine", "wifi-off", ("svc wifi enable",))
    assert not one.operator.approves and one.operator.answer("Which one?", ()) == "the first"
    note = {"com.android.notes": {"notes": [{"title": "milk and eggs"}]}}
    good = {"wifi": False, "bluetooth": False, "apps": note}
    assert one.check(good, good, DONE) == ""
    assert "wifi is True" in one.check(good, {**good, "wifi": True}, DONE)
    assert "apps.com/android/notes" in one.check(good, {**good, "apps": {}}, DONE)
    assert "bluetooth was changed" in one.check(good, {**good, "bluetooth": True}, DONE)
    assert "did not complete" in one.check(good, good, Record(finished=False, result="x"))
    before = suite.digest
    path.write_text(GOOD + "# more\n")
    assert read_suite(str(path), has_ocr=False).digest != before


def test_a_file_of_python_brings_checkers_of_its_own(tmp_path: Path) -> None:
    text = (
        "from agent.exercises.exercise import Exercise\n"
        "EXERCISES = [Exercise(name='odd', goal='g', tags=(),\n"
        "    check=lambda before, after, record: '' if after.get('n', 0) % 2 else 'even')]\n"
    )
    [one] = read_suite(written(tmp_path / "own.py", text), has_ocr=False).exercises
    assert one.check({}, {"n": 3}, DONE) == "" and one.check({}, {"n": 2}, DONE) == "even"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.toml", "[[exercise", "cannot be used"),
        ("a.toml", "", "no exercises"),
        ("a.toml", GOOD + GOOD, "twice"),
        ("a.toml", GOOD.replace("wifi-off", "Wi Fi"), "not the name of an exercise"),
        ("a.toml", GOOD.replace("equals = false", ""), "one of equals"),
        ("a.toml", GOOD.replace("equals = false", "equals = 1\nchanged = true"), "one of equals"),
        ("a.toml", GOOD.replace('"which"', '"("'), "not a pattern"),
        ("a.toml", GOOD.replace("Turn off Wi-Fi", " "), "no goal"),
        ("a.toml", GOOD.replace("approves = false", "aproves = false"), "aproves"),
        ("a.toml", GOOD.replace("approves = false", "max_steps = 0"), "max_steps"),
        ("a.toml", '[[exercise]]\nname = "x"\ngoal = "y"\ncompletes = false', "no checks"),
        ("a.py", "EXERCISES = 3", "not define EXERCISES"),
        ("a.py", "1 / 0", "ZeroDivisionError"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(name: str, text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        read_suite(written(tmp_path / name, text), has_ocr=False)
    assert refused.value.remedy and name in refused.value.message


@pytest.mark.parametrize("name", ["", "nightly", "everyday:nothing", "missing.toml"])
def test_an_unknown_suite_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_suite(name, has_ocr=False)
    assert refused.value.remedy


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
@given(
    before=st.dictionaries(st.sampled_from(["wifi", "apps", "bluetooth"]), VALUES),
    after=st.dictionaries(st.sampled_from(["wifi", "apps", "bluetooth"]), VALUES),
)
def test_a_check_that_can_read_the_start_says_something_of_any_state(
    before: dict[str, object], after: dict[str, object], tmp_path: Path
) -> None:
    [one] = read_suite(written(tmp_path / "mine.toml", GOOD), has_ocr=False).exercises
    try:
        for part in requirements(one.check):
            part(before, before, DONE)
    except LookupError as error:
        assert "leads nowhere" in str(error)
    else:
        assert isinstance(one.check(before, after, DONE), str)
