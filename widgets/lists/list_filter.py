"""Read the filter of a list: words, `#tag`, and `@phone` or `@host/`; one for all lists.

Pure. Not the filter of the History, whose facts the store looks for
(`console.screens.history.filters`). Invariant: what is listed holds every word.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple


class ListFilter(NamedTuple):
    """The words of a filter, case-folded."""

    tags: tuple[str, ...] = ()
    phones: tuple[str, ...] = ()
    """Parts of a phone's name or serial, or of its host; `rack-1/` is not rack-10."""
    words: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str) -> "ListFilter":
        """Read a filter; every text is one."""
        words = text.casefold().split()
        return cls(
            tags=tuple(one[1:] for one in words if one.startswith("#") and len(one) > 1),
            phones=tuple(one[1:] for one in words if one.startswith("@") and len(one) > 1),
            words=tuple(one for one in words if len(one) == 1 or one[0] not in "#@"),
        )

    def rarest(self, *, unknown: Iterable[str] = (), unknown_phones: Iterable[str] = ()) -> str:
        """Return the longest word by which a store can narrow a list; empty for none.

        Args:
            unknown: texts that a word may be a part of, and that the store does not know.
            unknown_phones: the same of a phone's word.
        """
        told = [one for one in self.words if not any(one in text for text in unknown)]
        told += [one for one in self.phones if not any(one in text for text in unknown_phones)]
        return max(told, key=len, default="")

    def fits(self, place: str, tags: Callable[[], Iterable[str]], said: Callable[[], str]) -> bool:
        """Return whether something holds every word.

        Args:
            place: its host and phone, as serial and as they are called.
            tags: finds its tags, if they are asked for.
            said: finds what else it says, such as its title and its state.
        """
        if not all(one in place.casefold() for one in self.phones):
            return False
        if not (self.tags or self.words):
            return True
        known = [tag.casefold() for tag in tags()]
        if not all(any(tag.startswith(one) for tag in known) for one in self.tags):
            return False
        if not self.words:
            return True
        hay = f"{place} {' '.join(known)} {said()}".casefold()
        return all(one in hay for one in self.words)


EVERYTHING = ListFilter()
