"""What the terminal answers: kept from the keys, believed only where it was asked."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.frames.graphics import Graphics, Pictures, may_ask, why_not_asked
from widgets.cells.frame_marks import unmarked

ID = 31


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


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ([("graphics", "1;0;16"), ("attributes", "62;4")], "16 of 216 colours"),
        ([("attributes", "62;22")], "does not report"),
        ([("graphics", "1;0;256"), ("attributes", "62;4")], ""),
    ],
)
def test_why_no_sixel_is_drawn_is_said(answers: list[tuple[str, str]], why: str) -> None:
    graphics = Graphics(Pictures.SIXEL, ID)
    for kind, said in answers:
        graphics.hear(kind, said)
    assert why in graphics.refusal and bool(why) is bool(graphics.refusal)


def test_why_nothing_is_asked_is_said_where_images_were_wanted() -> None:
    within = {"TERM": "tmux-256color", "TMUX": "/tmp/tmux,1,0"}
    assert "within tmux" in why_not_asked(Pictures.SIXEL, within)
    assert "TERM" in why_not_asked(Pictures.KITTY, {"TERM": "linux"})
    assert why_not_asked(Pictures.AUTO, within) == why_not_asked(Pictures.CELLS, within) == ""


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
