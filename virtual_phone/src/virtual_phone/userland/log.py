"""The phone's log: a ring of entries that `logcat` reads, from the past and live.

Not the log of the process. Invariant: bounded; an entry never changes; sequence numbers only grow.
"""

import asyncio
from collections import deque
from dataclasses import dataclass

RING_ENTRIES = 2048


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One line of the log; `at` in seconds since 1970, `level` one of VDIWEF."""

    sequence: int
    at: float
    pid: int
    tid: int
    level: str
    tag: str
    message: str
    buffer: str = "main"


class LogRing:
    """The newest entries."""

    def __init__(self) -> None:
        self._entries: deque[LogEntry] = deque(maxlen=RING_ENTRIES)
        self._sequence = 0
        self._grown: asyncio.Event | None = None

    def write(
        self, at: float, level: str, tag: str, message: str, *, pid: int = 655, buffer: str = "main"
    ) -> None:
        """Append one entry for each line of the message."""
        for line in message.split("\n"):
            self._sequence += 1
            self._entries.append(LogEntry(self._sequence, at, pid, pid, level, tag, line, buffer))
        if self._grown is not None:
            self._grown.set()

    def since(self, sequence: int) -> list[LogEntry]:
        """Return the kept entries after a sequence number."""
        return [entry for entry in self._entries if entry.sequence > sequence]

    def clear(self) -> None:
        """Forget every entry (`logcat -c`)."""
        self._entries.clear()

    async def wait(self, sequence: int) -> list[LogEntry]:
        """Return the entries after a sequence number as soon as there is one."""
        while not (new := self.since(sequence)):
            self._grown = self._grown or asyncio.Event()
            self._grown.clear()
            await self._grown.wait()
        return new
