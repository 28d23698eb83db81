"""Evaluate `$((…))`: 64-bit integers, C operators, variables by name.

Invariant: the result always fits 64 bits; depth is bounded, so no expression exhausts the stack.
"""

import re
from collections.abc import Callable

from virtual_phone.errors import PhoneError

_TOKEN = re.compile(
    r"\s*(?:(0[xX][0-9a-fA-F]+|[0-9]+)|([A-Za-z_][A-Za-z0-9_]*)"
    r"|(\*\*|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%<>=!~&|^?:()]))"
)
_BINARY = {
    "||": 1,
    "&&": 2,
    "|": 3,
    "^": 4,
    "&": 5,
    "==": 6,
    "!=": 6,
    "<": 7,
    ">": 7,
    "<=": 7,
    ">=": 7,
    "<<": 8,
    ">>": 8,
    "+": 9,
    "-": 9,
    "*": 10,
    "/": 10,
    "%": 10,
}
_MAX_DEPTH = 60


class BadArithmeticError(PhoneError):
    """The expression cannot be evaluated."""


def wrap(value: int) -> int:
    """Wrap to a signed 64-bit integer."""
    return ((value + 2**63) & (2**64 - 1)) - 2**63


class Evaluator:
    """One expression; `get` and `put` are the shell's variables."""

    def __init__(
        self, text: str, get: Callable[[str], str], put: Callable[[str, str], None]
    ) -> None:
        self._tokens: list[str] = []
        self._at = 0
        self._get = get
        self._put = put
        self._depth = 0
        self._text = text
        at = 0
        text = text.rstrip()
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise self._bad()
            self._tokens.append(match.group().strip())
            at = match.end()

    def _bad(self) -> BadArithmeticError:
        return BadArithmeticError(f"{self._text.strip()}: unexpected token in expression")

    def value(self) -> int:
        """Return the value; raise BadArithmeticError."""
        if not self._tokens:
            return 0
        found = self._assignment()
        if self._at < len(self._tokens):
            raise self._bad()
        return found

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def _assignment(self) -> int:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise BadArithmeticError("expression nested too deeply")
        try:
            if re.match(r"[A-Za-z_]", self._peek()) and self._at + 1 < len(self._tokens):
                name, operator = self._peek(), self._tokens[self._at + 1]
                if operator.endswith("=") and operator not in ("==", "!=", "<=", ">="):
                    self._at += 2
                    right = self._assignment()
                    if operator != "=":
                        right = self._apply(operator[:-1], self._variable(name), right)
                    self._put(name, str(right))
                    return right
            return self._ternary()
        finally:
            self._depth -= 1

    def _ternary(self) -> int:
        condition = self._binary(1)
        if self._peek() != "?":
            return condition
        self._next()
        yes = self._assignment()
        if self._next() != ":":
            raise self._bad()
        no = self._assignment()
        return yes if condition else no

    def _binary(self, minimum: int) -> int:
        left = self._unary()
        while (rank := _BINARY.get(self._peek(), 0)) >= minimum:
            operator = self._next()
            left = self._apply(operator, left, self._binary(rank + 1))
        return left

    def _unary(self) -> int:
        token = self._next()
        if token in ("-", "+", "!", "~", "("):
            self._depth += 1
            if self._depth > _MAX_DEPTH:
                raise BadArithmeticError("expression nested too deeply")
            try:
                if token == "(":
                    inner = self._assignment()
                    if self._next() != ")":
                        raise self._bad()
                    return inner
                operand = self._unary()
            finally:
                self._depth -= 1
            if token == "-":
                return wrap(-operand)
            return {"+": operand, "!": int(not operand), "~": ~operand}[token]
        if token[:1].isdigit():
            return self._number(token)
        if re.fullmatch(r"[A-Za-z_]\w*", token):
            return self._variable(token)
        raise self._bad()

    def _number(self, token: str) -> int:
        if len(token) > 40:
            raise self._bad()
        try:
            octal = len(token) > 1 and token.startswith("0") and token.isdigit()
            return wrap(int(token, 8) if octal else int(token, 0))
        except ValueError as error:
            raise self._bad() from error

    def _variable(self, name: str) -> int:
        text = self._get(name).strip()
        match = re.fullmatch(r"([-+]?)(0[xX][0-9a-fA-F]+|[0-9]+)", text)
        if match is None:
            return 0
        number = self._number(match.group(2))
        return -number if match.group(1) == "-" else number

    def _apply(self, operator: str, left: int, right: int) -> int:
        if operator in ("/", "%"):
            if right == 0:
                raise BadArithmeticError(f"{self._text.strip()}: zero divisor")
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return wrap(quotient if operator == "/" else left - quotient * right)
        match operator:
            case "+":
                return wrap(left + right)
            case "-":
                return wrap(left - right)
            case "*":
                return wrap(left * right)
            case "<<":
                return wrap(left << (right & 63))
            case ">>":
                return left >> (right & 63)
            case "&":
                return left & right
            case "|":
                return left | right
            case "^":
                return left ^ right
            case "&&":
                return int(bool(left) and bool(right))
            case "||":
                return int(bool(left) or bool(right))
            case "==":
                return int(left == right)
            case "!=":
                return int(left != right)
            case "<":
                return int(left < right)
            case ">":
                return int(left > right)
            case "<=":
                return int(left <= right)
            case ">=":
                return int(left >= right)
            case _:
                raise self._bad()
