"""CONTRACTS 5.2: what is said of two screens, and the vectors of chapter 7 named "changes"."""

import pytest

from agent.loop.screen.changes import (
    FIRST_SCREEN,
    NO_CHANGE,
    PICTURE_ONLY,
    SHIFTED,
    describe_change,
    fingerprint,
)
from agent.loop.screen.elements import number_elements
from agent.loop.screen.verify import verify_button, verify_click
from agent.records import Foreground, Observation, UiNode
from tests.loop.paper_phone import button, field, node


def seen(
    *nodes: UiNode,
    package: str = "org.a",
    activity: str = "org.a.Main",
    note: str = "",
    keyboard: bool | None = False,
    toast: str = "",
    picture: float = 0.0,
) -> Observation:
    front = Foreground(package=package, activity=activity, keyboard_shown=keyboard)
    elements = number_elements(nodes, redact=str)
    return Observation(
        started_ms=1,
        ended_ms=2,
        foreground=front,
        elements=elements,
        fingerprint=fingerprint(front, elements),
        tree_note=note,
        toast=toast,
        picture_change=picture,
    )


def test_changes_the_first_screen() -> None:
    assert describe_change(None, seen()) == FIRST_SCREEN


def test_changes_an_identical_screen() -> None:
    assert describe_change(seen(node("a")), seen(node("a"))) == NO_CHANGE
    assert NO_CHANGE == "NO_CHANGE: Nothing on the screen changed."


def test_changes_without_a_tree() -> None:
    now = seen(note="null root")
    assert describe_change(seen(node("a")), now) == "SCREEN_CHANGED"


def test_changes_the_app_comes_before_everything() -> None:
    now = seen(node("b"), package="org.b", activity="org.b.Other")
    assert describe_change(seen(node("a")), now) == "NEW APP: Changed from org.a to org.b."


def test_changes_the_screen_comes_before_labels() -> None:
    now = seen(node("b"), activity="org.a.Detail")
    assert describe_change(seen(node("a")), now) == "NEW SCREEN: Detail (was: Main)."


def test_changes_labels_come_before_layout() -> None:
    now = seen(node("b"), node("c", (0.1, 0.6, 0.9, 0.65)))
    expected = 'CONTENT_UPDATED: New elements: "b", "c". Removed: "a".'
    assert describe_change(seen(node("a")), now) == expected


def test_changes_five_labels_are_shown_and_each_is_cut_at_forty() -> None:
    many = [node(f"{n}" * 50, (0.1, 0.1 + n / 10, 0.9, 0.15 + n / 10)) for n in range(1, 8)]
    change = describe_change(seen(), seen(*many))
    assert change.count('"') == 10
    assert f'"{"1" * 39}…"' in change
    assert change.endswith(" and 2 more.")


def test_changes_layout_is_what_is_left() -> None:
    moved = seen(node("a", (0.1, 0.6, 0.9, 0.65)))
    assert describe_change(seen(node("a")), moved) == SHIFTED


def test_changes_a_switch_says_its_state() -> None:
    def switch(checked: bool) -> Observation:
        return seen(node("Wi-Fi", checkable=True, clickable=True, checked=checked))

    assert describe_change(switch(False), switch(True)).endswith('"Wi-Fi" is now CHECKED.')


def test_a_scroll_changes_the_fingerprint() -> None:
    before = [node(f"row {n}", (0.1, n / 10, 0.9, n / 10 + 0.05)) for n in range(3, 8)]
    after = [node(f"row {n}", (0.1, n / 10 - 0.03, 0.9, n / 10 + 0.02)) for n in range(3, 8)]
    assert seen(*before).fingerprint != seen(*after).fingerprint


def test_what_is_typed_changes_the_fingerprint() -> None:
    assert seen(field("To", 0.4)).fingerprint != seen(field("To", 0.4, "Anna")).fingerprint


def test_the_end_of_a_long_label_counts_too() -> None:
    before, after = seen(node("Items in your basket: 1")), seen(node("Items in your basket: 2"))
    assert before.fingerprint != after.fingerprint
    long = "The number of things that are in your basket now is "
    change = describe_change(seen(node(long + "1")), seen(node(long + "2")))
    assert change == f'CONTENT_UPDATED: New elements: "{long}2". Removed: "{long}1".'


def test_a_third_equal_digit_of_a_pin_is_a_change() -> None:
    def pin(digits: int) -> Observation:
        return seen(field("PIN", 0.4, "•" * digits, password=True))

    assert pin(2).fingerprint != pin(3).fingerprint
    assert (
        describe_change(pin(2), pin(3)) == 'CONTENT_UPDATED: "PIN" now holds 3 hidden characters.'
    )


def test_the_keyboard_coming_and_going_is_said() -> None:
    with_it, without = seen(node("a"), keyboard=True), seen(node("a"))
    assert describe_change(without, with_it) == "CONTENT_UPDATED: The keyboard opened."
    assert describe_change(with_it, without) == "CONTENT_UPDATED: The keyboard closed."
    assert verify_button("Pressed BACK", with_it, without).startswith("OK: ")


def test_a_toast_is_said_also_where_no_element_changed() -> None:
    told = seen(node("a"), toast="Added to your cart")
    assert describe_change(seen(node("a")), told) == (
        'TOAST: A toast said "Added to your cart". No element changed.'
    )
    said = verify_click("Clicked", seen(node("a")), told)
    assert said == 'OK: Clicked. A toast said "Added to your cart". No element changed.'
    other = seen(node("b"), toast="Saved")
    assert verify_click("Clicked", seen(node("a")), other).endswith(
        'Now shows "b". A toast said "Saved".'
    )


def test_another_picture_of_the_same_elements_is_said_as_such() -> None:
    now = seen(node("a"), picture=0.01)
    assert describe_change(seen(node("a")), now) == PICTURE_ONLY
    assert verify_click("Clicked", seen(node("a")), now) == (
        "OK: Clicked. The picture changed, no element did."
    )


def test_the_focus_that_moves_is_said() -> None:
    before = seen(field("To", 0.3, focused=True), field("Text", 0.5))
    after = seen(field("To", 0.3), field("Text", 0.5, focused=True))
    assert describe_change(before, after) == 'CONTENT_UPDATED: "Text" has the focus.'


@pytest.mark.parametrize("known", [True, False])
def test_a_keyboard_that_nobody_knows_of_neither_came_nor_went(known: bool) -> None:
    unknown, other = seen(node("a"), keyboard=None), seen(node("a"), keyboard=known)
    for before, after in ((unknown, other), (other, unknown), (unknown, unknown)):
        assert "keyboard" not in describe_change(before, after)


def test_a_field_that_the_keyboard_moved_still_says_what_it_holds() -> None:
    before = seen(
        field("Text message", 0.9, resource_id="a:id/text"), button("Send SMS", 0.95, enabled=False)
    )
    after = seen(
        field("Text message", 0.5, "On my way", resource_id="a:id/text"),
        button("Send SMS", 0.55),
        keyboard=True,
    )
    assert describe_change(before, after) == (
        'CONTENT_UPDATED: "Text message" now holds "On my way", "Send SMS" is now enabled. '
        "The keyboard opened."
    )


def test_states_come_before_what_else_changed() -> None:
    def page(checked: bool, *more: UiNode) -> Observation:
        return seen(node("Wi-Fi", checkable=True, clickable=True, checked=checked), *more)

    found = describe_change(page(False), page(True, node("Home", (0.1, 0.6, 0.9, 0.65))))
    assert found == 'CONTENT_UPDATED: "Wi-Fi" is now CHECKED. New elements: "Home".'


def test_what_the_keyboard_covers_is_not_removed_and_what_it_uncovers_not_new() -> None:
    whole, half = seen(node("a"), button("Save", 0.9)), seen(node("a"), keyboard=True)
    assert describe_change(whole, half) == (
        'CONTENT_UPDATED: No longer visible: "Save". The keyboard opened.'
    )
    assert describe_change(half, whole) == (
        'CONTENT_UPDATED: Now visible: "Save". The keyboard closed.'
    )


def rows(first: int, without: int = -1) -> Observation:
    shown = [n for n in range(first, first + 9) if n != without]
    area = node(at=(0.0, 0.1, 1.0, 0.9), scrollable=True, class_name="a.RecyclerView")
    return seen(area, *(button(f"row {n}", 0.11 + 0.1 * at) for at, n in enumerate(shown[:8])))


def test_what_a_scroll_moves_out_is_not_removed_and_a_deleted_row_is() -> None:
    assert describe_change(rows(1), rows(2)) == (
        'CONTENT_UPDATED: Now visible: "row 9". No longer visible: "row 1".'
    )
    assert describe_change(rows(1), rows(20), scrolled=True).count("visible") == 2
    assert 'Removed: "row 4".' in describe_change(rows(1), rows(1, without=4))
