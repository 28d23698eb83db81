"""Read the expressions of an awk program, by precedence.

Not the statements (`virtual_phone.awk.statements`). Precedences are those of POSIX awk's grammar,
from the assignment down to the value. Invariant: what nests too deep is a syntax error, no crash.
"""

from __future__ import annotations

from virtual_phone.awk.nodes import (
    Assign,
    Binary,
    Call,
    Choice,
    Contains,
    Expression,
    Field,
    Getline,
    Item,
    Listing,
    Matches,
    Name,
    Number,
    Regex,
    Step,
    Target,
    Text,
    Unary,
)
from virtual_phone.awk.words import AwkSyntaxError, Kind, Word

DEEPEST = 25
_ASSIGNS = {"=", "+=", "-=", "*=", "/=", "%=", "^="}
_COMPARES = {"<", "<=", "==", "!=", ">", ">="}
_BEGINS_A_VALUE = {Kind.NUMBER, Kind.STRING, Kind.REGEX, Kind.NAME, Kind.FUNCTION, Kind.BUILTIN}
_NO_PARENTHESES = {"length"}


class Expressions:
    """A reader of expressions over the words of one program."""

    def __init__(self, words: list[Word]) -> None:
        self._words = words
        self._at = 0
        self._depth = 0
        self._plain_gt = True
        """Whether `>` compares here; in a bare `print` it redirects."""
        self._plain_in = True

    # --- words ----------

    @property
    def word(self) -> Word:
        """The word that is read next."""
        return self._words[self._at]

    def ahead(self, count: int) -> Word:
        """Return a word further on."""
        return self._words[min(self._at + count, len(self._words) - 1)]

    def take(self) -> Word:
        """Read one word."""
        word = self.word
        if word.kind is not Kind.END:
            self._at += 1
        return word

    def stands(self, *texts: str) -> bool:
        """Return whether a mark or a keyword comes next."""
        return self.word.kind in (Kind.MARK, Kind.KEYWORD) and self.word.text in texts

    def took(self, *texts: str) -> bool:
        """Read a mark or a keyword if it comes next."""
        if self.stands(*texts):
            self.take()
            return True
        return False

    def need(self, text: str) -> None:
        """Read a mark that has to come next. Raises AwkSyntaxError."""
        if not self.took(text):
            raise self.wrong()

    def wrong(self) -> AwkSyntaxError:
        """Make the error of a word that may not stand where it does."""
        return AwkSyntaxError(f"syntax error at source line {self.word.line} near {self.word.text}")

    def skip_lines(self) -> None:
        """Pass over newlines."""
        while self.word.kind is Kind.NEWLINE:
            self.take()

    # --- precedences, the loosest first ----------

    def expression(self) -> Expression:
        """Read an expression. Raises AwkSyntaxError."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise AwkSyntaxError(f"expression nests too deep at source line {self.word.line}")
        try:
            return self._assignment()
        finally:
            self._depth -= 1

    def bare(self, *, gt: bool = True, into: bool = True) -> Expression:
        """Read an expression in which `>` or `in` have another meaning."""
        before = self._plain_gt, self._plain_in
        self._plain_gt, self._plain_in = gt, into
        try:
            return self.expression()
        finally:
            self._plain_gt, self._plain_in = before

    def listed(self, end: str) -> tuple[Expression, ...]:
        """Read expressions with commas between them, up to a mark, which is read too."""
        found: list[Expression] = []
        self.skip_lines()
        while not self.took(end):
            if found:
                self.need(",")
                self.skip_lines()
            found.append(self.bare())
            self.skip_lines()
        return tuple(found)

    def _assignment(self) -> Expression:
        left = self._choice()
        if self.word.kind is Kind.MARK and self.word.text in _ASSIGNS:
            if not isinstance(left, Name | Field | Item):
                raise self.wrong()
            operator = self.take().text[:-1]
            self.skip_lines()
            return Assign(operator, left, self.expression())
        return left

    def _choice(self) -> Expression:
        condition = self._or()
        if not self.took("?"):
            return condition
        self.skip_lines()
        yes = self.expression()
        self.skip_lines()
        self.need(":")
        self.skip_lines()
        return Choice(condition, yes, self.expression())

    def _or(self) -> Expression:
        left = self._and()
        while self.took("||"):
            self.skip_lines()
            left = Binary("||", left, self._and())
        return left

    def _and(self) -> Expression:
        left = self._contains()
        while self.took("&&"):
            self.skip_lines()
            left = Binary("&&", left, self._contains())
        return left

    def _contains(self) -> Expression:
        left = self._matches()
        while self._plain_in and self.took("in"):
            subscripts = left.items if isinstance(left, Listing) else (left,)
            left = Contains(subscripts, self._array())
        return left

    def _matches(self) -> Expression:
        left = self._comparison()
        while self.stands("~", "!~"):
            is_not = self.take().text == "!~"
            left = Matches(is_not, left, self._comparison())
        return left

    def _comparison(self) -> Expression:
        left = self._piped()
        if self.word.kind is Kind.MARK and self.word.text in _COMPARES:
            if self.word.text == ">" and not self._plain_gt:
                return left
            operator = self.take().text
            return Binary(operator, left, self._piped())
        return left

    def _piped(self) -> Expression:
        left = self._row()
        while self.stands("|") and self.ahead(1).text == "getline":
            self.take()
            self.take()
            left = Getline("|", self._maybe_target(), left)
        return left

    def _row(self) -> Expression:
        left = self._sum()
        while self.word.kind in _BEGINS_A_VALUE or self.stands("$", "(", "++", "--"):
            left = Binary("", left, self._sum())
        return left

    def _sum(self) -> Expression:
        left = self._product()
        while self.stands("+", "-"):
            operator = self.take().text
            left = Binary(operator, left, self._product())
        return left

    def _product(self) -> Expression:
        left = self._unary()
        while self.stands("*", "/", "%"):
            operator = self.take().text
            left = Binary(operator, left, self._unary())
        return left

    def _unary(self) -> Expression:
        for operator in ("!", "-", "+"):
            if self.took(operator):
                self._depth += 1
                if self._depth > DEEPEST:
                    raise self.wrong()
                try:
                    return Unary(operator, self._unary())
                finally:
                    self._depth -= 1
        return self._power()

    def _power(self) -> Expression:
        left = self._stepped()
        if self.took("^"):
            self._depth += 1
            if self._depth > DEEPEST:
                raise self.wrong()
            try:
                # To the right: 2^3^2 is 2^9; and a sign may stand before what it is raised to.
                return Binary("^", left, self._unary())
            finally:
                self._depth -= 1
        return left

    def _stepped(self) -> Expression:
        if self.stands("++", "--"):
            by = 1.0 if self.take().text == "++" else -1.0
            return Step(by, True, self.target())
        value = self.value()
        if isinstance(value, Name | Field | Item) and self.stands("++", "--"):
            return Step(1.0 if self.take().text == "++" else -1.0, False, value)
        return value

    # --- values ----------

    def target(self) -> Target:
        """Read something that can be assigned to. Raises AwkSyntaxError."""
        value = self.value()
        if not isinstance(value, Name | Field | Item):
            raise self.wrong()
        return value

    def value(self) -> Expression:
        """Read one value. Raises AwkSyntaxError."""
        word = self.word
        match word.kind:
            case Kind.NUMBER:
                text = self.take().text
                return Number(float(int(text, 16)) if text[:2] in ("0x", "0X") else float(text))
            case Kind.STRING:
                return Text(self.take().text)
            case Kind.REGEX:
                return Regex(self.take().text)
            case Kind.NAME:
                name = self.take().text
                return Item(name, self.listed("]")) if self.took("[") else Name(name)
            case Kind.FUNCTION:
                name = self.take().text
                self.need("(")
                return Call(name, self.listed(")"), True)
            case Kind.BUILTIN:
                return self._builtin()
            case _:
                return self._marked()

    def _builtin(self) -> Expression:
        name = self.take().text
        if not self.took("("):
            if name not in _NO_PARENTHESES:
                raise self.wrong()
            return Call(name, (), False)
        return Call(name, self.listed(")"), False)

    def _marked(self) -> Expression:
        if self.took("$"):
            if self.stands("++", "--", "-", "+", "!"):
                self._depth += 1
                if self._depth > DEEPEST:
                    raise self.wrong()
                try:
                    return Field(self._stepped() if self.stands("++", "--") else self._unary())
                finally:
                    self._depth -= 1
            return Field(self._nested())
        if self.took("("):
            items = self.listed(")")
            if not items:
                raise self.wrong()
            return Listing(items)
        if self.took("getline"):
            target = self._maybe_target()
            if self.took("<"):
                return Getline("<", target, self._stepped())
            return Getline("", target, None)
        raise self.wrong()

    def _nested(self) -> Expression:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self.wrong()
        try:
            return self.value()
        finally:
            self._depth -= 1

    def _maybe_target(self) -> Target | None:
        is_target = self.word.kind is Kind.NAME or self.stands("$")
        return self.target() if is_target else None

    def _array(self) -> str:
        if self.word.kind is not Kind.NAME:
            raise self.wrong()
        return self.take().text
