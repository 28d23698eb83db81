"""How well a name fits a label: words, stems and what people call the same thing.

Pure, and English only. Invariant: the same two texts always give the same score, from 0 (nothing in
common) to 100 (the same name).
"""

import re
from difflib import SequenceMatcher
from functools import lru_cache

from agent.language.fold import unaccented
from agent.language.tokens import has_phrase, split_words

EXACT = 100
GOOD = 60
WEAK = 30

# Ways to say one thing; the first is the one that is compared. General phone vocabulary only.
_SAME = (
    ("wifi", "wi fi", "wlan", "wireless lan"),
    ("bluetooth", "blue tooth"),
    ("airplane mode", "aeroplane mode", "flight mode", "plane mode"),
    ("dark theme", "dark mode", "night mode", "dark"),
    ("mobile data", "cellular data", "cell data"),
    ("do not disturb", "dnd"),
    ("location", "gps"),
    ("hotspot", "tethering", "tether"),
    ("auto rotate", "autorotate", "screen rotation", "rotation"),
    ("battery saver", "power saver", "power saving mode", "power saving", "low power mode"),
    ("adaptive brightness", "auto brightness", "automatic brightness"),
    ("airdrop", "quick share", "nearby share"),
    ("message", "sms", "text message", "messaging"),
    ("conversation", "thread", "chat"),
    ("note", "memo"),
    ("photo", "picture", "gallery"),
    ("new note", "create note", "add note", "compose note", "add a note", "create a note"),
)
_FILLERS = frozenset(
    {"the", "a", "an", "my", "your", "this", "that", "of", "for"}
    | {"app", "please", "option", "setting", "mode", "use"}
)
_MAX_COMPARED = 200
_APOSTROPHES = re.compile("['’`]")


def fold(text: str) -> str:
    """Fold case and accents, and join what an apostrophe parts: people leave it out."""
    return _APOSTROPHES.sub("", unaccented(text))


@lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[str, ...]:
    """Return the words of a text, one way of saying a thing put for the others."""
    flat = " ".join(_stem(word) for word in split_words(fold(text)))
    for first, *others in _SAME_STEMS:
        for other in others:
            flat = re.sub(rf"(?<!\S){re.escape(other)}(?!\S)", first, flat)
    # "dark theme theme" comes of "dark theme" when "dark" alone is put for it.
    return tuple(_undouble(flat.split()))


def key_tokens(text: str) -> tuple[str, ...]:
    """Return the words that carry meaning; all of them when none would be left."""
    every = tokens(text)
    return tuple(word for word in every if word not in _FILLERS) or every


def score(name: str, label: str) -> int:
    """Score how well a name that somebody gave fits a label that a screen shows.

    A label's parts stand between bars: the first is its title, the others say more about it.
    """
    title, *more = label.split(" | ")
    wanted, shown = key_tokens(name), key_tokens(title)
    if not wanted:
        return 0
    if tokens(name) == tokens(title) or wanted == shown:
        return EXACT
    if has_phrase(shown, wanted):
        return max(90 - 3 * (len(shown) - len(wanted)), GOOD + 5)
    if shown and has_phrase(wanted, shown) and max(map(len, shown)) >= 4:
        return max(GOOD - 5 * (len(wanted) - len(shown)), WEAK)
    if set(wanted) <= set(shown):
        return GOOD
    rest = [word for part in more for word in key_tokens(part)]
    if rest and set(wanted) <= {*rest, *shown}:
        return 45
    common = sum(len(word) > 2 and word in shown for word in wanted)
    return round(WEAK * common / len(wanted)) if common else 0


def starts_alike(text: str, label: str, *, chars: int = 24) -> bool:
    """Return whether a label shows a text, or its beginning where the label cuts it."""
    wanted, shown = _plain(text), _plain(label)
    if not wanted:
        return False
    return wanted in shown or (len(wanted) > chars and wanted[:chars] in shown)


def has_words(text: str, label: str) -> bool:
    """Return whether a text stands in a label as whole words."""
    return bool(re.search(rf"(?<!\w){re.escape(_plain(text))}(?!\w)", _plain(label)))


def similar(name: str, title: str) -> bool:
    """Return whether a title may be a slip of the pen away from a name."""
    return any(likeness(name, word) >= 0.8 for word in (title, *title.split()) if fold(word))


def likeness(name: str, other: str) -> float:
    """Return how much of two names is the same letters in the same order, from 0 to 1."""
    return SequenceMatcher(None, fold(name)[:_MAX_COMPARED], fold(other)[:_MAX_COMPARED]).ratio()


def _plain(text: str) -> str:
    return " ".join(fold(text).replace('"', "").split())


def _stem(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _undouble(words: list[str]) -> list[str]:
    return [word for at, word in enumerate(words) if at == 0 or words[at - 1] != word]


_SAME_STEMS = tuple(
    tuple(" ".join(_stem(word) for word in phrase.split()) for phrase in group) for group in _SAME
)
