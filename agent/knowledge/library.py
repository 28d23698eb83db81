"""The cards that are in force, and how an app's is found: by package, or by what people call it.

Invariants: an operator's card comes before the one that came along for the same package; names are
matched as words, so "Ola" does not stand in "Cola" nor "Uber" for "Uber Eats".
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from agent.errors import ConfigError
from agent.knowledge.card import Card, read_card, read_card_file
from agent.language.tokens import has_phrase
from agent.safety.words import words

DIRECTORY = "cards"
MAX_CARDS = 1_000


class Library:
    """Every card that is in force.

    Args:
        cards: by package.
        broken: what could not be read, so that one bad file does not take the others away.
    """

    def __init__(self, cards: Mapping[str, Card], broken: Iterable[ConfigError] = ()) -> None:
        # Devices spell packages as they please; the stores' own spelling varies too.
        self._cards = {package.casefold(): card for package, card in cards.items()}
        self.broken = tuple(broken)

    def all(self) -> tuple[Card, ...]:
        """List the cards by their apps' names."""
        return tuple(sorted(self._cards.values(), key=lambda card: card.app_name.casefold()))

    def of(self, package: str) -> Card | None:
        return self._cards.get(package.casefold())

    def named(self, text: str) -> Card | None:
        """Find the card of the app that a text names; of several, the one with the longest name."""
        said = words(text)
        found = [
            (len(name), card)
            for card in self._cards.values()
            for name in _names(card)
            if has_phrase(_without(said, card), name)
        ]
        if not found:
            return None
        longest = max(length for length, _ in found)
        fitting = {card.package: card for length, card in found if length == longest}
        # Two apps by one name: nobody can tell which is meant.
        return next(iter(fitting.values())) if len(fitting) == 1 else None

    def called(self, name: str) -> frozenset[str]:
        """Return the packages, casefolded, of the apps that people call exactly this."""
        said = words(name)
        return frozenset(key for key, card in self._cards.items() if said in _names(card))


def load(own: Path | None = None) -> Library:
    """Read the cards that came along, and an operator's over them.

    Args:
        own: a folder of TOML files; it need not exist.
    """
    stamp: tuple[tuple[str, int], ...] = ()
    if own is not None and own.is_dir():
        found = sorted(own.glob("*.toml"))[:MAX_CARDS]
        stamp = tuple((str(path), path.stat().st_mtime_ns) for path in found)
    return _load(stamp)


@lru_cache(maxsize=4)
def _load(stamp: tuple[tuple[str, int], ...]) -> Library:
    cards = dict(_bundled())
    broken: list[ConfigError] = []
    for path, _ in stamp:
        try:
            card = read_card_file(Path(path))
        except ConfigError as error:
            broken.append(error)
            continue
        cards = {name: c for name, c in cards.items() if name.casefold() != card.package.casefold()}
        cards[card.package] = card
    return Library(cards, broken)


@lru_cache(maxsize=1)
def _bundled() -> dict[str, Card]:
    cards = {}
    for file in files("agent.knowledge").joinpath(DIRECTORY).iterdir():
        if file.name.endswith(".toml"):
            card = read_card(file.read_text(encoding="utf-8"), file.name)
            cards[card.package] = card
    return cards


def _names(card: Card) -> tuple[tuple[str, ...], ...]:
    return tuple(filter(None, (words(card.app_name), *map(words, card.names))))


def _without(said: tuple[str, ...], card: Card) -> tuple[str, ...]:
    """Take the names of other apps out of a text."""
    for name in card.not_names:
        other = words(name)
        span = len(other)
        at = 0
        while at + span <= len(said):
            if said[at : at + span] == other:
                said = (*said[:at], "", *said[at + span :])
            at += 1
    return said
