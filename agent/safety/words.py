"""Match words in labels that a hostile app may have written.

Not a redactor and not a policy. Invariant: two texts that look alike to a person give the same
words: compatibility forms are folded, what draws nothing is dropped, overridden directions are
undone, and letters that other scripts share with Latin by shape are taken as Latin.
"""

import re
import unicodedata
from functools import lru_cache

from agent.safety.currencies import AFTER, CURRENCY, NUMBER

# Shapes from Unicode's confusables table (UTS 39) in Cyrillic, Greek, Armenian, Cherokee, Lisu and
# the phonetic letters, for the letters that English keywords need. What a table misses,
# `is_disguised` still notices.
_SHAPES = {
    "a": "аΑαᴀᎪꓮɑ",
    "b": "ΒвʙᏴꓐЬ",
    "c": "сϲᴄᏟꓚ",
    "d": "ԁᴅᎠꓓđժ",
    "e": "еΕεєᴇᎬꓰ",
    "f": "ꓝϝք",
    "g": "ԍɡᏀꓖց",
    "h": "һнΗʜᎻꓧհħ",
    "i": "іΙιıɪӏᎥ",
    "j": "јᴊᎫꓙյ",
    "k": "кΚκᴋᏦꓗ",
    "l": "ʟᏞꓡլł",
    "m": "мΜᴍᎷꓟ",
    "n": "пΝηɴꓠո",
    "o": "оΟοᴏꓳօøՕ",
    "p": "рΡρᴘᏢꓑ",
    "q": "ԛզգ",
    "r": "гᎡꓣʀ",
    "s": "ѕꜱᏚꓢՏ",
    "t": "тΤτᴛᎢꓔ",
    "u": "υᴜսꓴ",
    "v": "ѵνᴠᏙꓦ",
    "w": "ԝωᴡᎳꓪѡ",
    "x": "хΧχꓫ",
    "y": "уΥγүʏᎩꓬ",
    "z": "ΖᴢᏃꓜ",
}
_PANELS = {first + at: chr(ord("a") + at) for first in (0x1F150, 0x1F170) for at in range(26)}
"""Letters in black circles and squares, which no compatibility form leads back to letters."""
LOOK_ALIKES = str.maketrans(
    {shape: letter for letter, shapes in _SHAPES.items() for shape in shapes}
    | {shape.lower(): letter for letter, shapes in _SHAPES.items() for shape in shapes}
    | {chr(panel): letter for panel, letter in _PANELS.items()}
)
_TWIN_SCRIPTS = frozenset({"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "LISU", "COPTIC"})
"""Scripts whose letters pass for Latin; nobody mixes them with it inside a word."""
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_DIGIT_INSIDE = re.compile(r"(?<=[a-z])[015](?=[a-z])")
_DIGIT_SHAPES = {"0": "o", "1": "l", "5": "s"}
_DRAWS_NOTHING = frozenset("\u115f\u1160\u3164\uffa0\u2800\u180e")
_OVERRIDE = re.compile("\u202e([^\u202c\n]*)\u202c?")
_MAX_CHARS = 4000
_FEW_WORDS = 5
_MAX_PRICE_CHARS = 60
_PRICE = re.compile(
    rf"\s*(?:{CURRENCY}\s*{NUMBER}|{NUMBER}\s*{AFTER})"
    r"\s*(?:/\s*|per\s+|a\s+)?(?:mo|month|yr|year|wk|week|day)?\.?\s*",
    re.IGNORECASE,
)


def as_drawn(text: str) -> str:
    """Return a text in the order in which a phone draws it when it has a right-to-left override."""
    return text if "\u202e" not in text else _OVERRIDE.sub(lambda m: m[1][::-1], text)


def skeleton(text: str) -> str:
    """Fold a text to what it looks like: lower-case, unmarked, Latin where it looks Latin."""
    text = text[:_MAX_CHARS]
    if text.isascii():
        # Nearly every label: nothing in it is a look-alike, a mark or an override.
        drawn = text.lower()
    else:
        folded = unicodedata.normalize("NFKD", as_drawn(text)).translate(LOOK_ALIKES)
        folded = folded.casefold().translate(LOOK_ALIKES)
        drawn = "".join(c for c in folded if _is_drawn(c))
    return _DIGIT_INSIDE.sub(lambda m: _DIGIT_SHAPES[m[0]], drawn)


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Return the words of a text in order, folded by `skeleton`; spaced letters are one word."""
    found = _WORD.findall(skeleton(text))
    if len([word for word in found if len(word) == 1]) < 3:
        return tuple(found)
    return tuple(_joined(found))


def id_words(resource_id: str) -> tuple[str, ...]:
    """Return the words of a resource id's own name: `com.x:id/btn_sendNow` → btn, send, now."""
    return words(_CAMEL.sub(" ", resource_id.rsplit("/", 1)[-1]).replace("_", " "))


def joined_words(found: tuple[str, ...]) -> str:
    """Return the few words of a label as one, without a number before or after them.

    Longer labels give nothing: joined anywhere, words would make others by chance.
    """
    if len(found) > _FEW_WORDS:
        return ""
    return "".join(found).strip("0123456789")


@lru_cache(maxsize=8192)
def is_price(text: str) -> bool:
    """Return whether a label says nothing but what something costs, as a button that buys may."""
    if len(text) > _MAX_PRICE_CHARS:
        return False
    # The number may be the text of a button and what it is of its description.
    whole = _PRICE.fullmatch(text.replace(" | ", " "))
    return whole is not None or all(map(_PRICE.fullmatch, text.split(" | ")))


def has_phrase(haystack: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    """Return whether the words of a phrase stand side by side, in order."""
    span = len(phrase)
    if span == 1:
        return phrase[0] in haystack
    return any(haystack[at : at + span] == phrase for at in range(len(haystack) - span + 1))


@lru_cache(maxsize=4096)
def is_disguised(text: str) -> bool:
    """Return whether a word of a text mixes Latin with letters that only look Latin."""
    return any(
        len({script for script in map(_script, word) if script}) > 1
        for word in _WORD.findall(unicodedata.normalize("NFKC", text[:_MAX_CHARS]))
        if not word.isascii()
    )


def _joined(found: list[str]) -> list[str]:
    """Join runs of three or more single letters: "P a y" is read as a word."""
    joined: list[str] = []
    run = ""
    for word in [*found, ""]:
        if len(word) == 1 and word.isalpha():
            run += word
            continue
        joined += [run] if len(run) > 2 else list(run)
        run = ""
        joined += [word] if word else []
    return joined


def _is_drawn(char: str) -> bool:
    # Marks, variation selectors, joiners and fillers leave a letter looking as it was.
    return unicodedata.category(char) not in {"Mn", "Me", "Cf"} and char not in _DRAWS_NOTHING


def _script(char: str) -> str:
    if not char.isalpha():
        return ""
    name = unicodedata.name(char, "").partition(" ")[0]
    return name if name == "LATIN" or name in _TWIN_SCRIPTS else ""
