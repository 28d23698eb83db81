"""What a node says by itself: its text, its description, or both where each says something else.

A description stands beside a text where the text is a state ("Off") and the description the name,
or where it adds who wrote a message and when. Pure. Invariant: nothing that a node says is lost,
and nothing is said twice.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from agent.language.tokens import has_phrase
from agent.records import UiNode
from agent.safety.words import words

_MAX_OWN_CHARS = 300
_LEAST_OF_WORD = 3  # A word of fewer letters abbreviates none.
_LONGEST_NUMBER = 40
# A few letters after a number are its unit, such as the K of 2.9K, and no name.
_NUMBER = re.compile(r"\W*\d[\d\W]*[^\W\d_]{0,3}\W*")


def has_words(node: UiNode) -> bool:
    return bool(node.text or node.description)


def own_parts(node: UiNode) -> tuple[str, ...]:
    """Return what a node says: nothing, one text, or a name and what is beside it."""
    text, description = node.text, node.description
    if not description or description == text:
        return (text,) if text else ()
    if not text:
        return _lines(description)
    if contains(text, description) or _abbreviates(text, description):
        return (text,)
    if contains(description, text):
        return _lines(description)
    # The text of a switch is its state.
    return (description, text) if node.checkable else (text, description)


def _lines(description: str) -> tuple[str, ...]:
    """Return the lines that Flutter makes of the texts in a row, none that is in one before it."""
    if "\n" not in description:
        return (description,)
    kept: list[str] = []
    for line in description.split("\n"):
        is_number = not any(map(str.isalpha, line))
        if line.strip() and not any(
            line == other or (not is_number and contains(other, line)) for other in kept
        ):
            kept.append(line)
    return tuple(kept)


def contains(said: str, part: str) -> bool:
    """Return whether a text says all that another one says, in its order."""
    if part in said and (len(part) == len(said) or len(part) > _MAX_OWN_CHARS):
        return True
    found = words(part[:_MAX_OWN_CHARS])
    return bool(found) and has_phrase(words(said[: 2 * _MAX_OWN_CHARS]), found)


def _abbreviates(text: str, whole: str) -> bool:
    """Return whether a text has the words of another one, some of them cut: Fri for Friday."""
    short, long = words(text[:_MAX_OWN_CHARS]), words(whole[:_MAX_OWN_CHARS])
    return len(short) == len(long) > 1 and all(
        one == other or (len(one) >= _LEAST_OF_WORD and other.startswith(one))
        for one, other in zip(short, long, strict=True)
    )


def joined(parts: Iterable[str]) -> str:
    """Return parts as one label, each said once."""
    return " | ".join(dict.fromkeys(filter(None, parts)))


@lru_cache(maxsize=4096)
def names_nothing(label: str) -> bool:
    """Return whether a label is mere numbers or signs, which do not say what a press does."""
    if not any(map(str.isalpha, label)):
        return True
    return len(label) <= _LONGEST_NUMBER and all(map(_NUMBER.fullmatch, label.split(" | ")))
