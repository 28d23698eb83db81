"""Find a short number in text and bytes which hold the time and random ids too."""

import re


def holds_number(text: str | bytes, digits: str) -> bool:
    """Return whether `digits` stand in `text` as a number of their own.

    A time in milliseconds has ten places at which any four digits may stand, and an id more: plain
    `in` finds a PIN there that nobody wrote.
    """
    if isinstance(text, bytes):
        text = text.decode("latin-1")
    return re.search(rf"(?<![0-9A-Za-z]){re.escape(digits)}(?![0-9A-Za-z])", text) is not None
