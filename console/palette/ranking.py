"""Order the palette's entries by how well they fit what is typed, then by what was chosen last.

Pure. Invariants: every entry whose name or sentence holds all typed words is found; a name that
only holds their letters in order comes after those; the first entry can be done where one whose
name holds the words can; others do not pass a typed name, or enter would do what nobody named.
"""

from collections.abc import Mapping, Sequence

from textual.fuzzy import FuzzySearch

from console.palette.entry import Entry

MOST_SHOWN = 200
_FUZZY_FROM = 3  # Fewer letters in order are found in nearly every name.
_EXACT, _BEGINS, _WORDS, _PARTS, _SAID, _LETTERS, _NO = range(7)


def search(
    offered: Sequence[Entry], wanted: str, recent: Mapping[str, int] | None = None
) -> list[Entry]:
    """Return the entries that fit, best first.

    Args:
        offered: all entries, in the order that they have where nothing tells them apart.
        wanted: what is typed; empty lists what was chosen before, then the rest.
        recent: the place of each entry that was chosen before by its key, 0 for the last one.
    """
    places = recent or {}
    last = len(places)
    text = " ".join(wanted.casefold().split())
    fuzzy = FuzzySearch(case_sensitive=False, cache_size=1)
    found: list[tuple[tuple[int, bool, int, int], Entry]] = []
    for at, entry in enumerate(offered):
        fits = _fit(entry, text, fuzzy) if text else _PARTS
        if fits is not _NO:
            place = places.get(entry.key, last)
            found.append(((fits, bool(entry.why_not), place, at), entry))
    found.sort(key=lambda pair: pair[0])
    best = next((one for one in found if one[0][0] <= _PARTS and not one[1].why_not), None)
    if best is not None:
        found.remove(best)
        found.insert(0, best)
    return [entry for _, entry in found[:MOST_SHOWN]]


def _fit(entry: Entry, text: str, fuzzy: FuzzySearch) -> int:
    """Return how well an entry fits, best lowest."""
    name = entry.name.casefold()
    if name == text:
        return _EXACT
    if name.startswith(text):
        return _BEGINS
    words = text.split()
    parts = [*name.split(), *entry.words.casefold().split()]
    if all(any(part.startswith(word) for part in parts) for word in words):
        return _WORDS
    if all(word in name for word in words):
        return _PARTS
    said = f"{name} {entry.kind} {entry.sentence} {entry.about} {entry.words}".casefold()
    if all(word in said for word in words):
        return _SAID
    letters = text.replace(" ", "")
    is_close = len(letters) >= _FUZZY_FROM and fuzzy.match(letters, entry.name)[0] > 0
    return _LETTERS if is_close else _NO
