"""No result says two things of which one excludes the other, or OK of what was not done.

Results are put together from parts. Screens before and after are generated, with fields that hold,
lose, cut or join texts and with changes beside them, and each result is held to the same rules.
"""

import re
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.devices.input import text_channel
from agent.devices.scrcpy import display_device
from agent.loop.screen import verify
from agent.records import Observation
from tests.loop.paper_phone import button, field, node
from tests.loop.test_changes import seen

TEXTS = ("", "milk", "milk and bread for the whole week", "First line\nSecond line", "a  b")
OLD = ("", "milk", "eggs", "old note")
_QUOTED = re.compile(r'"[^"]*"')

texts = st.sampled_from(TEXTS)
olds = st.sampled_from(OLD)


@st.composite
def held_after(draw: st.DrawFn, old: str, text: str) -> str:
    made = st.sampled_from(
        (
            *(old, text, old + text, text + old, "", old[:2], text + "!", "Bob"),
            *(text[: len(text) // 2], old + text[: len(text) // 2], text[: len(text) // 2] + old),
        )
    )
    return draw(made)


def page(value: str, beside: str, *, secret: bool = False) -> Observation:
    more = [node(beside, (0.1, 0.7, 0.9, 0.8))] if beside else []
    return seen(field("Note", 0.4, value, password=secret), *more)


def said_of(result: str) -> list[str]:
    """Return what a result says of the field, each claim by its kind."""
    words = _QUOTED.sub('""', result)
    found = ["empty"] * len(re.findall(r"field is empty", words))
    found += ["holds"] * len(re.findall(r"\bholds\b|still there, too", words))
    return found + ["unread"] * len(re.findall(r"read back|cannot be read", words))


@given(st.data(), olds, texts, st.booleans(), st.sampled_from(("", "Sent", "the text")))
def test_a_result_of_typing_claims_one_thing_and_ok_only_what_is_so(
    data: st.DataObject, old: str, text: str, clear: bool, beside: str
) -> None:
    clear = clear or not text
    held = data.draw(held_after(old, text))
    before = page(old, "")
    after = page(held, text if beside == "the text" else beside)
    result = verify.verify_typing("Typed", text, before.elements[0], before, after, clear=clear)
    kind = result.partition(":")[0]
    assert kind in {"OK", "WARNING"}
    assert said_of(result) == [("empty" if not held else "holds")], (result, held)
    if kind == "WARNING":
        assert ", but " in result
        return
    if held:
        # All of what was typed is there, and nothing that had to go.
        assert text and text.replace("\n", "") in held.replace("\n", ""), result
        assert not clear or not old or old in text or old not in held, result
        assert held == text or 'field now holds "' in result
        assert (held != old) or (clear and held == text)
    elif text:
        assert beside == "the text", result


@given(st.integers(0, 9), st.integers(0, 9), st.booleans())
def test_a_password_field_is_told_by_its_length_alone(was: int, now: int, clear: bool) -> None:
    before, after = page("x" * was, "", secret=True), page("x" * now, "", secret=True)
    result = verify.verify_typing(
        "Typed", "[SECRET]", before.elements[0], before, after, clear=clear
    )
    assert len(said_of(result)) == 1
    if (was >= now and now and not clear) or (was and not now):
        assert result.startswith("WARNING: ")


@pytest.mark.parametrize(
    ("text", "before", "after", "shown"),
    [
        ("I am on my way home now", "Bob", "I am on my way home now", True),
        ("ok", "Bob", "Look at this book", False),
        ("ok", "ok", "Look at this book", False),
        ("a", "Bob", "Saved", False),
    ],
)
def test_a_text_that_left_its_field_is_seen_as_words_of_its_own(
    text: str, before: str, after: str, shown: bool
) -> None:
    was, now = page("", before), page("", after)
    result = verify.verify_typing("Typed", text, was.elements[0], was, now)
    assert ("the screen shows the text" in result) is shown, result


def test_a_text_that_stands_there_twice_was_sent_again() -> None:
    one = node("ok", (0.1, 0.5, 0.9, 0.55))
    was, now = (
        seen(field("Note", 0.4), one),
        seen(field("Note", 0.4), one, node("ok", (0.1, 0.6, 0.9, 0.65))),
    )
    result = verify.verify_typing("Typed", "ok", was.elements[0], was, now)
    assert result.endswith("the screen shows the text.")


@given(st.booleans(), st.booleans(), st.sampled_from(("", "Airplane mode is on")))
def test_a_switch_that_stayed_as_it_was_is_not_ok(was: bool, now: bool, beside: str) -> None:
    def switch(checked: bool, *more: str) -> Observation:
        one = button(
            "Wi-Fi", 0.3, checkable=True, checked=checked, class_name="android.widget.Switch"
        )
        return seen(one, *(node(label, (0.1, 0.7, 0.9, 0.8)) for label in more if label))

    before = switch(was)
    result = verify.verify_click("Clicked", before, switch(now, beside), before.elements[0])
    assert result.startswith("OK: ") == (was != now), result
    assert not ("is now" in result and "is still" in result)


@pytest.mark.parametrize("module", [text_channel, display_device])
def test_what_the_phone_adds_to_a_result_says_nothing_of_reading_it_back(
    module: ModuleType,
) -> None:
    # The screen is read after every action, and may well show what the phone's own look did not.
    assert module.__file__ is not None
    notes = re.findall(r'\bnote=f?"([^"]*)"', Path(module.__file__).read_text())
    assert not [note for note in notes if "read back" in note]
