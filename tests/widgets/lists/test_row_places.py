"""Where rows are: lines, headings, and what stood there before rows moved."""

from hypothesis import given
from hypothesis import strategies as st

from widgets.base.row_places import SEEN_S, MovedRows, RowPlaces
from widgets.base.rows import Line, Row

ROWS = st.lists(st.tuples(st.integers(1, 3), st.booleans()), max_size=12).map(
    lambda drawn: tuple(
        Row(f"r{at}", (Line(()),) * lines, is_heading=heading)
        for at, (lines, heading) in enumerate(drawn)
    )
)


@given(ROWS)
def test_every_line_belongs_to_the_row_whose_region_holds_it(rows: tuple[Row, ...]) -> None:
    places = RowPlaces(rows)
    assert places.height == sum(len(row.lines) for row in rows)
    for at, row in enumerate(rows):
        region = places.region(at)
        assert [places.line(y) for y in range(region.y, region.bottom)] == [
            (row, number) for number in range(len(row.lines))
        ]
    assert places.line(-1) is None and places.line(places.height) is None


@given(ROWS, st.integers(0, 11), st.sampled_from((1, -1)))
def test_the_nearest_row_is_none_that_is_passed_over(
    rows: tuple[Row, ...], at: int, by: int
) -> None:
    places, at = RowPlaces(rows), max(0, min(at, len(rows) - 1))
    found = places.nearest(at, by)
    if found is None:
        assert all(row.is_heading for row in rows)
        return
    assert not rows[found].is_heading
    between = (
        range(at, found, by)
        if (found - at) * by >= 0
        else range(at, len(rows) if by > 0 else -1, by)
    )
    assert all(rows[one].is_heading for one in between)


def test_a_press_is_for_what_stood_there_before_the_first_of_several_moves() -> None:
    moved = MovedRows()
    assert moved.stood_at(0, 10.0) is None
    moved.note(("a", "b"), 10.0)
    moved.note(("c", "d"), 10.0 + SEEN_S / 2)
    assert moved.stood_at(1, 10.0 + SEEN_S) == "b"
    assert moved.stood_at(2, 10.0 + SEEN_S) is None, "nothing was seen below them"
    assert moved.stood_at(1, 10.0 + 2 * SEEN_S) is None, "what is there now was seen for long"
    moved.note(("e",), 20.0)
    moved.forget()
    assert moved.stood_at(0, 20.0) is None


@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=30),
    st.data(),
    st.integers(3, 12),
    st.integers(0, 100),
)
def test_a_row_is_shown_without_scrolling_further_than_it_takes(
    lines: list[int], data: st.DataObject, height: int, from_y: int
) -> None:
    places = RowPlaces(Row(str(at), (Line(()),) * count) for at, count in enumerate(lines))
    at = data.draw(st.integers(0, len(lines) - 1))
    row = places.region(at)

    def is_seen_from(y: int) -> bool:
        return y <= row.y and row.bottom <= y + height

    possible = [y for y in range(max(0, places.height - height) + 1) if is_seen_from(y)]
    shown_from = places.scroll_to_show(at, height, from_y)
    assert shown_from == min(possible, key=lambda y: abs(y - from_y))
