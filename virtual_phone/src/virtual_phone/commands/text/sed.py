"""`sed`: edit lines."""

import re
from typing import TYPE_CHECKING

from virtual_phone.commands.options import Options, options
from virtual_phone.commands.text.filters import each_source, lines
from virtual_phone.commands.text.regexes import LinePattern, posix_regex
from virtual_phone.shell.call import Call, CommandError, command, encode

if TYPE_CHECKING:
    import regex


@command("sed")
async def sed(call: Call) -> int:
    """Edit lines: s///[gip], p, d, = and q with an optional line number or /regex/ before."""
    found = options(call, "nErie:")
    operands = list(found.operands)
    script = found.text("e") if "e" in found else (operands.pop(0) if operands else "")
    if not script:
        raise CommandError("sed: no pattern")
    extended = found.any("Er")
    steps = [_SedStep(piece.strip(), extended) for piece in _sed_pieces(script) if piece.strip()]
    number = 0
    pending: bytes | None = None
    async for _, source in each_source(call, operands):
        async for raw in lines(source):
            if pending is not None and await _sed_line(call, steps, pending, number, False, found):
                return 0
            number += 1
            pending = raw
    if pending is not None:
        await _sed_line(call, steps, pending, number, True, found)
    return 0


async def _sed_line(
    call: Call, steps: "list[_SedStep]", raw: bytes, number: int, last: bool, found: Options
) -> bool:
    line, quits, deleted = raw.rstrip(b"\n"), False, False
    for step in steps:
        if not step.applies(line, number, last):
            continue
        if step.verb == "d":
            deleted = True
            break
        if step.verb == "s":
            changed, count = step.pattern.substitute(step.replace, line, step.count)
            line = changed
            if count and step.prints:
                await call.stdout.write(line + b"\n")
        elif step.verb == "p":
            await call.stdout.write(line + b"\n")
        elif step.verb == "=":
            await call.line(str(number))
        elif step.verb == "q":
            quits = True
            break
    if not deleted and "n" not in found:
        await call.stdout.write(line + b"\n")
    return quits


def _sed_pieces(script: str) -> list[str]:
    """Split at `;` and newlines that are not inside an s command."""
    pieces: list[str] = []
    current = ""
    for piece in re.split(r"[;\n]", script):
        current = f"{current};{piece}" if current else piece
        match = re.match(r"^[^s]*s(.)", current)
        marks = len(re.findall(rf"(?<!\\){re.escape(match.group(1))}", current)) if match else 3
        if marks < 3:
            continue
        pieces.append(current)
        current = ""
    return [*pieces, current] if current else pieces


class _SedStep:
    """One sed command."""

    def __init__(self, text: str, extended: bool) -> None:
        match = re.match(r"(?:(\d+|\$)(?:,(\d+|\$))?|/((?:[^/\\]|\\.)*)/)?\s*(!?)\s*", text)
        assert match is not None
        first, last, regex, negated = match.groups()
        self._first, self._last, self._negated = first, last, bool(negated)
        self._regex = (
            self._compile(regex, extended, ignores_case=False) if regex is not None else None
        )
        body = text[match.end() :]
        self.verb = body[:1]
        self.count, self.prints = 1, False
        self.pattern = LinePattern("sed", b"", ignores_case=False)
        self._template: list[str] = []
        if self.verb == "s":
            self._substitution(body, extended)
        elif self.verb not in ("p", "d", "q", "=") or len(body) > 1:
            raise CommandError(f"sed: bad pattern '{text}'")

    @staticmethod
    def _compile(regex: str, extended: bool, *, ignores_case: bool) -> LinePattern:
        try:
            text = encode(posix_regex(regex, extended))
            return LinePattern("sed", text, ignores_case=ignores_case)
        except (re.error, RecursionError, OverflowError) as error:
            raise CommandError(f"sed: bad regex '{regex}'") from error

    def _substitution(self, body: str, extended: bool) -> None:
        mark = re.escape(body[1:2])
        match = re.fullmatch(
            rf"s{mark}((?:[^\\]|\\.)*?){mark}((?:[^\\]|\\.)*?){mark}([gIip0-9]*)", body, re.DOTALL
        )
        if match is None:
            raise CommandError(f"sed: bad pattern '{body}'")
        regex, replacement, flags = match.groups()
        self.pattern = self._compile(regex, extended, ignores_case="i" in flags.lower())
        self._template = re.findall(r"\\.|&|[^\\&]+", replacement, re.DOTALL)
        self.count = 0 if "g" in flags else 1
        self.prints = "p" in flags

    def replace(self, match: "regex.Match[bytes]") -> bytes:
        out: list[bytes] = []
        for token in self._template:
            if token == "&":
                out.append(match.group())
            elif token[0] == "\\" and token[1:].isdecimal():
                number = int(token[1])
                out.append((match.group(number) or b"") if number <= (match.re.groups) else b"")
            elif token[0] == "\\":
                out.append(encode({"n": "\n", "t": "\t"}.get(token[1], token[1])))
            else:
                out.append(encode(token))
        return b"".join(out)

    def applies(self, line: bytes, number: int, last: bool) -> bool:
        """Whether the command's address covers the line."""
        if self._regex is not None:
            inside = self._regex.hits(line)
        elif self._first is None:
            inside = True
        elif self._last is not None:
            first = number if self._first == "$" and last else self._number(self._first)
            inside = first <= number and (self._last == "$" or number <= self._number(self._last))
        else:
            inside = last if self._first == "$" else number == self._number(self._first)
        return inside != self._negated

    @staticmethod
    def _number(text: str) -> int:
        return int(text[:9]) if text.isdecimal() else 2**31
