"""One act on a phone for one line of a shell: a direct session that begins and ends with it.

Not the options (`console.commands.devices.devices_acts`). Invariants: it is a session like any, so
the policy judges it, the operator may have to approve it, and it stands in the record; the phone is
free when it returns.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec

from agent.core import Core
from agent.direct.calls import SHELL, call, release_arguments, take
from agent.errors import SwitchboardError, UsageError
from agent.protocol import ObservationRecorded, SessionCancel, ToolCallFinished
from agent.records import ActionOutcome, DirectStatus, Observation
from console.cli_support.exits import ExitCode, say

SCALE = 1000
"""What a point of a picture is given in: 0 left and top, this right and bottom."""
_SILENT_S = 3.0
_FINGER = {"up": "down", "down": "up", "left": "right", "right": "left"}
"""Where a list goes on that a finger moves so."""


class ActResult(msgspec.Struct, frozen=True, kw_only=True):
    """What an act came to."""

    outcome: ActionOutcome | None  # None: it was not carried out in time.
    text: str
    is_asked: bool = False  # Whether it waits for a person's approval.

    @property
    def code(self) -> ExitCode:
        """The exit status that says so."""
        match self.outcome:
            case ActionOutcome.DONE:
                return ExitCode.DONE
            case ActionOutcome.FAILED:
                return ExitCode.FAILED
            case ActionOutcome.UNKNOWN:
                return ExitCode.UNVERIFIED
            case None:
                return ExitCode.NEEDS_ANSWER if self.is_asked else ExitCode.WRONG_STATE


class SingleAction:
    """A phone in hand; made by `taking`.

    Args:
        core: where the session is.
        wait_s: how long each call may wait for the phone and for a person.
    """

    def __init__(self, core: Core, session_id: str, wait_s: float) -> None:
        self._core = core
        self.session_id = session_id
        self._wait_s = wait_s
        self._told = ""
        self._last: ActResult | None = None

    async def ready(self) -> ActResult:
        """Wait until the phone is free and its screen is read."""
        self._last = await self._result("")
        return self._last

    async def do(self, tool: str, arguments: dict[str, Any]) -> ActResult:
        """Call a tool. Raises SwitchboardError where the core refuses it."""
        self._last = await self._result(tool, arguments)
        return self._last

    async def release(self, summary: str) -> None:
        """End the session by what its last call came to; not where that is still under way."""
        came = self._last
        if came is None or came.outcome is None:
            return
        tool, arguments = release_arguments(came.outcome is ActionOutcome.DONE, summary)
        await call(
            self._core,
            self.session_id,
            tool,
            arguments,
            patience_s=self._wait_s,
            on_wait=self._tell,
        )

    async def screen(self) -> Observation:
        """Return the newest screen. Raises UsageError before there is one."""
        for event in reversed(await self._core.history(self.session_id)):
            if isinstance(event.msg, ObservationRecorded):
                return event.msg.observation
        raise UsageError("The phone's screen was not read.", "Try again.")

    async def picture(self) -> bytes:
        """Return the newest picture as the phone gave it. Raises UsageError where there is none."""
        frame = (await self.screen()).frame
        if frame is None:
            raise UsageError("The phone gives no picture of this screen.", "Use look.")
        return await self._core.blob(frame.digest)

    async def _result(self, tool: str, arguments: dict[str, Any] | None = None) -> ActResult:
        view = await call(
            self._core,
            self.session_id,
            tool,
            arguments,
            patience_s=self._wait_s,
            on_wait=self._tell,
        )
        if view.status is DirectStatus.WAITING:
            asked = [
                one
                for one in (await self._core.overview()).questions
                if one.session_id == self.session_id
            ]
            return ActResult(outcome=None, text=view.text, is_asked=bool(asked))
        if view.status is DirectStatus.OVER:
            return ActResult(outcome=ActionOutcome.FAILED, text=view.text)
        if not tool:
            return ActResult(outcome=ActionOutcome.DONE, text=view.text)
        for event in reversed(await self._core.history(self.session_id)):
            if isinstance(event.msg, ToolCallFinished):
                return ActResult(outcome=event.msg.outcome, text=event.msg.text)
        return ActResult(outcome=ActionOutcome.UNKNOWN, text=view.text)

    async def _tell(self, waited_s: float, why: str) -> None:
        if why != self._told and waited_s >= _SILENT_S:
            self._told = why
            say(why)


@asynccontextmanager
async def taking(
    core: Core, serial: str, purpose: str, *, wait_s: float
) -> AsyncIterator[SingleAction]:
    """Take a phone for the block.

    Args:
        purpose: for the record: the line that was typed.
        wait_s: how long each call may wait for the phone and for a person.

    Raises:
        SwitchboardError: the core refuses.
    """
    session_id = await take(core, purpose, serial, SHELL, one_act=True)
    act = SingleAction(core, session_id, wait_s)
    try:
        yield act
        await act.release(purpose)
    finally:
        with suppress(SwitchboardError):
            if not (await core.session(session_id)).state.is_terminal:
                await core.request(SessionCancel(session_id=session_id))


def tap_call(target: str, *, long: bool = False) -> tuple[str, dict[str, Any]]:
    """Return the call that taps a number, a point "x,y" (each 0 to 1) or a text."""
    point = point_of(target)
    if point is not None:
        return "tap_point", {"x": point[0], "y": point[1], "press": "long" if long else "tap"}
    return "long_press_element" if long else "click_element", named(target)


def type_call(text: str, into: str, *, clear: bool) -> tuple[str, dict[str, Any]]:
    """Return the call that types into a field: by number, by text, or the focused one."""
    return "type_text", {"text": text, "clear": clear, **(named(into) if into else {})}


def swipe_call(places: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    """Return the call that moves a finger: up, down, left, right; or from point to point.

    Raises:
        UsageError: it is neither.
    """
    match places:
        case (direction,) if direction in _FINGER:
            return "scroll", {"direction": _FINGER[direction]}
        case (direction, target) if direction in _FINGER and target.isdecimal():
            return "scroll", {"direction": _FINGER[direction], "element": int(target)}
        case (start, end) if (a := point_of(start)) and (b := point_of(end)):
            return "drag", {"start": f"{a[0]},{a[1]}", "end": f"{b[0]},{b[1]}"}
    raise UsageError(
        f"{' '.join(places)!r} is not a swipe.",
        "Use up, down, left or right (and an element's number), or two points: 0.5,0.8 0.5,0.2.",
    )


def named(target: str) -> dict[str, Any]:
    """Return how a tool is told of an element: by its number or by its label."""
    return {"element": int(target)} if target.isdecimal() else {"label": target}


def point_of(target: str) -> tuple[int, int] | None:
    """Read a point "x,y", each from 0 to 1, in thousandths; None where it is none."""
    x, comma, y = target.partition(",")
    try:
        place = float(x), float(y)
    except ValueError:
        return None
    if not comma or not all(0 <= one <= 1 for one in place):
        return None
    return round(place[0] * SCALE), round(place[1] * SCALE)
