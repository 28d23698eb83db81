"""Give each requirement the words of the goal that are its own, whatever a list made of them. Pure.

A list may cut the name from the part that it belongs to. Invariant: each word of the goal that no
listed text has goes to the part beside it, so that to list a part in fewer words changes nothing.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from agent.language.tokens import is_unspaced, tokens, words
from agent.loop.verification.values import values_of
from agent.records import Requirement

_MOST_LETTERS = 3
"""Of the words around a value that say no more than where it belongs: at, um, le."""


class Scope(NamedTuple):
    """The operator's words for one requirement."""

    own: str
    rest: str = ""
    """What the goal says besides, where it belongs to no other part: it may name the thing."""


def scopes(listed: Sequence[Requirement], goal: str) -> dict[int, Scope]:
    """Return the words of each requirement by its number."""
    texts = {one.number: frozenset(words(one.text)) for one in listed}
    added = _words_beside(listed, goal)
    found: dict[int, Scope] = {}
    for one in listed:
        others = [o for o in listed if o.number != one.number and not is_detail(o)]
        elsewhere = frozenset(word for other in others for word in texts[other.number])
        rest = [t.text for t in tokens(goal) if not frozenset(words(t.text)) <= elsewhere]
        own = " ".join((one.text, *added.get(one.number, ())))
        found[one.number] = Scope(own, " ".join(rest))
    return found


def _words_beside(listed: Sequence[Requirement], goal: str) -> dict[int, list[str]]:
    """Return the words of the goal that are in no text, by the requirement that they stand behind;
    those at its beginning by the first.
    """
    left = {one.number: Counter(words(one.text)) for one in listed}
    beside: dict[int, list[str]] = {}
    first = last = 0
    for token in tokens(goal):
        said = words(token.text)
        having = [number for number, own in left.items() if all(own[word] for word in said)]
        if not having:
            beside.setdefault(last, []).append(token.text)
            continue
        owner = last if last in having else having[0]
        left[owner].subtract(said)
        if len(having) == 1:
            last = owner
            first = first or owner
    beside.setdefault(first, [])[:0] = beside.pop(0, [])
    return beside


def is_detail(one: Requirement) -> bool:
    """Return whether a requirement is a value and no more, as "on 5 December": of another's act."""
    values = values_of(one.text)
    named = frozenset(words(" ".join(value.text for value in values)))
    left = [word for word in words(one.text) if word not in named]
    unspaced = sum(map(is_unspaced, left))
    return bool(values) and max(unspaced, *map(len, left), 0) <= _MOST_LETTERS
