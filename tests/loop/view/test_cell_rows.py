"""Days, keys, seats and letters share a line with their row, and each keeps its number."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.loop.screen.cell_rows import ELLIPSIS, short_labels
from agent.loop.screen.elements import number_elements
from agent.loop.screen.screen_text import screen_text
from agent.models.model import Message, MessageKind, Role
from agent.models.pilot.reading import read
from agent.records import Foreground, UiNode
from tests.loop.paper_phone import button, field, node

FRONT = Foreground(package="org.example.app")
_CELL = re.compile(r'\[(\d+)\](?: [\w-]+:)? "([^"]*)"')
MONTHS = (
    "{} October 2026",
    "{}. Oktober 2026",
    "2026年10月{}日",
    "le {} octobre 2026",
    "10/{}/2026",
)


def grid(labels: Sequence[str], columns: int, **more: object) -> list[UiNode]:
    wide, high = 0.9 / columns, 0.6 / (len(labels) / columns + 1)
    return [
        node(
            label,
            (
                0.05 + wide * (n % columns),
                0.2 + high * (n // columns),
                0.05 + wide * (n % columns) + wide * 0.9,
                0.2 + high * (n // columns) + high * 0.9,
            ),
            clickable=True,
            class_name="android.view.View",
            **more,
        )
        for n, label in enumerate(labels)
    ]


def body(*nodes: UiNode) -> list[str]:
    return screen_text(FRONT, number_elements(nodes, redact=str)).splitlines()[2:]


@pytest.mark.parametrize("written", MONTHS)
def test_a_week_of_a_month_is_one_line_in_any_language(written: str) -> None:
    lines = body(*grid([written.format(day) for day in range(1, 29)], 7))
    assert len(lines) == 4
    assert sum(map(len, lines)) < sum(len(written) + 12 for _ in range(28)) * 0.75
    found = [cell for line in lines for cell in _CELL.findall(line)]
    assert [int(number) for number, _ in found] == list(range(1, 29))
    for day, (_, label) in enumerate(found, start=1):
        assert str(day) in label


@given(
    st.integers(3, 9),
    st.lists(st.text("abcdefghäß0123456789漢", min_size=1, max_size=3), min_size=9, max_size=60),
)
def test_every_key_can_be_pressed_by_its_number(columns: int, keys: list[str]) -> None:
    shown = number_elements(grid(keys, columns), redact=str)
    text = screen_text(FRONT, shown)
    found = {int(number): label for number, label in _CELL.findall(text)}
    assert found == {element.number: element.label for element in shown}
    observed = Message(
        role=Role.USER, kind=MessageKind.OBSERVATION, text=f"## Screen State\n{text}"
    )
    read_again = {item.number: item.label for item in read([observed]).items}
    assert read_again == found


def test_a_seat_that_is_taken_and_one_that_is_chosen_are_told() -> None:
    free = grid([f"12{seat}" for seat in "ABCDEF"], 6)
    chosen = [*free[:2], *grid(["12A", "12B", "12C"], 6, selected=True)[2:], *free[3:]]
    [line] = body(*chosen)
    assert '[3] "12C" [SELECTED] [4] "12D"' in line
    [line] = body(*grid([f"13{s}" for s in "ABC"], 3, enabled=False))
    assert line.count("[DISABLED]") == 3


def test_the_first_day_of_a_month_in_the_middle_of_a_row_names_it() -> None:
    days = [*(f"{n} November 2026" for n in (28, 29, 30)), *(f"{n} December 2026" for n in (1, 2))]
    assert short_labels(days) == ["28 November 2026", "29 …", "30 …", "1 December 2026", "2 …"]


def test_rows_that_are_no_cells_keep_a_line_each() -> None:
    words = body(*grid(["Reply to all", "Forward it", "Archive", "Delete"], 4))
    assert len(words) == 4
    # Counts of a post are named by their own ids.
    counts = [
        node(text, (0.1 + n / 4, 0.5, 0.3 + n / 4, 0.6), clickable=True, resource_id=f"a:id/{name}")
        for n, (text, name) in enumerate((("14", "reply"), ("3", "repost"), ("7", "like")))
    ]
    assert all("id=" in line for line in body(*counts))
    # One below the other is no row, and neither is what takes text.
    assert len(body(*(button(key, 0.2 + n / 10) for n, key in enumerate("123")))) == 3
    fields = [field("", 0.4, key) for key in "12"]
    assert len(body(*fields)) >= 1
    assert not any(ELLIPSIS in line for line in words)
