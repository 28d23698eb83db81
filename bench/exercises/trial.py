"""One trial: put a phone into the starting state, let a session work, judge the phone's true state.

Invariants: a trial leaves its session settled; questions are answered as the exercise's operator
answers, at once and only once.
"""

from __future__ import annotations

import asyncio
import time

import msgspec

from agent.errors import SwitchboardError
from agent.protocol import (
    Event,
    RequestUserInput,
    SessionCancel,
    SessionCreate,
    SessionStart,
    SessionVerify,
    TurnAborted,
    UserInputAnswer,
)
from agent.records import (
    AtLimit,
    GoalVerdict,
    Question,
    QuestionKind,
    Session,
    SessionState,
    TimeSplit,
    Usage,
    VerifiedBy,
)
from agent.runtime.runtime import Runtime
from agent.state.reducer import fold_session
from bench.exercises.conditions import taken_back
from bench.exercises.exercise import Exercise, Record, Tag
from bench.exercises.house import House
from bench.exercises.route import Launch

APPROVE, DENY = "Approve", "Deny"


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What one trial came to; a line of the results file."""

    exercise: str
    model: str
    seed: int
    repeat: int
    without: tuple[str, ...] = ()
    """The patterns that were switched off."""
    why: str = ""
    """Why it failed; empty for success."""
    verified_by: str = VerifiedBy.NOBODY.value
    """Who confirmed or denied it before the checker did."""
    verified: bool = False
    """Whether that was a confirmation, of a completed session."""
    completed: bool = False
    """Whether the session ended as completed."""
    steps: int = 0
    seconds: float = 0.0
    approvals: int = 0
    asked: tuple[str, ...] = ()
    """What each approval was for, and by which press."""
    time: TimeSplit = TimeSplit()
    usage: Usage = Usage()

    @property
    def is_false_done(self) -> bool:
        """Whether it was confirmed though the phone's state says otherwise."""
        return self.verified and bool(self.why)

    @property
    def ok(self) -> bool:
        """Whether the phone's state is as it should be."""
        return not self.why


async def attempt(
    house: House,
    serial: str,
    exercise: Exercise,
    *,
    model: str,
    seed: int,
    repeat: int,
    without: tuple[str, ...],
    bound_s: float,
) -> Outcome:
    """Try an exercise once on a phone that nobody else uses."""
    phone = house.host.served(serial).phone
    house.host.reset(serial)
    began = time.monotonic()
    work = _Work(house.core, exercise)
    with taken_back(phone):
        exercise.prepare(phone)
        before = phone.state()
        try:
            async with asyncio.timeout(bound_s):
                await work.run(serial, model)
            why = ""
        except TimeoutError:
            why = f"not over within {bound_s:g} s"
        except SwitchboardError as error:
            why = str(error)
    record = Record(work.state is SessionState.COMPLETED, work.result, tuple(work.approvals))
    why = why or exercise.check(before, phone.state(), record)
    session = work.session
    if record.finished and session is not None:
        verdict = GoalVerdict.NOT_MET if why else GoalVerdict.MET
        said = SessionVerify(
            session_id=session.session_id,
            verdict=verdict,
            verified_by=VerifiedBy.CHECKER,
            reason=why,
        )
        await house.core.request(said)
    return Outcome(
        exercise=exercise.name,
        model=model,
        seed=seed,
        repeat=repeat,
        without=without,
        why=why,
        verified_by=(session.verified_by if session else VerifiedBy.NOBODY).value,
        verified=session is not None and session.is_verified,
        completed=record.finished,
        steps=session.steps if session else 0,
        seconds=round(time.monotonic() - began, 2),
        approvals=len(work.approvals),
        asked=tuple(" ".join(text.splitlines()[:2]) for text in work.approvals),
        time=session.time if session else TimeSplit(),
        usage=session.usage if session else Usage(),
    )


class _Work:
    """One session's way from its creation to its end."""

    def __init__(self, core: Runtime, exercise: Exercise) -> None:
        self._core = core
        self._exercise = exercise
        self.session: Session | None = None
        self.approvals: list[str] = []

    @property
    def state(self) -> SessionState | None:
        return self.session.state if self.session is not None else None

    @property
    def result(self) -> str:
        if self.session is None:
            return ""
        return self.session.latest_result or self.session.latest_error

    async def run(self, serial: str, model: str) -> None:
        """Create the session and follow it to its end; cancel it where it does not end itself."""
        exercise = self._exercise
        reply = await self._core.request(
            SessionCreate(
                goal=exercise.goal,
                serial=serial,
                model=model,
                target_package=_target(exercise),
                max_steps=exercise.max_steps,
                at_limit=AtLimit.STOP,
                start=False,
            )
        )
        session_id = reply.session_id
        try:
            await self._follow(session_id)
        finally:
            if self.session is None or not self.session.state.is_terminal:
                await self._core.request(SessionCancel(session_id=session_id))

    async def _follow(self, session_id: str) -> None:
        async with self._core.events() as events:
            self.session = await self._core.session(session_id)
            await self._core.request(SessionStart(session_id=session_id))
            async for event in events:
                if event.session_id != session_id:
                    continue
                if await self._take(event):
                    return

    async def _take(self, event: Event) -> bool:
        """Take an event in; tells whether the work is over."""
        self.session = fold_session(self.session, event)
        match event.msg:
            case RequestUserInput(question=question):
                await self._answer(question)
            case TurnAborted():
                return True
            case _:
                pass
        return self.session is not None and self.session.state.is_terminal

    async def _answer(self, question: Question) -> None:
        operator = self._exercise.operator
        if question.kind is QuestionKind.APPROVAL:
            self.approvals.append(question.text)
            answer = APPROVE if operator.approves else DENY
        else:
            answer = operator.answer(question.text, tuple(o.label for o in question.options))
        await self._core.request(UserInputAnswer(question_id=question.question_id, answer=answer))


def _target(exercise: Exercise) -> str:
    """Give the one app that an exercise is about; empty when it is about several."""
    packages = {step.package for step in exercise.route if isinstance(step, Launch)}
    return packages.pop() if Tag.SINGLE_APP in exercise.tags and len(packages) == 1 else ""
