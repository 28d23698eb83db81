"""Whether a screen asks to sign in before it lets anybody on (CONTRACTS 5.4).

Pure, and a hint: it decides nothing. Invariant: judged by what is written on the screen, by whole
words, and never where the goal itself is about signing in or brings what that takes.
"""

from collections.abc import Sequence
from typing import TypeAlias

from agent.language.tokens import has_phrase
from agent.records import Element
from agent.safety.words import words

Phrase: TypeAlias = tuple[str, ...]

LOOKED_AROUND = 2
"""Steps before it is said: a first screen often offers what the second no longer asks."""
HITS, HITS_WITH_BUTTON = 2, 1
WARNING = (
    "WARNING: This screen asks to sign in. Make up no account. If nothing here leads past it, as "
    "skip or a guest does, say so by ask_user: the operator can sign in by hand."
)
_ASKS: tuple[Phrase, ...] = (
    *(("sign", "in"), ("log", "in"), ("login",), ("signin",), ("sign", "up"), ("register",)),
    *(("create", "account"), ("create", "an", "account"), ("forgot", "password"), ("password",)),
    *(("enter", "your", "email"), ("phone", "number"), ("mobile", "number"), ("otp",)),
    *(("one", "time", "password"), ("continue", "with", "google"), ("verification", "code")),
)
_BUTTONS = _ASKS[:4]
_IS_IN: tuple[Phrase, ...] = (
    *(("log", "out"), ("logout",), ("sign", "out"), ("signed", "in"), ("logged", "in")),
    *(("my", "account"), ("my", "orders"), ("my", "profile"), ("your", "orders")),
)
_OWN_WORDS: tuple[Phrase, ...] = (
    *_BUTTONS,
    ("sign", "up"),
    ("register",),
    ("account",),
    ("password",),
    ("otp",),
)


def is_login_wall(elements: Sequence[Element]) -> bool:
    """Return whether a screen asks to sign in, and shows nothing of somebody who is."""
    # The labels alone, as the layout is told from them: their words are known by now.
    said = tuple(
        (*words(element.label), *words(element.value)) if element.value else words(element.label)
        for element in elements
    )
    present = {word for each in said for word in each}
    asks, is_in = _beginning_with(present, _ASKS), _beginning_with(present, _IS_IN)
    if not asks or any(has_phrase(each, phrase) for each in said for phrase in is_in):
        return False
    hits = sum(any(has_phrase(each, phrase) for each in said) for phrase in asks)
    button = any(
        element.clickable and not element.editable and has_phrase(each, phrase)
        for element, each in zip(elements, said, strict=True)
        for phrase in _beginning_with(present, _BUTTONS)
    )
    return hits >= (HITS_WITH_BUTTON if button else HITS)


def _beginning_with(present: set[str], phrases: Sequence[Phrase]) -> tuple[Phrase, ...]:
    """Return the phrases of which a screen has the first word: nearly always none."""
    return tuple(phrase for phrase in phrases if phrase[0] in present)


def login_warning(goal: str, elements: Sequence[Element], steps: int) -> str:
    """Return what a model is told on a screen that asks to sign in; empty on any other.

    Args:
        steps: how many were taken before the one that sees the screen.
    """
    if steps < LOOKED_AROUND or any(has_phrase(words(goal), phrase) for phrase in _OWN_WORDS):
        return ""
    return WARNING if is_login_wall(elements) else ""
