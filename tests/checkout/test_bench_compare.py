"""What a comparison of two builds makes of the tables that benchmarks print."""

from scripts.bench_compare import figures, rows

BASE = """
## loop
2 cores, 54 goals

| what | ms a step | calls |
|---|---|---|
| text | {} | 100 |
| text | 8.0 | 3 |
| drawn at 160×50 | {} | 0 |
only the base says {}
"""


def test_each_number_of_a_line_is_compared_pair_by_pair() -> None:
    base = [BASE.format(10.0, 3, 1), BASE.format(20.0, 3, 2)]
    here = [BASE.format(5.0, 6, 1).replace("only the base", "here"), BASE.format(12.0, 9, 1)]
    _, _, *found = rows(base, here)
    text, drawn = found
    assert text.startswith("| text ") and text.endswith("| 15 | 8.5 | 0.55 | 0.50–0.60 |")
    assert "drawn at" in drawn and drawn.endswith("| 3 | 7.5 | 2.50 | 2.00–3.00 |")


def test_lines_alike_are_told_apart_by_their_order() -> None:
    found = figures(BASE.format(1.0, 2, 3))
    assert [numbers for (line, _), numbers in found.items() if "text" in line] == [
        [1.0, 100.0],
        [8.0, 3.0],
    ]


def test_what_only_one_build_says_or_what_is_0_is_left_out() -> None:
    assert rows(["a 0 of 1"], ["a 2 of 1"])[2:] == []
    assert rows(["before 5 ms"], ["after 5 ms"])[2:] == []
