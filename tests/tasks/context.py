"""A TaskContext in memory: what the core lends a task, with scripted answers and a real fold."""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent import protocol, records
from agent.devices.protocols import Device
from agent.errors import DeviceLostError
from agent.knowledge.library import Library, load
from agent.loop.conversation.operator_words import OperatorWords
from agent.loop.task_context import Grant, Limits, PreparedAnswer, ServiceOp, Steering
from agent.loop.warranting import Warranting
from agent.models.model import Model
from agent.models.reviewers.reviewing import Reviewing
from agent.models.verifying import Verifying
from agent.safety.app_rules import AppRule
from agent.safety.navigation.known_presses import KnownPresses
from agent.sessions.rules.answers import checked_parts, read_answer, shown_text
from agent.state.reducer import fold_session
from agent.vault.vault import Vault

Answer = Callable[[records.Question], "str | None"]


def no_answer(_question: records.Question) -> str | None:
    return None


def _set() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


@dataclass
class MemoryContext:
    """Implements TaskContext; `events` is all that was stored, the past included."""

    model: Model
    phone: Device
    goal: str = "open Settings"
    verifying: Verifying = field(default_factory=Verifying)
    reviewing: Reviewing = field(default_factory=Reviewing)
    known_presses: KnownPresses = field(default_factory=KnownPresses)
    vault: Vault = field(default_factory=lambda: Vault(Path("/nonexistent")))
    output_schema: str = ""
    answer: Answer = no_answer
    background: bool = False
    grant: Grant | None = None
    requested: list[ServiceOp] = field(default_factory=list)
    reply: Callable[[ServiceOp], protocol.Reply] = lambda op: protocol.Reply(submission_id="")
    refuse: Callable[[ServiceOp], None] | None = None
    """Raises what an op is refused with before anybody is asked."""
    limits: Limits = field(default_factory=Limits)
    app_rules: Sequence[AppRule] = ()
    destinations: Sequence[str] = ()
    library: Library = field(default_factory=load)
    autonomy: records.Autonomy = records.Autonomy.TRUSTED_ACTIONS
    allowances: tuple[records.Allowance, ...] = ()
    warranting: Warranting = field(default_factory=Warranting)
    dry_run: bool = False
    budget: records.Budget = field(default_factory=records.Budget)
    at_limit: records.AtLimit = records.AtLimit.ASK
    turn_id: str = "t-1"
    target: str = ""
    past: Sequence[protocol.Event] = ()
    asks_goal: bool = True
    events: list[protocol.Event] = field(default_factory=list)
    appends: list[tuple[protocol.EventMsg, ...]] = field(default_factory=list)
    """What was stored together, oldest first."""
    blobs: dict[str, bytes] = field(default_factory=dict)
    deltas: list[str] = field(default_factory=list)
    questions: list[records.Question] = field(default_factory=list)
    steering: list[Steering] = field(default_factory=list)
    exchanges: list[protocol.RequestUserInput | protocol.QuestionAnswered] = field(
        default_factory=list
    )
    waits_for_device: int = 0
    checkpoints: int = 0
    pauses: list[str] = field(default_factory=list)
    may_go: asyncio.Event = field(default_factory=_set)
    disturbed_ms: int = 0
    on_emit: Callable[[protocol.EventMsg], None] | None = None
    on_wait: Callable[[], None] | None = None
    clock: int = 1_700_000_000_000
    session: records.Session = field(init=False)

    def __post_init__(self) -> None:
        first = records.Session(
            session_id="s-1",
            goal=self.goal,
            created_ms=self.clock,
            target_package=self.target,
            max_steps=self.limits.max_steps,
            autonomy=self.autonomy,
            allowances=self.allowances,
            dry_run=self.dry_run,
            budget=self.budget,
            at_limit=self.at_limit,
            output_schema=self.output_schema,
        )
        self.session = first
        for event in self.past:
            self.events.append(event)
            self._fold(event)
        if not self.past:
            self._store(protocol.SessionConfigured(session=first))
        self.history = tuple(self.events)
        self._store(protocol.TaskStarted(turn_id=self.turn_id))

    history: Sequence[protocol.Event] = ()

    @property
    def device(self) -> Device:
        return self.phone

    def now_ms(self) -> int:
        self.clock += 1
        return self.clock

    async def emit(self, *msgs: protocol.EventMsg) -> tuple[protocol.Event, ...]:
        stored = []
        self.appends.append(msgs)
        for msg in msgs:
            if self.on_emit is not None:
                self.on_emit(msg)
            stored.append(self._store(msg))
        return tuple(stored)

    async def put_blob(self, data: bytes, media_type: str) -> str:
        digest = hashlib.sha256(data).hexdigest()
        self.blobs[digest] = data
        return digest

    async def read_blob(self, digest: str) -> bytes:
        return self.blobs[digest]

    def delta(self, text: str) -> None:
        self.deltas.append(text)

    async def check(self, op: ServiceOp) -> None:
        if self.refuse is not None:
            self.refuse(op)

    async def request(self, op: ServiceOp) -> protocol.Reply:
        self.requested.append(op)
        return self.reply(op)

    def review(
        self,
        text: str,
        *,
        call: protocol.ToolCallRequested,
        params_digest: str,
        screen_digest: str,
        subject: records.Subject,
    ) -> records.Question:
        ticket = records.ReviewTicket(
            confirmation_id="job-confirm-1",
            job_id=1,
            tool=call.tool,
            params_digest=params_digest,
            screen_digest=screen_digest,
        )
        return records.Question(
            question_id="q-review",
            session_id="s-1",
            text=text,
            asked_ms=self.now_ms(),
            kind=records.QuestionKind.APPROVAL,
            subject=subject,
            call_id=call.call_id,
            step=call.step,
            review=ticket,
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
        question = records.Question(
            question_id=f"q-{len(self.questions)}",
            session_id="s-1",
            text=text,
            asked_ms=self.now_ms(),
            kind=records.QuestionKind.APPROVAL if approval else records.QuestionKind.QUESTION,
            options=options,
            speaker=speaker,
            note=note,
            secret=secret,
            subject=subject,
            call_id=call_id,
            step=step,
        )
        self.questions.append(question)
        await self.emit(protocol.RequestUserInput(question=question))
        answer = self.answer(question)
        if answer is None and prepared is not None and await prepared.settle():
            answer = prepared.answer
        if answer is not None:
            stored = "" if secret else answer
            answered = protocol.QuestionAnswered(question_id=question.question_id, answer=stored)
            await self.emit(answered)
            self.exchanges += (protocol.RequestUserInput(question=question), answered)
        return answer

    async def ask_all(
        self,
        parts: Sequence[records.QuestionPart],
        *,
        call_id: str,
        step: int,
        header: str = "",
        deadline_ms: int = 0,
    ) -> records.Answer | None:
        question = records.Question(
            question_id=f"q-{len(self.questions)}",
            session_id="s-1",
            text=shown_text(parts),
            asked_ms=self.now_ms(),
            header=header,
            parts=checked_parts(parts),
            call_id=call_id,
            step=step,
        )
        self.questions.append(question)
        await self.emit(protocol.RequestUserInput(question=question))
        text = self.answer(question)
        if text is None:
            return None
        answer = read_answer(question, text)
        answered = protocol.QuestionAnswered(
            question_id=question.question_id, answer=answer.text, answers=answer.by_part
        )
        await self.emit(answered)
        self.exchanges += (protocol.RequestUserInput(question=question), answered)
        return answer

    async def close_questions(self) -> None:
        """Do nothing: a question here is answered at once."""

    def take_exchanges(self) -> tuple[protocol.RequestUserInput | protocol.QuestionAnswered, ...]:
        taken = tuple(self.exchanges)
        self.exchanges.clear()
        return taken

    @property
    def operator_texts(self) -> Sequence[str]:
        return OperatorWords("", (event.msg for event in self.events)).written

    @property
    def other_phones(self) -> Sequence[str]:
        return ()

    def take_steering(self) -> tuple[Steering, ...]:
        taken = tuple(self.steering)
        self.steering.clear()
        return taken

    async def checkpoint(self) -> None:
        self.checkpoints += 1
        await self.may_go.wait()

    async def pause(self, reason: str) -> None:
        self.pauses.append(reason)
        self.may_go.clear()
        self.disturbed_ms = self.now_ms()
        await self.emit(protocol.SessionFlagsChanged(paused=True, reason=reason))

    async def wait_for_device(self) -> None:
        self.waits_for_device += 1
        if self.on_wait is None:
            raise DeviceLostError("The device stayed away.")
        self.on_wait()

    def of(self, kind: type) -> list[protocol.EventMsg]:
        """List what was stored of one kind, oldest first."""
        return [event.msg for event in self.events if isinstance(event.msg, kind)]

    def _store(self, msg: protocol.EventMsg) -> protocol.Event:
        count = len(self.events) + 1
        event = protocol.Event(
            event_id=count, session_id="s-1", seq=count, ts_ms=self.now_ms(), msg=msg
        )
        self.events.append(event)
        self._fold(event)
        return event

    def _fold(self, event: protocol.Event) -> None:
        folded = fold_session(self.session, event)
        assert folded is not None
        self.session = folded
