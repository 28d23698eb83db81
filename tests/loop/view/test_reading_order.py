"""Elements come in the order in which a person reads them, each after what it lies in."""

from hypothesis import given
from hypothesis import strategies as st

from agent.loop.screen.elements import number_elements
from agent.loop.screen.reading_order import reading_order
from agent.records import Bounds, UiNode
from tests.loop.paper_phone import node

Box = tuple[float, float, float, float]


def box(left: float, top: float, right: float, bottom: float) -> Bounds:
    return Bounds(left=left, top=top, right=right, bottom=bottom)


def order(*boxes: Box) -> list[int]:
    return reading_order([-1] * len(boxes), [box(*edges) for edges in boxes])


def test_lines_come_from_top_to_bottom_and_each_from_left_to_right() -> None:
    grid: list[Box] = [
        (x / 3, y / 4, (x + 1) / 3, (y + 1) / 4) for y in reversed(range(4)) for x in (2, 0, 1)
    ]
    found = [grid[at] for at in order(*grid)]
    assert found == sorted(grid, key=lambda edges: (edges[1], edges[0]))


def test_two_columns_are_read_one_after_the_other() -> None:
    rail: list[Box] = [(0.0, 0.1, 0.2, 0.4), (0.0, 0.5, 0.2, 0.9)]
    page: list[Box] = [(0.3, 0.05, 1.0, 0.3), (0.3, 0.31, 1.0, 0.95)]
    assert order(page[0], rail[1], page[1], rail[0]) == [3, 1, 0, 2]


def test_a_bar_over_a_list_is_read_before_it_and_one_at_its_foot_after_it() -> None:
    whole, bar, foot = (0.0, 0.0, 1.0, 1.0), (0.0, 0.0, 1.0, 0.08), (0.0, 0.93, 1.0, 1.0)
    assert order(whole, foot, bar) == [2, 0, 1]


def test_a_card_is_read_before_the_texts_that_lie_on_it() -> None:
    card = (0.0, 0.2, 1.0, 0.4)
    assert order((0.1, 0.3, 0.9, 0.4), (0.1, 0.2, 0.9, 0.3), card) == [2, 1, 0]


def test_a_list_is_read_before_what_lies_over_its_middle() -> None:
    whole = (0.0, 0.1, 1.0, 1.0)
    assert order((0.1, 0.5, 0.6, 0.55), whole) == [1, 0]


def test_what_lies_in_a_row_follows_it_and_names_it() -> None:
    mail = node("Grace", (0.0, 0.3, 1.0, 0.4), clickable=True)
    star = node("Star", (0.8, 0.31, 0.9, 0.36), clickable=True, parent=0)
    after = node("Priya", (0.0, 0.4, 1.0, 0.5), clickable=True)
    found = number_elements([mail, star, after], redact=str)
    assert [(e.number, e.label, e.parent) for e in found] == [
        (1, "Grace", 0),
        (2, "Star", 1),
        (3, "Priya", 0),
    ]


def test_a_secret_field_says_how_much_it_shows_and_nothing_of_what() -> None:
    pin = node("•••", (0.0, 0.3, 1.0, 0.4), class_name="a.EditText", password=True)
    [element] = number_elements([pin], redact=str)
    assert (element.length, element.value) == (3, "")


SHARES = st.floats(0, 1)


@st.composite
def forests(draw: st.DrawFn) -> tuple[list[int], list[Bounds | None]]:
    count = draw(st.integers(0, 30))
    parents = [draw(st.integers(-1, at - 1)) for at in range(count)]
    boxes: list[Bounds | None] = []
    for _ in range(count):
        left, right = sorted(draw(st.tuples(SHARES, SHARES)))
        top, bottom = sorted(draw(st.tuples(SHARES, SHARES)))
        boxes.append(box(left, top, right, bottom) if draw(st.booleans()) else None)
    return parents, boxes


@given(forests())
def test_every_box_comes_once_and_after_what_it_lies_in(
    forest: tuple[list[int], list[Bounds | None]],
) -> None:
    parents, boxes = forest
    found = reading_order(parents, boxes)
    assert sorted(found) == [at for at, one in enumerate(boxes) if one is not None]
    place = {at: index for index, at in enumerate(found)}
    for at in found:
        above = parents[at]
        while above >= 0:
            assert place.get(above, -1) < place[at]
            above = parents[above]


def test_ten_thousand_boxes_in_one_another_are_ordered_in_time() -> None:
    nodes = [UiNode(bounds=box(0.0, 0.0, 1.0, 1.0), parent=at - 1) for at in range(10_000)]
    assert reading_order([n.parent for n in nodes], [n.bounds for n in nodes]) == list(
        range(10_000)
    )
