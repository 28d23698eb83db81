"""Turn parts into Content, in letters whose width every terminal agrees on.

Skin tones, joiners and variation selectors make one picture of several characters in some
terminals and not in others; a line that holds them would push what stands to its right. Invariant:
whatever a part forgot to clean, no control character of it reaches the terminal.
"""

from __future__ import annotations

import re

from textual.content import Content

from agent.text import clean
from widgets.base.rows import Parts

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_DISPUTED = dict.fromkeys([*range(0x1F3FB, 0x1F400), 0x200D, 0xFE0E, 0xFE0F, 0x20E3])


def steady(text: str) -> str:
    """Leave out what only changes how the character before it looks."""
    return text if text.isascii() else text.translate(_DISPUTED)


def to_content(parts: Parts) -> Content:
    """Assemble parts; markup in them is text."""
    return Content.assemble(*((steady(_harmless(text)), style) for text, style in parts))


def _harmless(text: str) -> str:
    if text.isprintable() or not _CONTROLS.search(text):
        return text
    return clean(text)
