"""Write styles in sequences of at most ten parameters, for terminals that keep no more.

mlterm 3.9 drops the rest of a sequence from the eleventh on, and bold text with two colours of 24
bits has eleven. Invariant: what is drawn is the same; other text passes
as it is.
"""

import re
from collections.abc import Mapping

MOST = 10
_LONG_STYLE = re.compile(r"\x1b\[((?:\d*;){10,}\d*)m")
_COLOUR = re.compile(r"[34]8;(?:2;\d*;\d*;\d*|5;\d*)|\d*")
"""One style: a colour with its numbers is one."""


def keeps_ten(environ: Mapping[str, str]) -> bool:
    """Return whether the terminal is mlterm, by what it puts into the environment."""
    return "MLTERM" in environ or environ.get("TERM", "").startswith("mlterm")


def in_short_styles(text: str) -> str:
    """Return the text with each long style in several sequences."""
    return _LONG_STYLE.sub(_split, text)


def _split(found: re.Match[str]) -> str:
    parts: list[list[str]] = [[]]
    length = 0
    at = 0
    written = found[1]
    while at <= len(written):
        one = _COLOUR.match(written, at)
        assert one is not None
        numbers = one[0].count(";") + 1
        if length + numbers > MOST:
            parts.append([])
            length = 0
        parts[-1].append(one[0])
        length += numbers
        at = one.end() + 1
    return "".join(f"\x1b[{';'.join(part)}m" for part in parts)
