"""The console in a process of its own, for one script of keys after the other.

Speaks lines of JSON with who types: `begin` opens a console, `wait N` answers once N events were
taken and had their effect, `stop` and `go` are for the core, `dump` tells what came of it all and
closes the console.
"""

import asyncio
import gc
import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Any

import msgspec
from textual._context import visible_screen_stack
from textual.events import Event, Key, MouseEvent, MouseMove, Resize
from textual.widget import Widget
from textual.widgets._toast import ToastRack

from agent.config import load_settings
from agent.protocol import Op, WheelAct, WheelText
from agent.settings import Settings
from console.app import SwitchboardApp
from console.input import stray_words
from console.input.gate import is_input
from console.keys import two_presses
from console.latency_stats import LatencyStats
from console.screens.deck import showing
from console.screens.deck.deck import DeckScreen
from console.screens.history import tape
from console.terminal_input import byte_gate
from tests.console.burst.addresses import Addresses
from tests.console.burst.core import ScriptedCore
from tests.console.burst.crowd import Hands, Meanwhile, Sentence
from widgets.questions.question_card import GRACE_S

CROWD_S = 0.01  # How long an op takes while others act.
BOUND_S = 60.0  # How long nothing may happen.
RESTS_S = 0.1  # Longer than three ticks of the console.
_STEADY_LOOKS = 13  # Lists are read again once a second.
_LEFT_OUT = ("request_id", "duration_ms")  # What is random, or how long hands took.
_SETTINGS = """
[mcp.servers.notes]
command = ["notes"]
"""


class BurstApp(SwitchboardApp):
    """The console, with a clock that stands, counting what is typed."""

    CLICK_CHAIN_TIME_THRESHOLD = float("inf")
    typed = 0  # How many events came from the terminal.

    left = 0  # How often the operator left; the console stays for what is typed after it.

    taken = 0  # How many events have been handled.

    addresses: Addresses
    hands: Hands

    def note_what_keys_meet(self, core: ScriptedCore) -> None:
        """Note what each key met: what had the focus, and what had been asked for until then."""
        self.addresses, self.hands = Addresses(self, core), Hands(core)
        self.met: list[str] = []
        self.told: list[str] = []
        report = self.errors.report

        def noted_error(error: BaseException, doing: str) -> None:
            self.told.append(f"{doing}: {error!r}")
            report(error, doing)

        self.errors.report = noted_error  # type: ignore[method-assign]
        handle = self.gate._handle

        async def noted(event: Event) -> None:
            if not isinstance(event, MouseMove | Resize):
                # Of several moves, and of several sizes, only the last counts.
                asked = sum(not op.changes_nothing for op in core.ops)
                self.met.append(
                    f"{_named(event)} at {type(self.screen).__name__}/{_place(self.focused)}"
                    f" on {_target(self.top)}, {asked} asked"
                )
            self.addresses.before(self.taken)
            self.hands.at(self.taken)
            self.taken += 1
            await handle(event)

        self.gate._handle = noted

    has_terminal_to_lend = False  # Another program would read what is typed for the console.

    def exit(self, *about: Any, **options: Any) -> None:
        self.left += 1

    def leave(self) -> None:
        super().exit(0)

    def now_ms(self) -> int:
        return 1_760_000_100_000

    async def on_event(self, event: Event) -> None:
        if is_input(event):
            self.typed += 1
        await super().on_event(event)


class UntimedStats(LatencyStats):
    """Notes nothing: how long looks took, and how many there were, goes by the clock."""

    def note(self, serial: str, took_ms: int) -> None:
        return


def fresh_settings(home: Path) -> Settings:
    """Make a data directory as it is before anything was done in it."""
    rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    file = home / "config.toml"
    file.write_text(_SETTINGS)
    return load_settings(
        environ={"SWITCHBOARD_DATA_DIR": str(home), "SWITCHBOARD_CONFIG": str(file)}
    )


async def one_console(ask: Callable[[], Any], answer: Callable[[object], None]) -> bool:
    """Serve one script; False when nothing more comes."""
    core = ScriptedCore()
    # This terminal answers nothing. While an answer may come, what could be one is no key.
    byte_gate.AWAITED_S = GRACE_S
    app = BurstApp(core, settings=fresh_settings(Path.home() / "burst"), title="burst")
    app.bridge.latencies = UntimedStats()
    app.note_what_keys_meet(core)
    opened = asyncio.create_task(app.run_async())
    try:
        await until(lambda: app.painted.is_set() and app.bridge.state.event_id > 0, opened)
        await until(lambda: app.gate.is_idle, opened)
        # What is asked was asked before anything is typed, for long enough that keys count.
        await asyncio.sleep(GRACE_S + RESTS_S)
        # The size that the terminal has from the start was not typed.
        app.typed = app.taken = 0
        answer("ready")
        while True:
            word, _, number = (await ask()).partition(" ")
            match word:
                case "wait":
                    await until(partial(has_had, app, int(number)), opened, lambda: app.taken)
                    await asyncio.sleep(RESTS_S)
                    answer(app.typed)
                case "stop":
                    core.stop()
                case "go":
                    core.go_on()
                case "crowd":
                    plan = json.loads(number)
                    core.takes_s = CROWD_S
                    app.hands.plan([Meanwhile(*one) for one in plan["meanwhile"]])
                    app.addresses.plan([Sentence(*one) for one in plan["sentences"]])
                case "dump":
                    app.addresses.close()
                    without_notices(app)
                    answer(await steady(app, core))
                    return True
                case _:
                    return False
    finally:
        core.go_on()
        app.leave()
        await opened
        await app.close()


def has_had(app: BurstApp, typed: int) -> bool:
    """Return whether so many events came and had their effect."""
    return app.typed >= typed and app.gate.is_idle


async def until(
    holds: Callable[[], bool], opened: asyncio.Task[Any], progress: Callable[[], int] = lambda: 0
) -> None:
    """Wait for a condition while the console is open and goes on."""
    loop = asyncio.get_running_loop()
    newest, bound = progress(), loop.time() + BOUND_S
    while not holds():
        if opened.done():
            raise AssertionError(f"The console ended: {opened.exception()!r}")
        if progress() != newest:
            newest, bound = progress(), loop.time() + BOUND_S
        if loop.time() > bound:
            raise AssertionError(f"Waited {BOUND_S:g} s for what was typed, at {newest}.")
        await asyncio.sleep(0.005)


def without_notices(app: BurstApp) -> None:
    """Take all notices away, those of the screens below too: they go by the clock."""
    app.clear_notifications()
    for screen in app.screen_stack:
        for fleet in screen.query(ToastRack):
            fleet.show(app._notifications)


async def steady(app: BurstApp, core: ScriptedCore) -> dict[str, object]:
    """Return the outcome once it rests: pictures and lists are read beside keys."""
    last: list[dict[str, object]] = []
    async with asyncio.timeout(BOUND_S):
        while len(last) < _STEADY_LOOKS:
            await asyncio.sleep(RESTS_S)
            now = outcome(app, core)
            last = [*last, now] if last and now == last[-1] else [now]
    return last[-1]


def outcome(app: BurstApp, core: ScriptedCore) -> dict[str, object]:
    """Return what was asked of the core, and what is on the screen."""
    # What a dialog lies over is drawn with it only where it is told.
    with app._context():
        visible_screen_stack.set(list(app._background_screens))
        strips = app.screen._compositor.render_strips()
    focused = app.focused
    top = app.top
    composer = top.composer.text if isinstance(top, DeckScreen) else ""
    return {
        "typed": app.typed,
        "left": app.left,
        "ops": _acting_ops(core.ops),
        "screens": [type(screen).__name__ for screen in app.screen_stack],
        "focus": f"{type(focused).__name__}#{focused.id}" if focused is not None else "",
        "composer": composer,
        "met": app.met,
        "errors": [*app.told, *app.addresses.wrong],
        "sent": app.addresses.sent,
        "moves": app.hands.moves,
        "text": [strip.text.rstrip() for strip in strips],
    }


def _named(event: Event) -> str:
    match event:
        case Key(key=key):
            return key
        case MouseEvent(screen_x=x, screen_y=y):
            return f"{type(event).__name__} {x:g},{y:g}"
        case _:
            return type(event).__name__


def _place(widget: Widget | None) -> str:
    return f"{type(widget).__name__}#{widget.id}" if widget is not None else ""


def _target(screen: object) -> str:
    return str(getattr(screen, "selected", "") or "")


def _acting_ops(ops: list[Op]) -> list[object]:
    """Tell the ops that act; what was typed at the wheel may have gone in one op or in several."""
    told: list[object] = []
    typed: WheelAct | None = None
    for op in ops:
        if op.changes_nothing:
            continue
        types = isinstance(op, WheelAct) and isinstance(op.gesture, WheelText)
        if types and typed is not None and op.serial == typed.serial:
            typed = WheelAct(
                serial=op.serial, gesture=WheelText(text=typed.gesture.text + op.gesture.text)
            )
            told[-1] = _op(typed)
            continue
        typed = op if types else None
        told.append(_op(op))
    return told


def _op(op: Op) -> object:
    return {"op": type(op).__name__, **_without(msgspec.to_builtins(op))}


def _without(told: dict[str, Any]) -> dict[str, object]:
    """Leave out what is random, at every depth."""
    return {
        name: _without(value) if isinstance(value, dict) else value
        for name, value in told.items()
        if name not in _LEFT_OUT
    }


async def main() -> int:
    # A sixth of the time went into looking for garbage among what is imported.
    gc.freeze()
    gc.set_threshold(200_000, 50, 1_000)
    two_presses.ARMED_S = 600.0
    # Slow and fast hands pause alike.
    stray_words.PAUSE_S = float("inf")
    # A replay would go on by the clock.
    tape.monotonic = lambda: 0.0
    showing.READ_S = float("inf")
    commands, answers = int(sys.argv[1]), int(sys.argv[2])
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str] = asyncio.Queue()
    left = b""

    def read() -> None:
        nonlocal left
        data = os.read(commands, 65_536)
        if not data:
            loop.remove_reader(commands)
            lines.put_nowait("end")
            return
        *whole, left = (left + data).split(b"\n")
        for line in whole:
            lines.put_nowait(line.decode())

    def answer(told: object) -> None:
        os.write(answers, json.dumps(told).encode() + b"\n")

    loop.add_reader(commands, read)
    while await lines.get() == "begin":
        if not await one_console(lines.get, answer):
            break
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
