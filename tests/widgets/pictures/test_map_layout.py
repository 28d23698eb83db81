"""A screen as text: every element once, where it stands, and never over another."""

from hypothesis import given
from hypothesis import strategies as some

from agent.records import Bounds, Element
from widgets.pictures.map_layout import MapLayout, cells, entry_text, lay_out


def element(
    number: int, label: str, left: float, top: float, right: float, bottom: float, **fields: object
) -> Element:
    known: dict[str, object] = {"kind": "btn", "clickable": True, **fields}
    bounds = Bounds(left=left, top=top, right=right, bottom=bottom)
    return Element(number=number, key=f"k{number}", label=label, bounds=bounds, **known)  # type: ignore[arg-type]


def lines(layout: MapLayout) -> list[str]:
    drawn = []
    for line in range(layout.lines):
        text = ""
        for entry in layout.entries:
            if entry.line == line:
                text = text.ljust(entry.column) + entry.text
        drawn.append(text.rstrip())
    return drawn


any_share = some.floats(allow_nan=True, allow_infinity=True)
any_elements = some.lists(
    some.builds(
        element,
        some.integers(1, 500),
        some.text(max_size=30),
        any_share,
        any_share,
        any_share,
        any_share,
        editable=some.booleans(),
        checkable=some.booleans(),
        clickable=some.booleans(),
        value=some.text(max_size=10),
    ),
    max_size=60,
)


@given(any_elements, some.integers(2, 120), some.integers(1, 60))
def test_whatever_a_phone_says_entries_lie_in_order_and_apart(
    listed: list[Element], columns: int, rows: int
) -> None:
    layout = lay_out(listed, columns, rows)
    assert len(layout.entries) <= len(listed)
    ends: dict[int, int] = {}
    for entry in layout.entries:
        assert 0 <= entry.line < layout.lines
        assert entry.column >= ends.get(entry.line, 0), "it begins behind the one before"
        ends[entry.line] = entry.column + cells(entry.text)
        assert ends[entry.line] <= columns
    assert [entry.line for entry in layout.entries] == sorted(e.line for e in layout.entries)
    assert len({entry.key for entry in layout.entries}) == len(layout.entries)
    for at, entry in enumerate(layout.entries):
        assert layout.at(entry.line, entry.column) == at
        for across, down in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            assert 0 <= layout.beside(at, across, down) < len(layout.entries)


def test_rows_and_columns_of_the_screen_are_those_of_the_text() -> None:
    layout = lay_out(
        [
            element(1, "Wi-Fi", 0, 0.1, 0.8, 0.15, kind="switch", checkable=True, checked=True),
            element(2, "Name", 0, 0.5, 1, 0.55, editable=True, value="Ana"),
            element(3, "Cancel", 0.1, 0.95, 0.4, 1.0),
            element(4, "Save", 0.6, 0.95, 0.9, 1.0, enabled=False),
        ],
        40,
        20,
    )
    drawn = lines(layout)
    assert drawn[2] == " 1 Wi-Fi [on]"
    assert drawn[10] == " 2 Name: [Ana]"
    assert drawn[19].index("3 Cancel") == 4
    assert drawn[19].index("4 Save (disabled)") == 23, "it moves left as far as it has to"


def test_neighbours_without_room_for_both_go_on_lines_below_each_other() -> None:
    apps = [element(at, "Calculator", at / 4, 0.4, at / 4 + 0.2, 0.5) for at in range(4)]
    layout = lay_out(apps, 36, 10)
    assert [entry.text.strip() for entry in layout.entries].count("…") == 0
    assert {entry.element.number for entry in layout.entries} == {0, 1, 2, 3}


def test_more_lines_than_rows_follow_one_another() -> None:
    rows = [element(at, f"Row {at}", 0, at / 50, 1, (at + 1) / 50) for at in range(50)]
    layout = lay_out(rows, 40, 10)
    assert [entry.line for entry in layout.entries] == list(range(50))


def test_a_secret_shows_how_long_it_is_and_nothing_else() -> None:
    field = element(5, "PIN", 0, 0, 1, 0.1, kind="INPUT", editable=True, password=True, length=4)
    assert entry_text(field) == " 5 PIN: [••••]"
    assert entry_text(element(6, "unlabeled", 0, 0, 1, 1, kind="icon-btn")) == " 6 (icon)"
    text = element(7, "Hello", 0, 0, 1, 1, kind="text", clickable=False)
    assert entry_text(text) == " Hello", "what is only read has no number"
