"""Where tiles are: within the wall, beside each other, as large as may be."""

from hypothesis import given, settings
from hypothesis import strategies as st

from widgets.wall.wall_layout import FOOT_ROWS, HEAD_ROWS, LEAST_COLUMNS, lay_out


@settings(max_examples=200, deadline=None)
@given(
    count=st.integers(0, 64),
    columns=st.integers(14, 320),
    rows=st.integers(4, 110),
    shape=st.floats(0.4, 2.4),
    pictures=st.booleans(),
)
def test_no_tile_overlaps_another_or_leaves_the_wall(
    count: int, columns: int, rows: int, shape: float, pictures: bool
) -> None:
    plan = lay_out(count, columns, rows, shape=shape, pictures=pictures)
    assert plan.capacity >= 1
    taken: set[tuple[int, int]] = set()
    for at in range(min(count, plan.capacity)):
        spot = plan.spot(at)
        assert spot.column >= 1
        assert spot.column + plan.columns <= columns
        assert spot.row + plan.tile_rows <= max(rows, HEAD_ROWS + FOOT_ROWS + 1)
        corners = {(spot.row, spot.column), (spot.row + plan.tile_rows - 1, spot.column)}
        assert not corners & taken
        taken |= corners


def test_all_are_seen_where_there_is_room() -> None:
    for count in (1, 3, 8, 17):
        assert lay_out(count, 160, 47).capacity >= count
    assert lay_out(64, 216, 58).capacity >= 64


def test_few_phones_are_large_and_many_are_not_smaller_than_can_be_made_out() -> None:
    assert lay_out(1, 160, 47).picture_rows == 44
    crowded = lay_out(64, 100, 27)
    assert crowded.columns >= LEAST_COLUMNS
    assert crowded.capacity < 64
