"""CONTRACTS 5.2: the result strings of actions."""

import pytest
from msgspec.structs import replace

from agent.loop.screen import verify
from agent.loop.screen.changes import describe_change
from agent.records import Observation, UiNode
from tests.loop.paper_phone import button, field, node
from tests.loop.test_changes import seen


def test_a_click_without_effect_is_a_warning() -> None:
    same = seen(button("Go", 0.4))
    assert verify.verify_click("Clicked", same, same).startswith("WARNING: ")


def test_a_click_tells_its_effect() -> None:
    before = seen(button("Go", 0.4))
    added = seen(button("Go", 0.4), node("Done", (0.1, 0.6, 0.9, 0.7)))
    assert verify.verify_click("Clicked", before, added) == 'OK: Clicked. Now shows "Done".'
    elsewhere = seen(activity="org.a.Next")
    assert "NEW SCREEN: Next" in verify.verify_click("Clicked", before, elsewhere)


def typing(before: str, after: str) -> str:
    was, now = seen(field("To", 0.4, before)), seen(field("To", 0.4, after))
    return verify.verify_typing("Typed", "Anna Berg", was.elements[0], was, now)


def test_typing_is_judged_by_what_the_field_holds() -> None:
    assert typing("", "Anna Berg").startswith("OK: ")
    assert typing("", "").startswith("WARNING: ")
    assert typing("x", "").startswith("WARNING: ")
    assert typing("", "Bob").endswith('the field holds "Bob".')


@pytest.mark.parametrize(
    ("old", "text", "runs"),
    [
        ("2026-11-28", "2026-12-09", True),
        ("10:00", "14:00", True),
        ("Ferry", "Boat", True),
        ("Ferry ", "Boat", False),
        ("Ferry", " and boat", False),
        ("Ferry", "\nBoat", False),
        ("Ferry", ", boat", False),
        ("渡し", "船", False),
        ("12", "+4", False),
    ],
)
def test_a_text_that_runs_together_with_what_was_there_is_a_warning(
    old: str, text: str, runs: bool
) -> None:
    was, now = seen(field("To", 0.4, old)), seen(field("To", 0.4, old + text))
    said = verify.verify_typing("Typed", text, was.elements[0], was, now)
    assert said.startswith("WARNING: ") is runs
    assert ("clear" in said) is runs


def test_typing_that_left_the_field_as_it_was_is_no_success() -> None:
    assert typing("Anna Berg", "Anna Berg").endswith('the field still holds "Anna Berg".')
    assert typing("Anna Berg ", "Anna Berg Anna Berg").startswith("OK: ")


def test_a_password_field_that_was_to_be_emptied_and_was_not_is_no_success() -> None:
    was, still, now = (seen(field("PIN", 0.4, held, password=True)) for held in ("••••", "••", ""))

    def emptied(after: Observation) -> str:
        return verify.verify_typing("Emptied", "", was.elements[0], was, after, clear=True)

    assert emptied(still) == "WARNING: Emptied, but the field still holds 2 hidden characters."
    assert emptied(now).startswith("OK: ")


def test_typing_only_spaces_into_a_field_that_stays_empty_is_no_success() -> None:
    empty = seen(field("To", 0.4, ""))
    said = verify.verify_typing("Typed", "  ", empty.elements[0], empty, empty)
    assert said.startswith("WARNING: ")


def test_a_failure_tells_to_try_something_else() -> None:
    assert verify.failed("no such element.") == (
        "FAILED: no such element. Try a different approach."
    )


def test_an_end_of_a_list_is_said() -> None:
    same = seen(node("a"))
    assert "end of the area" in verify.verify_scroll("Scrolled down", same, same)


def test_a_launch_is_judged_by_the_app_in_front() -> None:
    assert verify.verify_launch("Launched", "org.a", seen()).startswith("OK: ")
    assert verify.verify_launch("Launched", "org.b", seen()).startswith("WARNING: ")


def test_a_key_of_a_keypad_that_shows_nothing_is_no_failure_and_its_ok_button_is() -> None:
    labels = [str(digit) for digit in range(10)] + ["OK"]
    pad = seen(
        *(
            node(label, (0.0, n / 12, 0.3, n / 12 + 0.06), clickable=True)
            for n, label in enumerate(labels)
        )
    )
    keys = pad.elements
    one, done = keys[1], keys[-1]
    assert verify.verify_click("Clicked", pad, pad, one) == f"OK: Clicked. {verify.UNSEEN}"
    assert verify.verify_click("Clicked", pad, pad, done).startswith("WARNING")


def note_typed(text: str, held: str) -> str:
    was, now = seen(field("Note", 0.4)), seen(field("Note", 0.4, held))
    return verify.verify_typing("Typed", text, was.elements[0], was, now)


def test_lines_that_arrived_as_lines_are_no_warning_and_lines_that_ran_together_are() -> None:
    assert note_typed("First line\nSecond line", "First line\nSecond line") == (
        "OK: Typed. The field now holds it."
    )
    assert note_typed("First line\nSecond line", "First line Second line") == (
        'WARNING: Typed, but the field holds "First line Second line".'
    )


def test_spaces_that_a_field_dropped_are_shown_and_no_warning() -> None:
    kept = "milk\n  indented third"
    assert note_typed(kept, kept).endswith("The field now holds it.")
    assert note_typed(kept, "milk\nindented third") == (
        r'OK: Typed. The field now holds "milk\nindented third".'
    )
    assert note_typed("a  b", "a  b c") == 'OK: Typed. The field now holds "a  b c".'


def switch(label: str, *, checked: bool, at: float = 0.3) -> UiNode:
    return button(label, at, checkable=True, checked=checked, class_name="android.widget.Switch")


def test_the_state_of_what_was_pressed_comes_first() -> None:
    before = seen(switch("Use Bluetooth", checked=False))
    after = seen(switch("Use Bluetooth", checked=True), node("Saved devices", (0.1, 0.5, 0.9, 0.6)))
    assert verify.verify_click("Clicked", before, after, before.elements[0]) == (
        'OK: Clicked. It is now CHECKED. Now shows "Saved devices".'
    )
    long = "Freeze card | Stops every payment for now, also abroad"
    said = verify.verify_click(
        "Clicked",
        frozen := seen(switch(long, checked=False)),
        seen(switch(long, checked=True)),
        frozen.elements[0],
    )
    assert said == "OK: Clicked. It is now CHECKED."
    refused = seen(switch("Use Bluetooth", checked=False), node("Airplane mode is on"))
    said = verify.verify_click("Clicked", before, refused, before.elements[0])
    assert said.startswith("WARNING: Clicked, but it is still UNCHECKED. ")


def test_a_row_that_says_something_else_now_is_told_so() -> None:
    def row(label: str) -> UiNode:
        return button(label, 0.3, resource_id="a:id/favourite")

    name = node("Anna", (0.1, 0.1, 0.9, 0.2))
    before = seen(name, row("Add to favourites"))
    after = seen(name, row("Remove from favourites"))
    said = verify.verify_click("Clicked", before, after, before.elements[1])
    assert said.startswith('OK: Clicked. It now says "Remove from favourites".')
    # A page that has nothing of the one before is another, whatever stands in that place.
    alone, other = seen(row("Add to favourites")), seen(row("Delete"))
    assert "It now says" not in verify.verify_click("Clicked", alone, other, alone.elements[0])


def alert(title: str, *buttons: str) -> list[UiNode]:
    return [
        node(title, (0.13, 0.43, 0.5, 0.47), resource_id="android:id/alertTitle"),
        *(
            node(label, (0.4 + n / 5, 0.53, 0.55 + n / 5, 0.58), clickable=True)
            for n, label in enumerate(buttons)
        ),
    ]


def test_a_dialog_is_said_to_open_and_to_close_and_what_it_covers_is_still_there() -> None:
    page = seen(button("Navigate up", 0.05), button("Anna", 0.3), button("Berta", 0.5))
    asked = seen(*alert("Delete contact?", "Keep", "Delete"))
    assert verify.verify_click("Clicked", page, asked, page.elements[1]) == (
        'OK: Clicked. A dialog opened: "Delete contact?".'
    )
    assert describe_change(page, asked) == 'CONTENT_UPDATED: A dialog opened: "Delete contact?".'
    assert describe_change(asked, page, covered=page) == "CONTENT_UPDATED: The dialog closed."
    gone = seen(button("Navigate up", 0.05), button("Berta", 0.5))
    assert verify.verify_click("Clicked", asked, gone, asked.elements[2], page) == (
        'OK: Clicked. The dialog closed. Removed: "Anna".'
    )
    assert describe_change(asked, gone) == "CONTENT_UPDATED: The dialog closed."


def test_a_dialog_without_ids_is_known_by_its_place_and_buttons_and_a_small_page_is_none() -> None:
    page = seen(button("Navigate up", 0.05))
    drawn = [replace(part, resource_id="") for part in alert("Delete it?", "Cancel", "Delete")]
    assert "A dialog opened" in describe_change(page, seen(*drawn))
    small = [button("Next", 0.4), node("Welcome", (0.1, 0.3, 0.9, 0.35))]
    assert "dialog" not in describe_change(page, seen(*small))
