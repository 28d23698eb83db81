"""Run an awk program: its rules over the records of what it is given, and its statements.

Not the expressions (`virtual_phone.awk.machine`). Invariants: `END` is run also after an `exit`,
but not after one in `BEGIN`; an assignment among the files takes place when its turn comes.
"""

from __future__ import annotations

import re
from typing import assert_never

from virtual_phone.awk.machine import Machine
from virtual_phone.awk.memory import Cell, Memory
from virtual_phone.awk.nodes import (
    Block,
    Delete,
    Evaluate,
    ForIn,
    If,
    Leave,
    Loop,
    Print,
    Program,
    Rule,
    Statement,
)
from virtual_phone.awk.records import Records
from virtual_phone.awk.streams import Streams
from virtual_phone.awk.values import AwkError, Input, Value, formatted, is_true, text_of, whole_of
from virtual_phone.awk.words import unescaped
from virtual_phone.server.pipes import Source

ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL | re.ASCII)


class _Leaving(Exception):
    """What a statement ends."""

    def __init__(self, kind: str, value: Value = None) -> None:
        super().__init__(kind)
        self.kind = kind
        self.value = value


class Run(Machine):
    """One run of a program.

    Args:
        stdin: what is read where no file is named.
    """

    def __init__(self, program: Program, memory: Memory, streams: Streams, stdin: Source) -> None:
        super().__init__(program, memory, streams)
        self._stdin = stdin
        self._records: Records | None = None
        self._argument = 1
        self._has_read = False
        self._inside: set[int] = set()
        """The rules whose range has begun."""
        self._status = 0

    async def run(self) -> int:
        """Run it to its end; returns its status. Raises AwkError."""
        program = self.program
        if await self._went_on(program.begin):
            if program.rules or program.end:
                await self._read_all()
            await self._went_on(program.end)
        await self.streams.end()
        return self._status

    async def _went_on(self, blocks: list[Block]) -> bool:
        """Run blocks; False when one of them exits."""
        try:
            for block in blocks:
                await self.execute(block)
        except _Leaving as leaving:
            self._take_exit(leaving)
            return False
        return True

    def _take_exit(self, leaving: _Leaving) -> None:
        if leaving.kind != "exit":
            raise AwkError(f"{leaving.kind} is illegal here") from leaving
        if leaving.value is not None:
            self._status = whole_of(leaving.value) & 0xFF

    async def _read_all(self) -> None:
        try:
            while (record := await self.next_record()) is not None:
                self.memory.set_record(record)
                await self._one_record()
        except _Leaving as leaving:
            self._take_exit(leaving)

    async def _one_record(self) -> None:
        try:
            for number, rule in enumerate(self.program.rules):
                if await self._applies(number, rule):
                    if rule.action is None:
                        await self.streams.write(self.memory.record() + self.memory.text("ORS"))
                    else:
                        await self.execute(rule.action)
        except _Leaving as leaving:
            if leaving.kind == "nextfile":
                self._records = None
                self._argument += 1
            elif leaving.kind != "next":
                raise

    async def _applies(self, number: int, rule: Rule) -> bool:
        if rule.pattern is None:
            return True
        if rule.until is None:
            return is_true(await self.value(rule.pattern))
        if number not in self._inside:
            if not is_true(await self.value(rule.pattern)):
                return False
            self._inside.add(number)
        if is_true(await self.value(rule.until)):
            self._inside.discard(number)
        return True

    async def next_record(self) -> str | None:
        """Return the next record of the files that are named, else of stdin."""
        while True:
            if self._records is None and not await self._open_next():
                return None
            assert self._records is not None
            record = await self._records.next(self.memory.text("RS"))
            if record is not None:
                self.memory.count("NR", "FNR")
                return record
            self._records = None
            self._argument += 1

    async def _open_next(self) -> bool:
        arguments = self.memory.array("ARGV")
        while self._argument < whole_of(self.memory.get("ARGC")):
            word = text_of(arguments.get(str(self._argument)))
            assigned = ASSIGNMENT.fullmatch(word)
            if assigned is not None:
                self.memory.set(assigned.group(1), Input(unescaped(assigned.group(2))))
            elif word:
                self._begin(word, self._opened(word))
                return True
            self._argument += 1
        if self._has_read:
            return False
        self._begin("", self.streams.records(self._stdin))
        return True

    def _opened(self, path: str) -> Records:
        found = self.streams.records(self._stdin) if path == "-" else self.streams.opened(path)
        if found is None:
            raise AwkError(f"can't open file {path}")
        return found

    def _begin(self, name: str, records: Records) -> None:
        self._records, self._has_read = records, True
        self.memory.set("FILENAME", name)
        self.memory.set("FNR", 0.0)

    # --- statements ----------

    async def execute(self, node: Statement) -> None:
        """Run one statement. Raises AwkError."""
        await self.turn()
        match node:
            case Evaluate():
                await self.value(node.expression)
            case Block():
                for statement in node.statements:
                    await self.execute(statement)
            case Print():
                await self._print(node)
            case If():
                if is_true(await self.value(node.condition)):
                    await self.execute(node.yes)
                elif node.no is not None:
                    await self.execute(node.no)
            case Loop():
                await self._loop(node)
            case ForIn():
                await self._for_in(node)
            case Delete():
                array = self.memory.array(node.array)
                if node.subscripts is None:
                    self.memory.empty(array)
                else:
                    self.memory.drop(array, await self.key(node.subscripts))
            case Leave():
                value = None if node.value is None else await self.value(node.value)
                raise _Leaving(node.kind, value)
            case _:
                assert_never(node)

    async def _print(self, node: Print) -> None:
        if node.is_formatted:
            form, *given = [await self.value(one) for one in node.arguments]
            text = formatted(text_of(form, self.form), given)
        elif node.arguments:
            form_out = self.memory.text("OFMT")
            said = [text_of(await self.value(one), form_out) for one in node.arguments]
            text = self.memory.text("OFS").join(said) + self.memory.text("ORS")
        else:
            text = self.memory.record() + self.memory.text("ORS")
        if node.to is None:
            await self.streams.write(text)
        else:
            await self.streams.redirect(node.redirect, await self.text(node.to), text)

    async def _loop(self, node: Loop) -> None:
        is_first = node.is_do
        while is_first or node.condition is None or is_true(await self.value(node.condition)):
            is_first = False
            await self.turn()
            if not await self._round(node.body):
                return
            if node.after is not None:
                await self.execute(node.after)

    async def _for_in(self, node: ForIn) -> None:
        array = self.memory.array(node.array)
        for key in tuple(array):
            if key in array:
                self.memory.set(node.name, Input(key))
                if not await self._round(node.body):
                    return

    async def _round(self, body: Statement) -> bool:
        """Run a loop's body once; False when it breaks off."""
        try:
            await self.execute(body)
        except _Leaving as leaving:
            if leaving.kind not in ("break", "continue"):
                raise
            return leaving.kind == "continue"
        return True

    async def run_function(self, name: str, cells: dict[str, Cell]) -> Value:
        """Run a function of the program's to its end, or to its `return`."""
        self.memory.enter(cells)
        try:
            await self.execute(self.program.functions[name].body)
        except _Leaving as leaving:
            if leaving.kind != "return":
                raise
            return leaving.value
        finally:
            self.memory.leave()
        return None
