"""Words that are quoted are found where a stored screen shows them, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.loop.verification.quotes import find, normalised, stored_screen
from tests.loop.paper_phone import button, field, node
from tests.loop.verification.screens import observation, stored

SCREENS = (
    stored(1, button("Settings", 0.2)),
    stored(
        4,
        node("Connected devices", (0.1, 0.1, 0.9, 0.15)),
        button("Use Bluetooth", 0.3, checkable=True, checked=True, class_name="Switch"),
        field("Name", 0.5, "Pixel 9"),
        node("Balance: $1,284.50", (0.1, 0.7, 0.9, 0.75)),
    ),
)


@pytest.mark.parametrize(
    "quote",
    [
        "Use Bluetooth [CHECKED]",
        "use   bluetooth",
        '[2] switch: "Use Bluetooth" (right) [CHECKED] <-- NEW',
        "“Connected devices”",
        "balance: $1,284.50",
        "Pixel 9",
        "Connected … Pixel 9",
    ],
)
def test_a_quote_is_found_however_it_is_spaced_cased_and_dressed(quote: str) -> None:
    assert find(quote, SCREENS).step == 4


@pytest.mark.parametrize(
    "quote",
    [
        "Use Bluetooth [UNCHECKED]",
        "Bluetooth is on",
        "Blue",
        "",
        "…",
        "[3]",
        "Connected Use",
        "Settings … Pixel 9",
        "284",
    ],
)
def test_what_stands_on_no_screen_is_not_found(quote: str) -> None:
    assert find(quote, SCREENS).step == 0


@given(
    label=st.sampled_from(["", "Text message", 'Say "hi"', "Unlabeled", "0.00", "id=3", "Ä ö"]),
    value=st.sampled_from(["", "milk and eggs", "15550104", 'a "b"', "a dozen eggs, " * 40]),
    states=st.fixed_dictionaries(
        {
            name: st.booleans()
            for name in ("checkable", "checked", "enabled", "selected", "focused", "password")
        }
    ),
    y=st.sampled_from([0.1, 0.5, 0.9]),
)
def test_a_line_is_found_as_the_screen_writes_it(
    label: str, value: str, states: dict[str, bool], y: float
) -> None:
    box = field(label, y, value, resource_id="app:id/digits", clickable=True, **states)
    seen = observation(button("Other", 0.3), box)
    screen = stored_screen(3, seen)
    [line] = [one for one in seen.screen_text.splitlines() if "INPUT" in one]
    assert find(line.strip(), [screen]).step == 3 or not screen.lines[1:]


def test_a_label_that_looks_like_an_id_is_found() -> None:
    assert find('[1] INPUT: "id=3" id=digits', (stored(3, field("id=3", 0.1)),)).step == 3


def test_the_newest_screen_that_shows_it_is_named_with_its_digest() -> None:
    screens = (stored(2, button("Save", 0.2)), stored(7, button("Save", 0.2)))
    found = find("Save", screens)
    assert (found.step, found.digest) == (7, "ab" * 32)


@given(st.text(max_size=80), st.text(max_size=80))
def test_a_label_is_found_on_its_own_screen_and_an_unsaid_one_is_not(
    label: str, other: str
) -> None:
    screens = (stored(1, button(label.strip() or "x", 0.2)),)
    words = normalised(label).strip()
    if words and words in normalised(screens[0].lines[0] if screens[0].lines else ""):
        assert find(label, screens).step in {0, 1}
    missing = normalised(other).strip()
    if missing and missing not in screens[0].text:
        assert find(other, screens).step == 0
