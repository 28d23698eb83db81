"""POSIX regular expressions as Python's, and how long one may take."""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from virtual_phone.shell.call import CommandError

if TYPE_CHECKING:
    import regex

LINE_LIMIT_S = 0.25  # For one line: what takes longer would hold up every phone of the process.


class LinePattern:
    """A compiled pattern that looks at lines of bytes, with a bound on the time for each.

    Raises:
        CommandError: on use, when a line takes too long.
        re.error: it is no pattern.
    """

    def __init__(self, name: str, pattern: bytes, *, ignores_case: bool) -> None:
        import regex

        self._name = name
        flags = regex.VERSION0 | (regex.IGNORECASE if ignores_case else 0)
        try:
            self._pattern: regex.Pattern[bytes] = regex.compile(pattern, flags)
        except regex.error as error:
            raise re.error(str(error)) from error

    def hits(self, line: bytes) -> bool:
        """Return whether a line holds a match."""
        try:
            return self._pattern.search(line, timeout=LINE_LIMIT_S) is not None
        except TimeoutError as error:
            raise self._too_long() from error

    def matches(self, line: bytes) -> Iterator[bytes]:
        """Yield the matches in a line that are not empty."""
        try:
            for match in self._pattern.finditer(line, timeout=LINE_LIMIT_S):
                if match.group():
                    yield match.group()
        except TimeoutError as error:
            raise self._too_long() from error

    def substitute(
        self, replacement: "Callable[[regex.Match[bytes]], bytes]", line: bytes, count: int
    ) -> tuple[bytes, int]:
        """Replace the first `count` matches (0: all); return the line and how many there were."""
        try:
            return self._pattern.subn(replacement, line, count=count, timeout=LINE_LIMIT_S)
        except TimeoutError as error:
            raise self._too_long() from error

    def _too_long(self) -> CommandError:
        return CommandError(f"{self._name}: regex takes too long", 2)


def posix_regex(pattern: str, extended: bool) -> str:
    """Translate a POSIX regular expression to Python's."""
    out: list[str] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == "[":
            end = at + 1 if pattern[at : at + 1] == "^" else at
            end = pattern.find("]", end + 1)
            while end >= 0 and pattern[at:end].count("[:") > pattern[at:end].count(":]"):
                end = pattern.find("]", end + 1)
            if end < 0:
                out.append("\\[")
                continue
            inner = pattern[at:end].replace("\\", "\\\\")
            for name, ranges in _CLASSES.items():
                inner = inner.replace(f"[:{name}:]", ranges)
            head, body = ("^", inner[1:]) if inner.startswith("^") else ("", inner)
            out.append(f"[{head}{body.replace('[', chr(92) + '[')}]")
            at = end + 1
        elif char == "\\" and at < len(pattern):
            code = pattern[at]
            at += 1
            if not extended and code in "(){}|+?":
                out.append(code)
            elif code in "<>":
                out.append(r"\b")
            elif code in "bBwWsSdD123456789":
                out.append("\\" + code)
            else:
                out.append(re.escape(code))
        elif not extended and char in "(){}|+?":
            out.append("\\" + char)
        elif not extended and char == "*" and not out:
            out.append("\\*")
        else:
            out.append(char)
    return "".join(out)


_CLASSES = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "space": r"\s",
    "upper": "A-Z",
    "lower": "a-z",
    "punct": r"!-/:-@\[-`{-~",
    "xdigit": "0-9a-fA-F",
    "blank": r" \t",
}
