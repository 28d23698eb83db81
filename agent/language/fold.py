"""Fold texts, so that two that say the same are equal. Pure.

Four levels, each coarser than the one before. Take the finest that serves:

- `as_drawn`: what is seen, in the order in which it is seen. For telling a person.
- `folded`: the same whatever case, width, ligature, script of digits, spacing and marks that draw
  nothing. Letters and accents stay apart. For comparing names, labels and quotes.
- `unaccented`: accents of alphabets go too. For finding what somebody typed.
- `skeleton`: letters of other scripts that look Latin are Latin, and digits inside words letters.
  For words that a hostile app may have disguised. It equates what honest texts tell apart.

Invariant: each is idempotent. A fold's places are not its text's: read numbers and dates from the
text itself, and secrets from `agent.language.normal_form`, which knows where characters came from.

Sources: Unicode's NFKC_Casefold (UAX 31, UAX 44) for `folded`, UTS 39 for `skeleton`.
"""

import re
import unicodedata
from abc import abstractmethod
from functools import lru_cache

from agent.language.look_alikes import LOOK_ALIKES

OVERRIDE = re.compile("\u202e([^\u202c\n]*)\u202c?")
"""A text whose direction is overridden, which is drawn from its last letter to its first."""
DRAWS_NOTHING = frozenset("\u115f\u1160\u3164\uffa0\u2800\u180e")
"""Fillers: characters of other categories than those of formats that draw nothing."""
_SELECTORS = {*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0), *range(0x180B, 0x1810), 0x34F}
"""Marks that draw nothing: variation selectors and the joiner of graphemes."""
_RAISED = re.compile(r"(?<=\d)(?=[²³¹⁰-⁹₀-₉¼-¾⅐-⅞↉])")
"""Before a raised digit or a fraction: 10² is not 102, and 1½ is not 11⁄2."""
_DIGIT_INSIDE = re.compile(r"(?<=[a-z])[015](?=[a-z])")
_DIGIT_SHAPES = {"0": "o", "1": "l", "5": "s"}
_ACCENTS = range(200, 241)
"""Combining classes of the marks above, below and through the letters of alphabets. Others are
vowels, tones, or make another letter of one, as in Thai, Hindi and Japanese."""
_POINTS = range(10, 36)
"""Those of the vowel points of Hebrew and Arabic, which are left out as a rule."""
_NUKTA = 7
"""That of the dot of Indian letters, which is as often left out."""
_MAX_CHARS = 4000
_MOST_ROUNDS = 5
_MOST_KEPT = 20_000


class CharTable(dict[int, str]):
    """What each character becomes, filled as characters turn up. For `str.translate`."""

    def __missing__(self, code: int) -> str:
        found = self.becomes(chr(code))
        # Unicode has a million characters: a text of them all does not fill the memory.
        if len(self) < _MOST_KEPT:
            self[code] = found
        return found

    @abstractmethod
    def becomes(self, char: str) -> str:
        """Return what a character becomes."""


class _Digits(CharTable):
    def becomes(self, char: str) -> str:
        return str(unicodedata.decimal(char, char))


class _Visible(CharTable):
    def becomes(self, char: str) -> str:
        nothing = (
            unicodedata.category(char) == "Cf" or char in DRAWS_NOTHING or ord(char) in _SELECTORS
        )
        return "" if nothing else char


class _Hidden(CharTable):
    def becomes(self, char: str) -> str:
        return "" if _VISIBLE[ord(char)] else char


class _Unmarked(CharTable):
    def becomes(self, char: str) -> str:
        place = unicodedata.combining(char)
        is_accent = place in _ACCENTS or place in _POINTS or place == _NUKTA
        return "" if is_accent else char


class _Shapes(CharTable):
    def becomes(self, char: str) -> str:
        # Marks, variation selectors, joiners and fillers leave a letter looking as it was.
        hidden = unicodedata.category(char) in {"Mn", "Me", "Cf"} or char in DRAWS_NOTHING
        return "" if hidden else char


_DIGITS, _VISIBLE, _HIDDEN = _Digits(), _Visible(), _Hidden()
_UNMARKED, _SHAPES = _Unmarked(), _Shapes()


def as_drawn(text: str) -> str:
    """Return a text in the order in which a phone draws it when it has a right-to-left override."""
    return text if "\u202e" not in text else OVERRIDE.sub(lambda m: m[1][::-1], text)


def hidden(text: str) -> str:
    """Return what draws nothing in a text: for telling apart texts that are folded alike."""
    return "" if text.isascii() else text.translate(_HIDDEN)


def plain_digits(text: str) -> str:
    """Write the digits of every script as ASCII, place by place."""
    return text if text.isascii() else text.translate(_DIGITS)


@lru_cache(maxsize=4096)
def folded(text: str) -> str:
    """Fold case, compatibility forms, digits, spaces and what draws nothing."""
    if text.isascii():
        return " ".join(text.lower().split())
    found = as_drawn(text)
    # Normalising may give what folds again, as the letters of a Hangul syllable do.
    for _ in range(_MOST_ROUNDS):
        before = found
        found = _RAISED.sub(" ", unicodedata.normalize("NFD", found).translate(_VISIBLE))
        found = unicodedata.normalize("NFKC", found.casefold()).translate(_DIGITS).casefold()
        if found == before:
            break
    return " ".join(found.split())


@lru_cache(maxsize=4096)
def unaccented(text: str) -> str:
    """Fold as `folded` does, and leave out accents and vowel points: "Müller" is "muller"."""
    found = folded(text)
    if found.isascii():
        return found
    bare = unicodedata.normalize("NFD", found).translate(_UNMARKED)
    return folded(unicodedata.normalize("NFC", bare))


def skeleton(text: str) -> str:
    """Fold a text to what it looks like: lower-case, unmarked, Latin where it looks Latin.

    What is longer than 4,000 characters is cut.
    """
    text = text[:_MAX_CHARS]
    if text.isascii():
        # Nearly every label: nothing in it is a look-alike, a mark or an override.
        drawn = text.lower()
    else:
        shapes = unicodedata.normalize("NFKD", as_drawn(text)).translate(LOOK_ALIKES)
        drawn = shapes.casefold().translate(LOOK_ALIKES).translate(_SHAPES)
    return _DIGIT_INSIDE.sub(lambda m: _DIGIT_SHAPES[m[0]], drawn)
