"""`test` and `[`: conditions."""

import re

from virtual_phone.shell.call import Call, CommandError, command


@command("test", "[", inline=True)
async def test(call: Call) -> int:
    """Evaluate a condition."""
    words = list(call.args)
    if call.name == "[" and (not words or words.pop() != "]"):
        raise CommandError("/system/bin/sh: [: missing ]", 2)
    return 0 if _Condition(call, words).value() else 1


class _Condition:
    """One `test` expression."""

    def __init__(self, call: Call, words: list[str]) -> None:
        self._call = call
        self._words = words
        self._at = 0

    def value(self) -> bool:
        if not self._words:
            return False
        found = self._or()
        if self._at < len(self._words):
            raise CommandError(
                f"/system/bin/sh: test: {self._words[self._at]}: unexpected operator/operand", 2
            )
        return found

    def _peek(self, ahead: int = 0) -> str | None:
        at = self._at + ahead
        return self._words[at] if at < len(self._words) else None

    def _or(self) -> bool:
        left = self._and()
        while self._peek() == "-o":
            self._at += 1
            right = self._and()
            left = left or right
        return left

    def _and(self) -> bool:
        left = self._not()
        while self._peek() == "-a":
            self._at += 1
            right = self._not()
            left = left and right
        return left

    def _not(self) -> bool:
        negated = False
        while self._peek() == "!" and len(self._words) - self._at > 1:
            self._at += 1
            negated = not negated
        return self._primary() != negated

    def _primary(self) -> bool:
        first = self._peek()
        if first is None:
            raise CommandError("/system/bin/sh: test: argument expected", 2)
        second = self._peek(1)
        if second in _COMPARISONS and self._peek(2) is not None:
            third = self._words[self._at + 2]
            self._at += 3
            return self._compare(first, second or "", third)
        if first == "(" and second is not None:
            self._at += 1
            inner = self._or()
            if self._peek() != ")":
                raise CommandError("/system/bin/sh: test: missing )", 2)
            self._at += 1
            return inner
        if re.fullmatch(r"-[bcdefghkLnprstuwxzS]", first) and second is not None:
            self._at += 2
            return self._unary(first[1], second)
        self._at += 1
        return first != ""

    def _unary(self, letter: str, operand: str) -> bool:
        if letter == "n":
            return operand != ""
        if letter == "z":
            return operand == ""
        if letter == "t":
            return self._call.terminal and operand in ("0", "1", "2")
        try:
            found = self._call.files.stat(operand, self._call.cwd, follow=letter not in "hL")
        except OSError:
            return False
        match letter:
            case "d":
                return found.is_dir
            case "f":
                return found.is_file
            case "h" | "L":
                return found.is_link
            case "s":
                return found.size > 0
            case "r":
                return bool(found.mode & 0o444)
            case "w":
                return bool(found.mode & 0o222) and found.uid == self._call.files.uid
            case "x":
                return bool(found.mode & 0o111)
            case "c":
                return found.mode & 0o170000 == 0o020000
            case "e":
                return True
            case _:
                return False

    def _compare(self, left: str, operator: str, right: str) -> bool:
        if operator in ("=", "=="):
            return left == right
        if operator == "!=":
            return left != right
        if operator in ("<", ">"):
            return left < right if operator == "<" else left > right
        if operator in ("-nt", "-ot", "-ef"):
            times = [self._mtime(left), self._mtime(right)]
            if operator == "-ef":
                return left == right
            return times[0] > times[1] if operator == "-nt" else times[0] < times[1]
        one, two = self._number(left), self._number(right)
        return {
            "-eq": one == two,
            "-ne": one != two,
            "-lt": one < two,
            "-le": one <= two,
            "-gt": one > two,
            "-ge": one >= two,
        }[operator]

    def _mtime(self, path: str) -> float:
        try:
            return self._call.files.stat(path, self._call.cwd).mtime
        except OSError:
            return -1.0

    @staticmethod
    def _number(text: str) -> int:
        if not re.fullmatch(r"\s*[-+]?[0-9]{1,18}\s*", text):
            raise CommandError(f"/system/bin/sh: test: {text}: unexpected operator/operand", 2)
        return int(text)


_COMPARISONS = frozenset(
    ["=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"]
)
