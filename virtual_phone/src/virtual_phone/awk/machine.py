"""Evaluate awk's expressions.

Not its statements (`virtual_phone.awk.running`), its own functions (`virtual_phone.awk.functions`)
and its memory. Invariant: other phones of the process get their turn however long a program goes
on.
"""

from __future__ import annotations

import asyncio
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import assert_never

from virtual_phone.awk.functions import Functions
from virtual_phone.awk.memory import Array, Cell, Memory
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
    Program,
    Regex,
    Step,
    Target,
    Text,
    Unary,
)
from virtual_phone.awk.patterns import found_in
from virtual_phone.awk.streams import Streams
from virtual_phone.awk.values import (
    AwkError,
    Input,
    Value,
    bounded,
    compared,
    is_true,
    number_of,
    text_of,
    whole_of,
)

_TURN = 256
"""How much is done before others get their turn."""


class Machine(ABC):
    """Evaluates expressions over a memory and streams."""

    def __init__(self, program: Program, memory: Memory, streams: Streams) -> None:
        self.program = program
        self.memory = memory
        self.streams = streams
        self.functions = Functions(memory)
        self._done = 0

    @abstractmethod
    async def run_function(self, name: str, cells: dict[str, Cell]) -> Value:
        """Run a function of the program's."""

    @abstractmethod
    async def next_record(self) -> str | None:
        """Return the next record of what is read anyway; None at the end."""

    async def turn(self) -> None:
        """Count one thing done."""
        self._done += 1
        if self._done % _TURN == 0:
            await asyncio.sleep(0)

    async def value(self, node: Expression) -> Value:
        """Evaluate an expression. Raises AwkError."""
        match node:
            case Number(value=number):
                return number
            case Text(value=text):
                return text
            case Name(name=name):
                return self.memory.get(name)
            case Field(number=number_of_field):
                return self.memory.field(whole_of(await self.value(number_of_field)))
            case Regex(pattern=pattern):
                return float(found_in(self.memory.record(), pattern) is not None)
            case Item():
                array = self.memory.array(node.array)
                key = await self.key(node.subscripts)
                if key not in array:
                    self.memory.put(array, key, None)
                return array[key]
            case Binary():
                return await self._binary(node)
            case Assign():
                return await self._assign(node)
            case Step():
                before = number_of(await self.value(node.target))
                await self.assign(node.target, before + node.by)
                return before + node.by if node.is_before else before
            case Unary():
                value = await self.value(node.of)
                if node.operator == "!":
                    return float(not is_true(value))
                return -number_of(value) if node.operator == "-" else number_of(value)
            case Matches():
                text = text_of(await self.value(node.left), self.form)
                pattern = await self.pattern(node.right)
                return float((found_in(text, pattern) is not None) is not node.is_not)
            case Choice():
                yes = is_true(await self.value(node.condition))
                return await self.value(node.yes if yes else node.no)
            case Contains():
                key = await self.key(node.subscripts)
                return float(key in self.memory.array(node.array))
            case Listing(items=items):
                if len(items) != 1:
                    raise AwkError("a list in parentheses is no value")
                return await self.value(items[0])
            case Call():
                await self.turn()
                return await (self._call(node) if node.is_own else self._builtin(node))
            case Getline():
                return await self._getline(node)
            case _:
                assert_never(node)

    @property
    def form(self) -> str:
        """How numbers become text."""
        return self.memory.text("CONVFMT")

    async def text(self, node: Expression) -> str:
        """Evaluate an expression as text."""
        return text_of(await self.value(node), self.form)

    async def pattern(self, node: Expression) -> str:
        """Evaluate an expression where a regular expression stands."""
        return node.pattern if isinstance(node, Regex) else await self.text(node)

    async def key(self, subscripts: Sequence[Expression]) -> str:
        """Return the key of an item: a whole number as such, several with SUBSEP between."""
        said = [await self.text(one) for one in subscripts]
        return bounded(said[0] if len(said) == 1 else self.memory.text("SUBSEP").join(said))

    async def assign(self, target: Target, value: Value) -> None:
        """Set a variable, a field or an item. Raises AwkError."""
        match target:
            case Name(name=name):
                self.memory.set(name, value)
            case Field(number=number):
                self.memory.set_field(whole_of(await self.value(number)), value)
            case Item():
                array = self.memory.array(target.array)
                self.memory.put(array, await self.key(target.subscripts), value)
            case _:
                assert_never(target)

    async def _assign(self, node: Assign) -> Value:
        value = await self.value(node.value)
        if node.operator:
            before = number_of(await self.value(node.target))
            value = arithmetic(node.operator, before, number_of(value))
        await self.assign(node.target, value)
        return value

    async def _binary(self, node: Binary) -> Value:
        left = await self.value(node.left)
        match node.operator:
            case "&&":
                return float(is_true(left) and is_true(await self.value(node.right)))
            case "||":
                return float(is_true(left) or is_true(await self.value(node.right)))
            case _:
                pass
        right = await self.value(node.right)
        match node.operator:
            case "":
                return bounded(text_of(left, self.form) + text_of(right, self.form))
            case "<":
                return float(compared(left, right, self.form) < 0)
            case "<=":
                return float(compared(left, right, self.form) <= 0)
            case "==":
                return float(compared(left, right, self.form) == 0)
            case "!=":
                return float(compared(left, right, self.form) != 0)
            case ">":
                return float(compared(left, right, self.form) > 0)
            case ">=":
                return float(compared(left, right, self.form) >= 0)
            case _:
                return arithmetic(node.operator, number_of(left), number_of(right))

    async def _call(self, node: Call) -> Value:
        function = self.program.functions.get(node.name)
        if function is None:
            raise AwkError(f"calling undefined function {node.name}")
        if len(node.arguments) > len(function.parameters):
            raise AwkError(f"function {node.name} called with {len(node.arguments)} args")
        cells = {name: Cell() for name in function.parameters}
        for name, argument in zip(function.parameters, node.arguments, strict=False):
            if isinstance(argument, Name) and argument.name != "NF":
                given = self.memory.cell(argument.name)
                # What is nothing yet may become an array in there.
                cells[name] = Cell(given.value, given)
            else:
                cells[name] = Cell(await self.value(argument))
        return await self.run_function(node.name, cells)

    async def _builtin(self, node: Call) -> Value:
        name, arguments = node.name, node.arguments
        match name:
            case "system":
                return float(await self.streams.system(await self.text(_only(node))))
            case "close":
                return float(await self.streams.close(await self.text(_only(node))))
            case "fflush":
                await self.streams.flush()
                return 0.0
            case "length" if len(arguments) == 1 and isinstance(arguments[0], Name):
                held = self.memory.cell(arguments[0].name).value
                if isinstance(held, dict):
                    return float(len(held))
            case "split":
                return await self._split(node)
            case "sub" | "gsub":
                return await self._substitute(node)
            case "match":
                text, pattern = await self._text_and_pattern(node)
                return self.functions.match(text, pattern)
            case _:
                pass
        return self.functions.call(name, [await self.value(one) for one in arguments])

    async def _text_and_pattern(self, node: Call) -> tuple[str, str]:
        if len(node.arguments) != 2:
            raise AwkError(f"{node.name} needs two arguments")
        return await self.text(node.arguments[0]), await self.pattern(node.arguments[1])

    async def _split(self, node: Call) -> Value:
        if not 2 <= len(node.arguments) <= 3 or not isinstance(node.arguments[1], Name):
            raise AwkError("split needs a text and an array")
        text = await self.text(node.arguments[0])
        separator = self.memory.text("FS")
        if len(node.arguments) == 3:
            separator = await self.pattern(node.arguments[2])
        array: Array = self.memory.array(node.arguments[1].name)
        return self.functions.split(text, array, separator)

    async def _substitute(self, node: Call) -> Value:
        if not 2 <= len(node.arguments) <= 3:
            raise AwkError(f"{node.name} needs a pattern and a text")
        pattern = await self.pattern(node.arguments[0])
        replacement = await self.text(node.arguments[1])
        target = node.arguments[2] if len(node.arguments) == 3 else Field(Number(0.0))
        before = await self.text(target)
        after, count = self.functions.substitute(
            pattern, replacement, before, every=node.name == "gsub"
        )
        if count and isinstance(target, Name | Field | Item):
            await self.assign(target, after)
        return float(count)

    async def _getline(self, node: Getline) -> Value:
        await self.turn()
        if node.source is None:
            record = await self.next_record()
            counted: tuple[str, ...] = ()
        else:
            records = await self.streams.source(node.kind, await self.text(node.source))
            if records is None:
                return -1.0
            record = await records.next(self.memory.text("RS"))
            counted = ("NR", "FNR") if node.kind == "|" else ()
        if record is None:
            return 0.0
        self.memory.count(*counted)
        if node.target is None:
            self.memory.set_record(record)
        else:
            await self.assign(node.target, Input(record))
        return 1.0


def arithmetic(operator: str, left: float, right: float) -> float:
    """Calculate. Raises AwkError: a division by zero."""
    try:
        match operator:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case "/":
                return left / right
            case "%":
                return math.fmod(left, right)
            case _:
                raised = left**right
                return raised if isinstance(raised, float) else math.nan
    except ZeroDivisionError as error:
        raise AwkError("division by zero") from error
    except OverflowError:
        return math.inf
    except ValueError as error:
        if operator == "%" and right == 0:
            raise AwkError("division by zero in %") from error
        return math.nan


def _only(node: Call) -> Expression:
    if len(node.arguments) != 1:
        raise AwkError(f"{node.name} needs one argument")
    return node.arguments[0]
