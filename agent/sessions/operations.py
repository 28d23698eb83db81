"""What an operator may do with sessions, each operation checked against the state it needs.

Not the queue that brings the ops (`agent.sessions.intake`) and not the running of turns.
Invariants: what an operation changes together is stored together; the safe ones (stop, cancel,
pause) are idempotent; nothing but `resume` leads out of a terminal state.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from secrets import token_hex

from agent.errors import ErrorKind, UsageError, WrongStateError
from agent.protocol import (
    AbortReason,
    ErrorEvent,
    EventMsg,
    QuestionClosed,
    RecoveryScheduled,
    SessionConfigured,
    SessionCreate,
    SessionStart,
    SessionStateChanged,
    UserMessage,
)
from agent.records import Session, SessionState
from agent.sessions.answers import checked_text
from agent.sessions.creation import planned_sessions
from agent.sessions.holding import staged
from agent.sessions.live import Errand, LiveSession, Turn
from agent.sessions.parts import Parts
from agent.sessions.resuming import Move, Resuming, check_unsettled, way_on
from agent.sessions.turns import Turns
from agent.store.store import EventDraft
from agent.tasks.task import Steering

_STOPPED = "stopped by the operator; resume to go on"
_CANCELLED = "cancelled by the operator"


class Operations:
    """The sessions of one core, as their operator handles them."""

    def __init__(self, parts: Parts, turns: Turns) -> None:
        self._parts = parts
        self._turns = turns
        self._resuming = Resuming(parts.assignment)

    # --- beginning ----------

    async def create(self, op: SessionCreate, submission_id: str = "") -> tuple[Session, ...]:
        """Create a session and its children, and send off those that work, unless it is a draft.

        Returns:
            The session, then its children.

        Raises:
            UsageError: the request cannot be carried out; nothing was created.
        """
        planned = planned_sessions(
            op,
            settings=self._parts.settings,
            assignment=self._parts.assignment,
            now_ms=self._parts.clock_ms(),
        )
        await self.enter(planned, start=op.start, submission_id=submission_id)
        return planned

    async def enter(
        self,
        planned: tuple[Session, ...],
        *,
        start: bool,
        submission_id: str = "",
        errand: Errand | None = None,
    ) -> None:
        """Store new sessions, in one go, and send off those that work."""
        parent = planned[0] if len(planned) > 1 else None
        drafts: list[EventDraft] = []
        for session in planned:
            msgs: list[EventMsg] = [SessionConfigured(session=session)]
            if start and session is parent:
                msgs.append(SessionStateChanged(state=SessionState.RUNNING, reason="delegates"))
            elif start:
                msgs.append(self._resuming.queueing(session.serial))
            drafts += [EventDraft(session.session_id, msg, submission_id) for msg in msgs]
        await self._parts.book.append(*drafts)
        if not start:
            return
        for session in planned:
            if session is not parent:
                live = await self._parts.book.get(session.session_id)
                async with live.lock:
                    self._turns.begin(live, errand=errand)

    async def start(self, op: SessionStart, submission_id: str = "") -> str:
        """Start a draft; the children of a driven one wait with their objectives (A6).

        Returns:
            The session's id.

        Raises:
            UsageError: it has no goal, and no prompt came with the op.
            WrongStateError: it is no draft.
        """
        prompt = checked_text(op.prompt, "The prompt") if op.prompt else ""
        async with self.whole(op.session_id) as (top, children):
            if top.record.state is not SessionState.CREATED:
                raise WrongStateError(
                    f"Session {top.session_id} is {top.record.state}, not a draft.", way_on(top)
                )
            if not (prompt or top.record.goal):
                raise UsageError(
                    f"Draft {top.session_id} has no goal.",
                    f"Give one: switchboard sessions start {top.session_id} --prompt TEXT",
                )
            moves: list[Move] = []
            if prompt:
                moves.append((top, (UserMessage(text=prompt, message_id=_message_id()),)))
            if top.delegates:
                moves.append((top, top.moving(SessionState.RUNNING, "delegates")))
            for live in children or (top,):
                if live.record.state is not SessionState.CREATED:
                    continue
                if live is not top and top.record.held:
                    moves.append((live, staged(top.record.driver)))
                else:
                    moves.append((live, (self._resuming.queueing(live.record.serial),)))
            await self.send_off(moves, submission_id)
            return top.session_id

    # --- talking ----------

    async def tell(self, session_id: str, text: str, submission_id: str = "") -> None:
        """Steer the open turn, or begin a turn with this prompt; a parent passes it on.

        Raises:
            UsageError: there is nothing to tell, or no such session.
            WrongStateError: the session is settled: only a resume leads out of that.
        """
        text = checked_text(text, "The message")
        async with self.whole(session_id, ends_studies=True) as (top, children):
            check_unsettled(top)
            hearers = [top]
            moves: list[Move] = []
            if top.delegates:
                noted = UserMessage(text=text, message_id=_message_id(), steer=True)
                moves.append((top, (noted,)))
                unsettled = [child for child in children if not child.record.state.is_terminal]
                hearers = [child for child in unsettled if child.turn is not None] or unsettled
            steered: list[tuple[LiveSession, Steering]] = []
            for live in hearers:
                hint = Steering(message_id=_message_id(), text=text)
                moves.append((live, self._hearing(live, hint)))
                if live.turn is not None:
                    steered.append((live, hint))
            await self.send_off(moves, submission_id)
            for live, hint in steered:
                live.steering.append(hint)

    # --- holding ----------

    async def interrupt(self, session_id: str = "", submission_id: str = "") -> None:
        """Stop the turns of a session and its children; of every session when the id is empty."""
        members = await self._members(session_id) if session_id else self._parts.book.active()
        await self._abort_all(
            [live for live in members if live.turn is not None or live.is_forsaken],
            AbortReason.INTERRUPTED,
            SessionState.WAITING_FOR_USER,
            _STOPPED,
            submission_id,
        )

    async def cancel(
        self, session_id: str, submission_id: str = "", *, reason: str = _CANCELLED
    ) -> None:
        """End a session and its children, at once.

        A tree with work left in it is called off as a whole, what is settled in it too (CONTRACTS
        A8); one that is settled throughout stays as it is, and so does a session by itself.
        """
        members = await self._members(session_id)
        called_off = any(not live.record.state.is_terminal for live in members)
        # Phones first: storing may take its time.
        for live in members:
            if live.turn is not None:
                self._turns.strike(live.turn, AbortReason.CANCELLED)
        # The parent before its children, so that their ends do not roll up into another state.
        for group in (members[:1], members[1:]):
            await self._abort_all(
                group,
                AbortReason.CANCELLED,
                SessionState.CANCELLED,
                reason,
                submission_id,
                settled_too=called_off and len(members) > 1,
            )

    async def pause(self, session_id: str, submission_id: str = "") -> None:
        """Hold turns before their next step. Raises WrongStateError when none is open."""
        async with self.whole(session_id) as (top, children):
            held = [live for live in (top, *children) if live.is_at_work]
            if not held:
                raise WrongStateError(
                    f"Session {top.session_id} is {top.record.state}: no turn of it is open.",
                    "There is nothing to pause.",
                )
            if top.delegates and not top.record.state.is_terminal:
                held.append(top)
            await self.send_off(
                [
                    (live, live.flagging(paused=True, reason="paused by the operator"))
                    for live in held
                ],
                submission_id,
            )

    async def resume(self, session_id: str, submission_id: str = "") -> None:
        """Go on after a pause, a stop, a crash or, in a new generation, from a terminal state.

        Raises:
            WrongStateError: it is running, waits for an answer, or is a draft.
        """
        async with self.whole(session_id, ends_studies=True) as (top, children):
            if not top.delegates:
                generation = top.record.generation + 1
                moves: list[Move] = [(top, self._resuming.going_on(top, generation))]
            elif top.record.state.is_terminal:
                moves = self._resuming.again(top, children)
            else:
                moves = self._resuming.onward(top, children)
            await self.send_off(moves, submission_id)

    async def go_on_after_restart(self, live: LiveSession) -> None:
        """Let a session go on by itself whose core died, as often as the settings let it.

        Each time counts, restarts upon restarts too, until a turn of it is finished; after the last
        it waits for the operator (CONTRACTS 1.10). One that has a phone is begun by the dispatcher.
        """
        limit = self._parts.settings.recovery.retries
        async with live.lock:
            if not live.is_idle:
                return
            attempt = live.record.recoveries + 1
            if attempt > limit:
                tired = ErrorEvent(
                    message=f"The core ended under this session, and {limit} times it was taken "
                    "on again in vain.",
                    kind=ErrorKind.INTERNAL,
                    remedy=f"Look at it, then: switchboard sessions resume {live.session_id}",
                    retryable=True,
                )
                await self._parts.book.append(*live.drafts(tired))
                return
            scheduled = RecoveryScheduled(
                attempt=attempt, limit=limit, reason="The core was restarted."
            )
            queueing = self._resuming.queueing(live.record.serial)
            await self._parts.book.append(*live.drafts(scheduled, queueing))
            if not live.record.serial:
                self._turns.begin(live, recovering=True)

    async def take_on(self, session: Session) -> Turn | None:
        """Begin the turn of a session that the dispatcher found left over on its phone."""
        live = await self._parts.book.get(session.session_id)
        async with live.lock:
            left = live.record.state is SessionState.QUEUED and not live.delegates
            if live.turn is None and left:
                self._turns.begin(live, recovering=True)
            return live.turn

    async def go_on_with(self, session_id: str, prompt: str, submission_id: str = "") -> None:
        """Take a settled session into its next generation with a new prompt, its children left be.

        Raises:
            UsageError: there is no such session, or nothing in the prompt.
            WrongStateError: it has not ended.
        """
        text = checked_text(prompt, "The prompt")
        async with self.whole(session_id, ends_studies=True) as (top, children):
            if not top.record.state.is_terminal or top.turn is not None:
                raise WrongStateError(
                    f"Session {top.session_id} is {top.record.state}.", way_on(top)
                )
            generation = max(one.record.generation for one in (top, *children)) + 1
            moves = self._resuming.going_on(top, generation)
            message = UserMessage(text=text, message_id=_message_id())
            # After the resume, which would begin the goal again; before the queueing, to be staged.
            await self.send_off([(top, (*moves[:-1], message, moves[-1]))], submission_id)

    async def until_idle(self, live: LiveSession) -> None:
        """Wait until no turn of a session is open."""
        await self._turns.until_idle(live)

    # --- how ----------

    def _hearing(self, live: LiveSession, hint: Steering) -> tuple[EventMsg, ...]:
        """Give what makes a session hear a message: steering, or a turn with it as the prompt."""
        steers = live.turn is not None
        message = UserMessage(text=hint.text, message_id=hint.message_id, steer=steers)
        if steers:
            return (message,)
        superseded = (
            QuestionClosed(question_id=question.question_id, reason="superseded by a new message")
            for question in self._parts.questions.of(live.session_id)
        )
        return (message, *superseded, self._resuming.queueing(live.record.serial))

    @asynccontextmanager
    async def whole(
        self, session_id: str, *, ends_studies: bool = False
    ) -> AsyncIterator[tuple[LiveSession, tuple[LiveSession, ...]]]:
        """Hold a session and its children as they are, for the length of the block.

        Args:
            ends_studies: first end the turns that only read one of them: it is to go on.
        """
        top, *children = await self._members(session_id)
        if ends_studies:
            for live in (top, *children):
                await self._turns.replace_study(live)
        async with AsyncExitStack() as locks:
            # Always the parent first; nobody else holds more than one.
            for live in (top, *children):
                await locks.enter_async_context(live.lock)
            yield top, tuple(children)

    async def _members(self, session_id: str) -> tuple[LiveSession, ...]:
        top = await self._parts.book.get(session_id)
        return (top, *await self._parts.book.children(top))

    async def _abort_all(
        self,
        members: Iterable[LiveSession],
        abort: AbortReason,
        state: SessionState,
        reason: str,
        submission_id: str,
        *,
        settled_too: bool = False,
    ) -> None:
        outcomes = await asyncio.gather(
            *(
                self._turns.abort(
                    live,
                    abort,
                    state,
                    reason,
                    submission_id=submission_id,
                    settled_too=settled_too,
                )
                for live in members
            ),
            return_exceptions=True,
        )
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome

    async def send_off(self, moves: list[Move], submission_id: str) -> None:
        """Store what takes sessions on, together, and begin their turns; their locks are held."""
        drafts = [
            draft
            for live, msgs in moves
            for draft in live.drafts(*msgs, submission_id=submission_id)
        ]
        await self._parts.book.append(*drafts)
        for live, _ in moves:
            if live.record.state is SessionState.QUEUED and live.turn is None:
                self._turns.begin(live)


def _message_id() -> str:
    return f"m-{token_hex(6)}"
