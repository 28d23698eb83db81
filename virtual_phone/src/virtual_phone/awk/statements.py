"""Read the rules, functions and statements of an awk program.

Not the expressions (`virtual_phone.awk.expressions`). Invariant: a program is read whole before any
of it runs.
"""

from __future__ import annotations

from typing import Literal, cast

from virtual_phone.awk.expressions import DEEPEST, Expressions
from virtual_phone.awk.nodes import (
    Block,
    Delete,
    Evaluate,
    Expression,
    ForIn,
    Function,
    If,
    Leave,
    Listing,
    Loop,
    Print,
    Program,
    Rule,
    Statement,
)
from virtual_phone.awk.words import AwkSyntaxError, Kind, words_of

_NOTHING = Block(())
_LEAVES = ("next", "nextfile", "exit", "return", "break", "continue")


def program_of(text: str) -> Program:
    """Read a program. Raises AwkSyntaxError."""
    return _Statements(words_of(text)).program()


class _Statements(Expressions):
    _nesting = 0

    def program(self) -> Program:
        program = Program()
        self._end_of_rule()
        while self.word.kind is not Kind.END:
            self._rule(program)
            self._end_of_rule()
        return program

    def _end_of_rule(self) -> None:
        while self.word.kind is Kind.NEWLINE or self.stands(";"):
            self.take()

    def _rule(self, program: Program) -> None:
        if self.took("BEGIN"):
            program.begin.append(self._block())
        elif self.took("END"):
            program.end.append(self._block())
        elif self.took("function"):
            self._function(program)
        elif self.stands("{"):
            program.rules.append(Rule(None, None, self._block()))
        else:
            pattern, until = self.expression(), None
            if self.took(","):
                self.skip_lines()
                until = self.expression()
            action = self._block() if self.stands("{") else None
            program.rules.append(Rule(pattern, until, action))

    def _function(self, program: Program) -> None:
        if self.word.kind not in (Kind.NAME, Kind.FUNCTION):
            raise self.wrong()
        name = self.take().text
        self.need("(")
        parameters: list[str] = []
        while not self.took(")"):
            if parameters:
                self.need(",")
                self.skip_lines()
            if self.word.kind is not Kind.NAME:
                raise self.wrong()
            parameters.append(self.take().text)
        self.skip_lines()
        program.functions[name] = Function(tuple(parameters), self._block())

    def _block(self) -> Block:
        self.skip_lines()
        self.need("{")
        found: list[Statement] = []
        while True:
            self._end_of_rule()
            if self.took("}"):
                return Block(tuple(found))
            found.append(self._statement())

    def _body(self) -> Statement:
        """Read what a condition or a loop is about, on this line or the next."""
        self.skip_lines()
        if self.took(";"):
            return _NOTHING
        return self._statement()

    def _statement(self) -> Statement:
        self._nesting += 1
        if self._nesting > DEEPEST:
            raise AwkSyntaxError(f"statement nests too deep at source line {self.word.line}")
        try:
            if self.stands("{"):
                return self._block()
            for keyword, read in (
                ("if", self._if),
                ("while", self._while),
                ("do", self._do),
                ("for", self._for),
            ):
                if self.took(keyword):
                    return read()
            statement = self._simple()
            self._end_of_statement()
            return statement
        finally:
            self._nesting -= 1

    def _end_of_statement(self) -> None:
        if self.took(";") or self.word.kind is Kind.NEWLINE or self.stands("}"):
            return
        if self.word.kind is not Kind.END:
            raise self.wrong()

    def _simple(self) -> Statement:
        if self.stands("print", "printf"):
            return self._print()
        if self.took("delete"):
            array = self._array()
            return Delete(array, self.listed("]") if self.took("[") else None)
        if self.stands(*_LEAVES):
            kind = self.take().text
            value = None
            if kind in ("exit", "return") and not self._is_over():
                value = self.expression()
            return Leave(
                cast(Literal["next", "nextfile", "exit", "return", "break", "continue"], kind),
                value,
            )
        return Evaluate(self.expression())

    def _is_over(self) -> bool:
        return self.word.kind in (Kind.NEWLINE, Kind.END) or self.stands(";", "}")

    def _print(self) -> Print:
        is_formatted = self.take().text == "printf"
        arguments: list[Expression] = []
        while not self._is_over() and not self.stands(">", ">>", "|"):
            if arguments:
                self.need(",")
                self.skip_lines()
            arguments.append(self.bare(gt=False))
        if len(arguments) == 1 and isinstance(arguments[0], Listing):
            arguments = list(arguments[0].items)
        if is_formatted and not arguments:
            raise self.wrong()
        if not self.stands(">", ">>", "|"):
            return Print(tuple(arguments), is_formatted, "", None)
        redirect = cast(Literal[">", ">>", "|"], self.take().text)
        return Print(tuple(arguments), is_formatted, redirect, self._row())

    def _condition(self) -> Expression:
        self.need("(")
        condition = self.bare()
        self.need(")")
        return condition

    def _if(self) -> Statement:
        condition = self._condition()
        yes = self._body()
        before = self._at
        self._end_of_rule()
        if self.took("else"):
            return If(condition, yes, self._body())
        self._at = before
        return If(condition, yes, None)

    def _while(self) -> Statement:
        condition = self._condition()
        return Loop(condition, self._body())

    def _do(self) -> Statement:
        body = self._body()
        self._end_of_rule()
        self.need("while")
        loop = Loop(self._condition(), body, is_do=True)
        self._end_of_statement()
        return loop

    def _goes_over_an_array(self) -> bool:
        next_words = (self.word, self.ahead(1), self.ahead(2), self.ahead(3))
        kinds = [word.kind for word in next_words]
        is_in = next_words[1].text == "in" and next_words[3].text == ")"
        return is_in and kinds[0] is Kind.NAME and kinds[2] is Kind.NAME

    def _for(self) -> Statement:
        self.need("(")
        if self._goes_over_an_array():
            name = self.take().text
            self.take()
            array = self._array()
            self.need(")")
            return ForIn(name, array, self._body())
        first = None if self.stands(";") else self._simple()
        self.need(";")
        self.skip_lines()
        condition = None if self.stands(";") else self.bare()
        self.need(";")
        self.skip_lines()
        after = None if self.stands(")") else self._simple()
        self.need(")")
        loop = Loop(condition, self._body(), after)
        return loop if first is None else Block((first, loop))
