"""Each key waits for what the one before it caused, and for no longer than that."""

import asyncio
import re
from collections.abc import Callable
from itertools import count

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.containers import Container
from textual.events import Click, Event, Key, MouseDown, MouseUp, Resize
from textual.geometry import Size
from textual.message import Message
from textual.widgets import Input, Static

from console.input import gate as gates
from console.input.gate import InputGate, is_input
from console.input.joiners import joined
from tests.console.terminal_input.gate_seat import GateSeat, names
from tests.console.waiting import wait_for
from widgets.base import causality
from widgets.base.causality import Cause
from widgets.base.fault_isolation import FaultIsolatedApp

BOUND_S = 30.0


class Later(Message):
    """Focuses the field once it went round a few times."""

    def __init__(self, left: int) -> None:
        super().__init__()
        self.left = left


class Slow(FaultIsolatedApp, App[None]):
    """Its key n focuses a field, but only several messages and callbacks later."""

    AUTO_FOCUS = None

    def __init__(self) -> None:
        super().__init__()
        self.gate = InputGate(
            super().on_event,
            lambda: self.call_later(self.gate.go_on),
            stops=lambda key: key.key == "ctrl+x",
            give_up=self.dropped,
            follow=self.follow,
            lay_out=self.lay_out,
        )
        self.given_up = 0
        self.acted: list[str] = []

    def dropped(self, count: int) -> None:
        self.given_up += count

    def compose(self) -> ComposeResult:
        yield Input(id="field")

    async def on_event(self, event: Event) -> None:
        if is_input(event):
            await self.gate.take(joined(event))
        else:
            await super().on_event(event)

    def on_key(self, event: Key) -> None:
        self.acted.append(event.key)
        if event.key == "n":
            self.post_message(Later(3))

    def on_later(self, message: Later) -> None:
        if message.left:
            self.call_later(self.call_next, self.post_message, Later(message.left - 1))
        else:
            self.query_one(Input).focus()


async def test_a_key_finds_the_focus_that_the_key_before_it_moved_messages_later() -> None:
    app = Slow()
    async with app.run_test() as pilot:
        for character in "nhello":
            app.post_message(Key(character, character))
        field = app.query_one(Input)
        await wait_for(pilot, lambda: field.value == "hello", "all that was typed")
        assert app.acted == ["n"]


class Panes(Slow):
    """Its key w makes the pane wider, and f focuses the field once the next picture stands."""

    CSS = "#panes { layout: horizontal; } #pane { width: 10; } #rest { width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.clicked: list[str] = []
        self.seen: list[int] = []

    def compose(self) -> ComposeResult:
        with Container(id="panes"):
            yield Static(id="pane")
            yield Static(id="rest")
        yield Input(id="field")

    def on_key(self, event: Key) -> None:
        # The other class's handler runs too.
        self.seen.append(self.query_one("#pane").size.width)
        if event.key == "w":
            self.query_one("#pane").styles.width = 30
        elif event.key == "f":
            self.call_after_refresh(self.query_one(Input).focus)

    def on_click(self, event: Click) -> None:
        self.clicked.append(str(event.widget.id if event.widget is not None else ""))


def press_of_mouse(x: int, y: int) -> list[Event]:
    return [kind(None, x, y, 0, 0, 1, False, False, False, x, y) for kind in (MouseDown, MouseUp)]


async def test_a_press_goes_by_the_layout_that_the_key_before_it_asked_for() -> None:
    app = Panes()
    async with app.run_test() as pilot:
        assert app.query_one("#pane").size.width == 10
        for event in (key("w"), *press_of_mouse(20, 0), key("x")):
            app.post_message(event)
        await wait_for(pilot, lambda: app.acted == ["w", "x"], "both keys")
        assert app.clicked == ["pane"]
        assert app.seen == [10, 30]


async def test_a_key_waits_for_what_the_one_before_it_does_after_the_next_picture() -> None:
    app = Panes()
    async with app.run_test() as pilot:
        for character in "fhi":
            app.post_message(key(character))
        await wait_for(pilot, lambda: app.gate.is_idle, "the keys")
        assert app.query_one(Input).value == "hi"


async def test_joiners_are_typed_like_letters() -> None:
    app = Slow()
    async with app.run_test() as pilot:
        app.query_one(Input).focus()
        await pilot.pause()
        text = "\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}"
        for character in text:
            app.post_message(Key(character, character))
        await wait_for(pilot, lambda: app.query_one(Input).value == text, "the family")


def key(name: str) -> Key:
    return Key(name, name if len(name) == 1 else None)


class Held:
    """A gate whose first key holds the next ones, by work that never ends."""

    def __init__(self, *, opens: bool) -> None:
        self.seen: list[str] = []
        self.work: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self.dropped = 0
        self.opens = opens
        self.gate = InputGate(self.handle, self.wake, stops=self.stops, give_up=self.drop)

    async def handle(self, event: Event) -> None:
        cause = causality.current()
        assert cause is not None
        self.seen.append(event.key if isinstance(event, Key) else type(event).__name__)
        if self.seen[-1] == "w":
            self.gate.hold(self.work, cause, opens=self.opens)

    def wake(self) -> None:
        self.task = asyncio.create_task(self.gate.go_on())

    def stops(self, pressed: Key) -> bool:
        return pressed.key == "ctrl+x"

    def drop(self, count: int) -> None:
        self.dropped += count

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(BOUND_S):
            while not holds():
                await asyncio.sleep(0.01)


async def test_a_core_that_is_late_holds_keys_once_and_then_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gates, "ANSWERS_S", 0.2)
    held = Held(opens=False)
    for name in ("w", "a", "w", "b"):
        await held.gate.take(key(name))
    assert held.seen == ["w"]
    await held.until(lambda: held.seen == ["w", "a", "w", "b"])
    held.gate.close()


async def test_a_console_that_did_not_run_takes_the_core_for_no_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Each look at the clock finds that a busy computer let ten seconds go by.
    clock = count(0.0, 10.0)
    monkeypatch.setattr(gates, "monotonic", lambda: next(clock))
    monkeypatch.setattr(gates, "ANSWERS_S", 0.5)
    held = Held(opens=False)
    for name in ("w", "a"):
        await held.gate.take(key(name))
    for _ in range(3):
        await asyncio.sleep(gates._LOOK_S)
    assert held.seen == ["w"]
    held.work.set_result(None)
    await held.until(lambda: held.seen == ["w", "a"])
    held.gate.close()


async def test_what_was_typed_for_something_that_never_opened_is_dropped_but_for_a_stop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gates, "OPENS_S", 0.2)
    held = Held(opens=True)
    for name in ("w", "a", "x", "ctrl+x", "b"):
        await held.gate.take(key(name))
    await held.until(lambda: held.seen == ["w", "ctrl+x"] and held.gate.is_idle)
    assert held.dropped == 3
    held.gate.close()


def terminal_of(columns: int, rows: int) -> Resize:
    return Resize(Size(columns, rows), Size(columns, rows))


async def test_another_size_of_the_terminal_waits_for_the_keys_before_it() -> None:
    held = Held(opens=False)
    sizes = [terminal_of(columns, 20) for columns in (100, 80, 60)]
    for event in (key("w"), *press_of_mouse(3, 3), *sizes, key("a")):
        await held.gate.take(event)
    held.work.set_result(None)
    await held.until(lambda: held.gate.is_idle)
    # Of several sizes only the one counts that the terminal has.
    assert held.seen == ["w", "MouseDown", "MouseUp", "Resize", "a"]
    held.gate.close()


async def test_another_size_is_not_dropped_with_the_keys_for_what_never_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gates, "OPENS_S", 0.2)
    held = Held(opens=True)
    for event in (key("w"), key("a"), terminal_of(60, 20)):
        await held.gate.take(event)
    await held.until(lambda: held.seen == ["w", "Resize"] and held.gate.is_idle)
    assert held.dropped == 1
    held.gate.close()


async def test_an_answer_lets_the_keys_go_on_that_waited_for_it() -> None:
    held = Held(opens=True)
    for name in ("w", "a", "b"):
        await held.gate.take(key(name))
    assert held.seen == ["w"]
    held.work.set_result(None)
    await held.until(lambda: held.seen == ["w", "a", "b"])
    held.gate.close()


def test_the_time_of_a_key_is_that_of_its_pressing() -> None:
    cause = Cause(0.0)
    with cause.running():
        assert causality.lag_s() > 0.0
    assert causality.lag_s() == 0.0


SEQUENCES = (
    *"xpn1:\t\r\x7fOPBXF_^]!",
    "\x1b",
    "\x1b[A",
    "\x1b[Z",
    "\x1bOP",
    "\x1b[6~",
    "ä",
    "\u200d",
)
BEGINS_MORE = re.compile("\x1b[OPX^_\\]]")
"""Without kitty's protocol esc and such a key are what F1, or an answer, begins with."""


def read(pieces: list[bytes]) -> list[str]:
    return names([*(seat := GateSeat()).read(*pieces), *seat.wait(1.0)])


@given(st.lists(st.sampled_from(SEQUENCES), max_size=30), st.data())
def test_keys_are_the_same_however_the_line_cuts_them(
    typed: list[str], data: st.DataObject
) -> None:
    # No one can tell them apart.
    assume(not BEGINS_MORE.search("".join("|" if one == "\x1bOP" else one for one in typed)))
    apart = [name for one in typed for name in read([one.encode()])]
    whole = "".join(typed).encode()
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(whole) - 1)), max_size=8)))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert read([whole] if whole else []) == apart
    assert read([piece for piece in pieces if piece]) == apart


def test_the_rest_of_a_sequence_that_is_there_already_is_waited_for() -> None:
    seat = GateSeat()
    assert seat.gate.feed(b"\x1b") == []
    # The thread that reads did not run for so long, and reads before it looks.
    seat.now_s += 5.0
    assert names(seat.gate.feed(b"[A")) == ["up"]


def test_a_key_with_alt_is_one_where_it_is_bound() -> None:
    found = names(GateSeat(frozenset("x")).read(b"\x1bx\x1bpa"))
    assert found == ["alt+x", "escape", "p", "a"]
