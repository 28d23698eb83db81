"""Carry out turns: get the device, run the task, store how it ended; or end it early.

Not what a task does, and not what an operator may ask for (`agent.sessions.operations`).
Invariants: at most one turn of a session is open; every turn whose start is stored gets its end
stored exactly once, and stores nothing after it; a core that closes leaves its turns open in the
store, for the next start to recover.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain, repeat
from secrets import token_hex

from agent.devices.device import Device
from agent.errors import DeviceLostError, StoreError, SwitchboardError, UsageError
from agent.models.model import Model
from agent.protocol import (
    AbortReason,
    Event,
    EventMsg,
    QuestionClosed,
    SessionAssigned,
    TaskComplete,
    TaskStarted,
    TurnAborted,
)
from agent.records import SessionState
from agent.sessions.context import TurnContext
from agent.sessions.crew import settled
from agent.sessions.endings import Ending, broken, ended, failed, late
from agent.sessions.holding import held_back
from agent.sessions.live import LiveSession, Turn
from agent.sessions.parts import Parts
from agent.sessions.rollback import visible
from agent.sessions.staging import Staging, stage
from agent.tasks.task import Limits, SessionTask

HARD_ABORT_S = 0.1
"""How long a task that is interrupted may take to stop by itself (CONTRACTS 4.2)."""
_AFTER_LOST_LEASE_S = 0.5
_STORE_RETRY_S = (1.0, 2.0, 4.0, 8.0, 15.0)
_STORE_RETRY_EVER_S = 30.0
_CLOSE_MODEL_S = 5.0
_log = logging.getLogger(__name__)


class Turns:
    """The turns of one core."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def begin(
        self,
        live: LiveSession,
        *,
        background: bool = False,
        deadline_s: float = 0.0,
        max_steps: int = 0,
    ) -> Turn:
        """Send a session off; its state is QUEUED already. The caller holds its lock."""
        assert live.turn is None, "one turn at a time"
        turn = Turn(_new_turn_id(), background, deadline_s, max_steps)
        live.turn = turn
        turn.runner = self._parts.crew.start(
            self._run(live, turn), f"turn of session {live.session_id}"
        )
        return turn

    def strike(self, turn: Turn, abort: AbortReason) -> None:
        """Cancel a turn's task now, unless it has just ended of itself."""
        # Once: a second cancellation would cut short the task's own cleaning up.
        if turn.finishing or turn.runner is None or turn.aborting is not None:
            return
        turn.aborting = abort
        turn.runner.cancel()

    async def abort(
        self,
        live: LiveSession,
        abort: AbortReason,
        state: SessionState,
        reason: str,
        *,
        submission_id: str = "",
    ) -> None:
        """End the open turn, if there is one, and go to a state; a terminal one is left alone.

        The task gets a tenth of a second to stop by itself; its turn ends then in any case.

        Raises:
            StoreError: it was stopped, and that could not be stored; storing is tried again.
        """
        while True:
            turn = live.turn
            if turn is not None and turn.runner is not None:
                self.strike(turn, abort)
                await asyncio.wait({turn.runner}, timeout=HARD_ABORT_S)
            async with live.lock:
                if live.turn is not None and live.turn is not turn:
                    continue
                if live.record.state.is_terminal:
                    return
                if live.turn is not None:
                    live.turn.mute = True
                ending = Ending(self._abortion(live, abort), state, reason)
                drafts = live.drafts(*self._closing(live, ending), submission_id=submission_id)
                try:
                    await settled(self._parts.book.append(*drafts))
                except StoreError:
                    self._store_later(live, ending)
                    raise
                self._close(live)
                return

    async def until_idle(self, live: LiveSession) -> None:
        """Wait until no turn of the session is open."""
        while (turn := live.turn) is not None:
            await turn.over.wait()

    # --- the run ----------

    async def _run(self, live: LiveSession, turn: Turn) -> None:
        assignment, rack = self._parts.assignment, self._parts.rack
        while True:
            serial = await assignment.reserve(turn.turn_id, live.record.serial)
            try:
                async with rack.lease(serial, live.session_id) as device:
                    following: Turn | None = turn
                    while following is not None:
                        following = await self._drive(live, following, device)
                return
            except Exception as error:
                unended = live.turn
                if unended is None or unended.runner is not asyncio.current_task():
                    raise
                if live.record.turn_id or not isinstance(error, DeviceLostError | UsageError):
                    await self._finish(live, unended, _raised(live, unended, error))
                    return
                _log.info("Device %s was gone before session %s had it", serial, live.session_id)
            finally:
                assignment.release(turn.turn_id)
            await asyncio.sleep(_AFTER_LOST_LEASE_S)

    async def _drive(self, live: LiveSession, turn: Turn, device: Device) -> Turn | None:
        """Run one turn on its device; gives the turn that follows at once, if one does."""
        task = self._parts.task()
        model: Model | None = None
        try:
            history = await self._parts.book.events(live.session_id)
            staging = stage(history, live.record.goal)
            await self._start(live, turn, device, task, staging)
            try:
                model = self._parts.models(live.record)
                context = self._context(live, turn, device, model, visible(history), staging)
                ending = await _outcome(task, context, turn)
            except asyncio.CancelledError:
                mine = asyncio.current_task()
                if turn.aborting is not None or (mine is not None and mine.cancelling()):
                    raise
                ending = broken(turn, RuntimeError("it cancelled itself"))
            except Exception as error:
                ending = _raised(live, turn, error)
            # No await since the task ended: from here on an abort leaves the turn alone.
            if turn.aborting is not None:
                return None
            turn.finishing = True
            return await self._finish(live, turn, ending)
        finally:
            if model is not None:
                with suppress(TimeoutError):
                    async with asyncio.timeout(_CLOSE_MODEL_S):
                        await model.close()

    async def _start(
        self, live: LiveSession, turn: Turn, device: Device, task: SessionTask, staging: Staging
    ) -> None:
        async with live.lock:
            if turn.aborting is not None or turn.over.is_set():
                raise asyncio.CancelledError
            msgs: list[EventMsg] = []
            if live.record.serial != device.serial:
                msgs.append(SessionAssigned(serial=device.serial))
            msgs += live.flagging(lost=False)
            msgs += live.moving(SessionState.RUNNING)
            msgs.append(TaskStarted(turn_id=turn.turn_id, kind=task.kind))
            await settled(self._parts.book.append(*live.drafts(*msgs)))
            waiting = {hint.message_id for hint in live.steering}
            older = [hint for hint in staging.steering if hint.message_id not in waiting]
            live.steering[:0] = older

    def _context(
        self,
        live: LiveSession,
        turn: Turn,
        device: Device,
        model: Model,
        history: Sequence[Event],
        staging: Staging,
    ) -> TurnContext:
        limits = Limits(
            max_steps=staging.steps_before + (turn.max_steps or live.record.max_steps),
            max_total_steps=self._parts.settings.run.max_total_steps,
            deadline_s=turn.deadline_s,
        )
        return TurnContext(
            self._parts,
            live,
            turn,
            device=device,
            model=model,
            history=history,
            prompt=staging.prompt,
            limits=limits,
        )

    # --- the end ----------

    async def _finish(self, live: LiveSession, turn: Turn, ending: Ending) -> Turn | None:
        async with live.lock:
            if turn.over.is_set():
                return None
            turn.mute = True
            ending = held_back(live, turn, ending)
            # A hint that came too late for the last step is not lost: it gets a turn of its own.
            goes_on = ending.completed and bool(live.steering)
            msgs = ending.msgs if goes_on else self._closing(live, ending)
            try:
                await settled(self._parts.book.append(*live.drafts(*msgs)))
            except StoreError as error:
                _log.warning("The end of a turn could not be stored: %s", error)
                self._store_later(live, ending)
                return None
            self._close(live)
            if not goes_on:
                return None
            following = Turn(
                _new_turn_id(), turn.background, turn.deadline_s, turn.max_steps, turn.runner
            )
            live.turn = following
            return following

    def _abortion(self, live: LiveSession, abort: AbortReason) -> tuple[EventMsg, ...]:
        """Give the early end of the turn, if its start is stored."""
        turn_id = live.record.turn_id
        return (TurnAborted(turn_id=turn_id, reason=abort),) if turn_id else ()

    def _closing(self, live: LiveSession, ending: Ending) -> tuple[EventMsg, ...]:
        """Give all that is stored when a turn ends and none follows."""
        questions = tuple(
            QuestionClosed(question_id=question.question_id, reason="its turn ended")
            for question in self._parts.questions.of(live.session_id)
        )
        over = ending.state.is_terminal
        unflagged = (
            live.flagging(paused=False, lost=False, held=False, driver="")
            if over
            else live.flagging(paused=False)
        )
        return (
            *questions,
            *ending.msgs,
            *unflagged,
            *live.moving(ending.state, ending.reason),
        )

    def _close(self, live: LiveSession) -> None:
        if live.turn is not None:
            live.turn.over.set()
            live.turn = None

    def _store_later(self, live: LiveSession, ending: Ending) -> None:
        """Keep trying to store how a turn ended; until then the session begins no other."""
        turn = live.turn
        if turn is None or turn.unstored:
            return
        turn.unstored = True
        self._parts.crew.start(
            self._keep_storing(live, turn, ending), f"late end of session {live.session_id}"
        )

    async def _keep_storing(self, live: LiveSession, turn: Turn, ending: Ending) -> None:
        for delay_s in chain(_STORE_RETRY_S, repeat(_STORE_RETRY_EVER_S)):
            await asyncio.sleep(delay_s)
            async with live.lock:
                if turn.over.is_set():
                    return
                try:
                    await self._parts.book.append(*live.drafts(*self._closing(live, ending)))
                except StoreError as error:
                    _log.info("The end of a turn still cannot be stored: %s", error)
                    continue
                self._close(live)
                return


async def _outcome(task: SessionTask, context: TurnContext, turn: Turn) -> Ending:
    """Run a task to its end, or to the end of its time."""
    limit = asyncio.timeout(turn.deadline_s or None)
    try:
        async with limit:
            return ended(turn, await task.run(context))
    except TimeoutError:
        if limit.expired():
            return late(turn)
        raise


def _raised(live: LiveSession, turn: Turn, error: Exception) -> Ending:
    if isinstance(error, SwitchboardError):
        ending = failed(turn, error)
    else:
        _log.exception("The task of session %s broke", live.session_id, exc_info=error)
        ending = broken(turn, error)
    if live.record.turn_id:
        return ending
    # It never started, so nothing of it can be over.
    msgs = tuple(m for m in ending.msgs if not isinstance(m, TaskComplete | TurnAborted))
    return Ending(msgs, ending.state, ending.reason)


def _new_turn_id() -> str:
    return f"t-{token_hex(6)}"
