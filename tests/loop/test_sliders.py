"""Where a slider stands, as far as its app says that in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.loop.screen.changes import describe_change
from agent.records import Element
from tests.loop.paper_phone import node
from tests.loop.test_changes import seen

SEEK_BAR = "android.widget.SeekBar"


def slider(text: str, description: str = "") -> Element:
    at = (0.1, 0.3, 0.9, 0.35)
    return seen(node(text, at, description=description, class_name=SEEK_BAR)).elements[0]


@pytest.mark.parametrize(
    ("text", "description", "label", "value"),
    [
        ("45%", "Brightness", "Brightness", "45%"),
        ("50.0", "Volume", "Volume", "50.0"),
        ("", "Brightness, 45%", "Brightness", "45%"),
        ("Media volume: 7 %", "", "Media volume", "7 %"),
        # Other words stay what the slider is called.
        ("", "0:02 of 0:05", "0:02 of 0:05", ""),
        ("$20", "Tip", "$20", ""),
        ("50", "", "50", ""),
        ("", "Display brightness", "Display brightness", ""),
    ],
)
def test_a_slider_has_a_name_and_a_place(
    text: str, description: str, label: str, value: str
) -> None:
    found = slider(text, description)
    assert (found.kind, found.label, found.value) == ("slider", label, value)


@pytest.mark.parametrize("place", ["", "50", "45%", "$20", "0.5"])
@pytest.mark.parametrize(
    "at", [(0.1, 0.26, 0.4, 0.29), (0.1, 0.22, 0.3, 0.25)], ids=["right above", "with a gap"]
)
def test_a_slider_without_a_name_takes_the_one_above_and_its_text_is_its_place(
    place: str, at: tuple[float, float, float, float]
) -> None:
    heading = node("Screen", (0.1, 0.05, 0.5, 0.1))
    other = node("Text size", (0.1, 0.5, 0.4, 0.53))
    bar = node(place, (0.1, 0.3, 0.9, 0.35), class_name=SEEK_BAR)
    second = node("", (0.1, 0.54, 0.9, 0.59), class_name=SEEK_BAR)
    shown = seen(heading, node("Brightness", at), bar, other, second).elements
    found = [(e.label, e.value) for e in shown if e.kind == "slider"]
    assert found == [("Brightness", place), ("Text size", "")]


@given(st.integers(0, 100), st.integers(0, 100))
def test_a_slider_that_moved_is_the_same_one_elsewhere(was: int, now: int) -> None:
    before, after = (
        seen(node("", (0.1, 0.3, 0.9, 0.35), description=f"Volume, {at}%", class_name=SEEK_BAR))
        for at in (was, now)
    )
    assert before.elements[0].key == after.elements[0].key
    if was != now:
        assert f'"Volume" is now at {now}%' in describe_change(before, after)


def test_a_slider_that_no_longer_says_where_it_stands_is_not_empty() -> None:
    before, after = (
        seen(node("", (0.1, 0.3, 0.9, 0.35), description=said, class_name=SEEK_BAR))
        for said in ("Volume, 40%", "Volume")
    )
    assert before.elements[0].key == after.elements[0].key
    assert "empty" not in describe_change(before, after)
