"""The golden set is drawn the same twice, names what changed, and is small."""

from pathlib import Path

import pytest

from agent.exercises.suite import EXERCISES
from tests.golden import stored
from tests.golden.exercises import COUNT, digest, exercises
from tests.golden.written import openapi, schema, sentences_of


def test_every_part_is_stored_and_all_of_it_is_small() -> None:
    assert all(stored.kept(part) for part in stored.PARTS)
    assert sum(path.stat().st_size for path in stored.STORED.iterdir()) < 200_000
    played = [line for line in stored.kept("exercises").splitlines() if line.startswith("== ")]
    assert len(played) == COUNT == 30


def test_the_schemas_are_drawn_the_same_twice() -> None:
    assert schema() == schema()
    assert openapi() == openapi()


def test_what_errors_say_is_read_and_a_changed_word_is_named(tmp_path: Path) -> None:
    source = (
        'def f(n):\n    raise Bad(f"There are {n} phones.", "Connect " + "one.")\n'
        '    raise Other("word")\n    say("Nobody raises this.")\n'
    )
    assert list(sentences_of(source)) == ["There are {} phones.", "Connect one."]
    stored.keep("sentences", "There are {} phones.\nConnect one.", tmp_path)
    assert stored.difference("sentences", "There are {} phones.\nConnect one.", tmp_path) == []
    changed = stored.difference("sentences", "There are {} phones.\nConnect two.", tmp_path)
    assert changed[-2:] == ["-Connect one.", "+Connect two."]


def test_what_a_clock_or_chance_decides_is_no_difference_and_a_word_is_one() -> None:
    assert digest("12:04 on Monday, 3f2a9c4411de") == digest("7:59 on Tuesday, 99ab01cd77ee")
    assert digest("Tap Send") != digest("Tap Sent")


@pytest.mark.slow
async def test_a_session_is_drawn_the_same_twice(tmp_path: Path) -> None:
    # It scrolls through a list, which glides on after the finger.
    chosen = tuple(one for one in EXERCISES if one.name == "contact-look-alike")
    drawn = [await exercises(tmp_path / name, chosen) for name in ("one", "two")]
    assert drawn[0] == drawn[1]
    assert "prompt 1 " in drawn[0]
