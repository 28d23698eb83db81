"""Part an awk program into its words.

Not the grammar. Invariant: a slash begins a regular expression where a value may stand, and divides
where one has just ended.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import NamedTuple


class AwkSyntaxError(Exception):
    """The program is none; says where."""


class Kind(Enum):
    """What a word is."""

    NUMBER = auto()
    STRING = auto()
    REGEX = auto()
    NAME = auto()
    FUNCTION = auto()
    """A name with a parenthesis right behind it: a function of the program's."""
    BUILTIN = auto()
    KEYWORD = auto()
    MARK = auto()
    NEWLINE = auto()
    END = auto()


class Word(NamedTuple):
    """One word and its line, from 1."""

    kind: Kind
    text: str
    line: int


KEYWORDS = frozenset({
    "BEGIN", "END", "function", "func", "if", "else", "while", "for", "do", "break",
    "continue", "next", "nextfile", "exit", "return", "delete", "in", "getline", "print",
    "printf",
})  # fmt: skip
BUILTINS = frozenset({
    "length", "substr", "index", "split", "sub", "gsub", "match", "sprintf", "sin", "cos",
    "atan2", "exp", "log", "sqrt", "int", "rand", "srand", "tolower", "toupper", "system",
    "close", "fflush",
})  # fmt: skip
_MARKS = (
    "**=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "==", "<=", ">=", "!=",
    "!~", ">>", "**", *"{}()[];,+-*/%^!><|?:~$=",
)  # fmt: skip
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_BLANK = re.compile(r"(?:[ \t\r]|\\\r?\n|#[^\n]*)+")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "b": "\b",
            "\\": "\\", '"': '"', "/": "/"}  # fmt: skip


def words_of(text: str) -> list[Word]:
    """Part a program; the last word is an END.

    Raises:
        AwkSyntaxError: a string or a regular expression does not end, or a character is none.
    """
    found: list[Word] = []
    at, line = 0, 1
    while at < len(text):
        blank = _BLANK.match(text, at)
        if blank is not None:
            line += blank.group().count("\n")
            at = blank.end()
            continue
        word, end = _next(text, at, line, found)
        found.append(word)
        line += text.count("\n", at, end)
        at = end
    found.append(Word(Kind.END, "end of file", line))
    return found


def _next(text: str, at: int, line: int, before: list[Word]) -> tuple[Word, int]:
    char = text[at]
    if char == "\n":
        return Word(Kind.NEWLINE, "newline", line), at + 1
    if char == '"':
        return _string(text, at, line)
    if char == "/" and not (before and _ends_a_value(before[-1])):
        return _regex(text, at, line)
    number = _NUMBER.match(text, at)
    if number is not None:
        return Word(Kind.NUMBER, number.group(), line), number.end()
    name = _NAME.match(text, at)
    if name is not None:
        said, end = name.group(), name.end()
        if said in KEYWORDS:
            return Word(Kind.KEYWORD, "function" if said == "func" else said, line), end
        if said in BUILTINS:
            return Word(Kind.BUILTIN, said, line), end
        kind = Kind.FUNCTION if text[end : end + 1] == "(" else Kind.NAME
        return Word(kind, said, line), end
    for mark in _MARKS:
        if text.startswith(mark, at):
            plain = {"**": "^", "**=": "^="}.get(mark, mark)
            return Word(Kind.MARK, plain, line), at + len(mark)
    raise AwkSyntaxError(f"syntax error at source line {line}: {char!r}")


def _ends_a_value(word: Word) -> bool:
    if word.kind is Kind.MARK:
        return word.text in {")", "]", "$", "++", "--"}
    return word.kind in {Kind.NUMBER, Kind.STRING, Kind.REGEX, Kind.NAME, Kind.BUILTIN}


def _string(text: str, at: int, line: int) -> tuple[Word, int]:
    end = at + 1
    while end < len(text) and text[end] != '"':
        if text[end] == "\n":
            break
        end += 2 if text[end] == "\\" else 1
    if end >= len(text) or text[end] != '"':
        raise AwkSyntaxError(
            f"non-terminated string {text[at + 1 : at + 11]}... at source line {line}"
        )
    return Word(Kind.STRING, unescaped(text[at + 1 : end]), line), end + 1


def _regex(text: str, at: int, line: int) -> tuple[Word, int]:
    end, in_brackets = at + 1, False
    while end < len(text) and text[end] != "\n" and (in_brackets or text[end] != "/"):
        if text[end] == "\\":
            end += 1
        elif text[end] == "[" and not in_brackets:
            in_brackets = True
            # A bracket right at the beginning stands for itself.
            end += 1 if text[end + 1 : end + 2] == "^" else 0
            end += 1 if text[end + 1 : end + 2] == "]" else 0
        elif text[end] == "]":
            in_brackets = False
        end += 1
    if text[end : end + 1] != "/":
        shown = text[at + 1 : at + 11]
        raise AwkSyntaxError(f"non-terminated regular expression {shown}... at source line {line}")
    return Word(Kind.REGEX, text[at + 1 : end], line), end + 1


def unescaped(text: str) -> str:
    """Return a string as it is meant: `\\n`, `\\t`, `\\"`, octal; what is no escape stays."""
    return _ESCAPED.sub(_meant, text)


_ESCAPED = re.compile(r"\\(?:([0-7]{1,3})|(.))", re.DOTALL)


def _meant(found: re.Match[str]) -> str:
    octal, char = found.groups()
    if octal is not None:
        return chr(int(octal, 8) & 0xFF)
    return _ESCAPES.get(char, "\\" + char) if char != "\n" else ""
