"""The `shell:` and `exec:` services: a command line over a stream, raw or framed (v2).

Not the shell itself. Invariant: when the peer closes the stream the command loses its streams
and is ended, as a real adbd's SIGHUP does.

Formats: packages/modules/adb, SERVICES.TXT and shell_protocol.h (id u8, length u32 LE, payload).
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from enum import IntEnum
from typing import Protocol

from virtual_phone.adbd.stream import Stream
from virtual_phone.adbd.terminal import Terminal
from virtual_phone.server.pipes import EmptySource, NullSink, Pipe
from virtual_phone.shell.call import Descriptors
from virtual_phone.shell.interpreter import Shell
from virtual_phone.shell.programs import signal_status
from virtual_phone.shell.session import Session
from virtual_phone.userland.userland import Userland

HUNG_UP = 129
INTERRUPTED = 130
HANG_UP_GRACE_S = 0.25
"""For a command to take in more of what the peer sent before it closed, as `adb exec-in` does."""
GRACE_STEPS = 5
"""How often it is looked whether it did: a busy machine gives the command a turn between two."""
TRAP_LIMIT_S = 2.0
FRAME_CHUNK_BYTES = 256 * 1024
GATHER_BYTES = 16 * 1024
GATHER_S = 0.001


class FrameId(IntEnum):
    """What a v2 frame carries."""

    STDIN = 0
    STDOUT = 1
    STDERR = 2
    EXIT = 3
    CLOSE_STDIN = 4
    WINDOW_SIZE = 5


def frame(kind: FrameId, payload: bytes) -> bytes:
    """Encode one v2 frame."""
    return bytes([kind]) + len(payload).to_bytes(4, "little") + payload


class FrameWriter:
    """The v2 frames of one shell, sent together when they come together.

    ADB lets one packet be in flight, so a short answer and its exit status in one packet save a
    round trip. Small frames wait at most `GATHER_S` for company.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._pending = bytearray()
        self._sending = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._flushing: asyncio.Task[None] | None = None

    async def write(self, kind: FrameId, data: bytes) -> None:
        """Take bytes of one kind; raise BrokenPipeError when the peer has left."""
        if self._stream.closed:
            raise BrokenPipeError("the adb peer has closed the stream")
        for start in range(0, len(data), FRAME_CHUNK_BYTES):
            self._pending += frame(kind, data[start : start + FRAME_CHUNK_BYTES])
            if len(self._pending) >= GATHER_BYTES:
                await self.flush()
        if self._pending and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GATHER_S, self._time_is_up)

    async def flush(self) -> None:
        """Send what was gathered."""
        async with self._sending:
            data, self._pending = bytes(self._pending), bytearray()
            if data:
                await self._stream.write(data)

    async def finish(self, status: int) -> None:
        """Send the rest and the exit status."""
        if self._timer is not None:
            self._timer.cancel()
        self._pending += frame(FrameId.EXIT, bytes([status & 0xFF]))
        with contextlib.suppress(BrokenPipeError):
            await self.flush()

    def _time_is_up(self) -> None:
        self._timer = None
        self._flushing = asyncio.create_task(self._flush_quietly())

    async def _flush_quietly(self) -> None:
        """Flush; a peer that has left is told to the next write."""
        with contextlib.suppress(BrokenPipeError, ConnectionError):
            await self.flush()


class FramedSink:
    """stdout or stderr of a v2 shell."""

    def __init__(self, writer: FrameWriter, kind: FrameId) -> None:
        self._writer = writer
        self._kind = kind

    async def write(self, data: bytes) -> None:
        """Send the bytes in frames; raise BrokenPipeError when the peer has left."""
        await self._writer.write(self._kind, data)


class InputPipe:
    """stdin of a v2 shell. Whoever waits for more has answered: what it wrote is sent first."""

    def __init__(self, writer: FrameWriter) -> None:
        self._pipe = Pipe()
        self._writer = writer

    async def read(self, limit: int = 65536) -> bytes:
        """Return up to `limit` bytes; b"" at the end."""
        if not self._pipe.size:
            await self._writer.flush()
        return await self._pipe.read(limit)

    async def read_line(self, limit: int) -> bytes:
        """Return a line with its end, or `limit` bytes; b"" at the end."""
        if not self._pipe.size:
            await self._writer.flush()
        return await self._pipe.read_line(limit)

    async def feed(self, data: bytes) -> None:
        """Take what the peer sends; raise BrokenPipeError without a reader."""
        await self._pipe.write(data)

    def end(self) -> None:
        """Take that the peer sends no more."""
        self._pipe.end()


async def serve_shell(userland: Userland, stream: Stream, arguments: list[str], line: str) -> None:
    """Serve `shell[,v2][,TERM=x][,raw|pty]:line`; an empty line is an interactive shell."""
    terminal = "pty" in arguments or (not line and "raw" not in arguments)
    term = next((word[5:] for word in arguments if word.startswith("TERM=")), "")
    if "v2" in arguments:
        await _serve_framed(userland, stream, line, terminal, term)
    else:
        await _serve_plain(userland, stream, line, terminal, term)


class Backlog(Protocol):
    """What a peer has sent that nobody has read yet."""

    @property
    def backlog_bytes(self) -> int: ...


async def serve_exec(userland: Userland, stream: Stream, line: str) -> None:
    """Serve `exec:line`: bytes both ways, stderr among stdout, no exit status."""
    await _serve_plain(userland, stream, line, False, "")


async def serve_words(
    userland: Userland, stream: Stream, words: list[str], *, framed: bool
) -> None:
    """Serve `abb:` (framed) and `abb_exec:`: one command by its words, without a shell."""
    line = " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
    await serve_shell(userland, stream, ["v2", "raw"] if framed else ["raw"], line)


async def _serve_plain(
    userland: Userland, stream: Stream, line: str, terminal: bool, term: str
) -> None:
    stream.accept()
    if terminal:
        tty = Terminal(stream)

        async def pump() -> None:
            while data := await stream.read():
                await tty.type(data)
            tty.hang_up()

        running = _run(userland, line, {0: tty, 1: tty, 2: tty}, tty, term)
        await _until_hang_up(stream, running, pump())
        return
    running = _run(userland, line, {0: stream, 1: stream, 2: stream}, None, term)
    # A real adbd gives such a command a terminal in raw mode, for its hang-up when the peer closes.
    await _until_hang_up(stream, running, _nothing(), grace_s=HANG_UP_GRACE_S)


async def _nothing() -> None:
    return None


async def _serve_framed(
    userland: Userland, stream: Stream, line: str, terminal: bool, term: str
) -> None:
    stream.accept()
    writer = FrameWriter(stream)
    stdout = FramedSink(writer, FrameId.STDOUT)
    if terminal:
        tty = Terminal(stdout)
        pump = _read_frames(stream, tty.type, tty.hang_up, tty.resize)
        running = _run(userland, line, {0: tty, 1: tty, 2: tty}, tty, term)
    else:
        stdin = InputPipe(writer)
        stderr = FramedSink(writer, FrameId.STDERR)
        pump = _read_frames(stream, stdin.feed, stdin.end, lambda _: None)
        running = _run(userland, line, {0: stdin, 1: stdout, 2: stderr}, None, term)
    status = await _until_hang_up(stream, running, pump)
    await writer.finish(status)


async def _read_frames(
    stream: Stream,
    feed: Callable[[bytes], Awaitable[None]],
    end: Callable[[], None],
    resize: Callable[[bytes], None],
) -> None:
    """Take what the peer sends until it closes; frames of unknown kinds are skipped."""
    while True:
        try:
            head = await stream.read_exactly(5)
            kind, length = head[0], int.from_bytes(head[1:], "little")
            while length:
                data = await stream.read(min(length, FRAME_CHUNK_BYTES))
                if not data:
                    raise EOFError
                length -= len(data)
                if kind == FrameId.STDIN:
                    with contextlib.suppress(BrokenPipeError):
                        await feed(data)
                elif kind == FrameId.WINDOW_SIZE:
                    resize(data)
        except EOFError:
            # The peer has left: a hang-up, which is not the end of the input.
            return
        if kind == FrameId.CLOSE_STDIN:
            end()


async def _until_hang_up(
    stream: Stream,
    running: Coroutine[None, None, int],
    pump: Coroutine[None, None, None],
    *,
    grace_s: float = 0.0,
) -> int:
    """Run the command until it ends, or until some time after the peer closes the stream."""
    command = asyncio.create_task(running)
    pumping = asyncio.create_task(pump)
    closed = asyncio.create_task(stream.wait_closed())
    everything = (command, pumping, closed)
    try:
        await asyncio.wait({command, closed}, return_when=asyncio.FIRST_COMPLETED)
        if grace_s:
            await take_in(stream, command, grace_s)
        return command.result() if command.done() else HUNG_UP
    finally:
        for task in everything:
            task.cancel()
        await asyncio.gather(*everything, return_exceptions=True)


async def take_in(stream: Backlog, command: asyncio.Future[int], grace_s: float) -> None:
    """Let a command read on after the peer has closed, until it reads no more for a while."""
    left, idle_steps = stream.backlog_bytes, 0
    while not command.done() and idle_steps < GRACE_STEPS:
        await asyncio.wait({command}, timeout=grace_s / GRACE_STEPS)
        before, left = left, stream.backlog_bytes
        idle_steps = 0 if left < before else idle_steps + 1


async def _run(
    userland: Userland, line: str, descriptors: Descriptors, tty: Terminal | None, term: str
) -> int:
    shell = Shell(userland, terminal=tty is not None)
    if term:
        shell.variables["TERM"] = term
        shell.exported.add("TERM")
    if not line:
        return await Session(shell, descriptors, tty).run()
    await userland.faults.before_shell(line)
    task = asyncio.ensure_future(shell.run_text(line, descriptors))
    shell.register(shell.pid, "sh", f"sh -c {line}"[:1000], task)
    if tty is not None:
        tty.foreground = task
    try:
        status = await task
    except asyncio.CancelledError as cancelled:
        if not task.cancelled() or _being_cancelled():
            task.cancel()
            await _trap_hang_up(shell)
            raise
        status = signal_status(cancelled) if cancelled.args else INTERRUPTED
    await shell.wait_jobs()
    return status


async def _trap_hang_up(shell: Shell) -> None:
    """Run what the shell's line wants to have run when it loses its peer."""
    action = shell.traps.pop("HUP", "")
    if action:
        nothing: Descriptors = {0: EmptySource(), 1: NullSink(), 2: NullSink()}
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(TRAP_LIMIT_S):
                await shell.run_text(action, nothing)


def _being_cancelled() -> bool:
    own = asyncio.current_task()
    return own is not None and own.cancelling() > 0
