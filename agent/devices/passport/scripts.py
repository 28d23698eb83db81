"""Samples of the scripts that people type, one line each, and which scripts a text is written in.

Pure. The samples are words for "good day" and the like, with the letters that go wrong: marks that
combine, letters that join, right to left, and characters beyond the first 65,536.
"""

import unicodedata
from collections.abc import Mapping

SAMPLES: Mapping[str, str] = {
    "ASCII": "Good day 42 @ home",
    "Latin": "Grüße, façade, naïve, żółć",
    "Cyrillic": "Добрый день, їжак",
    "Greek": "Καλημέρα, Ωμέγα",
    "Arabic": "مرحبا بكم",
    "Hebrew": "שלום עולם",
    "Devanagari": "नमस्ते हिन्दी",
    "Thai": "สวัสดีชาวโลก",
    "Chinese": "你好，世界",
    "Japanese": "こんにちは世界カナ",
    "Korean": "안녕하세요",
    "emoji": "ok 👍🏽 👩‍🚀",
}
"""ASCII first, which every phone is expected to type; then ten scripts, and emoji."""

_BY_NAME = (
    ("LATIN", "Latin"),
    ("CYRILLIC", "Cyrillic"),
    ("GREEK", "Greek"),
    ("ARABIC", "Arabic"),
    ("HEBREW", "Hebrew"),
    ("DEVANAGARI", "Devanagari"),
    ("THAI", "Thai"),
    ("HIRAGANA", "Japanese"),
    ("KATAKANA", "Japanese"),
    ("HANGUL", "Korean"),
    ("CJK", "Chinese"),
)


def scripts_of(text: str) -> frozenset[str]:
    """Return the scripts of SAMPLES that a text needs; a letter of none of them counts as "other".

    Punctuation and marks beyond ASCII count as Latin, symbols beyond the basic plane as emoji; a
    joiner (category Cf) as what it joins, and as "other" where that is ASCII.
    """
    joiners = {character for character in text if unicodedata.category(character) == "Cf"}
    found = frozenset(_script(character) for character in text if character not in joiners)
    return found | {"other"} if joiners and found <= {"ASCII"} else found


def _script(character: str) -> str:
    if character.isascii():
        return "ASCII"
    name = unicodedata.name(character, "")
    for beginning, script in _BY_NAME:
        if name.startswith(beginning):
            return script
    if ord(character) > 0xFFFF or unicodedata.category(character) == "So":
        return "emoji"
    return "other" if character.isalpha() else "Latin"
