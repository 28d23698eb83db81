"""Expand words: parameters, substitutions, arithmetic, field splitting and file names.

Follows POSIX.1-2017, Shell Command Language, 2.6. Invariant: an expansion's size is bounded, so
`x=$x$x` in a loop ends with an error and not with the machine's memory.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, assert_never

from virtual_phone.errors import PhoneError
from virtual_phone.shell.arithmetic import Evaluator
from virtual_phone.shell.braces import expand_braces
from virtual_phone.shell.call import CommandError, ShellMemoryError
from virtual_phone.shell.patterns import Piece, expand_names, has_pattern, to_regex
from virtual_phone.shell.syntax import (
    Arithmetic,
    CommandSubstitution,
    Parameter,
    Script,
    Text,
    Word,
)

if TYPE_CHECKING:
    from virtual_phone.shell.interpreter import Shell

MAX_VALUE_CHARS = 4 * 1024 * 1024
MAX_FIELDS = 100_000

Field = list[Piece]


class Expander:
    """The expansion of words in one shell."""

    def __init__(self, shell: "Shell", substitute: Callable[[Script], Awaitable[str]]) -> None:
        self._shell = shell
        self._substitute = substitute

    async def fields(self, words: Sequence[Word]) -> list[str]:
        """Expand words to the arguments of a command."""
        found: list[str] = []
        for word in chain.from_iterable(map(expand_braces, words)):
            for field in await self._split(word):
                if has_pattern(field):
                    names = expand_names(field, self._shell.cwd, self._names)
                    if names:
                        found.extend(names)
                        continue
                found.append("".join(text for text, _ in field))
            if len(found) > MAX_FIELDS:
                raise CommandError("/system/bin/sh: Argument list too long", 126)
        return found

    async def one(self, word: Word) -> str:
        """Expand a word without splitting or file names (assignments, redirections, case)."""
        return "".join(text for text, _ in await self.pieces(word))

    async def pieces(self, word: Word) -> list[Piece]:
        """Expand a word to pieces that remember what was quoted (patterns)."""
        out: list[Piece] = []
        size = 0
        for index, part in enumerate(word):
            match part:
                case Text(text=text, quoted=quoted):
                    if index == 0 and not quoted:
                        text = self._tilde(text)
                    piece = (text, quoted)
                case Parameter(name=name, quoted=quoted) if name in ("@", "*"):
                    piece = (" ".join(self._shell.arguments), quoted)
                case Parameter() | CommandSubstitution() | Arithmetic():
                    piece = (await self._value(part), part.quoted)
                case _:
                    assert_never(part)
            size += len(piece[0])
            if size > MAX_VALUE_CHARS:
                raise ShellMemoryError("/system/bin/sh: internal error: can't allocate memory")
            out.append(piece)
        return out

    async def _split(self, word: Word) -> list[Field]:
        fields: list[Field] = []
        current: Field | None = None
        for index, part in enumerate(word):
            if isinstance(part, Text):
                text = self._tilde(part.text) if index == 0 and not part.quoted else part.text
                current = [*(current or []), (text, part.quoted)]
                continue
            if isinstance(part, Parameter) and part.name == "@" and not part.operator:
                arguments = self._shell.arguments
                for number, argument in enumerate(arguments):
                    if number:
                        fields.append(current or [])
                        current = None
                    current = [*(current or []), (argument, part.quoted)]
                continue
            if isinstance(part, Parameter) and part.name == "*" and not part.operator:
                value = " ".join(self._shell.arguments)
            else:
                value = await self._value(part)
            if part.quoted:
                current = [*(current or []), (value, True)]
                continue
            current = self._split_value(value, fields, current)
        if current is not None:
            fields.append(current)
        return fields

    def _split_value(self, value: str, fields: list[Field], current: Field | None) -> Field | None:
        separators = self._shell.variables.get("IFS", " \t\n")
        if not separators:
            return [*(current or []), (value, False)] if value else current
        blanks = "".join(char for char in separators if char in " \t\n")
        others = "".join(char for char in separators if char not in " \t\n")
        pattern = "|".join(
            piece
            for piece in (
                f"[{re.escape(blanks)}]*[{re.escape(others)}][{re.escape(blanks)}]*"
                if others and blanks
                else f"[{re.escape(others)}]"
                if others
                else "",
                f"[{re.escape(blanks)}]+" if blanks else "",
            )
            if piece
        )
        pieces = re.split(pattern, value)
        for number, piece in enumerate(pieces):
            if number:
                if current is not None:
                    fields.append(current)
                current = None
                if len(fields) > MAX_FIELDS:
                    raise CommandError("/system/bin/sh: Argument list too long", 126)
            if piece:
                current = [*(current or []), (piece, False)]
        return current

    def _tilde(self, text: str) -> str:
        if text == "~" or text.startswith("~/"):
            home = self._shell.variables.get("HOME", "/")
            return home.rstrip("/") + text[1:] if len(text) > 1 else home
        return text

    def _names(self, directory: str) -> list[str]:
        try:
            return self._shell.userland.files.listdir(directory, self._shell.cwd)
        except OSError:
            return []

    # --- values ---

    async def _value(self, part: Parameter | CommandSubstitution | Arithmetic) -> str:
        match part:
            case Parameter():
                return await self._parameter(part)
            case CommandSubstitution(script=script):
                return (await self._substitute(script)).rstrip("\n")
            case Arithmetic(expression=expression):
                text = await self.one(expression)
                try:
                    return str(
                        Evaluator(
                            text,
                            lambda name: self._shell.variables.get(name, "") or "",
                            self._shell.assign,
                        ).value()
                    )
                except PhoneError as error:
                    raise CommandError(f"/system/bin/sh: {error.message}") from error
            case _:
                assert_never(part)

    async def _parameter(self, part: Parameter) -> str:
        value = self._shell.parameter(part.name)
        operator, argument = part.operator, part.argument or ()
        missing = value is None or (operator.startswith(":") and value == "")
        match operator:
            case "":
                return value or ""
            case "length":
                return str(len(value or ""))
            case ":-" | "-":
                return await self.one(argument) if missing else value or ""
            case ":+" | "+":
                return "" if missing else await self.one(argument)
            case ":=" | "=":
                if missing:
                    value = await self.one(argument)
                    self._shell.assign(part.name, value)
                return value or ""
            case ":?" | "?":
                if missing:
                    message = await self.one(argument) or "parameter null or not set"
                    raise CommandError(f"/system/bin/sh: {part.name}: {message}")
                return value or ""
            case "#" | "##" | "%" | "%%":
                return self._trimmed(value or "", operator, await self.pieces(argument))
            case "/" | "//":
                return await self._replaced(value or "", operator, argument)
            case _:
                return self._slice(value or "", await self.one(argument))

    @staticmethod
    def _trimmed(value: str, operator: str, pattern: list[Piece]) -> str:
        regex = re.compile(to_regex(pattern))
        lengths = range(len(value) + 1)
        longest = len(operator) == 2
        if operator.startswith("#"):
            for end in reversed(lengths) if longest else lengths:
                if regex.fullmatch(value, 0, end):
                    return value[end:]
        else:
            for start in lengths if longest else reversed(lengths):
                if regex.fullmatch(value, start):
                    return value[:start]
        return value

    async def _replaced(self, value: str, operator: str, argument: Word) -> str:
        pattern: list[Piece] = []
        replacement = ""
        seen = False
        for text, quoted in await self.pieces(argument):
            if not seen and not quoted and "/" in text:
                head, _, tail = text.partition("/")
                pattern.append((head, False))
                replacement, seen = tail, True
            elif seen:
                replacement += text
            else:
                pattern.append((text, quoted))
        if not any(text for text, _ in pattern):
            return value
        regex = to_regex(pattern)
        result = re.sub(regex, lambda _: replacement, value, count=int(operator == "/"))
        return result[:MAX_VALUE_CHARS]

    def _slice(self, value: str, argument: str) -> str:
        start_text, colon, length_text = argument.partition(":")

        def number(text: str) -> int:
            get = self._shell.variables.get
            return Evaluator(text, lambda name: get(name, "") or "", self._shell.assign).value()

        try:
            start = number(start_text)
            start = max(0, len(value) + start) if start < 0 else start
            if not colon:
                return value[start:]
            length = number(length_text)
        except PhoneError as error:
            raise CommandError(f"/system/bin/sh: {error.message}") from error
        return value[start : start + length] if length >= 0 else value[start:length]
