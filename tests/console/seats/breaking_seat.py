"""Run as a program: a console that fails in the way its argument names, on its terminal."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from agent import protocol
from console.app import SwitchboardApp, run_console
from console.screens.deck.deck import DeckScreen
from console.terminal.signals import StopRequest
from console.terminal_input.byte_gate import ByteGate
from console.terminal_input.grammar import Grammar, Sequence
from console.terminal_input.meanings import Meaning, Meanings
from tests.console.fakes import FakeCore, phone

_SECRET = "z"


def break_input() -> None:
    """Let what one key means raise."""
    right = Meanings.of

    def wrong(self: Meanings, one: object) -> Meaning:
        meaning = right(self, one)  # type: ignore[arg-type]
        if any(getattr(event, "key", "") == _SECRET for event in meaning.events):
            raise RuntimeError("the reader broke")
        return meaning

    Meanings.of = wrong  # type: ignore[method-assign, assignment]


def break_drawing() -> None:
    """Let the Deck fail again and again."""

    def wrong() -> None:
        raise RuntimeError("the drawing broke")

    right = DeckScreen.on_mount

    def mount(self: DeckScreen) -> None:
        right(self)
        self.set_interval(1 / 50, wrong)

    DeckScreen.on_mount = mount  # type: ignore[method-assign]


def break_cutting() -> None:
    """Let the grammar itself raise on one key."""
    right = Grammar.feed

    def wrong(self: Grammar, data: bytes) -> list[Sequence]:
        if data == _SECRET.encode():
            raise RuntimeError("the grammar broke")
        return right(self, data)

    Grammar.feed = wrong  # type: ignore[method-assign]


def break_thread() -> None:
    """Let the thread that reads end as none may."""

    def wrong(self: ByteGate) -> float:
        raise RuntimeError("the thread broke")

    ByteGate.waits_s = property(wrong)  # type: ignore[assignment, method-assign]


def break_leaving() -> None:
    """Let the driver fail while it gives the terminal back."""
    from textual.drivers.linux_driver import LinuxDriver

    def wrong(self: LinuxDriver) -> None:
        raise RuntimeError("the leaving broke")

    LinuxDriver.stop_application_mode = wrong  # type: ignore[method-assign]


def break_style() -> None:
    """Let the console fail before there is a terminal."""
    SwitchboardApp.CSS_PATH = Path("/no/such/style.tcss")  # type: ignore[misc]


async def insist() -> None:
    """Tell the process three times to end."""
    drawn = Path(os.environ["HOME"]) / "drawn"
    while not drawn.exists():
        await asyncio.sleep(0.05)
    stop = StopRequest()
    for _ in range(3):
        stop.ask(signal.SIGTERM)


KINDS = {
    "input": break_input,
    "drawing": break_drawing,
    "cutting": break_cutting,
    "thread": break_thread,
    "leaving": break_leaving,
    "style": break_style,
}


async def main(kind: str) -> int:
    core = FakeCore()
    core.tell(protocol.DeviceChanged(device=phone("phone-1")))
    beside = asyncio.ensure_future(insist()) if kind == "insist" else None
    try:
        return await run_console(core, title="breaks")
    finally:
        if beside is not None:
            beside.cancel()


if __name__ == "__main__":
    if sys.argv[1] in KINDS:
        KINDS[sys.argv[1]]()
    sys.exit(asyncio.run(main(sys.argv[1])))
