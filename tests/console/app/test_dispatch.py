"""The parts of the app, without one: who does an action, how an op is sent, what errors say."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from agent.errors import SwitchboardError, UsageError
from agent.protocol import Interrupt, Op, Reply
from console.core.error_reports import ErrorReports
from console.core.op_client import OpClient
from console.input.gate import Wait
from console.input.stray_words import Hands, StrayWords
from console.keys.controllers import Controller
from console.keys.dispatcher import Dispatcher
from console.keys.two_presses import TwoPresses
from console.keys.unavailable import ONLY_LOOKS, STILL_OPENING, WHY_NOT


class Screen(Controller):
    """What is on top: does what it has a method for, and hands the rest to one controller."""

    def __init__(self, done: list[str], *controllers: Controller) -> None:
        self.done, self.controllers = done, controllers
        self.refused = ""

    def owner_of(self, action_id: str) -> Controller | None:
        return next((one for one in self.controllers if one.owns(action_id)), None)

    def can(self, action_id: str) -> bool:
        return action_id != self.refused

    def refresh_all(self) -> None:
        self.done.append("refreshed")

    def show_footer(self) -> None:
        self.done.append("footer")

    def do_session_pause(self) -> None:
        self.done.append("screen pauses")

    async def do_session_stop(self) -> None:
        raise SwitchboardError("The phone is gone.", "Plug it in.")

    def do_session_copy(self) -> None:
        raise ValueError("no text")

    def do_phone_text(self) -> None:
        self.done.append("text")


class Own(Controller):
    """A controller of the screen's or of the console's."""

    def __init__(self, done: list[str], name: str) -> None:
        self.done, self.name = done, name

    def do_session_replay(self) -> None:
        self.done.append(f"{self.name} replays")

    def do_screen_wall(self) -> None:
        self.done.append(f"{self.name} shows the wall")


class Dialog:
    """What lies on the screen and is none of the console's."""

    def do_screen_wall(self) -> None:
        raise UsageError("The dialog took it.", "Close it.")


class Host:
    """The console as the dispatcher sees it, noting what it is told."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.top = Screen(self.done, Own(self.done, "controller"))
        self.screen: Any = self.top
        self.two_presses = TwoPresses(lambda: 0.0)
        self.stray_words = StrayWords(lambda: Hands.NOWHERE, lambda _: None)
        self.is_opening = self.only_looks = False
        self.opens = asyncio.Event()
        self.work: list[Coroutine[Any, Any, Any]] = []
        self.bridge = self.errors = self
        self.dispatcher = Dispatcher(self, (Own(self.done, "console"),))

    async def opened(self) -> None:
        await self.opens.wait()

    def say(self, text: str, *, tone: str = "information") -> None:
        self.done.append(text)

    def report(self, error: BaseException, doing: str) -> None:
        self.done.append(f"{doing}: {error}")

    def guarded(self, doing: str, work: Callable[[], object]) -> None:
        work()

    def spawn(self, work: Coroutine[Any, Any, Any], name: str, wait: Wait = Wait.ANSWER) -> None:
        self.work.append(work)


@pytest.mark.parametrize(
    ("action", "done"),
    [
        ("session.pause", "screen pauses"),
        ("session.replay", "controller replays"),
        ("screen.wall", "console shows the wall"),
        ("session.stop", "The phone is gone. Plug it in."),
    ],
)
async def test_an_action_is_done_by_whom_it_belongs_to(action: str, done: str) -> None:
    host = Host()
    await host.dispatcher.act(action)
    assert host.done == [done, "footer"]


async def test_what_breaks_is_reported_by_the_title_of_the_action() -> None:
    host = Host()
    await host.dispatcher.act("session.copy")
    assert host.done[0].endswith(": no text") and host.done[0].startswith("on ")


async def test_a_dialog_goes_before_the_console() -> None:
    host = Host()
    host.screen = Dialog()
    await host.dispatcher.act("screen.wall")
    assert host.done[0].startswith("The dialog took it.")


async def test_what_cannot_be_done_says_why_and_is_not_done() -> None:
    host = Host()
    host.top.refused = "session.pause"
    await host.dispatcher.act("session.pause")
    assert host.done == [WHY_NOT["session.pause"], "footer"]


async def test_what_needs_a_phone_waits_for_the_first_picture() -> None:
    host = Host()
    host.is_opening = True
    await host.dispatcher.act("phone.text")
    assert host.done == [STILL_OPENING, "footer"]
    later = asyncio.ensure_future(host.work.pop())
    await asyncio.sleep(0)
    assert "text" not in host.done
    host.is_opening = False
    host.opens.set()
    await later
    assert host.done[2:] == ["refreshed", "text", "footer"]


class Core:
    """A core that answers with what it is given, and a bridge that has it at once."""

    def __init__(self, reply: Reply | Exception) -> None:
        self.reply = reply
        self.reached_ids: list[int] = []

    async def request(self, op: Op) -> Reply:
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply

    async def reached(self, event_id: int) -> None:
        self.reached_ids.append(event_id)


def client(core: Core) -> tuple[OpClient, list[str]]:
    said: list[str] = []

    def say(text: str, *, tone: str = "information") -> None:
        said.append(f"{tone}: {text}")

    return OpClient(core, core, say, lambda: said.append("shown")), said


async def test_a_reply_is_had_once_its_effect_is_in_the_picture() -> None:
    core = Core(Reply(submission_id="1", event_id=7))
    ops, said = client(core)
    asked = ops.ask(Interrupt(), done="Stopped.")
    assert await asked == core.reply
    assert core.reached_ids == [7] and said == ["shown", "information: Stopped."]


async def test_what_an_op_fails_with_is_said_or_handed_back() -> None:
    refused = UsageError("No such session.", "List them.")
    refused.event_id = 9
    core = Core(refused)
    ops, said = client(core)
    assert await ops.ask(Interrupt()) is None
    # What it was refused for may just have been stored: it is shown before the next key counts.
    assert core.reached_ids == [9] and said == ["shown", "error: No such session. List them."]
    ops, said = client(Core(ValueError("torn")))
    failed = await ops.attempt(Interrupt())
    assert isinstance(failed, SwitchboardError) and str(failed) == "Interrupt: ValueError: torn"
    assert said == []


async def test_an_op_is_asked_for_from_the_call_until_its_answer() -> None:
    ops, _ = client(Core(Reply(submission_id="1")))
    noted: list[str] = []
    ops.pending.note = lambda op: noted.append("noted")  # type: ignore[method-assign]
    ops.pending.settle = lambda op: noted.append("settled")  # type: ignore[method-assign]
    asked = ops.attempt(Interrupt())
    assert noted == ["noted"]
    await asked
    assert noted == ["noted", "settled"]


def test_errors_are_said_thrice_then_logged_and_at_last_end_the_console() -> None:
    said: list[str] = []
    ended: list[str] = []
    now_s = [0.0]

    def say(text: str, *, tone: str = "information") -> None:
        said.append(text)

    errors = ErrorReports(
        say, is_ending=lambda: False, give_up=ended.append, clock_s=lambda: now_s[0]
    )
    for _ in range(25):
        errors.report(ValueError("torn"), "drawing")
    assert said == ["drawing: ValueError: torn"] * 3 and ended == []
    errors.report(ValueError("torn"), "drawing")
    assert ended == ["The console failed too often; see the log."]
    now_s[0] = 11.0
    errors.report(ValueError("torn"), "drawing")
    assert len(said) == 4, "ten seconds later it is news again"


def test_nothing_is_said_while_the_screens_are_taken_down() -> None:
    def say(text: str, *, tone: str = "information") -> None:
        raise AssertionError(text)

    errors = ErrorReports(say, is_ending=lambda: True, give_up=lambda why: None)
    errors.guarded("drawing", lambda: 1 / 0)
    assert errors.recent_s == []


async def test_a_console_that_only_looks_says_so_in_the_place_of_every_act() -> None:
    host = Host()
    host.only_looks = True
    await host.dispatcher.act("session.pause")
    assert ONLY_LOOKS in host.done[0] and "screen pauses" not in host.done
