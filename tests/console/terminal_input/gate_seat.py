"""A gate with a clock that is moved by hand, and what it let in."""

from textual.events import Key
from textual.message import Message

from console.terminal_input.byte_gate import ByteGate


class GateSeat:
    """A gate before nothing."""

    def __init__(self, alts: frozenset[str] = frozenset(), *, is_awaited: bool = False) -> None:
        self.now_s = 100.0
        self.heard: list[tuple[str, str]] = []
        self.told: list[str] = []
        self.failed: list[tuple[Exception, bytes]] = []
        self.gate = ByteGate(
            lambda kind, said: self.heard.append((kind, said)),
            alts,
            tell=self.told.append,
            failed=lambda error, raw: self.failed.append((error, raw)),
            clock=lambda: self.now_s,
        )
        if is_awaited:
            self.gate.await_one()

    def read(self, *pieces: bytes, gap_s: float = 0.0) -> list[Message]:
        """Return the events of pieces that come one after the other, so many seconds apart."""
        return [one for piece in pieces for one in (*self.gate.feed(piece), *self.wait(gap_s))]

    def wait(self, seconds: float) -> list[Message]:
        """Let time pass, looked at as the thread that reads does."""
        found: list[Message] = []
        until_s = self.now_s + seconds
        while self.now_s < until_s:
            self.now_s = min(until_s, self.now_s + 0.1)
            found += self.gate.overdue()
        return found


def names(events: list[Message]) -> list[str]:
    """Return the names of keys, and of other events those of their classes."""
    return [one.key if isinstance(one, Key) else type(one).__name__ for one in events]
