"""What a command gets when it runs: its words, its streams, and the phone it runs on.

Not the shell's state. Invariant: a command reaches the phone only through its call, so two
shells on two phones cannot meet.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

from virtual_phone.errors import PhoneError
from virtual_phone.server.pipes import EmptySource, NullSink, Sink, Source
from virtual_phone.userland.tree import Device
from virtual_phone.well_formed import well_formed

if TYPE_CHECKING:
    from virtual_phone.phone import Phone
    from virtual_phone.shell.interpreter import Shell
    from virtual_phone.userland.files import PhoneFiles
    from virtual_phone.userland.userland import Userland

SELF_DESCRIPTORS = {"stdin": 0, "stdout": 1, "stderr": 2}


class CommandError(PhoneError):
    """A command failed in the way it fails on a phone: this text on stderr, this exit status."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class ShellMemoryError(CommandError):
    """An expansion is larger than the shell may be; the shell ends."""


class FileSource:
    """A file of the phone, read from its start."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file

    async def read(self, limit: int = 65536) -> bytes:
        """Return the next bytes; b"" at the end of the file."""
        await asyncio.sleep(0)
        return self.file.read(limit)


class FileSink:
    """A file of the phone, written as bytes come."""

    def __init__(self, file: BinaryIO, files: PhoneFiles[Userland]) -> None:
        self.file = file
        self._files = files

    async def write(self, data: bytes) -> None:
        """Write the bytes; raise OSError (ENOSPC when the phone or the host is full)."""
        self._files.check_room(len(data))
        view = memoryview(data)
        while view:
            view = view[self.file.write(view) :]
        await asyncio.sleep(0)


class EndlessSource:
    """/dev/zero and /dev/urandom."""

    def __init__(self, device: Device) -> None:
        self._device = device

    async def read(self, limit: int = 65536) -> bytes:
        """Return as many bytes as are asked for, up to 64 KiB."""
        await asyncio.sleep(0)
        count = min(limit, 65536)
        return bytes(count) if self._device is Device.ZERO else os.urandom(count)


Descriptors = dict[int, Source | Sink]


def encode(text: str) -> bytes:
    """Return the bytes of shell text; bytes that were not UTF-8 come back as they were."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        # Surrogates that are no byte come from elsewhere, such as half a pair in an app's name.
        return well_formed(text).encode("utf-8")


def decode(data: bytes) -> str:
    """Return shell text from bytes; never fails."""
    return data.decode("utf-8", "surrogateescape")


@dataclass(slots=True)
class Call:
    """One running command."""

    shell: Shell
    argv: list[str]
    stdin: Source
    stdout: Sink
    stderr: Sink
    environment: dict[str, str]
    terminal: bool = False
    pid: int = 0
    _open: list[BinaryIO] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The command's own name."""
        return self.argv[0].rpartition("/")[2]

    @property
    def args(self) -> list[str]:
        """The words after the name."""
        return self.argv[1:]

    @property
    def userland(self) -> Userland:
        """The phone below its screen."""
        return self.shell.userland

    @property
    def phone(self) -> Phone:
        return self.shell.userland.phone

    @property
    def files(self) -> PhoneFiles[Userland]:
        """The phone's files."""
        return self.shell.userland.files

    @property
    def cwd(self) -> str:
        """The working directory."""
        return self.shell.cwd

    @property
    def streams(self) -> Descriptors:
        """The three streams, for a command that runs another."""
        return {0: self.stdin, 1: self.stdout, 2: self.stderr}

    async def out(self, text: str) -> None:
        await self.stdout.write(encode(text))

    async def line(self, text: str = "") -> None:
        await self.stdout.write(encode(text) + b"\n")

    async def err(self, text: str) -> None:
        """Write one line to stderr."""
        await self.stderr.write(encode(text) + b"\n")

    async def fail(self, text: str, status: int = 1) -> int:
        """Write `name: text` to stderr and return the status."""
        await self.err(f"{self.name}: {text}")
        return status

    def open_source(self, path: str) -> Source:
        """Open a path for reading, the shell's devices included; raise OSError."""
        if path == "-":
            return self.stdin
        number = self.own_descriptor(path)
        if number == 0:
            return self.stdin
        device = self.files.device(path, self.cwd)
        match device:
            case Device.NULL:
                return EmptySource()
            case Device.ZERO | Device.RANDOM:
                return EndlessSource(device)
            case Device.TTY:
                return self.stdin
            case None:
                file = self.files.open_read(path, self.cwd)
                self._open.append(file)
                return FileSource(file)

    def open_sink(self, path: str, *, append: bool = False, truncate: bool = True) -> Sink:
        """Open a path for writing, the shell's devices included; raise OSError."""
        number = self.own_descriptor(path)
        if number in (1, 2):
            return self.stdout if number == 1 else self.stderr
        device = self.files.device(path, self.cwd)
        match device:
            case Device.NULL | Device.ZERO | Device.RANDOM:
                return NullSink()
            case Device.TTY:
                return self.stdout
            case None:
                file = self.files.open_write(path, self.cwd, append=append, truncate=truncate)
                self._open.append(file)
                return FileSink(file, self.files)

    def is_stream(self, path: str) -> bool:
        """Return whether a path names a device or one of the command's own streams."""
        is_own = self.own_descriptor(path) is not None
        return is_own or self.files.device(path, self.cwd) is not None

    def own_descriptor(self, path: str) -> int | None:
        """Return the number when a path names one of the command's own streams."""
        head, _, last = path.rpartition("/")
        if head == "/dev" and last in SELF_DESCRIPTORS:
            return SELF_DESCRIPTORS[last]
        if head in ("/dev/fd", "/proc/self/fd") and last in ("0", "1", "2"):
            return int(last)
        return None

    def close(self) -> None:
        """Close the files that the command opened."""
        for file in self._open:
            file.close()
        self._open.clear()


Handler = Callable[[Call], Awaitable[int]]


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command of the phone; `inline` ones run in the shell's own process.

    The words of `java` ones become Java strings, in the program or in the service that it calls.
    """

    name: str
    run: Handler
    inline: bool
    java: bool

    def words(self, argv: list[str]) -> list[str]:
        return [well_formed(word) for word in argv] if self.java else argv


class CommandTable:
    """The commands by name."""

    def __init__(self) -> None:
        self._entries: dict[str, CommandEntry] = {}

    def command(
        self, *names: str, inline: bool = False, java: bool = False
    ) -> Callable[[Handler], Handler]:
        """Register a command under its names (a decorator)."""

        def register(run: Handler) -> Handler:
            for name in names:
                if name in self._entries:
                    raise ValueError(f"the command {name!r} exists twice")
                self._entries[name] = CommandEntry(name, run, inline, java)
            return run

        return register

    def get(self, name: str) -> CommandEntry | None:
        """Return a command, or None."""
        return self._entries.get(name)

    def names(self) -> list[str]:
        """Return every name, sorted."""
        return sorted(self._entries)


TABLE = CommandTable()
command = TABLE.command
