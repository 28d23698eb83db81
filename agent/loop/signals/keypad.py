"""Recognise keys that are pressed several times in a row: digits of a pad, steppers, delete.

Pure. The third same press of anything else that changes nothing is refused; a key of a pad is not,
for a PIN may have three equal digits and a secure window shows none of them.
"""

from collections.abc import Sequence

from agent.records import Element
from agent.safety.words import words

_LEAST_KEYS = 9
_STEPS = frozenset(
    {"plus", "minus", "increase", "decrease", "increment", "decrement", "delete", "backspace"}
)
_SIGNS = frozenset({"+", "-", "−", "–", "⌫", "＋", "－"})


def is_repeatable(element: Element, screen: Sequence[Element]) -> bool:
    """Return whether an element is meant to be pressed again and again."""
    if not element.clickable or element.checkable:
        return False
    label = element.label.strip()
    if label in _SIGNS or (_STEPS.intersection(words(label)) and len(words(label)) <= 3):
        # A step belongs beside a value or a pad; alone, "delete" removes a thing.
        return label in _SIGNS or is_keypad(screen) or not _deletes(label)
    return len(label) == 1 and is_keypad(screen)


def is_keypad(screen: Sequence[Element]) -> bool:
    """Return whether a screen has keys for the digits."""
    # A key may have letters below its digit, which are the second part of its label.
    labels = {e.label.split(" | ", 1)[0].strip() for e in screen if e.clickable}
    return sum(len(label) == 1 and label.isdigit() for label in labels) >= _LEAST_KEYS


def _deletes(label: str) -> bool:
    return bool({"delete", "backspace"}.intersection(words(label)))
