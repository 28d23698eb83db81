"""Where an awk program reads and writes: files, commands, and what it is given.

Not the program. Invariants: what was printed is written before anything is waited for; a command's
output is bounded; what a command is to read is given to it when its pipe is closed.
"""

from __future__ import annotations

from virtual_phone.awk.records import Records
from virtual_phone.awk.values import MOST_CHARS, AwkError
from virtual_phone.server.pipes import EmptySource, Sink, Source
from virtual_phone.shell.call import Call, Descriptors, decode

_WAITING_BYTES = 16 * 1024
MOST_OPEN = 256


class _Held:
    """Bytes to be read, and bytes that were written."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = bytearray(data)

    async def read(self, limit: int = 65536) -> bytes:
        found = bytes(self.data[:limit])
        del self.data[:limit]
        return found

    async def write(self, data: bytes) -> None:
        if len(self.data) + len(data) > MOST_CHARS:
            raise BrokenPipeError("a command wrote more than awk reads")
        self.data += data


class Streams:
    """The open files and commands of one run.

    Args:
        call: of the command.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self._waiting = bytearray()
        self._sinks: dict[str, Sink] = {}
        self._commands: dict[str, _Held] = {}
        self._read: dict[tuple[str, str], Records] = {}

    def records(self, source: Source) -> Records:
        """Return the records of a source; what was printed is written before it is read."""
        return Records(_Flushing(self, source))

    def opened(self, path: str) -> Records | None:
        """Open a file by its name; None where it cannot be read."""
        try:
            return self.records(self._call.open_source(decode(path.encode("latin-1", "replace"))))
        except OSError:
            return None

    async def write(self, text: str) -> None:
        """Write to stdout, soon."""
        self._waiting += text.encode("latin-1", "replace")
        if len(self._waiting) >= _WAITING_BYTES or self._call.terminal:
            await self.flush()

    async def flush(self) -> None:
        """Write what waits to stdout. Raises BrokenPipeError."""
        if self._waiting:
            data = bytes(self._waiting)
            self._waiting.clear()
            await self._call.stdout.write(data)

    async def redirect(self, kind: str, to: str, text: str) -> None:
        """Write to a file, or into a command. Raises AwkError."""
        data = text.encode("latin-1", "replace")
        if kind == "|":
            self._check_room(to not in self._commands)
            await self._commands.setdefault(to, _Held()).write(data)
            return
        sink = self._sinks.get(to)
        if sink is None:
            self._check_room(True)
            path = decode(to.encode("latin-1", "replace"))
            try:
                sink = self._call.open_sink(path, append=kind == ">>", truncate=kind == ">")
            except OSError as error:
                raise AwkError(f"can't redirect to {to}") from error
            self._sinks[to] = sink
        if sink is self._call.stdout:
            await self.flush()
        try:
            await sink.write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise AwkError(f"write error on {to}: {error.strerror}") from error

    async def source(self, kind: str, name: str) -> Records | None:
        """Return what `getline` reads from a file or a command; None if there is no such file."""
        found = self._read.get((kind, name))
        if found is None:
            self._check_room(True)
            if kind == "|":
                out = _Held()
                await self._run(name, EmptySource(), out)
                found = self.records(out)
            else:
                found = self.opened(name)
                if found is None:
                    return None
            self._read[kind, name] = found
        return found

    async def system(self, command: str) -> int:
        """Run a command with this one's streams; returns its status."""
        return await self._run(command, self._call.stdin, self._call.stdout)

    async def close(self, name: str) -> int:
        """Close what is open by a name; −1 where nothing is."""
        status = -1
        for kind in ("<", "|"):
            if self._read.pop((kind, name), None) is not None:
                status = 0
        if self._sinks.pop(name, None) is not None:
            status = 0
        given = self._commands.pop(name, None)
        if given is not None:
            status = await self._run(name, given, self._call.stdout)
        return status

    async def end(self) -> None:
        """Write what waits, and give the commands what they are to read."""
        await self.flush()
        for name in tuple(self._commands):
            await self.close(name)

    async def _run(self, command: str, stdin: Source, stdout: Sink) -> int:
        await self.flush()
        words = ["sh", "-c", decode(command.encode("latin-1", "replace"))]
        streams: Descriptors = {0: stdin, 1: stdout, 2: self._call.stderr}
        return await self._call.shell.run_argv(words, streams, functions=False)

    def _check_room(self, is_new: bool) -> None:
        if is_new and len(self._sinks) + len(self._commands) + len(self._read) >= MOST_OPEN:
            raise AwkError("too many open files")


class _Flushing:
    """A source before whose reading all that was printed is written."""

    def __init__(self, streams: Streams, source: Source) -> None:
        self._streams = streams
        self._source = source

    async def read(self, limit: int = 65536) -> bytes:
        await self._streams.flush()
        return await self._source.read(limit)
