"""CONTRACTS 5.2: what is said of two screens, and the vectors of chapter 7 named "changes"."""

from __future__ import annotations

from agent.loop.changes import (
    FIRST_SCREEN,
    NO_CHANGE,
    SHIFTED,
    describe_change,
    fingerprint,
)
from agent.loop.elements import number_elements
from agent.records import Foreground, Observation, UiNode
from tests.loop.paper_phone import field, node


def seen(
    *nodes: UiNode, package: str = "org.a", activity: str = "org.a.Main", note: str = ""
) -> Observation:
    front = Foreground(package=package, activity=activity)
    elements = number_elements(nodes, redact=str)
    return Observation(
        started_ms=1,
        ended_ms=2,
        foreground=front,
        elements=elements,
        fingerprint=fingerprint(front, elements),
        tree_note=note,
    )


def test_changes_the_first_screen() -> None:
    assert describe_change(None, seen()) == FIRST_SCREEN


def test_changes_an_identical_screen() -> None:
    assert describe_change(seen(node("a")), seen(node("a"))) == NO_CHANGE
    assert NO_CHANGE == "NO_CHANGE: Screen is identical to the previous turn."


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
    assert f'"{"1" * 40}"' in change


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
