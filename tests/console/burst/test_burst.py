"""A script of keys comes to the same, however fast it is typed and however slow the core is.

The whole of it: `python -m tests.console.burst --scripts 300`, and with `--crowd` while others act.
"""

from pathlib import Path

import pytest

from tests.console.burst.__main__ import ACTS, differences, examine, examine_crowd
from tests.console.burst.grammar import ENTER, ESC, MODES, Token, click, keys, resize
from tests.console.burst.typist import Typist

pytestmark = pytest.mark.slow

HURT: dict[str, tuple[Token, ...]] = {
    "three goals": (*keys("nA"), ENTER, *keys("nB"), ENTER, *keys("nC"), ENTER),
    "a stop after a hint": (*keys("ihurry"), ENTER, *keys("x")),
    "a stop after leaving the field": (*keys("ihurry"), ENTER, ESC, *keys("x")),
    "two pauses": (*keys("jpp"),),
    "a form that was left": (*keys("3nwrite"), ESC, *keys("1nB"), ENTER),
    "a joined emoji": (*keys("n\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}"), ENTER),
    "keys after esc": (*keys("/a"), ESC, *keys("O"), ESC, *keys("P"), ESC, *keys("x")),
    "a tag that was left": (*keys("1"), *[ESC] * 3, *keys("llo"), ESC, *keys("ihurry"), ENTER),
    "a press before a smaller terminal": (*keys("ntea"), ENTER, *click(20, 5), *resize(60, 20)),
    "a press after a smaller terminal": (*resize(60, 20), *click(20, 5), *keys("ihurry"), ENTER),
    "a goal after a filter": (*keys("/set"), ENTER, *keys("nB"), ENTER),
}


def test_what_once_went_astray_comes_to_the_same_in_every_mode(tmp_path: Path) -> None:
    with Typist(tmp_path) as typist:
        for name, tokens in HURT.items():
            came = {mode: typist.play(tokens, mode) for mode in ("slow", "burst", "stopped")}
            assert differences(came) == [], name
            assert came["burst"]["ops"], f"{name}: something was asked of the core"


def test_a_random_script_comes_to_the_same_in_every_mode(tmp_path: Path) -> None:
    with Typist(tmp_path) as typist:
        assert examine(typist, 101, ACTS // 2, MODES) == []


def test_every_text_goes_where_it_was_begun_for_while_others_act(tmp_path: Path) -> None:
    with Typist(tmp_path) as typist:
        for seed in (201, 202):
            assert examine_crowd(typist, seed, ACTS // 2, ("burst", "slow")) == []
