"""A screen is written as a person reads it: rows, sides of a chat, long lists folded."""

import re

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from agent.loop.screen.chat_sides import ME, THEM, chat_sides
from agent.loop.screen.elements import number_elements
from agent.loop.screen.folding import MAX_ROWS, fold, folded
from agent.loop.screen.screen_text import left_out, listing, screen_text
from agent.records import Bounds, Element, Foreground, UiNode
from tests.loop.paper_phone import button, field, node

FRONT = Foreground(package="org.example.app")


def body(*nodes: UiNode, previous: tuple[Element, ...] | None = None) -> list[str]:
    shown = number_elements(nodes, redact=str, previous=previous)
    return screen_text(FRONT, shown).splitlines()[2:]


def test_what_lies_in_a_row_stands_indented_below_it_and_a_list_does_not_indent() -> None:
    assert body(
        node(at=(0.0, 0.1, 1.0, 0.9), scrollable=True, class_name="a.RecyclerView"),
        node("Grace", (0.0, 0.3, 1.0, 0.4), clickable=True, parent=0),
        node("Star", (0.8, 0.31, 0.9, 0.36), clickable=True, parent=1),
        node("Priya", (0.0, 0.4, 1.0, 0.5), clickable=True, parent=0),
    ) == [
        '[1] scrollable: "unlabeled"',
        '[2] btn: "Grace"',
        '  [3] btn: "Star"',
        '[4] btn: "Priya"',
    ]


def test_what_is_new_is_marked_only_where_most_is_not() -> None:
    old = [button(f"old {n}", 0.2 + n / 10) for n in range(3)]
    before = number_elements(old, redact=str)
    assert body(*old, button("Saved", 0.8), previous=before)[-1].endswith(" <-- NEW")
    assert not any("NEW" in line for line in body(button("All", 0.3), previous=before))


def test_a_list_that_came_without_a_name_is_no_news() -> None:
    old = [button(f"old {n}", 0.2 + n / 10) for n in range(3)]
    before = number_elements(old, redact=str)
    page = node(at=(0.0, 0.1, 1.0, 0.9), scrollable=True, class_name="a.ScrollView")
    assert body(page, *old, previous=before)[0] == '[1] scrollable: "unlabeled"'


def test_a_long_text_is_written_whole_and_a_long_button_is_cut() -> None:
    letter = "Dear Casey, " + "the notes are below. " * 20
    [line] = body(node(letter.strip(), (0.1, 0.3, 0.9, 0.6)))
    assert line == f'[1] text: "{letter.strip()}"'
    [cut] = body(button(letter, 0.5))
    assert cut.endswith('..."')
    assert len(cut) < 140


def message(text: str, left: float, right: float, top: float) -> UiNode:
    return node(text, (left, top, right, top + 0.03))


def sides(*nodes: UiNode) -> dict[str, str]:
    shown = number_elements(nodes, redact=str)
    named = {element.number: element.label for element in shown}
    return {named[number]: side for number, side in chat_sides(shown).items()}


def test_messages_at_the_right_edge_are_mine_and_at_the_left_edge_theirs() -> None:
    assert sides(
        message("Hi", 0.04, 0.3, 0.2),
        message("Yes", 0.7, 0.96, 0.3),
        message("Saturday", 0.4, 0.6, 0.4),
        message("x" * 60, 0.04, 0.96, 0.5),
        field("Text message", 0.9),
    ) == {"Hi": THEM, "Yes": ME}


def test_messages_beside_a_face_are_theirs_too() -> None:
    found = sides(
        message("Hi", 0.15, 0.4, 0.2), message("Yes", 0.7, 0.96, 0.3), field("Write a reply", 0.9)
    )
    assert found.get("Yes") == ME
    assert found.get("Hi") != ME


def test_a_chat_in_any_language_has_sides_where_both_of_them_wrote() -> None:
    send = node("送信", (0.9, 0.9, 0.98, 0.95), clickable=True)
    both = (message("元気？", 0.04, 0.3, 0.2), message("はい", 0.7, 0.96, 0.3))
    assert sides(*both, field("メッセージ", 0.9), send) == {"元気？": THEM, "はい": ME}
    assert sides(both[0], field("メッセージ", 0.9), send) == {}
    assert sides(*both, field("メッセージ", 0.9)) == {}
    assert sides(*both, field("検索", 0.1), send) == {}


def test_a_form_and_a_search_page_have_no_sides() -> None:
    texts = (message("Left", 0.04, 0.3, 0.2), message("Right", 0.7, 0.96, 0.3))
    assert sides(*texts, field("Last name", 0.9)) == {}
    assert sides(*texts, field("Search messages", 0.05)) == {}
    assert sides(*texts) == {}


def rows(count: int) -> list[UiNode]:
    return [
        button(f"row {n}", 0.1 + 0.8 * n / count)
        if count < 30
        else node(
            f"row {n}",
            (0.1, 0.05 + 0.9 * n / count, 0.9, 0.05 + 0.9 * (n + 0.9) / count),
            clickable=True,
        )
        for n in range(count)
    ]


def test_sixty_rows_are_all_written() -> None:
    assert len(body(*rows(MAX_ROWS))) == MAX_ROWS


def test_a_longer_list_folds_in_its_middle_and_says_what_was_left_out() -> None:
    lines = body(*rows(80))
    assert len(lines) == MAX_ROWS
    [fold_line] = [line for line in lines if line.startswith("…")]
    assert re.fullmatch(
        r"… 21 rows like \[\d+\], to \[\d+\]: more_elements lists them …", fold_line
    )
    assert lines[0].startswith("[1] ")
    assert lines[-1].startswith("[80] ")


def test_what_is_new_or_chosen_is_not_folded() -> None:
    nodes = rows(80)
    before = number_elements([n for at, n in enumerate(nodes) if at != 40], redact=str)
    nodes[30] = msgspec.structs.replace(nodes[30], selected=True)
    lines = body(*nodes, previous=before)
    assert any('"row 30"' in line for line in lines)
    assert any('"row 40"' in line and "NEW" in line for line in lines)


def test_what_is_folded_is_listed_a_part_at_a_time_and_shortly() -> None:
    shown = number_elements(rows(400), redact=str)
    rest = left_out(shown)
    assert len(rest) > 300
    lines, count = listing(rest)
    assert count == len(lines.splitlines()) == 40
    assert len(lines) / 4 < 500


@st.composite
def screens(draw: st.DrawFn) -> list[Element]:
    kinds = st.sampled_from(["btn", "text", "icon-btn"])
    return [
        Element(
            number=number,
            key=f"{number}",
            kind=draw(kinds),
            label="x",
            bounds=Bounds(left=0, top=0, right=1, bottom=1),
            parent=draw(st.integers(0, number - 1)),
            is_new=draw(st.booleans()),
            scrollable=draw(st.booleans()),
            focused=draw(st.booleans()),
        )
        for number in range(1, draw(st.integers(1, 120)))
    ]


@given(screens(), st.booleans())
def test_every_element_is_written_or_folded_once_and_in_order(
    elements: list[Element], is_fresh: bool
) -> None:
    found: list[int] = []
    for line in fold(elements, is_fresh=is_fresh):
        found += [e.number for e in line] if isinstance(line, tuple) else [line.number]
    assert found == [element.number for element in elements]
    hidden = folded(elements, is_fresh=is_fresh)
    assert not any(element.focused or (is_fresh and element.is_new) for element in hidden)


def test_the_rows_of_a_form_are_no_messages() -> None:
    """Labels stand at the left and values at the right of the same rows."""
    rows = [
        part
        for n, (name, value) in enumerate([("Name", "Ada"), ("Plan", "Yearly"), ("Seats", "12")])
        for part in (
            message(name, 0.04, 0.3, 0.2 + n / 10),
            message(value, 0.7, 0.96, 0.2 + n / 10),
        )
    ]
    assert sides(*rows, field("Message to the team", 0.9)) == {}


def test_what_a_field_holds_is_shown_with_its_line_breaks() -> None:
    [line] = body(field("Note", 0.3, text="milk\n  eggs \r\n\nbread\n"))
    assert line == r'[1] INPUT: "Note" = "milk\n  eggs \n\nbread\n"'


def test_a_detail_that_spans_lines_is_hidden_all_the_same() -> None:
    def hide(text: str) -> str:
        return text.replace("4111 1111", "[CARD]")

    [element] = number_elements([field("Note", 0.3, text="4111\n1111")], redact=hide)
    assert element.value == "[CARD]"
