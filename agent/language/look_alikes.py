"""Which letters pass for Latin ones by their shape.

Source: Unicode's confusables table (UTS 39), its Cyrillic, Greek, Armenian, Cherokee and Lisu
letters and the phonetic ones, for the letters that English keywords need. What a table misses,
`is_disguised` still notices.
"""

import re
import unicodedata
from functools import lru_cache

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
_MAX_CHARS = 4000


@lru_cache(maxsize=4096)
def is_disguised(text: str) -> bool:
    """Return whether a word of a text mixes Latin with letters that only look Latin."""
    return any(
        len({script for script in map(_script, word) if script}) > 1
        for word in _WORD.findall(unicodedata.normalize("NFKC", text[:_MAX_CHARS]))
        if not word.isascii()
    )


def _script(char: str) -> str:
    if not char.isalpha():
        return ""
    name = unicodedata.name(char, "").partition(" ")[0]
    return name if name == "LATIN" or name in _TWIN_SCRIPTS else ""
