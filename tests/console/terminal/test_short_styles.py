"""Long styles, for terminals that keep ten parameters."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.terminal.short_styles import MOST, in_short_styles, keeps_ten

ONE = st.one_of(
    st.sampled_from(["0", "1", "2", "3", "4", "7", "9", "31", "42", "97", ""]),
    st.integers(0, 255).map(lambda number: f"38;5;{number}"),
    st.tuples(st.sampled_from(["38", "48"]), *[st.integers(0, 255)] * 3).map(
        lambda colour: f"{colour[0]};2;{colour[1]};{colour[2]};{colour[3]}"
    ),
)


@given(st.lists(st.one_of(st.lists(ONE, min_size=1, max_size=9), st.just(["A text; 38;2 m"]))))
def test_each_sequence_is_short_and_says_the_same(parts: list[list[str]]) -> None:
    styles = [part for part in parts if part != ["A text; 38;2 m"]]
    text = "".join(f"\x1b[{';'.join(part)}m" if part in styles else part[0] for part in parts)
    short = in_short_styles(text)
    found = re.findall(r"\x1b\[([\d;]*)m", short)
    assert all(one.count(";") < MOST for one in found)
    assert ";".join(found) == ";".join(re.findall(r"\x1b\[([\d;]*)m", text))
    assert re.sub(r"\x1b\[[\d;]*m", "", short) == re.sub(r"\x1b\[[\d;]*m", "", text)
    # No colour is cut off from its numbers.
    whole = [one for part in styles for one in part]
    assert all(re.search(rf"(?:^|;|\[){one}(?:;|m)", short) for one in whole if one)


def test_bold_in_two_colours_becomes_two_sequences() -> None:
    bold = "\x1b[1;38;2;255;255;255;48;2;0;0;255m"
    assert in_short_styles(bold) == "\x1b[1;38;2;255;255;255m\x1b[48;2;0;0;255m"
    assert in_short_styles("\x1b[1;31m") == "\x1b[1;31m"


@pytest.mark.parametrize(
    ("environ", "is_mlterm"),
    [({"MLTERM": "3.9.0"}, True), ({"TERM": "mlterm-256color"}, True), ({"TERM": "xterm"}, False)],
)
def test_it_is_for_mlterm_by_what_that_says_of_itself(
    environ: dict[str, str], is_mlterm: bool
) -> None:
    assert keeps_ten(environ) is is_mlterm
