"""Find where a goal names phones, as the console knows them. Pure.

A phone is named by the whole of what the operator calls it, its serial or its model. It may be
meant by less: a word that only its names have, a tag, its place in the list, a name in quotes.
Invariant: of spans that overlap only the longest counts.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from agent.language.tokens import Token, is_unspaced, tokens, words
from agent.loop.verification.values import ValueKind, values_of
from agent.records import DeviceInfo

_LEAST_LETTERS, _LEAST_DIGITS = 3, 4
_JOINING = 1.0
"""Phones with so many words between them are named together, as in "A and B"."""
_LETTER_WEIGHT = 0.4
"""How much of a word a letter is, in a script that is written without blanks."""


class Mention(NamedTuple):
    """A place in a goal that names phones."""

    serials: frozenset[str]
    start: int
    end: int
    is_sure: bool = True
    """Whether it is one phone's whole name, outside of quotes: nothing else can be meant."""


def mentions(text: str, phones: Sequence[DeviceInfo]) -> tuple[Mention, ...]:
    """Return the places of a text that name phones, in order."""
    quoted = [(v.start, v.end) for v in values_of(text) if v.kind is ValueKind.QUOTE]
    found = sorted(
        _candidates(text, phones), key=lambda one: (one.start - one.end, not one.is_sure)
    )
    kept: list[Mention] = []
    for one in found:
        if any(one.start < other.end and other.start < one.end for other in kept):
            continue
        if any(start <= one.start < end for start, end in quoted):
            one = one._replace(is_sure=False)
        kept.append(one)
    return tuple(sorted(kept, key=lambda one: one.start))


def named_together(goal: str, found: Iterable[Mention]) -> tuple[tuple[Mention, ...], ...]:
    """Return sure mentions in groups: of those in one group the goal says the same."""
    groups: list[list[Mention]] = []
    for one in found:
        if not one.is_sure:
            continue
        between = goal[groups[-1][-1].end : one.start] if groups else ""
        if groups and weight(between) <= _JOINING and not values_of(between):
            groups[-1].append(one)
        else:
            groups.append([one])
    return tuple(map(tuple, groups))


def serials_of(found: Iterable[Mention], *, sure: bool = False) -> tuple[str, ...]:
    """Return the serials of mentions, in their order.

    Args:
        sure: only those that can mean nothing else.
    """
    named = (one for one in found if one.is_sure or not sure)
    return tuple(dict.fromkeys(serial for one in named for serial in sorted(one.serials)))


def weight(text: str) -> float:
    """Return how many words a text has."""
    return sum(_LETTER_WEIGHT if is_unspaced(token.text) else 1.0 for token in tokens(text))


def _candidates(text: str, phones: Sequence[DeviceInfo]) -> Iterator[Mention]:
    found = tokens(text)
    said = [" ".join(words(token.text)) for token in found]
    for is_sure, name, serials in _names(phones):
        wanted = [" ".join(words(token.text)) for token in tokens(name)]
        for at in range(len(said) - len(wanted) + 1):
            if wanted and said[at : at + len(wanted)] == wanted:
                yield Mention(serials, found[at].start, found[at + len(wanted) - 1].end, is_sure)
    for place, phone in enumerate(phones, start=1):
        for token in found:
            if token.text == str(place):
                yield Mention(frozenset({phone.serial}), token.start, token.end, False)


def _names(phones: Sequence[DeviceInfo]) -> Iterator[tuple[bool, str, frozenset[str]]]:
    """Yield what phones are called, whether that is one phone's whole name, and which have it."""
    whole = [
        (name, phone.serial)
        for phone in phones
        for name in dict.fromkeys(filter(None, (phone.name, phone.serial, phone.model)))
    ]
    for name, serials in _by_name(whole):
        yield len(serials) == 1, name, serials
    for tag, serials in _by_name((tag, one.serial) for one in phones for tag in one.tags):
        yield False, tag, serials
    for piece, serial in _own_words(phones):
        yield False, piece, frozenset({serial})


def _by_name(pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, frozenset[str]]]:
    ordered = sorted(pairs, key=lambda pair: words(pair[0]))
    for _, same in groupby(ordered, key=lambda pair: words(pair[0])):
        listed = list(same)
        yield listed[0][0], frozenset(serial for _, serial in listed)


def _own_words(phones: Sequence[DeviceInfo]) -> Iterator[tuple[str, str]]:
    """Yield the words that the names of only one phone have."""
    of = {
        phone.serial: {
            " ".join(words(token.text))
            for name in (phone.name, phone.serial, phone.model)
            for token in tokens(name)
            if _tells(token)
        }
        for phone in phones
    }
    counts = Counter(word for own in of.values() for word in own)
    for serial, own in of.items():
        yield from ((word, serial) for word in sorted(own) if counts[word] == 1)


def _tells(token: Token) -> bool:
    """Return whether a word is written as names are: long enough, with a capital or in digits."""
    if token.text.isdecimal():
        return len(token.text) >= _LEAST_DIGITS
    return len(token.text) >= _LEAST_LETTERS and token.text[0].isupper()
