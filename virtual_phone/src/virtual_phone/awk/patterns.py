"""awk's regular expressions: extended ones, with the escapes of awk's own strings.

Matching is by `regex`, which knows a limit on time. Invariant: a pattern that takes too long ends
the program, and holds up no other phone for longer than that.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from virtual_phone.awk.values import AwkError

if TYPE_CHECKING:
    import regex

LIMIT_S = 0.25
"""For one search."""
_CLASSES = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "space": r" \t\n\r\f\v",
    "blank": r" \t",
    "punct": r"!-/:-@\[-`{-~",
    "xdigit": "0-9a-fA-F",
    "cntrl": r"\x00-\x1f\x7f",
    "print": " -~",
    "graph": "!-~",
}
_ESCAPES = {"n": r"\n", "t": r"\t", "r": r"\r", "f": r"\f", "v": r"\v", "a": r"\x07", "b": r"\x08"}
_SPECIAL = "^$.[]|()*+?{}\\"


@lru_cache(maxsize=256)
def compiled(pattern: str) -> regex.Pattern[str]:
    """Compile a pattern. Raises AwkError."""
    import regex

    try:
        return regex.compile(_translated(pattern), regex.VERSION0 | regex.ASCII | regex.DOTALL)
    except (regex.error, RecursionError, OverflowError, ValueError) as error:
        raise AwkError(f"illegal regular expression {pattern[:60]}") from error


def found_in(text: str, pattern: str, at: int = 0) -> regex.Match[str] | None:
    """Find the first match from a place on. Raises AwkError."""
    try:
        return compiled(pattern).search(text, at, timeout=LIMIT_S)
    except TimeoutError as error:
        raise AwkError("regular expression takes too long") from error


def parted(text: str, pattern: str) -> list[str]:
    """Return what lies between the matches that are not empty. Raises AwkError."""
    try:
        parts, at = [], 0
        for match in compiled(pattern).finditer(text, timeout=LIMIT_S):
            if match.end() > match.start():
                parts.append(text[at : match.start()])
                at = match.end()
        return [*parts, text[at:]]
    except TimeoutError as error:
        raise AwkError("regular expression takes too long") from error


def quoted(char: str) -> str:
    """Return a pattern that means a single character."""
    return "\\" + char if char in _SPECIAL else char


def _translated(pattern: str) -> str:
    out: list[str] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == "[":
            end = _bracket_end(pattern, at)
            if end < 0:
                raise AwkError(f"nonterminated character class {pattern[:60]}")
            out.append(_bracket(pattern[at:end]))
            at = end + 1
        elif char == "\\" and at < len(pattern):
            meant, at = _escape(pattern, at)
            out.append(meant)
        elif char == "$":
            out.append(r"\Z")
        elif char in "*+?" and (not out or out[-1] in ("(", "|", "^")):
            out.append("\\" + char)
        elif char in "*+?" and out[-1] in ("*", "+", "?"):
            # To Python a second one would be greed, not repetition.
            out[-1] = "*"
        elif char == "{" and not pattern[at : at + 1].isdigit():
            out.append(r"\{")
        else:
            out.append("\\\\" if char == "\\" else char)
    return "".join(out)


def _escape(pattern: str, at: int) -> tuple[str, int]:
    char = pattern[at]
    if char in "01234567":
        digits = char
        while len(digits) < 3 and pattern[at + len(digits) :][:1] in tuple("01234567"):
            digits += pattern[at + len(digits)]
        return f"\\x{int(digits, 8) & 0xFF:02x}", at + len(digits)
    if char in _ESCAPES:
        return _ESCAPES[char], at + 1
    return quoted(char), at + 1


def _bracket_end(pattern: str, at: int) -> int:
    at += pattern.startswith("^", at)
    at += pattern.startswith("]", at)
    while at < len(pattern) and pattern[at] != "]":
        if pattern.startswith("[:", at) and (close := pattern.find(":]", at)) >= 0:
            at = close + 1
        elif pattern[at] == "\\":
            at += 1
        at += 1
    return at if at < len(pattern) else -1


def _bracket(inner: str) -> str:
    head = "^" if inner.startswith("^") else ""
    out: list[str] = []
    at = len(head)
    while at < len(inner):
        name = next((n for n in _CLASSES if inner.startswith(f"[:{n}:]", at)), "")
        if name:
            out.append(_CLASSES[name])
            at += len(name) + 4
        elif inner[at] == "\\" and at + 1 < len(inner):
            meant, at = _escape(inner, at + 1)
            out.append(meant if meant != "-" else r"\-")
        else:
            out.append("\\" + inner[at] if inner[at] in "[]&~|\\" else inner[at])
            at += 1
    return f"[{head}{''.join(out)}]"
