"""Turn parts into Content, with characters whose width is the same on every terminal.

Skin tones, joiners and variation selectors combine several characters into one picture on some
terminals only, which would shift the rest of the line. Invariant: no control character of a part
reaches the terminal, even if the part was not cleaned.
"""

import re

from textual.content import Content

from agent.text import clean
from widgets.base.rows import Parts

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_DISPUTED = dict.fromkeys([*range(0x1F3FB, 0x1F400), 0x200D, 0xFE0E, 0xFE0F, 0x20E3])


def steady(text: str) -> str:
    """Remove characters that only change the look of the one before."""
    return text if text.isascii() else text.translate(_DISPUTED)


def to_content(parts: Parts) -> Content:
    """Assemble parts; markup in them stays text."""
    return Content.assemble(*((steady(_harmless(text)), style) for text, style in parts))


def _harmless(text: str) -> str:
    if text.isprintable() or not _CONTROLS.search(text):
        return text
    return clean(text)
