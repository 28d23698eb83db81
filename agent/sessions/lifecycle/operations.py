"""Create, start, steer, stop and resume sessions, each checked against the required state.

Turns run in `agent.sessions.turns.turns`. Invariants: all changes of an
operation are stored together; the safe ones (stop, cancel, pause) are idempotent; only `resume`
leaves a terminal state.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from msgspec.structs import replace

from agent import protocol
from agent.core import ClientInfo
from agent.errors import ErrorKind, UsageError, WrongStateError
from agent.loop.task_context import Steering
from agent.models.session_endpoint import bare, check_asked_there, recorded_address
from agent.placement.needs import LAST, Needs, parse_needs
from agent.records import Session, SessionState, Speaker
from agent.safety.redacting.redaction import redact_secrets
from agent.sessions.registry.live_session import Errand, LiveSession, Turn
from agent.sessions.registry.services import Services
from agent.sessions.rules.attached_rules import staged
from agent.sessions.rules.creation import planned_sessions, requested_id
from agent.sessions.rules.operator_text import OperatorText, kinds_in, read_operator_text, redacted
from agent.sessions.rules.resuming import Move, Resuming, check_unsettled, way_on
from agent.sessions.rules.turn_input import new_message_id
from agent.sessions.turns.turns import Turns
from agent.store.store import EventDraft

_STOPPED = "stopped by the operator; it can be resumed"
_LOOKED_BACK = 200  # So many of the newest sessions are looked through for one that had a phone.
_CANCELLED = "cancelled by the operator"


class Operations:
    """The operations on one core's sessions."""

    def __init__(self, parts: Services, turns: Turns) -> None:
        self._parts = parts
        self._turns = turns
        self._resuming = Resuming(parts.assignment)

    # --- start ----------

    async def create(
        self, op: protocol.SessionCreate, submission_id: str = "", *, endpoint: str = ""
    ) -> tuple[Session, ...]:
        """Create a session and its children, and start those that work, unless it is a draft.

        A request with the id of an earlier one creates nothing.

        Args:
            op: the request.
            submission_id: of the op that asks for it.
            endpoint: the recorded address of the session that it goes on from, if any.

        Returns:
            The session, then its children.

        Raises:
            UsageError: the request cannot be carried out; nothing was created.
        """
        if known := await self._created_before(op.request_id):
            return known
        op = await self._on_the_same_phone(op)
        planned = planned_sessions(
            op,
            settings=self._parts.settings,
            assignment=self._parts.assignment,
            now_ms=self._parts.clock_ms(),
            endpoint=endpoint,
        )
        await self.enter(
            planned, start=op.start, submission_id=submission_id, written=_written(planned, op)
        )
        return planned

    async def _on_the_same_phone(self, op: protocol.SessionCreate) -> protocol.SessionCreate:
        """Return a request with the phone of the session named in its needs. Raises UsageError."""
        needs = parse_needs(op.phone_needs)
        if not needs.same or needs != Needs(same=needs.same) or op.serial or op.targets:
            return op
        if needs.same == LAST:
            newest = await self._parts.store.sessions(limit=_LOOKED_BACK)
            found = (one.serial for one in newest if one.serial and one.account == op.account)
            return replace(op, phone_needs="", serial=next(found, ""))
        session = (await self._parts.registry.get(needs.same)).record
        if not session.serial:
            raise UsageError(
                f"needs: same is session {session.session_id}, which has no phone yet.",
                "Name a session that has worked, or a phone.",
            )
        return replace(op, phone_needs="", serial=session.serial)

    async def _created_before(self, request_id: str) -> tuple[Session, ...]:
        """Return the session that a request created before, with its children; empty if none."""
        session_id = requested_id(request_id)
        if not session_id:
            return ()
        try:
            top = await self._parts.registry.get(session_id)
        except UsageError:
            return ()
        return (top.record, *(one.record for one in await self._parts.registry.children(top)))

    async def enter(
        self,
        planned: tuple[Session, ...],
        *,
        start: bool,
        submission_id: str = "",
        errand: Errand | None = None,
        written: Mapping[str, str] | None = None,
    ) -> None:
        """Store new sessions in one append, and start those that work.

        Args:
            written: unredacted goals of sessions whose goal lost secrets.
        """
        lost = written or {}
        parent = planned[0] if len(planned) > 1 else None
        drafts: list[EventDraft] = []
        for session in planned:
            msgs: list[protocol.EventMsg] = [protocol.SessionConfigured(session=session)]
            if text := lost.get(session.session_id, ""):
                msgs.append(redacted(kinds_in(text), "The goal"))
                self._parts.withheld.keep(session.session_id, text)
            if session.let_through and session is planned[0]:
                msgs.append(protocol.TextLetThrough(texts=session.let_through))
            if start and session is parent:
                msgs.append(
                    protocol.SessionStateChanged(state=SessionState.RUNNING, reason="delegates")
                )
            elif start:
                msgs.append(self._resuming.queueing(session))
            drafts += [EventDraft(session.session_id, msg, submission_id) for msg in msgs]
        await self._parts.registry.append(*drafts)
        if not start:
            return
        for session in planned:
            if session is not parent:
                live = await self._parts.registry.get(session.session_id)
                async with live.lock:
                    self._turns.begin(live, errand=errand)

    async def start(
        self, op: protocol.SessionStart, submission_id: str = "", *, by: ClientInfo | None = None
    ) -> str:
        """Start a draft; the children of a driven one wait with their objectives (A6).

        Args:
            by: the client; None for the core itself.

        Returns:
            The session's id.

        Raises:
            UsageError: it has no goal, and no prompt came with the op.
            WrongStateError: it is not a draft, or another client drives it.
        """
        async with self.locked_tree(op.session_id, by=by) as (top, children):
            said = self._read(top, op.prompt, "The prompt", op.let_through) if op.prompt else None
            await self.check_parent(top)
            if top.record.state is not SessionState.CREATED:
                raise WrongStateError(
                    f"Session {top.session_id} is {top.record.state}, not a draft.", way_on(top)
                )
            if said is None and not top.record.goal:
                raise UsageError(
                    f"Draft {top.session_id} has no goal.",
                    f"Give one: switchboard sessions start {top.session_id} --prompt TEXT",
                )
            moves: list[Move] = []
            if said is not None:
                message = protocol.UserMessage(text=said.text, message_id=new_message_id())
                moves.append((top, (*said.events, message)))
                moves += [(live, _allowed(said)) for live in children if _allowed(said)]
            if top.delegates:
                moves.append((top, top.moving(SessionState.RUNNING, "delegates")))
            for live in children or (top,):
                if live.record.state is not SessionState.CREATED:
                    continue
                if live is not top and top.record.held:
                    moves.append((live, staged(top.record.driver)))
                else:
                    moves.append((live, (self._resuming.queueing(live.record),)))
            await self.store_and_begin(moves, submission_id)
            return top.session_id

    # --- messages ----------

    async def tell(
        self,
        session_id: str,
        text: str,
        submission_id: str = "",
        *,
        speaker: Speaker = Speaker.OPERATOR,
        let_through: bool = False,
        resumes: bool = False,
        steers: bool | None = None,
        by: ClientInfo | None = None,
    ) -> None:
        """Steer the open turn, or start a turn with this prompt; a parent passes it on.

        Args:
            speaker: who wrote it.
            let_through: what looks like a secret in the text is not redacted in this session.
            resumes: an ended session that works by itself begins its next generation with it.
            steers: whether a turn must be open, or must not be; None if both are fine.
            by: the client; None for the core itself.

        Raises:
            UsageError: the text is empty, or there is no such session.
            WrongStateError: the session is settled and must be resumed, another client drives it,
                or it is not what `steers` says.
        """
        async with self.locked_tree(session_id, ends_review_turns=True, by=by) as (top, children):
            if resumes and top.record.state.is_terminal and not top.delegates:
                said = self._read(top, text, "The message", let_through)
                hint = Steering(message_id=new_message_id(), text=said.text, speaker=speaker)
                generation = self._resuming.next_generation(top, await self._parent_of(top))
                resumed = self._resuming.resume_with(top, generation, self._prompt(hint))
                await self.store_and_begin([(top, (*said.events, *resumed))], submission_id)
                return
            check_unsettled(top)
            if steers is not None and steers is not bool(top.record.turn_id):
                raise _addressed_otherwise(top.session_id, steers=steers)
            await self.check_parent(top)
            said = self._read(top, text, "The message", let_through)
            hearers = [top]
            moves: list[Move] = [(top, said.events)] if said.events else []
            if top.delegates:
                noted = protocol.UserMessage(
                    text=said.text, message_id=new_message_id(), speaker=speaker, steer=True
                )
                moves.append((top, (noted,)))
                unsettled = [child for child in children if not child.record.state.is_terminal]
                hearers = [child for child in unsettled if child.turn is not None] or unsettled
            steered: list[tuple[LiveSession, Steering]] = []
            for live in hearers:
                hint = Steering(message_id=new_message_id(), text=said.text, speaker=speaker)
                allowed = _allowed(said) if live is not top else ()
                moves.append((live, (*allowed, *self._hearing(live, hint))))
                if live.turn is not None:
                    steered.append((live, hint))
            await self.store_and_begin(moves, submission_id)
            for live, hint in steered:
                live.steering.append(hint)

    async def let_through(
        self, session_id: str, submission_id: str = "", *, by: ClientInfo | None = None
    ) -> str:
        """Send the operator's redacted texts again, unredacted; an ended session resumes.

        Args:
            by: the client; None for the core itself.

        Returns:
            The session's id.

        Raises:
            UsageError: there is no such session.
            WrongStateError: no text is held for it, or it is a draft, an ended subtask, or driven
                by another client.
        """
        live = await self._parts.registry.get(session_id)
        written = self._parts.withheld.of(live.session_id)
        if not written:
            raise WrongStateError(
                f"Nothing that was redacted in session {live.session_id} is still in memory.",
                "Write it again, and let it through: switchboard sessions start "
                f"{live.session_id} --prompt TEXT --let-through",
            )
        if live.record.state is SessionState.CREATED:
            raise WrongStateError(
                f"Session {live.session_id} is a draft.",
                "Start it with the whole text: switchboard sessions start "
                f"{live.session_id} --prompt TEXT --let-through",
            )
        text = "\n\n".join(written)
        if live.record.state.is_terminal and not live.record.parent_id:
            await self.continue_with(live.session_id, text, submission_id, let_through=True)
        else:
            await self.tell(live.session_id, text, submission_id, let_through=True, by=by)
        self._parts.withheld.drop(live.session_id)
        return live.session_id

    # --- holding ----------

    async def interrupt(self, session_id: str = "", submission_id: str = "") -> None:
        """Stop the turns of a session and its children; of every session when the id is empty."""
        members = await self._members(session_id) if session_id else self._parts.registry.active()
        await self._abort_all(
            [live for live in members if live.turn is not None or live.is_forsaken],
            protocol.AbortReason.INTERRUPTED,
            SessionState.WAITING_FOR_USER,
            _STOPPED,
            submission_id,
        )

    async def cancel(
        self, session_id: str, submission_id: str = "", *, reason: str = _CANCELLED
    ) -> None:
        """End a session and its children at once; ended ones keep their state."""
        members = await self._members(session_id)
        # Phones first: storing may take its time.
        for live in members:
            if live.turn is not None:
                self._turns.cancel_task(live.turn, protocol.AbortReason.CANCELLED)
        # The parent before its children, so that their ends do not roll up into another state.
        for group in (members[:1], members[1:]):
            await self._abort_all(
                group, protocol.AbortReason.CANCELLED, SessionState.CANCELLED, reason, submission_id
            )

    async def pause(self, session_id: str, submission_id: str = "") -> None:
        """Hold turns before their next step. Raises WrongStateError if none is open."""
        async with self.locked_tree(session_id) as (top, children):
            held = [live for live in (top, *children) if live.is_at_work]
            if not held:
                raise WrongStateError(
                    f"Session {top.session_id} is {top.record.state}: no turn of it is open.",
                    "There is nothing to pause.",
                )
            if top.delegates and not top.record.state.is_terminal:
                held.append(top)
            await self.store_and_begin(
                [
                    (live, live.flagging(paused=True, reason="paused by the operator"))
                    for live in held
                ],
                submission_id,
            )

    async def resume(
        self,
        session_id: str,
        submission_id: str = "",
        *,
        by: ClientInfo | None = None,
        endpoint: str = "",
    ) -> None:
        """Resume after a pause, a stop, a crash or, in a new generation, from a terminal state.

        Args:
            by: the client; None for the core itself.
            endpoint: where its model is asked from now on; empty: as its record says.

        Raises:
            UsageError: the endpoint is neither the session's nor that of the settings.
            WrongStateError: it is running, waits for an answer, is a draft, or another client
                drives it.
        """
        live = await self._parts.registry.get(session_id)
        self._parts.clients.check_driver(live.session_id, by)
        parent = await self._parent_of(live)
        while True:
            settled = parent is not None and parent.record.state.is_terminal
            tree = live.record.parent_id if settled else live.session_id
            async with self.locked_tree(tree, ends_review_turns=True) as (top, children):
                if parent is not None and parent.record.state.is_terminal is not settled:
                    continue  # It was rolled up meanwhile.
                if top is not live:
                    moves = self._resuming.resume_part(top, children, live)
                elif not top.delegates:
                    generation = self._resuming.next_generation(top, parent)
                    moves = [(top, self._resuming.resume_one(top, generation))]
                elif top.record.state.is_terminal:
                    moves = self._resuming.resume_tree(top, children)
                else:
                    moves = self._resuming.onward(top, children)
                asked = (live, *children) if top is live else (live,)
                chosen = [(one, self._chosen(one, endpoint)) for one in asked]
                await self.store_and_begin(
                    [*(move for move in chosen if move[1]), *moves], submission_id
                )
                return

    def _chosen(self, live: LiveSession, endpoint: str) -> tuple[protocol.EventMsg, ...]:
        """Return what has a session's model asked at another address. Raises UsageError."""
        record, settings = live.record, self._parts.settings
        check_asked_there(endpoint, settings, record.model, record.endpoint)
        if not endpoint or bare(endpoint) == record.endpoint:
            return ()
        address = recorded_address(settings, record.model)
        if address == record.endpoint:
            return ()
        if live.turn is not None:
            raise WrongStateError(
                f"A turn of session {live.session_id} is open, at {record.endpoint}.",
                f"Stop it first: switchboard sessions stop {live.session_id}",
            )
        return (protocol.SessionEndpointChosen(endpoint=address),)

    async def go_on_after_restart(self, live: LiveSession) -> None:
        """Resume a session whose core died, as often as the settings allow.

        Each attempt counts, including restarts during restarts, until one of its turns finishes;
        after the last it waits for the operator (CONTRACTS 1.10). The dispatcher starts one that
        has a phone.
        """
        limit = self._parts.settings.recovery.retries
        async with live.lock:
            if not live.is_idle:
                return
            attempt = live.record.recoveries + 1
            if attempt > limit:
                tired = protocol.ErrorEvent(
                    message=f"The core ended under this session, and resuming it failed "
                    f"{limit} times.",
                    kind=ErrorKind.INTERNAL,
                    remedy=f"Look at it, then: switchboard sessions resume {live.session_id}",
                    retryable=True,
                )
                await self._parts.registry.append(*live.drafts(tired))
                return
            scheduled = protocol.RecoveryScheduled(
                attempt=attempt, limit=limit, reason="The core was restarted."
            )
            queueing = self._resuming.queueing(live.record)
            await self._parts.registry.append(*live.drafts(scheduled, queueing))
            if not live.record.serial:
                self._turns.begin(live, recovering=True)

    async def begin_pending(self, session: Session) -> Turn | None:
        """Start the turn of a session that the dispatcher found pending on its phone."""
        live = await self._parts.registry.get(session.session_id)
        async with live.lock:
            if live.record.serial != session.serial:
                return None  # It was moved to another phone.
            left = live.record.state is SessionState.QUEUED and not live.delegates
            if live.turn is None and left:
                self._turns.begin(live, recovering=True)
            if live.turn is not None:
                self._parts.assignment.let_pass(live.turn.turn_id)
            return live.turn

    async def continue_with(
        self,
        session_id: str,
        prompt: str,
        submission_id: str = "",
        *,
        said: str = "",
        let_through: bool = False,
    ) -> None:
        """Start a settled session's next generation with a new prompt, leaving its children.

        Args:
            said: the operator's own words in the prompt, if it contains other text.
            let_through: what looks like a secret in the prompt is not redacted in this session.

        Raises:
            UsageError: there is no such session, or the prompt is empty.
            WrongStateError: it has not ended.
        """
        async with self.locked_tree(session_id, ends_review_turns=True) as (top, children):
            own = redact_secrets(said)
            read = self._read(top, prompt, "The prompt", let_through)
            if not top.record.state.is_terminal or top.turn is not None:
                raise WrongStateError(
                    f"Session {top.session_id} is {top.record.state}.", way_on(top)
                )
            generation = max(one.record.generation for one in (top, *children)) + 1
            moves = self._resuming.resume_one(top, generation)
            message = protocol.UserMessage(text=read.text, message_id=new_message_id(), said=own)
            # After the resume, which would begin the goal again; before the queueing, to be staged.
            await self.store_and_begin(
                [(top, (*moves[:-1], *read.events, message, moves[-1]))], submission_id
            )

    async def until_idle(self, live: LiveSession) -> None:
        """Wait until a session has no open turn."""
        await self._turns.until_idle(live)

    # --- how ----------

    def _read(
        self, live: LiveSession, text: str, name: str, let_through: bool = False
    ) -> OperatorText:
        """Read and redact the operator's text for a session, and hold the original. Raises
        UsageError.
        """
        known = live.record.let_through
        said = read_operator_text(text, name, known=known, let_through=let_through)
        if said.withheld:
            self._parts.withheld.keep(live.session_id, said.withheld)
        return said

    def _prompt(self, hint: Steering) -> protocol.UserMessage:
        """Return a message as what the next turn is to do."""
        return protocol.UserMessage(
            text=hint.text, message_id=hint.message_id, speaker=hint.speaker, steer=False
        )

    def _hearing(self, live: LiveSession, hint: Steering) -> tuple[protocol.EventMsg, ...]:
        """Return the events that deliver a message: steering, or a turn with it as the prompt."""
        message = self._prompt(hint)
        if live.turn is not None:
            return (replace(message, steer=True),)
        superseded = (
            protocol.QuestionClosed(
                question_id=question.question_id, reason=protocol.CloseReason.NEWER_MESSAGE
            )
            for question in self._parts.questions.of(live.session_id)
        )
        # One that waits in line since a restart has no turn yet, and is queued already.
        queued = live.record.state is SessionState.QUEUED
        sent = () if queued else (self._resuming.queueing(live.record),)
        return (message, *superseded, *sent)

    @asynccontextmanager
    async def locked_tree(
        self, session_id: str, *, ends_review_turns: bool = False, by: ClientInfo | None = None
    ) -> AsyncIterator[tuple[LiveSession, tuple[LiveSession, ...]]]:
        """Lock a session, its children and its parent for the length of the block.

        Args:
            ends_review_turns: first end the turns that only review one of them, because it is to
                continue.
            by: the client that must be the driver, if there is one; None for the core itself.
        """
        top, *children = await self._members(session_id)
        self._parts.clients.check_driver(top.session_id, by)
        if ends_review_turns:
            for live in (top, *children):
                await self._turns.end_review_turn(live)
        parent = await self._parent_of(top)
        above = () if parent is None else (parent,)
        async with AsyncExitStack() as locks:
            # Always the parent first, and so does everybody who holds more than one.
            for live in (*above, top, *children):
                await locks.enter_async_context(live.lock)
            yield top, tuple(children)

    async def check_parent(self, live: LiveSession) -> None:
        """Refuse to start work in a subtask whose parent has ended; only a resume may do that.

        Raises WrongStateError.
        """
        parent = await self._parent_of(live)
        if parent is not None and parent.record.state.is_terminal:
            raise WrongStateError(
                f"Session {live.session_id} is part of {parent.session_id}, which is "
                f"{parent.record.state}.",
                f"Resume it first: switchboard sessions resume {live.session_id}",
            )

    async def _parent_of(self, live: LiveSession) -> LiveSession | None:
        parent_id = live.record.parent_id
        return await self._parts.registry.get(parent_id) if parent_id else None

    async def _members(self, session_id: str) -> tuple[LiveSession, ...]:
        top = await self._parts.registry.get(session_id)
        return (top, *await self._parts.registry.children(top))

    async def _abort_all(
        self,
        members: Iterable[LiveSession],
        abort: protocol.AbortReason,
        state: SessionState,
        reason: str,
        submission_id: str,
    ) -> None:
        outcomes = await asyncio.gather(
            *(
                self._turns.abort(live, abort, state, reason, submission_id=submission_id)
                for live in members
            ),
            return_exceptions=True,
        )
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome

    async def store_and_begin(self, moves: list[Move], submission_id: str) -> None:
        """Store these events together, and begin the turns that they call for.

        The caller holds all locks. A session that is queued since a restart has no turn yet: the
        dispatcher starts it in order, and a change of driver does not move it.
        """
        drafts = [
            draft
            for live, msgs in moves
            for draft in live.drafts(*msgs, submission_id=submission_id)
        ]
        await self._parts.registry.append(*drafts)
        for live, msgs in moves:
            queued = live.record.state is SessionState.QUEUED
            if queued and live.turn is None and any(map(_sets_to_work, msgs)):
                self._turns.begin(live)


def _sets_to_work(msg: protocol.EventMsg) -> bool:
    match msg:
        case protocol.SessionStateChanged(state=state):
            return state is SessionState.QUEUED
        case protocol.UserMessage(steer=steer):
            return not steer
        case _:
            return False


def _written(planned: tuple[Session, ...], op: protocol.SessionCreate) -> dict[str, str]:
    """Return, by session, the unredacted goals that lost secrets."""
    if op.let_through:
        return {}
    objectives = {redact_secrets(one.objective): one.objective for one in op.targets}
    top, *children = planned
    written = {top.session_id: op.goal}
    written |= {one.session_id: objectives.get(one.goal, one.goal) for one in children}
    return {
        session.session_id: text
        for session in planned
        if (text := written[session.session_id]) and text != session.goal
    }


def _addressed_otherwise(session_id: str, *, steers: bool) -> WrongStateError:
    """Return why a text is not delivered that was written for another moment of a session."""
    if steers:
        return WrongStateError(
            f"The turn of session {session_id} that this hint was for has ended.",
            "Send it without `steers` to start a turn with it.",
        )
    return WrongStateError(
        f"A turn of session {session_id} was started meanwhile.",
        "Send it without `steers` to steer that turn.",
    )


def _allowed(said: OperatorText) -> tuple[protocol.EventMsg, ...]:
    """Return the let-through events of a text, which apply to a subtask too."""
    return tuple(msg for msg in said.events if isinstance(msg, protocol.TextLetThrough))
