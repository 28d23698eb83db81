"""Carry out turns: get the device, run the task, end the turn; or end it early.

Operators' operations are in `agent.sessions.lifecycle.operations`; ends are stored by
`agent.sessions.turns.turn_closing`. Invariants: at most one turn of a
session is open; a turn drives a phone only while the dispatcher lets it
(`agent.sessions.turns.dispatcher_host`); a core that closes leaves its turns open in the store, for
the next start to recover.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from agent import protocol
from agent.devices.protocols import Device
from agent.errors import DeviceLostError, SwitchboardError, UsageError, WrongStateError
from agent.loop.conversation.operator_words import OperatorWords
from agent.loop.task_context import Limits, SessionTask, TaskKind
from agent.models.model import Learns, Model
from agent.models.one_call import OneCall
from agent.models.reviewers.reviewing import Reviewing
from agent.models.verifying import Verifying
from agent.models.windows import context_window
from agent.records import SessionState
from agent.safety.navigation.known_presses import KnownPresses
from agent.safety.redacting.let_through import letting_through
from agent.safety.redacting.requested_details import showing
from agent.sessions.registry.live_session import Errand, LiveSession, Turn
from agent.sessions.registry.services import Services
from agent.sessions.registry.supervisor import settled
from agent.sessions.rules.device_requests import device_request_of
from agent.sessions.rules.next_turn import needs_plan, new_turn_id
from agent.sessions.rules.rollback import visible
from agent.sessions.rules.turn_input import Staging, seen_by, stage
from agent.sessions.rules.turn_outcome import Ending, broken, ended, late, raised
from agent.sessions.tree.app_targets import Targets
from agent.sessions.tree.delegation_host import Delegating
from agent.sessions.turns.context import TurnContext
from agent.sessions.turns.dispatcher_host import DispatcherHost
from agent.sessions.turns.navigation_learning import known_presses, learn
from agent.sessions.turns.turn_closing import TurnEnds
from agent.store.leases import Lease

HARD_ABORT_S = 0.1
"""How long a task that is interrupted may take to stop by itself (CONTRACTS 4.2)."""
_AFTER_LOST_LEASE_S = 0.5
_CLOSE_MODEL_S = 5.0
_log = logging.getLogger(__name__)


class Turns:
    """The turns of one core."""

    def __init__(self, parts: Services, targets: Targets, host: DispatcherHost) -> None:
        self._parts = parts
        self._targets = targets
        self._host = host
        self._ends = TurnEnds(parts)
        self._review_turns: dict[str, SessionTask] = {}

    def begin(
        self, live: LiveSession, *, errand: Errand | None = None, recovering: bool = False
    ) -> Turn:
        """Start a turn of a session that is QUEUED already. The caller holds its lock.

        Args:
            errand: of a job; None when a person starts it.
            recovering: it resumes by itself after a loss; its wait for a phone is bounded.
        """
        assert live.turn is None, "one turn at a time"
        plans = self._parts.plan is not None and errand is None
        plans = plans and needs_plan(live, self._parts.fleet.devices())
        kind = TaskKind.PLAN if plans else TaskKind.REGULAR
        patience_s = self._parts.settings.recovery.device_grace_s if recovering else 0.0
        if errand is not None and errand.grant is not None:
            # What was approved is not done hours later.
            patience_s = errand.deadline_s
        turn = Turn(new_turn_id(), errand, kind=kind, patience_s=patience_s)
        return self._launch(live, turn)

    def start_review_turn(self, live: LiveSession, kind: TaskKind, task: SessionTask) -> Turn:
        """Begin a turn that reads a session and leaves its state alone. The caller holds its lock.

        Raises:
            WrongStateError: a turn is open.
        """
        if live.turn is not None:
            raise WrongStateError(
                f"Session {live.session_id} is at work.", "Stop it first, or wait until it ends."
            )
        turn = Turn(new_turn_id(), kind=kind)
        self._review_turns[turn.turn_id] = task
        return self._launch(live, turn)

    def _launch(self, live: LiveSession, turn: Turn) -> Turn:
        live.turn = turn
        turn.runner = self._parts.supervisor.start(
            self._run(live, turn), f"turn of session {live.session_id}"
        )
        return turn

    def cancel_task(self, turn: Turn, abort: protocol.AbortReason) -> None:
        """Cancel a turn's task now, unless it is just ending by itself."""
        # Once: a second cancellation would cut short the task's own cleaning up.
        if turn.finishing or turn.runner is None or turn.aborting is not None:
            return
        turn.aborting = abort
        turn.runner.cancel()

    async def abort(
        self,
        live: LiveSession,
        abort: protocol.AbortReason,
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
                self.cancel_task(turn, abort)
                await asyncio.wait({turn.runner}, timeout=HARD_ABORT_S)
            async with live.lock:
                if live.turn is not None and live.turn is not turn:
                    continue
                leaves = not live.record.state.is_terminal
                if live.turn is None and not leaves:
                    return
                if live.turn is not None:
                    # A turn that only reads its session is ended without the session, unless
                    # the session is what is to end.
                    leaves = leaves and (state.is_terminal or not live.turn.kind.is_review_turn)
                end = state if leaves else live.record.state
                await self._ends.cut_short(live, abort, end, reason, submission_id)
                return

    async def end_review_turn(self, live: LiveSession) -> None:
        """End a turn that only reads the session, because another is to begin (CONTRACTS D2)."""
        if live.turn is not None and live.turn.kind.is_review_turn:
            await self.abort(live, protocol.AbortReason.REPLACED, live.record.state, "")

    async def until_idle(self, live: LiveSession) -> None:
        """Wait until no turn of the session is open."""
        while (turn := live.turn) is not None:
            await turn.over.wait()

    # --- the run ----------

    async def _run(self, live: LiveSession, turn: Turn) -> None:
        """Carry out a turn, and those that follow it at once."""
        following: Turn | None = turn
        while following is not None:
            turn = following
            try:
                if turn.pause_s:
                    await asyncio.sleep(turn.pause_s)
                    turn.pause_s = 0.0
                if turn.kind.needs_device:
                    following = await self._run_on_phone(live, turn)
                else:
                    following = await self._drive(live, turn, None)
            except Exception as error:
                unended = live.turn
                if unended is None or unended.runner is not asyncio.current_task():
                    raise
                turn = unended
                following = await self._ends.finish(live, unended, raised(unended, error))
            if following is None:
                following = await _stored_late(live, turn)

    async def _run_on_phone(self, live: LiveSession, turn: Turn) -> Turn | None:
        """Wait for the phone and run turns on it; return the one that has to wait for it again."""
        while True:
            try:
                async with (
                    self._phone(live, turn) as (serial, lease),
                    self._parts.fleet.lease(serial, live.session_id) as device,
                ):
                    return await self._drive_all(live, turn, device, lease)
            except (DeviceLostError, UsageError) as error:
                unended = live.turn
                if unended is None or unended.started or turn.out_of_patience:
                    raise
                turn = unended
                _log.info("Session %s did not get its device: %s", live.session_id, error)
            await asyncio.sleep(_AFTER_LOST_LEASE_S)

    async def _drive_all(
        self, live: LiveSession, turn: Turn, device: Device, lease: Lease
    ) -> Turn | None:
        """Run a turn and those that follow at once; return the one that has to pause first."""
        following: Turn | None = turn
        while following is not None and not following.pause_s:
            turn = following
            turn.lease = lease
            following = await self._drive(live, turn, device)
            if following is None:
                # Its end goes under the lease, so the phone is kept for it.
                following = await _stored_late(live, turn)
        return following

    @asynccontextmanager
    async def _phone(self, live: LiveSession, turn: Turn) -> AsyncIterator[tuple[str, Lease]]:
        """Hold a phone that is online for the length of the block.

        Raises:
            DeviceLostError: it was not available for as long as the turn waits.
        """
        assignment, holder = self._parts.assignment, turn.turn_id
        serial = live.record.serial
        async with AsyncExitStack() as stack:
            patience = asyncio.timeout(turn.patience_s or None)
            try:
                async with patience:
                    stack.callback(assignment.release, holder)
                    others = None if turn.errand is None else turn.errand.others
                    wish = device_request_of(live.record, others)
                    serial = await assignment.place(holder, wish)
                    lease = await stack.enter_async_context(
                        self._host.hold_phone(live.session_id, serial, lambda: self._abandon(live))
                    )
                    if not wish.serial and not assignment.is_online(serial):
                        raise DeviceLostError(f"{serial} went away before it was used.")
                    await assignment.until_online(serial)
            except TimeoutError as error:
                turn.out_of_patience = patience.expired()
                raise DeviceLostError(
                    f"{serial or 'A device'} was not available for {turn.patience_s:g} s.",
                    "Connect it, then resume the session.",
                ) from error
            yield serial, lease

    def _abandon(self, live: LiveSession) -> None:
        """Stop a turn whose phone's lease was lost; nothing of it is stored any more."""
        turn = live.turn
        if turn is None:
            return
        _log.warning("Session %s lost the lease on its phone", live.session_id)
        turn.mute = True
        self.cancel_task(turn, protocol.AbortReason.REPLACED)
        self._parts.supervisor.start(
            self._ends.abandon(live, turn), f"lost lease of session {live.session_id}"
        )

    def _task(self, live: LiveSession, turn: Turn) -> SessionTask:
        if turn.kind is TaskKind.PLAN and self._parts.plan is not None:
            return self._parts.plan(Delegating(self._parts, live, turn, self.begin))
        return self._review_turns.pop(turn.turn_id, None) or self._parts.task()

    async def _drive(self, live: LiveSession, turn: Turn, device: Device | None) -> Turn | None:
        """Run one turn on its device; returns the turn that follows at once, if one does."""
        turn.hear(filter(None, [live.record.operators_goal]))
        with letting_through(lambda: live.record.let_through), showing(lambda: turn.asked_for):
            return await self._driven(live, turn, device)

    async def _driven(self, live: LiveSession, turn: Turn, device: Device | None) -> Turn | None:
        task = self._task(live, turn)
        context: TurnContext | None = None
        model: Model | None = None
        verifying, reviewing = Verifying(), Reviewing()
        presses, first_seq = KnownPresses(), 0
        try:
            try:
                history = await self._parts.registry.events(live.session_id)
                staging = stage(history)
                turn.hear(await self._said_before(live, history))
                await self._start(live, turn, device, task, staging)
                decided = _decided(turn)
                model = decided or self._parts.models(live.record)
                if turn.kind is TaskKind.PLAN:
                    verifying = self._parts.verifiers(model, live.record)
                if turn.kind is TaskKind.REGULAR:
                    verifying = (
                        Verifying(decided=True)
                        if decided is not None or live.record.one_act
                        else self._parts.verifiers(model, live.record)
                    )
                    if decided is None and not live.record.one_act:
                        reviewing = self._parts.reviewers(model, live.record)
                    presses = await known_presses(self._parts.navigation, device)
                first_seq = history[-1].seq if history else 0
                seen = seen_by(turn.kind, visible(history))
                if device is not None:
                    await self._targets.place(live, device)
                if isinstance(model, Learns):
                    # The window bounds what the turn remembers, so it is asked for before that.
                    await model.learn()
                context = self._context(
                    live, turn, device, model, verifying, reviewing, presses, seen, staging
                )
                ending = await _outcome(task, context, turn)
                if ending.completed and device is not None:
                    await self._targets.arrange(live)
            except asyncio.CancelledError:
                mine = asyncio.current_task()
                if turn.aborting is not None or (mine is not None and mine.cancelling()):
                    raise
                ending = broken(turn, RuntimeError("it cancelled itself"))
            except Exception as error:
                ending = raised(turn, error)
            # No await since the task ended: from here on an abort leaves the turn alone.
            if turn.aborting is not None:
                return None
            turn.finishing = True
            return await self._ends.finish(live, turn, ending)
        finally:
            if context is not None and turn.aborting is not None:
                await task.abort(context)
            if turn.finishing:
                await self._learn(live, presses, first_seq)
            asked = verifying.model if not verifying.is_same else None
            reader = reviewing.model if not reviewing.is_same else None
            for used in (model, asked, reader):
                if used is not None:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(_CLOSE_MODEL_S):
                            await used.close()

    async def _learn(self, live: LiveSession, presses: KnownPresses, after_seq: int) -> None:
        """Learn which presses of a turn only navigated, from what is stored of it."""
        if not presses.versions:
            return
        try:
            events = await self._parts.registry.events(live.session_id, after_seq=after_seq)
        except SwitchboardError as error:
            _log.warning("Nothing is learned of session %s: %s", live.session_id, error)
            return
        await learn(self._parts.navigation, presses, events)

    async def _said_before(
        self, live: LiveSession, history: Sequence[protocol.Event]
    ) -> tuple[str, ...]:
        """Return the operator's words before a turn; a child's work is for its parent's words.

        What a planner wrote for a child is a model's, and no child of before says whose it is.
        """
        parent_id = live.record.parent_id
        above = await self._parts.registry.events(parent_id) if parent_id else ()
        return (
            *OperatorWords("", (event.msg for event in above)).written,
            *OperatorWords("", (event.msg for event in history)).written,
        )

    async def _start(
        self,
        live: LiveSession,
        turn: Turn,
        device: Device | None,
        task: SessionTask,
        staging: Staging,
    ) -> None:
        async with live.lock:
            if turn.aborting is not None or turn.over.is_set():
                raise asyncio.CancelledError
            msgs: list[protocol.EventMsg] = []
            if device is not None and live.record.serial != device.serial:
                msgs.append(protocol.SessionAssigned(serial=device.serial))
            if not turn.kind.is_review_turn:
                msgs += live.flagging(lost=False)
                msgs += live.moving(SessionState.RUNNING)
            msgs.append(protocol.TaskStarted(turn_id=turn.turn_id, kind=task.kind))
            drafts = live.drafts(*msgs)
            writing = asyncio.ensure_future(self._parts.registry.append(*drafts, under=turn.lease))
            try:
                await settled(writing)
            finally:
                turn.started = not writing.cancelled() and writing.exception() is None
            if turn.kind.is_review_turn:
                return
            waiting = {hint.message_id for hint in live.steering}
            older = [hint for hint in staging.steering if hint.message_id not in waiting]
            live.steering[:0] = older
            turn.offered = frozenset(hint.message_id for hint in live.steering)

    def _context(
        self,
        live: LiveSession,
        turn: Turn,
        device: Device | None,
        model: Model,
        verifying: Verifying,
        reviewing: Reviewing,
        presses: KnownPresses,
        history: Sequence[protocol.Event],
        staging: Staging,
    ) -> TurnContext:
        limits = Limits(
            max_steps=staging.steps_before + (turn.max_steps or live.record.max_steps),
            max_total_steps=self._parts.settings.run.max_total_steps,
            deadline_s=turn.deadline_s,
            context_window=context_window(model.name, self._parts.settings.model.context_window),
            pause_on_touch=self._parts.settings.safety.pause_on_touch,
        )
        return TurnContext(
            self._parts,
            live,
            turn,
            device=device,
            model=model,
            verifying=verifying,
            reviewing=reviewing,
            known_presses=presses,
            history=history,
            asks_goal=staging.asks_goal,
            limits=limits,
            place=self._targets.place,
            screen=self._targets.screen,
        )


async def _stored_late(live: LiveSession, turn: Turn) -> Turn | None:
    """Wait until the end of a turn is stored; returns the turn that follows it, if one does."""
    if not turn.unstored:
        return None
    await turn.over.wait()
    return turn.follows if live.turn is turn.follows else None


def _decided(turn: Turn) -> Model | None:
    call = None if turn.errand is None else turn.errand.call
    return None if call is None else OneCall(call)


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
