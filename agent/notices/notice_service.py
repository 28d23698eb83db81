"""Watch sessions, issue tokens, and have notices shown, answered, done with and gone on from.

Not the rules (`agent.notices.shade`, `agent.notices.routing`). Invariants: a session that stands
where it stood gets no second notice; a notice goes before the answer that it brought counts; no
sink holds up the core or another sink.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from secrets import token_hex
from typing import Protocol

from msgspec.structs import replace

from agent import protocol
from agent.codex_bridge.session_object import timeline
from agent.devices.protocols import Fleet
from agent.errors import StoreError, UsageError, WrongStateError
from agent.notices import notice_history, routing
from agent.notices.command import CommandSink
from agent.notices.on_phone import PhoneSink
from agent.notices.shade import Act, Post, Shade, Withdraw
from agent.notices.wording import kind_of
from agent.records import Notice, NoticeKind, Question, Session, SessionState
from agent.sessions.lifecycle.operations import Operations
from agent.sessions.questions.answering import Answering
from agent.sessions.registry.live_session import LiveSession
from agent.sessions.registry.services import Services
from agent.sessions.rules.rollup import counting, guarded, rollup
from agent.settings import Settings
from agent.store.store import EventDraft

_PAST_MS = 60_000  # What began longer ago than this before it was stored was not begun here.
_log = logging.getLogger(__name__)


class Sink(Protocol):
    """Where notices are shown."""

    async def post(self, notice: Notice) -> str:
        """Show a notice; returns the reply that came back, empty when none did."""

    def withdraw(self, notice: Notice) -> None:
        """Show it no more."""


class NoticeService:
    """The notices of one core."""

    def __init__(
        self,
        parts: Services,
        operations: Operations,
        answering: Answering,
        sinks: Sequence[Sink],
        release_targets: Callable[..., None],
    ) -> None:
        self._parts = parts
        self._operations = operations
        self._answering = answering
        self._sinks = tuple(sinks)
        self._release_targets = release_targets
        self._shade = Shade()
        self._of_all: dict[str, Notice] = {}
        """What all hosts of a fleet show, by session; nothing where there are no others."""
        self._due: dict[str, None] = {}
        self._ring = asyncio.Event()
        self._stood: dict[str, tuple[SessionState, str]] = {}
        self.acknowledged = 0
        """How many tokens were acknowledged."""

    @property
    def shown(self) -> tuple[Notice, ...]:
        """The notices that are shown, here and at other hosts, oldest first."""
        if self._parts.peers is None:
            return self._shade.shown
        own = self._shade.shown
        named = {one.session_id for one in own}
        far = (one for one in self._of_all.values() if one.session_id not in named)
        return tuple(sorted((*far, *own), key=lambda one: one.posted_ms))

    # --- watching ----------

    def on_elsewhere(self, events: Iterable[protocol.Event]) -> None:
        """Take in which notices another host shows."""
        notice_history.follow(self._of_all, events)

    def on_commit(self, events: Iterable[protocol.Event]) -> None:
        """Note which sessions have to be looked at; the registry has folded these events already.

        How a session ended that was imported is no news.
        """
        events = tuple(events)
        if self._parts.peers is not None:
            # What is shown here goes in the place of what another host had shown before.
            notice_history.follow(self._of_all, events)
        imported = self._imported(events)
        for event in events:
            if event.session_id in imported:
                continue
            match event.msg:
                case protocol.SessionStateChanged() | protocol.RequestUserInput():
                    self._note(event.session_id)
                case protocol.QuestionAnswered() | protocol.QuestionClosed():
                    self._note(event.session_id)
                case protocol.SessionsDeleted(session_ids=deleted):
                    for session_id in deleted:
                        self._note(session_id)
                case _:
                    pass

    def _imported(self, events: Iterable[protocol.Event]) -> frozenset[str]:
        """Name the sessions that these events bring in whole: they began, and ended, long ago."""
        long_ago_ms = self._parts.clock_ms() - _PAST_MS
        ended: dict[str, bool] = {}
        for event in events:
            match event.msg:
                case protocol.SessionConfigured() if event.ts_ms < long_ago_ms:
                    ended[event.session_id] = False
                case protocol.SessionStateChanged(state=state) if event.session_id in ended:
                    ended[event.session_id] = state.is_terminal
                case _:
                    pass
        return frozenset(session_id for session_id, is_over in ended.items() if is_over)

    async def take_over(self) -> None:
        """Go on from a core that ended: show what it had shown of ends, tell anew who waits: a
        question may have been answered meanwhile. What other hosts show is told as it is.

        Raises StoreError.
        """
        found = await notice_history.shown_before(self._parts.store)
        held: list[Notice] = []
        for key, notice in found.items():
            if await self._is_of_another(notice):
                self._of_all.setdefault(key, notice)
            elif notice.kind is not NoticeKind.WAITING and await self._still_holds(notice):
                held.append(notice)
        # As many as there are trees that keep their presentation: the rest is history.
        keeps = self._parts.settings.retention.keep_trees
        self._shade.take_over(held[-keeps:] if keeps else ())
        for live in self._parts.registry.active():
            if live.record.state is SessionState.WAITING_FOR_USER:
                self._note(live.session_id)

    async def _is_of_another(self, notice: Notice) -> bool:
        peers = self._parts.peers
        if peers is None:
            return False
        if notice.job_id:
            job = await self._parts.store.job(notice.job_id)
            return job is not None and job.host != peers.host
        try:
            live = await self._parts.registry.get(notice.session_id)
        except UsageError:
            return False
        return self._parts.is_elsewhere(live.record)

    async def _still_holds(self, notice: Notice) -> bool:
        """Return whether a notice says how its session is; one of a job speaks for itself."""
        if notice.job_id:
            return (
                self._parts.peers is None or await self._parts.store.job(notice.job_id) is not None
            )
        if not notice.session_id:
            return False
        try:
            live = await self._parts.registry.get(notice.session_id)
        except UsageError:
            return False
        return kind_of(live.record.state) is notice.kind

    async def run(self) -> None:
        """Show the notices of whoever is noted, for ever."""
        while True:
            await self._ring.wait()
            self._ring.clear()
            while self._due:
                session_id = next(iter(self._due))
                del self._due[session_id]
                try:
                    await self._tell(session_id)
                except StoreError as error:
                    _log.warning("A notice of %s could not be stored: %s", session_id, error)

    def _note(self, session_id: str) -> None:
        self._due[session_id] = None
        # What a child asks is shown with its parent.
        parent_id = self._parts.registry.parent_of(session_id)
        if parent_id:
            self._due[parent_id] = None
        self._ring.set()

    async def _tell(self, session_id: str) -> None:
        try:
            live = await self._parts.registry.get(session_id)
        except UsageError:
            self._stood.pop(session_id, None)
            await self._act(self._shade.remove(session_id))
            return
        question = await self._question(live)
        if question is None and await self._is_behind(live):
            # An answer let a child go on: that its parent waits is not so any more, and is no news.
            return
        stands = (live.record.state, question.question_id if question else "")
        if self._stood.get(session_id) == stands:
            return
        self._stood[session_id] = stands
        if not _is_news(live.record, question):
            await self._act(self._shade.remove(session_id))
            return
        parent = None
        if live.record.parent_id:
            with suppress(UsageError):
                parent = (await self._parts.registry.get(live.record.parent_id)).record
        await self._act(
            self._shade.update(
                live.record,
                f"n-{token_hex(6)}",
                parent=parent,
                question=question,
                now_ms=self._parts.clock_ms(),
            )
        )
        if live.record.state.is_terminal:
            # It may be resumed and end again, which is news again; until then it need not be known.
            self._stood.pop(session_id, None)

    async def _is_behind(self, live: LiveSession) -> bool:
        """Return whether a parent only waits until its state follows its children's: noted then."""
        record = live.record
        if record.state is not SessionState.WAITING_FOR_USER or record.held:
            return False
        children = [child.record for child in await self._parts.registry.children(live)]
        rolled = rollup(child.state for child in counting(children, record))
        return guarded(record.state, rolled) is not record.state

    async def _question(self, live: LiveSession) -> Question | None:
        """Return what a session asks, or the first that a child of it asks (CONTRACTS 1.11)."""
        members = (live, *await self._parts.registry.children(live))
        for member in members:
            asked = self._parts.questions.of(member.session_id)
            if asked:
                return asked[0]
        return None

    async def _act(self, acts: Iterable[Act]) -> None:
        for act in acts:
            match act:
                case Post(notice=notice):
                    await self._parts.registry.append(
                        EventDraft("", protocol.NoticePosted(notice=notice))
                    )
                    for sink in self._sinks:
                        self._parts.supervisor.start(
                            self._show(sink, notice), f"notice of session {notice.session_id}"
                        )
                case Withdraw(notice=notice, reason=reason):
                    withdrawn = protocol.NoticeWithdrawn(
                        notice_of=notice.session_id, token=notice.token, reason=reason
                    )
                    await self._parts.registry.append(EventDraft("", withdrawn))
                    for sink in self._sinks:
                        sink.withdraw(notice)
                case _:
                    self.acknowledged += 1

    def add(self, sink: Sink) -> None:
        """Show notices by a sink too, beginning with what waits now."""
        self._sinks = (*self._sinks, sink)
        for notice in self._shade.shown:
            if notice.kind is NoticeKind.WAITING:
                self._parts.supervisor.start(
                    self._show(sink, notice), f"notice of session {notice.session_id}"
                )

    def remind(self, notice: Notice) -> None:
        """Show what is of no session; nobody answers it, and it is not withdrawn."""
        for sink in self._sinks:
            self._parts.supervisor.start(self._show_only(sink, notice), f"reminder {notice.token}")

    async def _show_only(self, sink: Sink, notice: Notice) -> None:
        await sink.post(notice)

    async def _show(self, sink: Sink, notice: Notice) -> None:
        question = self._parts.questions.find(notice.question_id)
        if question is not None and question.asks_leave:
            # Who stands behind the output of a program is not known.
            notice = replace(notice, may_reply=False)
        reply = await sink.post(notice)
        if not reply:
            return
        op = protocol.NoticeReply(session_id=notice.session_id, token=notice.token, text=reply)
        try:
            await self.reply(op)
        except (UsageError, WrongStateError) as error:
            _log.info("A reply to a notice came too late: %s", error)

    async def announce(self, notice: Notice) -> None:
        """Show the notice of a job, in the place of an earlier one of the same job."""
        await self._act(self._shade.show(notice))

    async def withdraw(self, key: str) -> None:
        """Show the notice of a job no more."""
        await self._act(self._shade.remove(key))

    # --- acting ----------

    async def reply(self, op: protocol.NoticeReply, submission_id: str = "") -> str:
        """Answer from a notice: it goes first, then the answer counts.

        Returns:
            The session that asked.

        Raises:
            UsageError: there is no such session, or nothing in the text.
            WrongStateError: the notice is not shown any more, or somebody answered before.
        """
        live = await self._parts.registry.get(op.session_id)
        if not op.text.strip():
            raise UsageError("The reply is empty.", "Write some text.")
        withdrawn = self._shade.suppress(live.session_id, op.token)
        await self._act((withdrawn,))
        if withdrawn.notice.question_id:
            answer = protocol.UserInputAnswer(
                question_id=withdrawn.notice.question_id, answer=op.text
            )
            return await self._answering.answer(answer, submission_id, by="operator, by a notice")
        await self._operations.tell(live.session_id, op.text, submission_id)
        return live.session_id

    async def done(self, session_id: str) -> None:
        """Take a notice as read: what its sessions still show on a phone of their own is closed.

        Raises UsageError: there is no such session.
        """
        shown = self._shade.find(session_id)
        if shown is not None and shown.job_id:
            await self.withdraw(session_id)
            return
        live = await self._parts.registry.get(session_id)
        await self._act(self._shade.remove(live.session_id))
        if live.record.state.is_terminal:
            self._release_targets(live.session_id, *live.child_ids)

    async def send(self, op: protocol.NoticeSend, submission_id: str = "") -> str:
        """Go on from what a session came to.

        Returns:
            The session that goes on: a new home session, or the same agent session.

        Raises:
            UsageError: there is no such session, or nothing to do.
            WrongStateError: it has not ended.
        """
        live = await self._parts.registry.get(op.session_id)
        record = live.record
        if not record.state.is_terminal:
            raise WrongStateError(
                f"Session {live.session_id} is {record.state}: it has not ended.", "Write to it."
            )
        if not op.text.strip():
            raise UsageError("There is nothing to send.", "Write what to do now.")
        history = await self._parts.registry.events(live.session_id)
        prompt = routing.continuation(record, timeline(history), op.text)
        if routing.send(record) is routing.Send.NEW_HOME_SESSION:
            again = protocol.SessionCreate(
                goal=prompt,
                # The rest is what the session before came to: words of its model and its phone.
                said=op.text,
                title=op.text[:80],
                serial=record.serial,
                account=record.account,
                target_package=record.target_package,
                model=record.model,
                # What the operator chose for it holds for what goes on from it: less watched, or
                # with more to spend, it would be another bargain.
                reasoning_effort=record.reasoning_effort,
                max_steps=record.max_steps,
                budget=record.budget,
                at_limit=record.at_limit,
                autonomy=record.autonomy,
                tool_servers=record.tool_servers,
                dry_run=record.dry_run,
                output_schema=record.output_schema,
            )
            made = await self._operations.create(again, submission_id, endpoint=record.endpoint)
            goes_on = made[0].session_id
        else:
            parent_id = record.parent_id or live.session_id
            await self._operations.continue_with(parent_id, prompt, submission_id, said=op.text)
            goes_on = parent_id
        await self._act(self._shade.remove(live.session_id))
        return goes_on


def _is_news(session: Session, question: Question | None) -> bool:
    """Leave out what the operator did just now, or looks at, or hears of as a job's outcome."""
    if session.state is SessionState.WAITING_FOR_USER:
        return question is not None or not session.held
    # Whoever typed one act reads there what came of it.
    return not ((session.job_id or session.one_act) and session.state.is_terminal)


def sinks_of(settings: Settings, fleet: Fleet) -> tuple[Sink, ...]:
    """Make the sinks that the settings name; consoles follow the events instead."""
    notices = settings.notices
    sinks: list[Sink] = []
    if notices.command:
        sinks.append(CommandSink(notices.command, timeout_s=notices.command_timeout_s))
    if notices.phone:
        sinks.append(PhoneSink(fleet))
    return tuple(sinks)
