"""Shell patterns: `*`, `?` and `[…]` as regular expressions, and file names that match them.

Invariant: quoted text is always literal.
"""

import re
from collections.abc import Callable, Sequence

Piece = tuple[str, bool]  # Text and whether it was quoted.

_GLOB_LIMIT = 20_000


def has_pattern(pieces: Sequence[Piece]) -> bool:
    """Whether unquoted text holds a pattern character."""
    return any(not quoted and any(char in text for char in "*?[") for text, quoted in pieces)


def to_regex(pieces: Sequence[Piece], *, greedy: bool = True) -> str:
    """Return the regular expression (not anchored) of a pattern."""
    out: list[str] = []
    star = ".*" if greedy else ".*?"
    for text, quoted in pieces:
        if quoted:
            out.append(re.escape(text))
            continue
        at = 0
        while at < len(text):
            char = text[at]
            at += 1
            if char == "*":
                if not out or out[-1] != star:
                    out.append(star)
            elif char == "?":
                out.append(".")
            elif char == "[":
                at = _bracket(text, at, out)
            else:
                out.append(re.escape(char))
    return "(?s:" + "".join(out) + ")"


def _bracket(text: str, at: int, out: list[str]) -> int:
    """Translate a bracket expression that starts before `at`; return where it ends."""
    first = at + 1 if text[at : at + 1] in ("!", "^") else at
    end = text.find("]", first + 1)
    if end < 0:
        out.append(re.escape("["))
        return at
    inner = text[first:end].replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    inner = inner.replace("&&", "&\\&").replace("||", "|\\|").replace("~~", "~\\~")
    inner = inner.replace("--", "-\\-") if "--" in inner else inner
    candidate = f"[{'^' if first > at else ''}{inner.replace('^', chr(92) + '^')}]"
    try:
        re.compile(candidate)
    except re.error:
        out.append(re.escape("["))
        return at
    out.append(candidate)
    return end + 1


def matches(pieces: Sequence[Piece], text: str) -> bool:
    return re.fullmatch(to_regex(pieces), text) is not None


def expand_names(
    pieces: Sequence[Piece], cwd: str, list_names: Callable[[str], list[str]]
) -> list[str]:
    """Return the sorted paths that match; `list_names` lists a directory, [] where it cannot."""
    segments: list[list[Piece]] = [[]]
    for text, quoted in pieces:
        first, *others = text.split("/")
        segments[-1].append((first, quoted))
        segments.extend([(other, quoted)] for other in others)
    absolute = len(segments) > 1 and not any(text for text, _ in segments[0])
    found = ["/"] if absolute else [""]
    for segment in segments[1:] if absolute else segments:
        literal = "".join(text for text, _ in segment)
        grown: list[str] = []
        for base in found:
            if not has_pattern(segment):
                grown.append(_join(base, literal))
                continue
            regex = re.compile(to_regex(segment))
            for name in list_names(base or cwd):
                if name.startswith(".") and not literal.startswith("."):
                    continue
                if regex.fullmatch(name):
                    grown.append(_join(base, name))
                if len(grown) > _GLOB_LIMIT:
                    return grown
        found = grown
    return sorted(found)


def _join(base: str, name: str) -> str:
    if not base or base.endswith("/"):
        return base + name
    return f"{base}/{name}"
