"""Columns of lists stand under their headings, whatever a record says."""

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from widgets.lists.columns import Column, cells, fit, heading
from widgets.lists.history_rows import COLUMNS_FROM, column_titles

TEXTS = st.text(max_size=40) | st.sampled_from(["定期的な仕事の状態", "🌱" * 9, "a\x1b[31mb", ""])
COLUMNS: tuple[Column[str], ...] = (
    Column("name", ((0, 9),), lambda said, now_ms: (said, "$foreground")),
    Column("age", ((40, 7), (80, 12)), lambda said, now_ms: (f"{now_ms} {said}", "$muted")),
    Column("more", ((60, 8),), lambda said, now_ms: (said * 2, "$muted")),
)


@given(text=TEXTS, size=st.integers(3, 30), gap=st.integers(1, 2))
def test_a_text_takes_exactly_its_cells_and_leaves_the_gap(text: str, size: int, gap: int) -> None:
    shown = fit(text, size, gap)
    assert cell_len(shown) == size
    assert shown.endswith(" " * gap)


@given(text=TEXTS, width=st.integers(0, 200))
def test_columns_stand_under_their_names_at_every_width(text: str, width: int) -> None:
    [(titles, _)] = heading(COLUMNS, width)
    row = cells(COLUMNS, text, now_ms=5, width=width)
    shown = [column for column in COLUMNS if column.size(width)]
    starts = [0, *accumulate(cell_len(part) for part, _ in row)]
    for column, start in zip(shown, starts, strict=False):
        assert titles[2 + start :].startswith(column.name)
    assert titles[2 + starts[-1] :] == "title"


@pytest.mark.parametrize(
    ("width", "sizes"), [(0, [9, 0, 0]), (40, [9, 7, 0]), (60, [9, 7, 8]), (80, [9, 12, 8])]
)
def test_a_column_takes_what_its_row_says(width: int, sizes: list[int]) -> None:
    assert [column.size(width) for column in COLUMNS] == sizes


@given(width=st.integers(COLUMNS_FROM, 300))
def test_the_columns_of_the_history_leave_a_goal_its_room_at_every_width(width: int) -> None:
    [(titles, _)] = column_titles(width)
    assert width - cell_len(titles) >= 50
    assert {"phone", "steps", "cost", "outcome", "began"} <= set(titles.split())
