"""Throw random and mutated ADB packets and shell lines at a served phone.

`python -m support.fuzz --seconds 60 [--seed N]`; the test suite runs a short form with fixed
seeds, and so does `.ci/run` with one for a minute: new seeds are for a desk. A round is one
connection, chosen by the seed and the round's number alone, so a failure is repeated by both. It
fails when the phone raises, logs an error, answers a good peer no more, keeps something of a peer
that has gone, holds up its loop, or grows without bound; bounds are far from what a busy machine
takes.
"""

import argparse
import asyncio
import contextlib
import faulthandler
import gc
import logging
import random
import struct
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from pathlib import Path

from virtual_phone.adbd import wire
from virtual_phone.adbd.wire import Command
from virtual_phone.server.serve import PhoneHost
from virtual_phone.server.served_phone import ServedPhone
from virtual_phone.shell.call import TABLE
from virtual_phone.userland.processes import FIRST_PID

LINE_S = 0.25  # How long a shell line may go on until its peer hangs up.
ANSWER_S = 60.0
"""How long a good peer waits, and how long something may be left of one that has gone."""
HUNG_S = 3 * ANSWER_S
MOST_GROWTH_KB = 192 * 1024
CHECK_EVERY = 50
BANNER = b"host::features=shell_v2,cmd,stat_v2,ls_v2,sendrecv_v2"

SERVICES = (
    b"shell:echo hi",
    b"shell,v2,raw:cat",
    b"shell,v2,TERM=xterm,pty:sh",
    b"exec:screencap -p",
    b"sync:",
    b"framebuffer:",
    b"reverse:list-forward",
    b"reverse:forward:tcp:0;tcp:1",
    b"reverse:killforward-all",
    b"localabstract:virtual-phone-state",
    b"localfilesystem:/x",
    b"tcp:9008",
    b"track-jdwp",
    b"jdwp:1",
    b"track-app",
    b"abb_exec:package\0list",
    b"abb:x",
    b"sink:100",
    b"source:100000",
    b"dev:/dev/null",
    b"root:",
    b"remount:",
    b"unroot:",
    b"",
)
SYNC_WORDS = (
    b"STAT",
    b"STA2",
    b"LST2",
    b"LIST",
    b"LIS2",
    b"SEND",
    b"SND2",
    b"RECV",
    b"RCV2",
    b"DATA",
    b"DONE",
    b"QUIT",
    b"OKAY",
    b"FAIL",
)
PIECES = (
    ";",
    "&&",
    "||",
    "|",
    "&",
    ">",
    ">>",
    "<",
    "2>&1",
    "<<E\n",
    "\n",
    "'",
    '"',
    "`",
    "$(",
    ")",
    "(",
    "{",
    "}",
    "$((",
    "))",
    "$?",
    "$#",
    "$@",
    "${x:-y}",
    "${#x}",
    "${x%%*}",
    "$x",
    "*",
    "?",
    "[a-z]",
    "\\",
    "!",
    "if",
    "then",
    "else",
    "fi",
    "while",
    "do",
    "done",
    "for",
    "in",
    "case",
    "esac",
    "x=1",
    "f()",
    "~",
    "#",
    "-",
    "--",
    "-n",
    "-e",
    "-rf",
    "-l",
    "-p",
    "-c",
    "0",
    "-1",
    "99999999999999999999",
    "1e9",
    "/sdcard",
    "/sdcard/f",
    "/",
    "..",
    "/dev/zero",
    "/dev/tty",
    "/proc/version",
    "/data/local/tmp/x",
    "com.android.settings",
    "tap",
    "swipe",
    "text",
    "540",
    "1200",
    "%s",
    "list",
    "put",
    "get",
    "global",
    "bluetooth_on",
    "true",
    "false",
    "é\U0001f600",
    "\x1b[2J",
    "\x00",
    "\udcff",
    "\u00b2",
    "9" * 5000,
    "window",
    "start",
    "-a",
    "android.intent.action.VIEW",
    "{a,b}",
    "{1..9}",
)
_ARGUMENTS = PIECES[PIECES.index("x=1") :]
NOT_RUN = frozenset({"reboot", "stop", "start", "shutdown"})
"""What takes the phone away for a second, as it should."""


class FuzzError(AssertionError):
    """The phone did what it must not."""


class _Errors(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(self.format(record))


def shell_line(chance: random.Random) -> bytes:
    """Make a line of programs, words and operators, at times damaged."""
    programs = [name for name in TABLE.names() if name not in NOT_RUN]
    plain = chance.random() < 0.5
    words = [chance.choice(programs)] if plain else []
    for _ in range(chance.randint(0 if plain else 1, 5 if plain else 12)):
        if plain:
            # Without operators most lines are no syntax errors.
            words.append(chance.choice(_ARGUMENTS))
            continue
        words.append(chance.choice(programs) if chance.random() < 0.35 else chance.choice(PIECES))
    line = (" " if chance.random() < 0.85 else "").join(words).encode("utf-8", "surrogateescape")
    return mutated(chance, line) if chance.random() < 0.2 else line


def mutated(chance: random.Random, data: bytes) -> bytes:
    """Change, cut, double or insert a few bytes."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(changed) + 1)
        match chance.randrange(4):
            case 0:
                changed[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del changed[at : at + chance.randint(1, 8)]
            case 2:
                changed[at:at] = chance.randbytes(chance.randint(1, 8))
            case _:
                changed[at:at] = changed[at : at + chance.randint(1, 64)]
    return bytes(changed)


def packet(chance: random.Random) -> bytes:
    """Make one packet that a peer may send: sensible, odd or damaged."""
    command = chance.choice(list(Command))
    arguments = [
        chance.choice((0, 1, 2, 3, 7, 0xFFFFFFFF, chance.getrandbits(32))) for _ in range(2)
    ]
    payload = b""
    match command:
        case Command.OPEN:
            service = chance.choice(SERVICES)
            if chance.random() < 0.3:
                service = mutated(chance, service)
            payload = service + b"\0"
        case Command.WRTE:
            if chance.random() < 0.5:
                word, size = chance.choice(SYNC_WORDS), chance.choice((0, 5, 70000, 0xFFFFFFFF))
                payload = word + struct.pack("<I", size) + b"/sdc,33206"[: min(size, 10)]
            else:
                payload = chance.randbytes(chance.choice((1, 5, 24, 4096, 70_000)))
        case Command.CNXN | Command.AUTH | Command.STLS | Command.SYNC:
            payload = chance.choice((BANNER, b"", chance.randbytes(20)))
        case Command.OKAY | Command.CLSE:
            payload = chance.choice((b"", b"", b"\1\0\0\0", chance.randbytes(3)))
    made = wire.encode(command, *arguments, payload)
    return mutated(chance, made) if chance.random() < 0.15 else made


@contextlib.contextmanager
def logged_errors() -> Iterator[list[str]]:
    """Collect what is logged as an error or left unhandled on the loop."""
    loop, errors = asyncio.get_running_loop(), _Errors()
    loop.set_exception_handler(lambda _, context: errors.records.append(str(context)))
    logging.getLogger().addHandler(errors)
    try:
        yield errors.records
    finally:
        logging.getLogger().removeHandler(errors)
        loop.set_exception_handler(None)


class Fuzzer:
    """Rounds against one phone.

    Args:
        served: the phone.
        seed: what the rounds are made from.
    """

    def __init__(self, served: ServedPhone, seed: int) -> None:
        self._served = served
        self._seed = seed
        self._first_kb = 0

    async def round(self, number: int, errors: list[str]) -> None:
        chance = random.Random(f"{self._seed}/{number}")
        faulthandler.dump_traceback_later(HUNG_S, exit=True)
        kind = chance.random()
        data = shell_line(chance) if kind < 0.6 else b""
        try:
            if data:
                await self._shell(data)
            elif kind < 0.9:
                data = b"".join(packet(chance) for _ in range(chance.randint(1, 20)))
                await self._send(self._hello(chance.choice((b"", b",delayed_ack"))) + data)
            else:
                data = chance.randbytes(chance.randint(1, 400))
                await self._send(data)
            if number % CHECK_EVERY == CHECK_EVERY - 1:
                await self._check()
        finally:
            faulthandler.cancel_dump_traceback_later()
        if errors:
            raise FuzzError(f"seed {self._seed}, round {number}, {data!r}: {errors[0]}")

    @staticmethod
    def _hello(more: bytes = b"") -> bytes:
        return wire.encode(
            Command.CNXN, wire.VERSION_SKIP_CHECKSUM, wire.MAX_PAYLOAD_BYTES, BANNER + more
        )

    async def _dial(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self._served.port)

    async def _send(self, data: bytes) -> None:
        """Send bytes, read what comes for a moment, and hang up."""
        reader, writer = await self._dial()
        try:
            writer.write(data)
            with contextlib.suppress(TimeoutError, ConnectionError):
                async with asyncio.timeout(LINE_S / 5):
                    while await reader.read(1 << 16):
                        pass
        finally:
            writer.transport.abort()

    async def _shell(self, line: bytes) -> None:
        """Run a line as a peer that takes its output in and hangs up when it takes too long."""
        reader, writer = await self._dial()
        try:
            writer.write(self._hello())
            service = b"shell,v2,raw:" + line.replace(b"\0", b"") + b"\0"
            writer.write(wire.encode(Command.OPEN, 1, 0, service))
            with contextlib.suppress(TimeoutError, ConnectionError, asyncio.IncompleteReadError):
                async with asyncio.timeout(LINE_S):
                    while True:
                        header = wire.decode_header(await reader.readexactly(wire.HEADER_BYTES))
                        await reader.readexactly(header.length)
                        if header.command is Command.CLSE:
                            return
                        if header.command is Command.WRTE:
                            writer.write(wire.encode(Command.OKAY, 1, header.arg0))
        finally:
            writer.transport.abort()

    async def _check(self) -> None:
        """See that a good peer is served, that nothing is left of others, and the memory."""
        try:
            async with asyncio.timeout(ANSWER_S):
                await self._be_good()
        except TimeoutError:
            raise FuzzError(f"a good peer had no answer within {ANSWER_S:g} s") from None
        try:
            async with asyncio.timeout(ANSWER_S):
                while left := self._left():
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise FuzzError(f"left of peers that have gone: {left}") from None
        self._served.reset()
        gc.collect()
        used_kb = resident_kb()
        self._first_kb = self._first_kb or used_kb
        if used_kb - self._first_kb > MOST_GROWTH_KB:
            raise FuzzError(f"memory grew from {self._first_kb} to {used_kb} KB")

    async def _be_good(self) -> None:
        reader, writer = await self._dial()
        try:
            writer.write(self._hello() + wire.encode(Command.OPEN, 1, 0, b"shell:echo good\0"))
            seen = b""
            while b"good\n" not in seen:
                part = await reader.read(1 << 16)
                if not part:
                    raise FuzzError(f"a good peer was refused: {seen!r}")
                seen += part
        finally:
            writer.transport.abort()

    def _left(self) -> str:
        started = [one for one in self._served.userland.processes.all(()) if one.pid >= FIRST_PID]
        return ", ".join(one.args for one in started)


def resident_kb() -> int:
    """Return the memory this process holds in RAM; its peak where there is no /proc."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return pages * 4


async def rounds_of(
    one: Callable[[int, list[str]], Awaitable[None]], *, seconds: float, rounds: int
) -> int:
    """Do rounds for some seconds or so many; return how many there were. Raises FuzzError.

    Args:
        one: does the round of a number, given what has been logged as an error.
    """
    number = 0
    ends = time.monotonic() + seconds
    with logged_errors() as errors:
        while number < rounds or time.monotonic() < ends:
            await one(number, errors)
            number += 1
    return number


async def fuzz(home: Path, seed: int, *, seconds: float = 0.0, rounds: int = 0) -> int:
    """Fuzz for some seconds or rounds; return how many rounds there were. Raises FuzzError."""
    async with PhoneHost(home) as host:
        fuzzer = Fuzzer(host.served(host.serials[0]), seed)
        return await rounds_of(fuzzer.round, seconds=seconds, rounds=rounds)


def run(module: str, fuzz_for: Callable[[Path, int, float], Coroutine[None, None, int]]) -> int:
    """Fuzz as the command line says, and say with which seed.

    Args:
        module: what was started by `python -m`.
        fuzz_for: fuzzes in a folder, with a seed, for some seconds; returns the number of rounds.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=None, help="repeat the rounds of a run")
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 32) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        before_kb = resident_kb()
        rounds = asyncio.run(fuzz_for(Path(folder), seed, options.seconds))
        print(f"{rounds} rounds, memory {before_kb} to {resident_kb()} KB")
    return 0


if __name__ == "__main__":
    sys.exit(run("support.fuzz", lambda *how: fuzz(how[0], how[1], seconds=how[2])))
