"""Implement TaskContext, a task's interface to the core, for one turn.

Turns begin and end in `agent.sessions.turns.turns`. Invariants: what is
emitted is stored before `emit` returns; once the turn is over nothing more can be emitted, however
long the task takes to notice.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from secrets import token_hex
from typing import TypeAlias

from agent import protocol, records
from agent.core import TextDelta
from agent.devices.protocols import Device
from agent.errors import DeviceLostError, UsageError
from agent.knowledge.library import DIRECTORY, Library, load
from agent.loop.conversation.operator_words import OperatorWords
from agent.loop.task_context import Grant, Limits, PreparedAnswer, ServiceOp, Steering
from agent.loop.warranting import Warranting
from agent.models.model import Model
from agent.models.reviewers.reviewing import Reviewing
from agent.models.verifying import Verifying
from agent.safety.app_rules import AppRule
from agent.safety.approval import OPTIONS
from agent.safety.navigation.known_presses import KnownPresses
from agent.safety.redacting.let_through import letting_nothing_through
from agent.sessions.registry.live_session import LiveSession, Turn
from agent.sessions.registry.open_questions import asked_before
from agent.sessions.registry.services import Services
from agent.sessions.registry.supervisor import settled
from agent.sessions.rules.answers import REPLY_RULE, checked_parts, shown_text
from agent.sessions.rules.two_person_approval import people_for
from agent.sessions.turns.device_losses import losing
from agent.sessions.turns.question_times import default_deadline_ms, give_prepared

_STREAK_S = 20.0  # Losses closer than this belong together.
_LONGEST_PAUSE_S = 8.0

Place: TypeAlias = Callable[[LiveSession, Device], Awaitable[Device]]
"""Have the app of a session where it is to work, on its phone."""

Screen: TypeAlias = Callable[[LiveSession, Device], Device]
"""Give the screen of a phone that a session's app is on now."""


class TurnContext:
    """The TaskContext of one turn, over the store, the fleet and a model."""

    def __init__(
        self,
        parts: Services,
        live: LiveSession,
        turn: Turn,
        *,
        device: Device | None,
        model: Model,
        verifying: Verifying,
        reviewing: Reviewing,
        known_presses: KnownPresses,
        history: Sequence[protocol.Event],
        asks_goal: bool,
        limits: Limits,
        place: Place,
        screen: Screen,
    ) -> None:
        self._parts = parts
        self._live = live
        self._turn = turn
        self._device = device
        self._model = model
        self._verifying = verifying
        self._reviewing = reviewing
        self.known_presses = known_presses
        self.vault = parts.vault
        self._history = history
        self._exchanges: tuple[protocol.RequestUserInput | protocol.QuestionAnswered, ...] = ()
        self._asks_goal = asks_goal
        self._limits = limits
        self._place = place
        self._screen = screen
        self._losses = 0
        self._losing_since_s = 0.0
        self._lost_at_s = -_STREAK_S

    @property
    def session(self) -> records.Session:
        return self._live.record

    @property
    def history(self) -> Sequence[protocol.Event]:
        return self._history

    @property
    def turn_id(self) -> str:
        return self._turn.turn_id

    @property
    def asks_goal(self) -> bool:
        return self._asks_goal

    @property
    def limits(self) -> Limits:
        return self._limits

    @property
    def background(self) -> bool:
        return self._turn.background

    @property
    def grant(self) -> Grant | None:
        return None if self._turn.errand is None else self._turn.errand.grant

    def review(
        self,
        text: str,
        *,
        call: protocol.ToolCallRequested,
        params_digest: str,
        screen_digest: str,
        subject: records.Subject,
    ) -> records.Question:
        errand, record = self._turn.errand, self._live.record
        assert errand is not None, "only a job's turn is reviewed"
        # A session of another's has no job's title.
        title = record.title if record.job_id == errand.job_id else ""
        asked_ms = self.now_ms()
        ticket = records.ReviewTicket(
            confirmation_id=f"job-confirm-{token_hex(6)}",
            job_id=errand.job_id,
            tool=call.tool,
            params_digest=params_digest,
            screen_digest=screen_digest,
        )
        return records.Question(
            question_id=_question_id(),
            session_id=self._live.session_id,
            text=text,
            asked_ms=asked_ms,
            kind=records.QuestionKind.APPROVAL,
            header=": ".join(filter(None, (f"Job {errand.job_id}", title))),
            options=OPTIONS,
            subject=subject,
            deadline_ms=asked_ms + round(self._parts.settings.jobs.review_timeout_s * 1000),
            call_id=call.call_id,
            step=call.step,
            review=ticket,
            people=people_for(subject, self._parts.settings.safety.two_people),
        )

    async def request(self, op: ServiceOp) -> protocol.Reply:
        if self._parts.door.carry_out is None:
            raise UsageError("This core keeps no jobs.")
        self._check_open()
        # What a service keeps outlives the session, which alone was let have what it was.
        with letting_nothing_through():
            return await self._parts.door.carry_out(self._live.record, op)

    async def check(self, op: ServiceOp) -> None:
        if self._parts.door.check is None:
            raise UsageError("This core keeps no jobs.")
        with letting_nothing_through():
            await self._parts.door.check(self._live.record, op)

    @property
    def app_rules(self) -> Sequence[AppRule]:
        return self._parts.settings.safety.apps

    @property
    def destinations(self) -> Sequence[str]:
        return self._parts.settings.safety.destinations

    @property
    def library(self) -> Library:
        return load(self._parts.settings.config_file.parent / DIRECTORY)

    @property
    def device(self) -> Device:
        if self._live.record.lost:
            raise DeviceLostError(
                f"Device {self._live.record.serial} of session {self._live.session_id} is away."
            )
        if self._device is None:
            raise DeviceLostError(f"A {self._turn.kind} turn drives no device.")
        return self._screen(self._live, self._device)

    @property
    def model(self) -> Model:
        return self._model

    @property
    def verifying(self) -> Verifying:
        return self._verifying

    @property
    def reviewing(self) -> Reviewing:
        return self._reviewing

    @property
    def warranting(self) -> Warranting:
        safety = self._parts.settings.safety
        return Warranting(
            warrants=self._parts.door.warrants,
            reviewer_may_approve=safety.reviewer_may_approve,
            delay_s=safety.reviewer_approval_delay_s,
            two_people=safety.two_people,
        )

    def now_ms(self) -> int:
        return self._parts.clock_ms()

    async def emit(self, *msgs: protocol.EventMsg) -> tuple[protocol.Event, ...]:
        self._check_open()
        drafts = self._live.drafts(*msgs)
        return await self._parts.registry.append(*drafts, under=self._turn.lease)

    async def put_blob(self, data: bytes, media_type: str) -> str:
        return await self._parts.store.blobs.put(data, media_type)

    async def read_blob(self, digest: str) -> bytes:
        return await self._parts.store.blobs.read(digest)

    def delta(self, text: str) -> None:
        if not self._turn.mute:
            self._parts.deltas.publish(
                TextDelta(session_id=self._live.session_id, turn_id=self._turn.turn_id, text=text)
            )

    async def ask(
        self,
        text: str,
        *,
        call_id: str,
        step: int,
        options: tuple[records.QuestionOption, ...] = (),
        approval: bool = False,
        secret: bool = False,
        subject: records.Subject | None = None,
        deadline_ms: int = 0,
        speaker: records.Speaker = records.Speaker.PRODUCT,
        note: str = "",
        prepared: PreparedAnswer | None = None,
    ) -> str | None:
        policy = self._parts.settings.safety.two_people
        answer = await self._answer_to(
            records.Question(
                question_id=_question_id(),
                session_id=self._live.session_id,
                text=text,
                asked_ms=self.now_ms(),
                kind=records.QuestionKind.APPROVAL if approval else records.QuestionKind.QUESTION,
                options=options,
                speaker=speaker,
                note=note,
                secret=secret,
                subject=subject,
                deadline_ms=deadline_ms or default_deadline_ms(self._parts),
                call_id=call_id,
                step=step,
                people=people_for(subject, policy) if approval else 1,
            ),
            prepared,
        )
        return None if answer is None else answer.text

    async def ask_all(
        self,
        parts: Sequence[records.QuestionPart],
        *,
        call_id: str,
        step: int,
        header: str = "",
        deadline_ms: int = 0,
    ) -> records.Answer | None:
        asked = checked_parts(parts)
        return await self._answer_to(
            records.Question(
                question_id=_question_id(),
                session_id=self._live.session_id,
                text=shown_text(asked),
                asked_ms=self.now_ms(),
                speaker=asked[0].speaker,
                note=REPLY_RULE if len(asked) > 1 else "",
                header=header,
                parts=asked,
                secret=any(part.secret for part in asked),
                deadline_ms=deadline_ms or default_deadline_ms(self._parts),
                call_id=call_id,
                step=step,
            )
        )

    async def _answer_to(
        self, question: records.Question, prepared: PreparedAnswer | None = None
    ) -> records.Answer | None:
        """Return the answer to a question; if the call asked before a crash, to that one."""
        before = asked_before(self._history, question.call_id)
        if before is None:
            asking = protocol.RequestUserInput(question=question)
            if prepared is None or question.people > 1:
                return await self._await_answer(question, asking)
            ready = give_prepared(self._parts, self._live, question, prepared)
            giving = asyncio.create_task(ready, name="prepared answer")
            try:
                return await self._await_answer(question, asking)
            finally:
                giving.cancel()
        asked, answered = before
        if answered is None:
            return await self._await_answer(asked)
        # A secret answer is not in the store: it is known only if it came to this process.
        kept = self._parts.questions.take_secret(asked.question_id)
        if kept is not None:
            return kept
        if not asked.secret:
            return records.Answer(
                text=answered.answer, by_part=answered.answers, speaker=answered.speaker
            )
        return await self._await_answer(question, protocol.RequestUserInput(question=question))

    async def _await_answer(
        self, question: records.Question, *msgs: protocol.EventMsg
    ) -> records.Answer | None:
        """Wait for an answer, and keep it with its question for `take_exchanges`."""
        answer = await self._wait_for_answer(question, *msgs)
        if answer is not None:
            said = "" if question.secret else answer.text
            by_part = {} if question.secret else answer.by_part
            answered = protocol.QuestionAnswered(
                question_id=question.question_id,
                answer=said,
                answers=by_part,
                speaker=answer.speaker,
            )
            exchange = (protocol.RequestUserInput(question=question), answered)
            self._exchanges += exchange
            self._turn.hear(OperatorWords("", exchange).written)
        return answer

    async def close_questions(self) -> None:
        live = self._live
        async with live.lock:
            self._check_open()
            closed = tuple(
                protocol.QuestionClosed(
                    question_id=one.question_id, reason=protocol.CloseReason.CALL_WITHDRAWN
                )
                for one in self._parts.questions.of(live.session_id)
            )
            if closed:
                moved = live.moving(records.SessionState.RUNNING, "its call was taken back")
                drafts = live.drafts(*closed, *moved)
                await settled(self._parts.registry.append(*drafts, under=self._turn.lease))

    def take_exchanges(self) -> tuple[protocol.RequestUserInput | protocol.QuestionAnswered, ...]:
        taken, self._exchanges = self._exchanges, ()
        return taken

    def take_steering(self) -> tuple[Steering, ...]:
        taken = tuple(self._live.steering)
        self._live.steering.clear()
        self._turn.hear(filter(None, (hint.operators_words for hint in taken)))
        return taken

    @property
    def operator_texts(self) -> Sequence[str]:
        return self._turn.said

    @property
    def other_phones(self) -> Sequence[str]:
        own = self._live.record
        if own.parent_id or own.job_id:
            return ()
        return tuple(
            phone.name or phone.serial
            for phone in self._parts.fleet.devices()
            if phone.state is records.DeviceState.ONLINE and phone.serial != own.serial
        )

    @property
    def disturbed_ms(self) -> int:
        return self._live.disturbed_ms

    async def checkpoint(self) -> None:
        # Also when nothing is paused: a task that never waits could not be stopped here.
        await asyncio.sleep(0)
        while not self._live.may_go.is_set():
            self._live.parked.set()
            try:
                await self._live.may_go.wait()
            finally:
                self._live.parked.clear()
            # Whoever paused it may have taken the phone in the hand.
            self._live.disturbed_ms = self.now_ms()
        if self._live.record.lost:
            await self.wait_for_device()

    async def pause(self, reason: str) -> None:
        self._live.disturbed_ms = self.now_ms()
        await self.emit(*self._live.flagging(paused=True, reason=reason))

    async def wait_for_device(self) -> None:
        live, fleet = self._live, self._parts.fleet
        serial = live.record.serial
        grace_s = self._parts.settings.recovery.device_grace_s
        await self.emit(*losing(live, grace_s, self.now_ms()))
        # A phone may be listed and answer nothing: without a pause that were a tight circle.
        await asyncio.sleep(self._pause_s(serial, grace_s))
        # Counted from when it was noticed, which may have been during a model call.
        until_ms = live.record.lost_until_ms
        left_s = max(until_ms - self.now_ms(), 0) / 1000 if until_ms else grace_s
        self._device = await fleet.wait_for(serial, timeout_s=left_s)
        await self._place(live, self._device)
        live.disturbed_ms = self.now_ms()
        # The watcher of losses says so too: under the lock, the second has nothing left to say.
        async with live.lock:
            await self.emit(*live.flagging(lost=False, reason=f"{serial} is back"))

    def _pause_s(self, serial: str, grace_s: float) -> float:
        """Return how long to let a device be that was lost again and again; none the first time.

        Raises:
            DeviceLostError: it has come and gone for as long as it may be away.
        """
        now_s = asyncio.get_running_loop().time()
        if now_s - self._lost_at_s >= _STREAK_S:
            self._losses, self._losing_since_s = 0, now_s
        self._losses, self._lost_at_s = self._losses + 1, now_s
        if self._losses > 1 and now_s - self._losing_since_s > grace_s:
            raise DeviceLostError(
                f"Device {serial} keeps disconnecting and has been unusable for {grace_s:g} s.",
                "Look at its cable and its adb, then resume the session.",
            )
        return 0.0 if self._losses == 1 else min(0.25 * 2.0 ** (self._losses - 2), _LONGEST_PAUSE_S)

    async def _wait_for_answer(
        self, question: records.Question, *asking: protocol.EventMsg
    ) -> records.Answer | None:
        questions, live = self._parts.questions, self._live
        # Before it is asked: an answer may be faster than the way back from the store.
        answer = questions.expect(question.question_id)
        try:
            async with live.lock:
                self._check_open()
                # One question of a session at a time: a newer one takes an older one's place.
                older = tuple(
                    protocol.QuestionClosed(
                        question_id=open_one.question_id, reason=protocol.CloseReason.NEWER_QUESTION
                    )
                    for open_one in questions.of(live.session_id)
                    if open_one.question_id != question.question_id
                )
                waiting = live.moving(records.SessionState.WAITING_FOR_USER, "waits for an answer")
                drafts = live.drafts(*older, *asking, *waiting)
                await settled(self._parts.registry.append(*drafts, under=self._turn.lease))
            # Its deadline is kept by whoever keeps them all: `agent.sessions.questions.deadlines`.
            return await answer
        finally:
            questions.forget(question.question_id)

    def _check_open(self) -> None:
        if self._turn.mute or self._live.turn is not self._turn:
            raise asyncio.CancelledError(f"turn {self._turn.turn_id} is over")


def _question_id() -> str:
    return f"q-{token_hex(6)}"
