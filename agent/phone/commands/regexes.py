"""POSIX regular expressions as Python's."""

from __future__ import annotations

import re


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
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "space": r"\s", "upper": "A-Z",
    "lower": "a-z", "punct": r"!-/:-@\[-`{-~", "xdigit": "0-9a-fA-F", "blank": r" \t",
}  # fmt: skip
