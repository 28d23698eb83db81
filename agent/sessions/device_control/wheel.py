"""The wheel: the operator drives a phone; its session waits, and is told what was done.

Not the leases themselves (the fleet's). Invariants: nothing is done at the wheel while a step of a
session is in flight; what was done is stored in the session, but for typed text, of which only the
length is; a session goes on only when the wheel is handed back, or when it is resumed, which takes
the wheel away.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from secrets import token_hex
from typing import assert_never
from weakref import WeakValueDictionary

from agent import protocol
from agent.devices.protocols import Device
from agent.errors import (
    DeviceError,
    DeviceLostError,
    DeviceTimeoutError,
    UsageError,
    WrongStateError,
)
from agent.loop.task_context import Steering
from agent.records import ActionOutcome, SessionState, Speaker
from agent.sessions.device_control.wheel_gestures import check_gesture, describe, perform
from agent.sessions.device_control.wheel_reports import HINT, report, unreported
from agent.sessions.registry.live_session import LiveSession
from agent.sessions.registry.services import Services
from agent.sessions.rules.rollback import visible
from agent.store.store import EventDraft
from agent.text import one_line

OPERATOR = "operator"
PARK_S = 30.0  # How long an act waits for the step that was in flight when the wheel was taken.
LEASE_S = 10.0
_PAUSED = "The operator has the wheel."


@dataclass(eq=False)
class _Held:
    """One wheel in the operator's hands."""

    serial: str
    live: LiveSession | None
    given_back: asyncio.Event = field(default_factory=asyncio.Event)
    leased: asyncio.Event = field(default_factory=asyncio.Event)
    failure: Exception | None = None
    has_lease: bool = False


class Wheel:
    """The wheels of one core."""

    def __init__(self, parts: Services) -> None:
        self._parts = parts
        self._held: dict[str, _Held] = {}
        self._order: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def carry_out(
        self,
        op: protocol.WheelTake | protocol.WheelAct | protocol.WheelHandBack,
        submission_id: str = "",
    ) -> str:
        """Do what is asked of one wheel, in the order asked; returns the session's id, if any.

        Raises as `take`, `act` and `hand_back` do.
        """
        serial, live = await self._find(op.serial, op.session_id)
        order = self._order.setdefault(serial, asyncio.Lock())
        async with order:
            match op:
                case protocol.WheelTake():
                    return await self.take(serial, live, submission_id)
                case protocol.WheelAct(gesture=gesture):
                    return await self.act(serial, gesture, submission_id)
                case protocol.WheelHandBack(note=note):
                    return await self.hand_back(serial, note, submission_id)
                case _:
                    assert_never(op)

    # --- taking ----------

    async def take(
        self, serial: str, live: LiveSession | None = None, submission_id: str = ""
    ) -> str:
        """Take a wheel; returns the id of the session that waits, if one does. Idempotent.

        Raises:
            UsageError: no such session or device.
            DeviceLostError: the device is away, or another process drives it.
        """
        held = self._held.get(serial)
        if held is not None and self._is_ours(held):
            return held.live.session_id if held.live else ""
        live = live or self._at_work_on(serial)
        held = self._held[serial] = _Held(serial, live)
        try:
            if live is not None and live.turn is not None:
                async with live.lock:
                    msgs = (
                        protocol.WheelTaken(serial=serial),
                        *live.flagging(paused=True, reason=_PAUSED),
                    )
                    await self._parts.registry.append(
                        *live.drafts(*msgs, submission_id=submission_id)
                    )
                self._parts.fleet.hand(serial, OPERATOR)
            else:
                await self._lease(held)
                await self._tell(
                    held, protocol.WheelTaken(serial=serial), submission_id=submission_id
                )
        except BaseException:
            del self._held[serial]
            held.given_back.set()
            raise
        return live.session_id if live is not None else ""

    async def hand_back(self, serial: str, note: str = "", submission_id: str = "") -> str:
        """Hand the wheel back; returns the id of the session that goes on, if one does.

        Raises:
            WrongStateError: the operator does not have it.
        """
        held = self._own(serial)
        del self._held[serial]
        held.given_back.set()
        note = one_line(note, 1000)
        back = protocol.WheelHandedBack(serial=serial, note=note)
        live = held.live
        if live is None or live.record.state.is_terminal:
            await self._tell(held, back, submission_id=submission_id)
            return ""
        async with live.lock:
            live.disturbed_ms = self._parts.clock_ms()
            untold = unreported(
                visible(await self._parts.registry.events(live.session_id)),
                None if live.turn is None else {one.message_id for one in live.steering},
            )
            notes = tuple(filter(None, (*untold.notes, note)))
            told = protocol.UserMessage(
                text=report(untold.done, notes),
                message_id=f"{HINT}{token_hex(6)}",
                speaker=Speaker.PRODUCT,
                said="\n".join(notes),
                steer=True,
            )
            before = [protocol.SteerWithdrawn(message_id=one) for one in untold.waiting]
            # What precedes it says why.
            flags = live.flagging(paused=False)
            msgs = (back, *before, told, *flags)
            if live.turn is not None:
                self._parts.fleet.hand(serial, live.session_id)
                live.steering[:] = [
                    *(one for one in live.steering if one.message_id not in untold.waiting),
                    Steering(
                        message_id=told.message_id,
                        text=told.text,
                        speaker=told.speaker,
                        said=told.said,
                    ),
                ]
            await self._parts.registry.append(*live.drafts(*msgs, submission_id=submission_id))
        return live.session_id

    # --- driving ----------

    async def act(
        self, serial: str, gesture: protocol.WheelGesture, submission_id: str = ""
    ) -> str:
        """Do something at the wheel, in the order of the calls; returns the session's id, if any.

        Raises:
            WrongStateError: the operator does not have the wheel, or a step is still in flight.
            DeviceError: it failed, or its outcome is unknown; that is stored too.
        """
        check_gesture(gesture)
        held = self._own(serial)
        await self._await_turn(held)
        said, outcome = describe(gesture), ActionOutcome.DONE
        failure: DeviceError | None = None
        try:
            await perform(gesture, await self._parts.fleet.device(serial))
        except (DeviceTimeoutError, DeviceLostError) as error:
            outcome, failure = ActionOutcome.UNKNOWN, error
        except DeviceError as error:
            outcome, failure = ActionOutcome.FAILED, error
        if held.live is not None:
            held.live.disturbed_ms = self._parts.clock_ms()
        detail = one_line(failure.message, 300) if failure else ""
        acted = protocol.WheelActed(serial=serial, said=said, outcome=outcome, detail=detail)
        await self._tell(held, acted, submission_id=submission_id)
        if failure is not None:
            raise failure
        return held.live.session_id if held.live else ""

    @asynccontextmanager
    async def borrow(self, live: LiveSession) -> AsyncIterator[Device]:
        """Have the phone of a session that waits for the length of the block, for one act.

        Nothing is resumed by it: a paused session stays paused, a wheel that the operator has is
        still theirs.

        Raises:
            WrongStateError: the session is at work, or another client drives the phone.
            DeviceLostError: the phone is away.
        """
        serial = live.record.serial
        async with self._order.setdefault(serial, asyncio.Lock()):
            held = self._held.get(serial)
            if held is not None and self._is_ours(held):
                await self._await_turn(held)
                yield await self._parts.fleet.device(serial)
                return
            asks = live.record.state is SessionState.WAITING_FOR_USER
            if live.turn is not None and not (live.record.paused or asks):
                raise WrongStateError(
                    f"Session {live.session_id} is at work.",
                    f"Pause it first: switchboard sessions pause {live.session_id}",
                )
            held = self._held[serial] = _Held(serial, live)
            pauses = live.turn is not None and not live.record.paused
            try:
                if pauses:
                    await self._flag(live, paused=True)
                if live.turn is not None:
                    self._parts.fleet.hand(serial, OPERATOR)
                await self._await_turn(held)
                yield await self._parts.fleet.device(serial)
            finally:
                self._held.pop(serial, None)
                held.given_back.set()
                live.disturbed_ms = self._parts.clock_ms()
                if live.turn is not None:
                    self._parts.fleet.hand(serial, live.session_id)
                if pauses:
                    await self._flag(live, paused=False)

    async def _flag(self, live: LiveSession, *, paused: bool) -> None:
        async with live.lock:
            msgs = live.flagging(paused=paused, reason=_PAUSED if paused else "")
            await self._parts.registry.append(*live.drafts(*msgs))

    async def _await_turn(self, held: _Held) -> None:
        """Wait until the phone is the operator's alone."""
        live = held.live
        asks = live is not None and live.record.state is SessionState.WAITING_FOR_USER
        if live is not None and live.turn is not None and not held.has_lease and not asks:
            try:
                async with asyncio.timeout(PARK_S):
                    parked = asyncio.ensure_future(live.parked.wait())
                    over = asyncio.ensure_future(live.turn.over.wait())
                    try:
                        await asyncio.wait({parked, over}, return_when=asyncio.FIRST_COMPLETED)
                    finally:
                        parked.cancel()
                        over.cancel()
            except TimeoutError as error:
                raise WrongStateError(
                    f"The step of session {live.session_id} has not ended for {PARK_S:g} s.",
                    "Wait for its model, or stop the session.",
                ) from error
        self._own(held.serial)
        if (live is None or live.turn is None) and not held.has_lease:
            # The session ended, and its lease with it.
            await self._lease(held)

    async def _lease(self, held: _Held) -> None:
        self._parts.supervisor.start(self._hold(held), f"wheel of {held.serial}")
        try:
            async with asyncio.timeout(LEASE_S):
                await held.leased.wait()
        except TimeoutError as error:
            held.given_back.set()
            raise WrongStateError(
                f"{held.serial} was not free within {LEASE_S:g} s.",
                "Another client drives it; see `switchboard devices`.",
            ) from error
        if held.failure is not None:
            raise held.failure

    async def _hold(self, held: _Held) -> None:
        try:
            async with self._parts.fleet.lease(held.serial, OPERATOR):
                held.has_lease = True
                held.leased.set()
                await held.given_back.wait()
        except (DeviceError, UsageError) as error:
            held.failure = error
        finally:
            held.has_lease = False
            held.leased.set()

    # --- whose it is ----------

    async def _find(self, serial: str, session_id: str) -> tuple[str, LiveSession | None]:
        if bool(serial) == bool(session_id):
            raise UsageError("Name a device or a session, one of the two.")
        if serial:
            self._parts.assignment.check_known(serial)
            return serial, None
        live = await self._parts.registry.get(session_id)
        if not live.record.serial:
            raise WrongStateError(
                f"Session {live.session_id} has no phone.", "Name the device instead."
            )
        return live.record.serial, live

    def _at_work_on(self, serial: str) -> LiveSession | None:
        for live in self._parts.registry.active():
            if live.record.serial == serial and live.turn is not None and live.record.turn_id:
                return live
        return None

    def _is_ours(self, held: _Held) -> bool:
        live = held.live
        return live is None or live.turn is None or live.record.paused

    def _own(self, serial: str) -> _Held:
        held = self._held.get(serial)
        if held is not None and self._is_ours(held):
            return held
        if held is not None:
            # It was resumed: it drives again.
            del self._held[serial]
            held.given_back.set()
        raise WrongStateError(
            f"The operator does not have the wheel of {serial}.",
            f"Take it first: switchboard devices wheel take {serial}",
        )

    async def _tell(self, held: _Held, msg: protocol.EventMsg, *, submission_id: str) -> None:
        session_id = held.live.session_id if held.live is not None else ""
        draft = EventDraft(session_id, msg, submission_id)
        if held.live is not None:
            await self._parts.registry.append(draft)
        else:
            await self._parts.store.append(draft)
