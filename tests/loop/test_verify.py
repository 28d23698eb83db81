"""CONTRACTS 5.2: the result strings of actions."""

from __future__ import annotations

from agent.loop.screen import verify
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
    assert typing("x", "").startswith("OK: ")
    assert typing("", "Bob").endswith('the field holds "Bob".')


def test_typing_that_left_the_field_as_it_was_is_no_success() -> None:
    assert typing("Anna Berg", "Anna Berg").endswith('the field still holds "Anna Berg".')
    assert typing("Anna Berg", "Anna BergAnna Berg").startswith("OK: ")


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
