"""Which control a page ends with, and which one only opens, chooses or leads away."""

import tomllib
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from agent.records import Element
from agent.safety.effects.lexicon import Meaning, read
from agent.safety.effects.page import Page, looks_refusing
from agent.safety.words import words

COMMON = Path(__file__).with_name("common.toml")
M = Meaning
GOING_ON = frozenset("✓✔☑✅→➔➜➝➡↑⬆⏎↵↩»›>➤")
"""Signs that stand for the next step, as a whole label."""
LEAVING = frozenset("✕✖×❌✗✘←⬅‹«<☰⋮⋯…")
"""Signs that close, go back or open a menu, as a whole label."""
_OPENS = frozenset({M.OPENER, M.SEARCH, M.CART, M.DRAFT, M.HANG_UP})
_NAMELESS = "unlabeled"
_CHOICES = range(2, 4)
_SAME_LINE = 0.02
_VARIATION = "\ufe0e\ufe0f"


def sign_of(element: Element) -> str:
    """Return a label's one sign without its variation selector; empty when it is no sign."""
    label = element.label.strip().strip(_VARIATION)
    return label if len(label) == 1 and not label.isalnum() else ""


def is_nameless(element: Element) -> bool:
    """Return whether an element says nothing, and its resource id is all that is known of it."""
    return element.label == _NAMELESS


def is_next_step(element: Element) -> bool:
    """Return whether an element says that the next step is taken: "Continue", "Готово", ✓."""
    if sign_of(element) in GOING_ON:
        return True
    return M.PROCEED in read(_title(element)).head


def leads_away(element: Element, page: Page) -> bool:
    """Return whether an element only opens, chooses, looks for something or goes back."""
    if sign_of(element) in LEAVING:
        return True
    reading = read(_title(element))
    if M.PROCEED in reading.head:
        return False
    if reading.head & _OPENS or {M.FOLDER, M.MEDIA} & reading.whole:
        return True
    return looks_refusing(element) and not commits_as_refusal(element, page)


def commits_as_refusal(element: Element, page: Page) -> bool:
    """Return whether a button that begins as a way out is what the page is for.

    It says what the title asks about, beside another way out: "Exit “Family”?", "Cancel", "Exit".
    Or it says more than that it leads away, and is the only button: "Keep this seat", "Close tab".
    """
    title = _title(element)
    said, asked = words(title), words(page.title)
    others = [e for e in page.pressables if e is not element and not page.is_toolbar(e)]
    if page.is_dialog and any(looks_refusing(e) for e in others):
        return said[:1] == asked[:1] and bool(said)
    return M.REFUSE not in read(title).whole and len(said) > 1 and not others


def ends(element: Element, page: Page) -> bool:
    """Return whether a page is over with an element: what it collected is then handed in.

    A button that goes on, the last wide button, a nameless button outside the bar at the top.
    """
    if element.checkable or page.is_row(element) or leads_away(element, page):
        return False
    if is_next_step(element):
        return True
    if page.is_tile(element):
        return False
    if is_nameless(element):
        alike = sum(is_nameless(e) and not page.is_toolbar(e) for e in page.pressables)
        return not page.is_toolbar(element) and alike == 1
    if sign_of(element):
        return False
    return page.is_last_button(element) or (
        page.is_dialog and not page.is_toolbar(element) and not looks_refusing(element)
    )


def is_unread_choice(element: Element, page: Page) -> bool:
    """Return whether an element is one of two or three buttons of a line, none of them known."""
    line = [element, *page.beside(element)]
    buttons = all(e.class_name.endswith("Button") and not e.checkable for e in line)
    known = any(read(_title(e)).found - {M.NEW} or sign_of(e) or is_nameless(e) for e in line)
    return len(line) in _CHOICES and buttons and not known and not page.is_toolbar(element)


def is_way_out(element: Element, choices: Sequence[Element]) -> bool:
    """Return whether a button stands where Android puts the one that leads away.

    Side by side it is at the beginning of the line, one below the other at the bottom.
    """
    line = [e for e in choices if abs(e.bounds.center_y - element.bounds.center_y) < _SAME_LINE]
    if len(line) > 1:
        first = max if _is_from_right(element.label) else min
        return element is first(line, key=lambda e: e.bounds.left)
    return element is max(choices, key=lambda e: e.bounds.top)


def _is_from_right(text: str) -> bool:
    return any(unicodedata.bidirectional(c) in {"R", "AL"} for c in text)


def is_unread(page: Page) -> bool:
    """Return whether no word of a page is known, so that its language is none of the lexicon's."""
    said = [e for e in page.elements if any(map(str.isalpha, e.label)) and not is_nameless(e)]
    said = [e for e in said if not e.label.isascii() or len(e.label) > 2]
    if not said or any(read(e.label).found - {M.NEW} for e in said):
        return False
    return not any(_common().intersection(words(e.label)) for e in said)


@lru_cache(maxsize=1)
def _common() -> frozenset[str]:
    lists = tomllib.loads(COMMON.read_text(encoding="utf-8")).values()
    return frozenset(word for text in lists for word in words(text))


def _title(element: Element) -> str:
    return element.label.split(" | ", 1)[0]
