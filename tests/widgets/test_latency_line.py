"""How long a phone takes to be looked at, in a line."""

import pytest

from widgets.plots.latency_line import NONE_YET, latency_line, small_latency_line


def text(*took_ms: int, width: int = 80) -> str:
    return "".join(part for part, _ in latency_line(took_ms, width))


def test_a_phone_that_was_never_looked_at_says_so() -> None:
    assert text() == NONE_YET
    assert small_latency_line(()) == ()


def test_the_newest_the_usual_and_the_worst_are_figures() -> None:
    assert text(240) == "screen read █ 240 ms"
    assert text(100, 200, 800, 100) == "screen read ▂▃█▂ 100 ms  usually 100 ms, 800 ms at most"
    assert "".join(part for part, _ in small_latency_line((100, 200))) == "▅█ 200 ms"


@pytest.mark.parametrize(("width", "is_whole"), [(20, False), (44, False), (60, True), (80, True)])
def test_where_there_is_little_room_the_newest_look_is_told_and_drawn(
    width: int, is_whole: bool
) -> None:
    line = text(*range(100, 700, 10), width=width)
    assert len(line) <= width
    assert "█ 690 ms" in line
    assert line.endswith("usually 390 ms, 690 ms at most") == is_whole


def test_a_look_that_took_much_longer_than_usual_stands_out() -> None:
    [*_, (_, usual), _] = latency_line((100, 100, 110, 120), 80)
    [*_, (_, slow), _] = latency_line((100, 100, 110, 900), 80)
    assert (usual, slow) == ("$foreground", "$warn")
