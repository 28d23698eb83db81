"""A pseudo terminal's line discipline: echo, line editing, ^C and ^D, LF to CR LF.

Not a screen. Invariant: input without a newline is bounded.
"""

import asyncio

from virtual_phone.server.pipes import Pipe, Sink

MAX_LINE_BYTES = 4096
INTERRUPT, END, ERASE, BACKSPACE, KILL, RETURN, NEWLINE = 3, 4, 0x7F, 8, 0x15, 13, 10


class Terminal:
    """Both the terminal's input (for the shell to read) and its output."""

    is_terminal = True

    def __init__(self, out: Sink) -> None:
        self._out = out
        self._lines = Pipe()
        self._line = bytearray()
        self.foreground: asyncio.Future[int] | None = None
        self.rows = 24
        self.columns = 80

    async def read(self, limit: int = 65536) -> bytes:
        """Return what was typed, line by line; b"" at ^D or when the peer has left."""
        return await self._lines.read(limit)

    async def write(self, data: bytes) -> None:
        """Show bytes, with CR LF for LF."""
        await self._out.write(data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))

    def hang_up(self) -> None:
        """End the input."""
        self._lines.end()

    def resize(self, payload: bytes) -> None:
        """Take `ROWSxCOLUMNS,…`; nonsense is ignored."""
        rows, _, rest = payload.partition(b"x")
        columns = rest.partition(b",")[0]
        if rows.isdigit() and columns.isdigit() and len(rows) < 6 and len(columns) < 6:
            self.rows, self.columns = int(rows), int(columns)

    async def type(self, data: bytes) -> None:
        """Take keys."""
        echo = bytearray()
        for byte in data:
            if byte == INTERRUPT:
                echo += b"^C\r\n"
                self._line.clear()
                if self.foreground is not None:
                    self.foreground.cancel("SIGINT")
            elif byte == END:
                if self._line:
                    await self._lines.write(bytes(self._line))
                    self._line.clear()
                else:
                    self._lines.end()
            elif byte in (ERASE, BACKSPACE):
                if self._line:
                    self._line.pop()
                    echo += b"\b \b"
            elif byte == KILL:
                echo += b"\b \b" * len(self._line)
                self._line.clear()
            elif byte in (RETURN, NEWLINE):
                echo += b"\r\n"
                line, self._line = bytes(self._line) + b"\n", bytearray()
                if not self._lines.ended:
                    await self._lines.write(line)
            elif len(self._line) < MAX_LINE_BYTES:
                self._line.append(byte)
                echo.append(byte)
        if echo:
            await self._out.write(bytes(echo))
