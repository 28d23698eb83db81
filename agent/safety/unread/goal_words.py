"""What the operator asked for, as acts are compared with it without a model or a list of words.

Pure. A word of a screen is named if the operator wrote it, in the same or in a longer or shorter
form ("month" and "Monthly"), or a number of the same value. Texts of scripts without blanks are
compared by pairs of letters.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from agent.language.fold import unaccented
from agent.language.numbers import all_numbers_in
from agent.language.times import times_in
from agent.language.tokens import is_unspaced, split_words, tokens

_HYPHENS = re.compile("[-\u2010-\u2015]")
_PARTED = re.compile(r"[^\W\d_]+(?:[-\u2010-\u2015][^\W\d_]+)+")
"""Parts of a word that are a word together, too: Wi-Fi."""
_SHORTEST = 3  # Shorter words are those that hold a sentence together.
_STEM = 4  # So many letters in common make two words forms of one…
_ENDINGS = 3  # … which differ by no more than so many at the end.


@dataclass(frozen=True, slots=True)
class Wanted:
    """Words and numbers that a text is about."""

    words: frozenset[str]
    numbers: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.words or self.numbers)

    def without(self, other: "Wanted") -> "Wanted":
        """Return what another text is not about; forms of a word are one."""
        same = {word for word in self.words if any(_is_form(word, one) for one in other.words)}
        return Wanted(self.words - same, self.numbers - other.numbers)


@dataclass(frozen=True)
class GoalWords:
    """What the operator asked for by now."""

    texts: tuple[str, ...] = ()
    """In the operator's own words, oldest first; empty: nothing is known."""
    looks: bool = False
    """Whether nothing of it asks for more than an answer."""
    forbids: tuple[str, ...] = ()
    """What is not to be done, or limits the rest."""

    @cached_property
    def wanted(self) -> Wanted:
        """All that the operator names; of short words only those with a capital inside a clause."""
        found = wanted_of(*self.texts)
        names = {
            token.text
            for text in self.texts
            for token in tokens(text)[1:]
            if len(token.text) == _SHORTEST and token.text[0].isupper()
        }
        kept = {w for w in found.words if len(w) != _SHORTEST} | wanted_of(*names).words
        return Wanted(frozenset(kept), found.numbers)

    @cached_property
    def _short(self) -> frozenset[str]:
        return frozenset(w for w in wanted_of(*self.texts).words if len(w) == _SHORTEST)

    def named(self, *texts: str) -> Wanted:
        """Return what of some texts the operator names.

        A short word counts in whatever case where it is all that a text says: "Fan".
        """
        said = wanted_of(*texts)
        alone = said.words & self._short if len(said.words) == 1 else frozenset[str]()
        found = _common(said, self.wanted)
        return Wanted(found.words | alone, found.numbers)

    def names_all(self, *texts: str) -> bool:
        """Return whether the operator names all that some texts are about; they are about some."""
        said = wanted_of(*texts)
        return bool(said) and self.named(*texts) == said


def wanted_of(*texts: str) -> Wanted:
    """Return the words and the numbers of texts that a comparison counts."""
    said = " \n ".join(texts)
    # A time of day is a value of its own: 05:43 is not the 5 of "pay 5 dollars".
    times = [time for time in times_in(said) if time.is_sure]
    numbers = {f"{minute // 60}:{minute % 60:02}" for time in times for minute in time.readings}
    rest = said
    for time in reversed(times):
        rest = f"{rest[: time.start]} {rest[time.end :]}"
    numbers |= {str(value.normalize()) for n in all_numbers_in(rest) for value in n.readings}
    return Wanted(frozenset(_words(said)), frozenset(numbers))


def _words(text: str) -> Iterable[str]:
    flat = unaccented(text)
    run = ""
    for word in (*split_words(flat), *(_HYPHENS.sub("", m[0]) for m in _PARTED.finditer(flat)), ""):
        if word and is_unspaced(word):
            run += word
            continue
        yield from (run[at : at + 2] for at in range(len(run) - 1))
        run = ""
        if len(word) >= _SHORTEST and not word[0].isdigit():
            yield word


def _common(said: Wanted, wanted: Wanted) -> Wanted:
    words = {word for word in said.words if any(_is_form(word, other) for other in wanted.words)}
    return Wanted(frozenset(words), said.numbers & wanted.numbers)


def _is_form(one: str, other: str) -> bool:
    """Return whether two words are one, or forms of one."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    stem = next(
        (at for at, pair in enumerate(zip(short, long, strict=False)) if pair[0] != pair[1]),
        len(short),
    )
    return stem >= _STEM and len(long) - stem <= _ENDINGS
