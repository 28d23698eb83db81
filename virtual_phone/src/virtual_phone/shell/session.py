"""A shell that reads its commands from stdin, line after line: interactive or fed by a pipe.

Not the terminal. Invariant: a line that is only half a command waits for the rest; what does not
parse is reported and the session goes on.
"""

import asyncio
import contextlib
from typing import Protocol, runtime_checkable

from virtual_phone.server.pipes import as_sink, as_source
from virtual_phone.shell.call import Descriptors, decode, encode
from virtual_phone.shell.flow import SHELL_NAME, ExitShell, LeaveFunction, LeaveLoop
from virtual_phone.shell.interpreter import Shell
from virtual_phone.shell.parser import ShellSyntaxError, parse
from virtual_phone.shell.syntax import Script

MAX_INPUT_BYTES = 1024 * 1024
_INCOMPLETE = ("syntax error: unexpected EOF", "no closing quote", "no closing brace")


class Foreground(Protocol):
    """The terminal, which can interrupt what runs in the foreground."""

    foreground: asyncio.Future[int] | None


@runtime_checkable
class Lines(Protocol):
    """Input that can give a whole line and no byte more: commands read on from there."""

    async def read_line(self, limit: int) -> bytes:
        """Return a line with its end, or `limit` bytes; b"" at the end."""
        ...


class Session:
    """Commands from stdin until its end or `exit`."""

    def __init__(self, shell: Shell, descriptors: Descriptors, tty: Foreground | None) -> None:
        self._shell = shell
        self._descriptors = descriptors
        self._tty = tty
        self._stdin = as_source(descriptors.get(0))
        self._stdout = as_sink(descriptors.get(1))
        self._stderr = as_sink(descriptors.get(2))

    async def run(self) -> int:
        """Read and run commands; return the last exit status."""
        pending = ""
        while True:
            await self._prompt(pending)
            line = await self._line()
            if line is None:
                if pending:
                    await self._stderr.write(
                        encode(f"{SHELL_NAME}: syntax error: unexpected EOF\n")
                    )
                    self._shell.status = 1
                break
            pending += line
            try:
                script = parse(pending)
            except ShellSyntaxError as error:
                if error.message.startswith(_INCOMPLETE) and len(pending) < MAX_INPUT_BYTES:
                    continue
                pending = ""
                await self._stderr.write(encode(f"{SHELL_NAME}: {error.message}\n"))
                self._shell.status = 1
                continue
            text, pending = pending, ""
            await self._shell.userland.faults.before_shell(text)
            try:
                await self._run(script)
            except ExitShell as leaving:
                return leaving.status
        if self._tty is not None:
            await self._stdout.write(b"\n")
        await self._shell.wait_jobs()
        return self._shell.status

    async def _prompt(self, pending: str) -> None:
        if self._tty is not None:
            sign = "#" if self._shell.userland.files.uid == 0 else "$"
            host = self._shell.variables.get("HOSTNAME", "")
            await self._stdout.write(
                encode("> " if pending else f"{host}:{self._shell.cwd} {sign} ")
            )

    async def _line(self) -> str | None:
        if isinstance(self._stdin, Lines):
            given = await self._stdin.read_line(MAX_INPUT_BYTES)
            return decode(given) if given else None
        line = bytearray()
        while len(line) < MAX_INPUT_BYTES:
            byte = await self._stdin.read(1)
            if not byte:
                return decode(bytes(line)) if line else None
            line += byte
            if byte == b"\n":
                break
        return decode(bytes(line))

    async def _run(self, script: Script) -> None:
        task = asyncio.ensure_future(self._shell.run_script(script, self._descriptors))
        if self._tty is not None:
            self._tty.foreground = task
        try:
            with contextlib.suppress(LeaveFunction, LeaveLoop):
                self._shell.status = await task
        except asyncio.CancelledError:
            own = asyncio.current_task()
            if own is not None and own.cancelling():
                task.cancel()
                raise
            self._shell.status = 130
        finally:
            if self._tty is not None:
                self._tty.foreground = None
