"""What the terminal answers: kept from the keys, believed only where it was asked."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.frames.answers import Answers
from console.frames.graphics import Graphics, Pictures, may_ask
from widgets.cells.frame_marks import unmarked

ANSWERS = ("\x1b[?62;4;22c", "\x1b_Gi=31;OK\x1b\\", "\x1b_Gi=31;EBADF:gone\x1b\\", "\x1b[?1;0;256S")
OTHERS = (
    "\x1b[>0;276;0c",
    "\x1b]11;rgb:ffff/0000/1234\x1b\\",
    "\x1b]10;rgb:ffff/0000/1234\x07",
    "\x1bP>|xterm(388)\x1b\\",
    "\x1bP1+r544e=787465726d\x1b\\",
    "\x1bP!|7E565445\x1b\\",
)
"""What a program before this one has asked for."""
KEYS = (
    "a",
    "\x1b[A",
    "\x1b[<35;10;7M",
    "\x1b[?2026;2$y",
    "\x1b[97;5u",
    "é",
    "\x1bOP",
    "\x1b[200~p",
)
ID = 31


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@settings(max_examples=200, deadline=None)
@given(
    parts=st.lists(st.sampled_from((*ANSWERS, *OTHERS, *KEYS)), max_size=8),
    cuts=st.lists(st.integers(0, 120), max_size=6),
)
def test_answers_are_heard_and_keys_pass_however_they_are_torn(
    parts: list[str], cuts: list[int]
) -> None:
    heard: list[str] = []
    answers = Answers(lambda kind, said: heard.append(f"{kind} {said}"))
    answers.await_one()
    whole, passed = "".join(parts), ""
    edges = sorted({0, *(min(cut, len(whole)) for cut in cuts), len(whole)})
    for begin, end in pairwise(edges):
        passed += answers.sift(whole[begin:end])
    assert passed == "".join(part for part in parts if part in KEYS)
    assert len(heard) == sum(part in ANSWERS for part in parts)


@settings(max_examples=200, deadline=None)
@given(data=st.text(alphabet=st.sampled_from("\x1b_G[?;c\\S1Oa"), max_size=40))
def test_nothing_is_made_up_and_nothing_is_held_for_ever(data: str) -> None:
    clock = Clock()
    answers = Answers(lambda _kind, _said: None, clock)
    answers.await_one()
    passed = answers.sift(data)
    clock.now_s += 1.0
    passed += answers.overdue()
    rest = iter(data)
    assert all(letter in rest for letter in passed)
    # What is dropped late begins as only an answer does, and the next key passes.
    assert answers.sift("k") == "k"
    if not re.search(r"\x1b_G|\x1b\[[?\d]", data):
        assert passed == data


def test_a_lone_escape_is_held_for_a_moment_and_only_while_an_answer_is_awaited() -> None:
    clock = Clock()
    answers = Answers(lambda _kind, _said: None, clock)
    assert answers.sift("\x1b") == "\x1b"
    answers.await_one()
    assert answers.sift("\x1b") == ""
    assert answers.overdue() == ""
    clock.now_s += 0.1
    assert answers.overdue() == "\x1b"
    clock.now_s += 60.0
    assert answers.sift("\x1b") == "\x1b"


def read_late(pieces: list[str], gap_s: float, *, is_awaited: bool = True) -> str:
    """Return what passes of pieces that come one by one, looked at as Textual's thread does.

    Returns:
        What passed before the last piece, a bar, and what passed then and later.
    """
    clock = Clock()
    answers = Answers(lambda _kind, _said: None, clock)
    if is_awaited:
        answers.await_one()
    passed = ""
    for number, piece in enumerate(pieces, 1):
        passed += "|" if number == len(pieces) else ""
        passed += answers.sift(piece) + answers.overdue()
        until_s = clock.now_s + gap_s
        while clock.now_s < until_s:
            clock.now_s += 0.1
            passed += answers.overdue()
    return passed


CUT = [(whole, at) for whole in (*ANSWERS, *OTHERS) for at in range(1, len(whole))]


@pytest.mark.parametrize("gap_s", [0.2, 0.7, 2.0])
def test_an_answer_whose_rest_comes_late_is_no_key_wherever_it_was_cut(gap_s: float) -> None:
    for whole, at in CUT:
        passed = read_late([whole[:at], whole[at:]], gap_s).replace("|", "")
        # At most the escape, which may have been a key.
        assert whole.startswith(passed) and len(passed) <= 2, (whole, at, passed)


@pytest.mark.parametrize("is_awaited", [True, False])
@pytest.mark.parametrize("whole", ["\x1b[<35;10;7M", "\x1b[A", "\x1b[97;5u", "\x1b[?2026;2$y"])
def test_the_rest_of_a_key_or_report_is_not_typed_when_it_comes_late(
    whole: str, is_awaited: bool
) -> None:
    for at in range(1, len(whole)):
        before, _, after = read_late(
            [whole[:at], whole[at:]], 0.7, is_awaited=is_awaited
        ).partition("|")
        assert before in ("", "\x1b", "\x1b[") and after == "", (whole, at, before, after)


@pytest.mark.parametrize("key", ["x", "p", "\x18", "\x11", "\r", "k"])
def test_what_stops_and_pauses_passes_after_whatever_was_torn(key: str) -> None:
    for whole, at in CUT:
        assert read_late([whole[:at], key], 0.7).endswith(f"|{key}"), (whole, at)


def test_a_body_too_long_for_an_answer_is_none() -> None:
    heard: list[str] = []
    answers = Answers(lambda _kind, said: heard.append(said))
    long = "\x1b_G" + "x" * 5_000 + "\x1b\\"
    assert answers.sift(long) == long
    assert heard == []


def test_a_terminal_that_answers_da1_is_asked_for_kittys_protocol_once() -> None:
    graphics = Graphics(Pictures.AUTO, ID)
    assert graphics.first_question() == "\x1b[c"
    graphics.hear("kitty", f"i={ID};OK")
    assert graphics.drawn_as is Pictures.CELLS, "it was not asked yet"
    graphics.hear("attributes", "62")
    assert graphics.asks_kitty
    graphics.asks_kitty = False
    graphics.hear("attributes", "62")
    assert not graphics.asks_kitty
    graphics.hear("kitty", "i=30;OK")
    assert graphics.drawn_as is Pictures.CELLS, "another's image"
    graphics.hear("kitty", f"i={ID};OK")
    assert graphics.drawn_as is Pictures.KITTY
    graphics.hear("kitty", f"i={ID};ENOSPC:full")
    graphics.hear("kitty", f"i={ID};OK")
    assert graphics.drawn_as is Pictures.CELLS, "it refused one: there are no more"


@pytest.mark.parametrize(
    ("answers", "drawn_as"),
    [
        ([("graphics", "1;0;256"), ("attributes", "62;4")], Pictures.SIXEL),
        ([("graphics", "1;0;16"), ("attributes", "62;4")], Pictures.CELLS),
        ([("graphics", "1;3;0"), ("attributes", "62;4")], Pictures.CELLS),
        ([("graphics", "1;0;256"), ("attributes", "62;14;44")], Pictures.CELLS),
        ([("graphics", "1;0;256"), ("attributes", "4")], Pictures.CELLS),
        ([("attributes", "62;4")], Pictures.CELLS),
    ],
)
def test_sixel_is_drawn_where_the_terminal_says_so_and_has_the_colours(
    answers: list[tuple[str, str]], drawn_as: Pictures
) -> None:
    graphics = Graphics(Pictures.SIXEL, ID)
    for kind, said in answers:
        graphics.hear(kind, said)
    assert graphics.drawn_as is drawn_as


@settings(max_examples=100, deadline=None)
@given(
    kind=st.sampled_from(("kitty", "attributes", "graphics")),
    said=st.text(alphabet="0123456789;=iOKp,٣²", max_size=60),
)
def test_no_answer_breaks_it_or_turns_on_sixel_by_kittys_question(kind: str, said: str) -> None:
    graphics = Graphics(Pictures.AUTO, ID)
    graphics.hear(kind, said)
    graphics.hear("attributes", said)
    assert graphics.drawn_as is Pictures.CELLS


@pytest.mark.parametrize(
    ("wanted", "environ", "asks"),
    [
        (Pictures.AUTO, {"TERM": "xterm-kitty"}, True),
        (Pictures.SIXEL, {"TERM": "xterm"}, True),
        (Pictures.CELLS, {"TERM": "xterm-kitty"}, False),
        (Pictures.KITTY, {"TERM": "xterm-kitty", "TMUX": "/tmp/tmux,1,0"}, False),
        (Pictures.AUTO, {"TERM": "screen-256color"}, False),
        (Pictures.SIXEL, {"TERM": "xterm", "STY": "1.pts"}, False),
        (Pictures.AUTO, {"TERM": "linux"}, False),
        (Pictures.AUTO, {}, False),
    ],
)
def test_nothing_is_asked_where_answers_are_not_wanted_or_not_the_terminals(
    wanted: Pictures, environ: dict[str, str], asks: bool
) -> None:
    assert may_ask(wanted, environ) is asks


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(1, 8), columns=st.integers(1, 12))
def test_rectangles_cover_each_cell_that_is_not_marked_once(
    seed: int, rows: int, columns: int
) -> None:
    marked = np.random.default_rng(seed).random((rows, columns)) < 0.3
    covered = np.zeros((rows, columns), dtype=int)
    for part in unmarked(marked):
        assert part.area
        covered[part.y : part.bottom, part.x : part.right] += 1
    assert (covered == ~marked).all()


def test_what_is_not_marked_at_all_is_one_rectangle() -> None:
    [part] = unmarked(np.zeros((5, 7), dtype=bool))
    assert (part.x, part.y, part.width, part.height) == (0, 0, 7, 5)
