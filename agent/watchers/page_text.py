"""What a page says, without its markup, scripts and styles, pure.

Not a browser: what a script would write is not there. Invariants: it takes time in proportion to
the page, however broken that is; what it gives is clean and bounded.
"""

import re
from html import unescape

from agent.text import clean

LIMIT_CHARS = 24_000  # What is given of a page to whoever judges it (OpenPhone's bound).

_UNSEEN = ("script", "style", "noscript", "template")
_TAG_NAME = re.compile(r"/?([a-zA-Z][a-zA-Z0-9]*)")
_BLANKS = re.compile(r"[ \t\r\f\v\xa0]+")
_LINES = re.compile(r"\s*\n\s*")


def page_text(body: str, *, is_html: bool) -> str:
    """Return the words of a page: one line of text for each block, entities resolved."""
    text = unescape("".join(_visible_text(body))) if is_html else body
    folded = _LINES.sub("\n", _BLANKS.sub(" ", text)).strip()
    return clean(folded, LIMIT_CHARS)


def _visible_text(body: str) -> list[str]:
    """Part the text from the tags; each search begins where the last one ended."""
    parts: list[str] = []
    lowered = body.lower()
    at = 0
    while at < len(body):
        opened = body.find("<", at)
        if opened < 0:
            parts.append(body[at:])
            break
        parts.append(body[at:opened])
        if body.startswith("<!--", opened):
            at = _after(body, "-->", opened + 4)
            continue
        name = _TAG_NAME.match(body, opened + 1)
        if name is None and body[opened + 1 : opened + 2] not in ("!", "?"):
            # A lone < is text, as browsers have it.
            parts.append("<")
            at = opened + 1
            continue
        at = _after(body, ">", opened)
        word = name.group(1).lower() if name else ""
        if word in _UNSEEN and body[opened + 1] != "/" and len(lowered) == len(body):
            at = _after(body, ">", _at(lowered, f"</{word}", at))
        parts.append("\n")
    return parts


def _at(text: str, wanted: str, start: int) -> int:
    found = text.find(wanted, start)
    return len(text) if found < 0 else found


def _after(text: str, wanted: str, start: int) -> int:
    """Return the place behind the next occurrence; the end when there is none."""
    found = text.find(wanted, start)
    return len(text) if found < 0 else found + len(wanted)
