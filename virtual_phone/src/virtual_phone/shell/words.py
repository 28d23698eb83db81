"""Read the words of a shell line: quotes, escapes, parameters and substitutions.

The lower half of the parser; it knows nothing of commands. Invariant: nesting is counted, so a
line of a million `$(` is an error and not a crash.
"""

import re
from collections.abc import Callable

from virtual_phone.shell.syntax import Arithmetic, CommandSubstitution, Parameter, Part, Text, Word

MAX_DEPTH = 40
SPECIAL_PARAMETERS = "?$!#@*-0123456789"
_OPERATORS = (":-", ":=", ":?", ":+", "##", "#", "%%", "%", "//", "/", ":", "-", "=", "?", "+")
_PLAIN = re.compile(r"[^ \t\n;&|()<>\\'\"$`]+")
_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "e": "\x1b",
    "E": "\x1b",
    "\\": "\\",
    "'": "'",
    '"': '"',
}


class WordReader:
    """A position in a text, and the reading of one word at it."""

    def __init__(self, text: str, depth: int = 0) -> None:
        self.text = text
        self.at = 0
        self.depth = depth
        self.here_documents: list[tuple[str, bool, bool, Callable[[Word], None]]] = []
        self._check_depth()

    def _check_depth(self) -> None:
        if self.depth > MAX_DEPTH:
            raise self.error("syntax error: nested too deeply")

    def enter(self) -> None:
        """Count one level of nesting."""
        self.depth += 1
        self._check_depth()

    def leave(self) -> None:
        self.depth -= 1

    def error(self, message: str) -> Exception:
        from virtual_phone.shell.parser import ShellSyntaxError

        return ShellSyntaxError(message)

    def read_word(self, *, assignment: bool = False) -> Word:
        """Read one word up to a blank or an operator."""
        parts: list[Part] = []
        plain: list[str] = []

        def flush() -> None:
            if plain:
                parts.append(Text("".join(plain), False))
                plain.clear()

        start = self.at
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in " \t\n;&|()<>":
                break
            if char == "\\":
                if self.text.startswith("\\\n", self.at):
                    self.at += 2
                    continue
                flush()
                parts.append(Text(self.text[self.at + 1 : self.at + 2] or "\\", True))
                self.at += 2
            elif char == "'":
                flush()
                parts.append(Text(self._single_quoted(), True))
            elif char == '"':
                flush()
                self.at += 1
                inner = self.read_quoted(stop='"')
                parts.extend(inner or (Text("", True),))
            elif char in "$`":
                flush()
                parts.append(self._dollar(quoted=False))
            else:
                found = _PLAIN.match(self.text, self.at)
                run = found[0] if found else char
                plain.append(run)
                self.at += len(run)
        flush()
        if self.at == start and not assignment:
            raise self.error("syntax error: a word was expected")
        return tuple(parts)

    def _single_quoted(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise self.error("no closing quote")
        found = self.text[self.at + 1 : end]
        self.at = end + 1
        return found

    def read_quoted(self, *, stop: str | None) -> Word:
        """Read double-quoted text up to `stop` (None: to the end, a here-document)."""
        parts: list[Part] = []
        plain: list[str] = []
        while True:
            if self.at >= len(self.text):
                if stop is None:
                    break
                raise self.error("no closing quote")
            char = self.text[self.at]
            if char == stop:
                self.at += 1
                break
            if char == "\\":
                follows = self.text[self.at + 1 : self.at + 2]
                if follows == "\n":
                    pass
                elif follows in ("$", "`", "\\") or (follows == stop and follows):
                    plain.append(follows)
                else:
                    plain.append("\\" + follows)
                self.at += 1 + len(follows)
            elif char in "$`":
                if plain:
                    parts.append(Text("".join(plain), True))
                    plain.clear()
                parts.append(self._dollar(quoted=True))
            else:
                plain.append(char)
                self.at += 1
        if plain:
            parts.append(Text("".join(plain), True))
        return tuple(parts)

    def _dollar(self, *, quoted: bool) -> Part:
        """Read what starts with `$` or a backquote."""
        self.enter()
        try:
            if self.text[self.at] == "`":
                return self._backquoted(quoted)
            follows = self.text[self.at + 1 : self.at + 2]
            if self.text.startswith("$((", self.at):
                arithmetic = self._arithmetic(quoted)
                if arithmetic is not None:
                    return arithmetic
            if follows == "(":
                return self._parenthesized(quoted)
            if follows == "{":
                return self._braced(quoted)
            if follows == "'" and not quoted:
                return Text(self._ansi_quoted(), True)
            if follows and follows in SPECIAL_PARAMETERS:
                self.at += 2
                return Parameter(follows, quoted)
            name = self._name(self.at + 1)
            self.at += 1 + len(name)
            return Parameter(name, quoted) if name else Text("$", quoted)
        finally:
            self.leave()

    def _name(self, start: int) -> str:
        end = start
        while (
            end < len(self.text)
            and self.text[end].isascii()
            and (self.text[end].isalnum() or self.text[end] == "_")
        ):
            end += 1
        name = self.text[start:end]
        return name if name.isidentifier() else ""

    def _backquoted(self, quoted: bool) -> CommandSubstitution:
        inner: list[str] = []
        self.at += 1
        while self.at < len(self.text) and self.text[self.at] != "`":
            if self.text[self.at] == "\\" and self.text[self.at + 1 : self.at + 2] in (
                "`",
                "\\",
                "$",
            ):
                self.at += 1
            inner.append(self.text[self.at])
            self.at += 1
        if self.at >= len(self.text):
            raise self.error("no closing quote")
        self.at += 1
        from virtual_phone.shell.parser import parse

        return CommandSubstitution(parse("".join(inner), self.depth), quoted)

    def _parenthesized(self, quoted: bool) -> CommandSubstitution:
        from virtual_phone.shell.parser import Parser

        script, self.at = Parser(self.text, self.depth).parenthesized(self.at + 2)
        return CommandSubstitution(script, quoted)

    def _arithmetic(self, quoted: bool) -> Arithmetic | None:
        at, level = self.at + 3, 0
        while at < len(self.text):
            char = self.text[at]
            if char == "(":
                level += 1
            elif char == ")":
                if level == 0:
                    break
                level -= 1
            at += 1
        if not self.text.startswith("))", at):
            return None
        inner = WordReader(self.text[self.at + 3 : at], self.depth)
        self.at = at + 2
        return Arithmetic(inner.read_quoted(stop=None), quoted)

    def _braced(self, quoted: bool) -> Parameter:
        at = self.at + 2
        if self.text.startswith("#", at) and not self.text.startswith("#}", at):
            name = self._parameter_name(at + 1)
            self.at = at + 1 + len(name)
            if not name or not self.text.startswith("}", self.at):
                raise self.error("bad substitution")
            self.at += 1
            return Parameter(name, quoted, "length")
        name = self._parameter_name(at)
        if not name:
            raise self.error("bad substitution")
        self.at = at + len(name)
        if self.text.startswith("}", self.at):
            self.at += 1
            return Parameter(name, quoted)
        operator = next((op for op in _OPERATORS if self.text.startswith(op, self.at)), None)
        if operator is None:
            raise self.error("bad substitution")
        self.at += len(operator)
        return Parameter(name, quoted, operator, self._until_brace(quoted))

    def _parameter_name(self, start: int) -> str:
        digits = start
        while digits < len(self.text) and self.text[digits] in "0123456789":
            digits += 1
        if digits > start:
            return self.text[start:digits]
        if self.text[start : start + 1] and self.text[start] in SPECIAL_PARAMETERS:
            return self.text[start]
        return self._name(start)

    def _until_brace(self, quoted: bool) -> Word:
        parts: list[Part] = []
        while True:
            char = self.text[self.at : self.at + 1]
            if not char:
                raise self.error("no closing brace")
            if char == "}":
                self.at += 1
                return tuple(parts)
            if char == "\\":
                parts.append(Text(self.text[self.at + 1 : self.at + 2], True))
                self.at += 2
            elif char == "'" and not quoted:
                parts.append(Text(self._single_quoted(), True))
            elif char == '"':
                self.at += 1
                parts.extend(self.read_quoted(stop='"') or (Text("", True),))
            elif char in "$`":
                parts.append(self._dollar(quoted=quoted))
            else:
                parts.append(Text(char, quoted))
                self.at += 1

    def _ansi_quoted(self) -> str:
        found: list[str] = []
        self.at += 2
        while self.at < len(self.text) and self.text[self.at] != "'":
            char = self.text[self.at]
            self.at += 1
            if char == "\\" and self.at < len(self.text):
                code = self.text[self.at]
                self.at += 1
                if code == "x":
                    digits = self._digits("0123456789abcdefABCDEF", 2)
                    found.append(_byte(int(digits, 16)) if digits else "\\x")
                elif code in "01234567":
                    self.at -= 1
                    found.append(_byte(int(self._digits("01234567", 3), 8) & 0xFF))
                else:
                    found.append(_ESCAPES.get(code, "\\" + code))
            else:
                found.append(char)
        if self.at >= len(self.text):
            raise self.error("no closing quote")
        self.at += 1
        # Escapes are bytes, and several of them may make one character.
        return "".join(found).encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")

    def _digits(self, allowed: str, limit: int) -> str:
        start = self.at
        while self.at < len(self.text) and self.at - start < limit:
            if self.text[self.at] not in allowed:
                break
            self.at += 1
        return self.text[start : self.at]


def _byte(code: int) -> str:
    """Return a byte as shell text."""
    return bytes([code]).decode("utf-8", "surrogateescape")
