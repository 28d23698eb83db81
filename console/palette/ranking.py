"""Order the palette's entries by how well they fit what is typed, then by what was chosen last.

Pure. Invariants: every entry whose name or sentence holds all typed words is found; a name that
only holds their letters in order comes after those; the first entry can be done where one whose
name holds the words can; others do not pass a typed name, or enter would do what nobody named.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from textual.fuzzy import FuzzySearch

from console.palette.entry import Entry

MOST_SHOWN = 200
_FUZZY_FROM = 3  # Fewer letters in order are found in nearly every name.
_EXACT, _BEGINS, _WORDS, _PARTS, _SAID, _LETTERS, _NO = range(7)


class Search:
    """A search over entries, for one text after the other.

    Args:
        offered: all entries, in the order that they have where nothing tells them apart.
        recent: the place of each entry that was chosen before by its key, 0 for the last one.
    """

    def __init__(self, offered: Sequence[Entry], recent: Mapping[str, int] | None = None) -> None:
        self._offered = list(enumerate(offered))
        self._places = recent or {}
        self._before = ""
        self._left = self._offered
        """What the text before this one was found in."""

    def find(self, wanted: str) -> list[Entry]:
        """Return the entries that fit, best first.

        Args:
            wanted: what is typed; empty lists what was chosen before, then the rest.
        """
        last = len(self._places)
        text = " ".join(wanted.casefold().split())
        fuzzy = FuzzySearch(case_sensitive=False, cache_size=1)
        found: list[tuple[tuple[int, bool, int, int], Entry]] = []
        for at, entry in self._pool(text):
            fits = _fit(entry, text, fuzzy) if text else _PARTS
            if fits is not _NO:
                place = self._places.get(entry.key, last)
                found.append(((fits, bool(entry.why_not), place, at), entry))
        self._before, self._left = text, [(rank[3], entry) for rank, entry in found]
        found.sort(key=lambda pair: pair[0])
        best = next((one for one in found if one[0][0] <= _PARTS and not one[1].why_not), None)
        if best is not None:
            found.remove(best)
            found.insert(0, best)
        return [entry for _, entry in found[:MOST_SHOWN]]

    def _pool(self, text: str) -> list[tuple[int, Entry]]:
        """Return where to look: a longer text fits nothing that the shorter one did not.

        From so many letters on: with fewer, close names are not found.
        """
        is_longer = text.startswith(self._before) and _letters(self._before) >= _FUZZY_FROM
        return self._left if is_longer else self._offered


def _letters(text: str) -> int:
    return len(text.replace(" ", ""))


def search(
    offered: Sequence[Entry], wanted: str, recent: Mapping[str, int] | None = None
) -> list[Entry]:
    """Return the entries that fit one text, best first; see `Search`."""
    return Search(offered, recent).find(wanted)


class _Hay(NamedTuple):
    """The words that an entry is found by, in lowercase."""

    name: str
    parts: str  # Each of its words after a space.
    said: str


@lru_cache(4_096)
def _hay(name: str, kind: str, sentence: str, about: str, words: str) -> _Hay:
    name, words = name.casefold(), words.casefold()
    said = f"{name} {kind} {sentence} {about} {words}".casefold()
    return _Hay(name, " " + " ".join((*name.split(), *words.split())), said)


def _fit(entry: Entry, text: str, fuzzy: FuzzySearch) -> int:
    """Return how well an entry fits, best lowest."""
    hay = _hay(entry.name, entry.kind, entry.sentence, entry.about, entry.words)
    name = hay.name
    if name == text:
        return _EXACT
    if name.startswith(text):
        return _BEGINS
    words = text.split()
    if all(f" {word}" in hay.parts for word in words):
        return _WORDS
    if all(word in name for word in words):
        return _PARTS
    if all(word in hay.said for word in words):
        return _SAID
    letters = text.replace(" ", "")
    is_close = len(letters) >= _FUZZY_FROM and fuzzy.match(letters, entry.name)[0] > 0
    return _LETTERS if is_close else _NO
