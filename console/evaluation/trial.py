"""One trial: put a phone into the starting state, let a session work, judge the phone's true state.

Invariants: a trial leaves its session settled; questions are answered as the exercise's operator
answers, at once and only once.
"""

import asyncio
import time
from typing import Protocol

import msgspec

from agent import protocol, records
from agent.core import Core
from agent.episodes.rewards import check_checker
from agent.errors import ErrorKind, SwitchboardError
from agent.exercises.exercise import Exercise, Record, State, Tag
from agent.exercises.route import Launch
from agent.state.reducer import fold_session

APPROVE, DENY = "Approve", "Deny"


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What one trial came to; a line of the results file."""

    exercise: str
    model: str
    seed: int
    repeat: int
    without: tuple[str, ...] = ()
    """The patterns that were switched off."""
    session_id: str = ""
    why: str = ""
    """Why it failed; empty for success."""
    trouble: str = ""
    """What broke that a model works with: its endpoint, the phone; worth another try."""
    tries: int = 1
    """How often it was tried because of such trouble."""
    verified_by: str = records.VerifiedBy.NOBODY.value
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
    time: records.TimeSplit = records.TimeSplit()
    usage: records.Usage = records.Usage()

    @property
    def is_false_done(self) -> bool:
        """Whether it was confirmed though the phone's state says otherwise."""
        return self.verified and bool(self.why)

    @property
    def ok(self) -> bool:
        """Whether the phone's state is as it should be."""
        return not self.why


class Phones(Protocol):
    """What a trial does to a phone beside the session: nothing that a session could do itself."""

    async def prepare(self, serial: str, exercise: Exercise) -> None:
        """Bring a phone into an exercise's starting state, as if nothing had been before."""

    async def state(self, serial: str) -> State:
        """Return what the phone says of itself, whatever its screen shows."""


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """Which trial it is."""

    exercise: Exercise
    model: str
    seed: int
    repeat: int
    without: tuple[str, ...] = ()
    bound_s: float  # How long the session may take.


async def attempt(core: Core, phones: Phones, serial: str, trial: Trial) -> Outcome:
    """Try an exercise once on a phone that nobody else uses."""
    exercise = trial.exercise
    began = time.monotonic()
    work = _Work(core, exercise)
    before: State = {}
    after: State = {}
    why = trouble = ""
    try:
        await phones.prepare(serial, exercise)
        before = await phones.state(serial)
        # Before anything is asked of the model: a mistyped path is no failure of it.
        check_checker(exercise, before)
        async with asyncio.timeout(trial.bound_s):
            await work.run(serial, trial.model)
        after = await phones.state(serial)
    except TimeoutError:
        why = trouble = f"not over within {trial.bound_s:g} s"
    except SwitchboardError as error:
        why = trouble = str(error)
    record = Record(
        work.state is records.SessionState.COMPLETED, work.result, tuple(work.approvals)
    )
    why = why or _checked(exercise, before, after, record)
    session = work.session
    if record.finished and session is not None:
        verdict = records.GoalVerdict.NOT_MET if why else records.GoalVerdict.MET
        said = protocol.SessionVerify(
            session_id=session.session_id,
            verdict=verdict,
            verified_by=records.VerifiedBy.CHECKER,
            reason=why,
        )
        await core.request(said)
    return Outcome(
        exercise=exercise.name,
        model=trial.model,
        seed=trial.seed,
        repeat=trial.repeat,
        without=trial.without,
        session_id=session.session_id if session else "",
        why=why,
        trouble=trouble or (work.trouble if why else ""),
        verified_by=(session.verified_by if session else records.VerifiedBy.NOBODY).value,
        verified=session is not None and session.is_verified,
        completed=record.finished,
        steps=session.steps if session else 0,
        seconds=round(time.monotonic() - began, 2),
        approvals=len(work.approvals),
        asked=tuple(" ".join(text.splitlines()[:2]) for text in work.approvals),
        time=session.time if session else records.TimeSplit(),
        usage=session.usage if session else records.Usage(),
    )


def _checked(exercise: Exercise, before: State, after: State, record: Record) -> str:
    """Ask an exercise's checker; one that fails itself says so, and the exercise is not passed."""
    try:
        return exercise.check(before, after, record)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        return f"the checker failed: {type(error).__name__}: {error}"


_TROUBLE = frozenset(
    {
        ErrorKind.ADB,
        ErrorKind.CONFIG,
        ErrorKind.DEVICE,
        ErrorKind.DEVICE_LOST,
        ErrorKind.INTERNAL,
        ErrorKind.MODEL,
        ErrorKind.STORE,
    }
)
"""Failures of what a model works with, and not of what it did."""


class _Work:
    """One session's way from its creation to its end."""

    def __init__(self, core: Core, exercise: Exercise) -> None:
        self._core = core
        self._exercise = exercise
        self.session: records.Session | None = None
        self.approvals: list[str] = []
        self.trouble = ""

    @property
    def state(self) -> records.SessionState | None:
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
            protocol.SessionCreate(
                goal=exercise.goal,
                serial=serial,
                model=model,
                target_package=_target(exercise),
                max_steps=exercise.max_steps,
                at_limit=records.AtLimit.STOP,
                start=False,
            )
        )
        session_id = reply.session_id
        try:
            await self._follow(session_id)
        finally:
            if self.session is None or not self.session.state.is_terminal:
                await self._core.request(protocol.SessionCancel(session_id=session_id))

    async def _follow(self, session_id: str) -> None:
        async with self._core.events() as events:
            self.session = await self._core.session(session_id)
            await self._core.request(protocol.SessionStart(session_id=session_id))
            async for event in events:
                if event.session_id != session_id:
                    continue
                if await self._take(event):
                    return

    async def _take(self, event: protocol.Event) -> bool:
        """Take an event in; return whether the work is over."""
        self.session = fold_session(self.session, event)
        match event.msg:
            case protocol.RequestUserInput(question=question):
                await self._answer(question)
            case protocol.ErrorEvent(kind=kind, message=message) if kind in _TROUBLE:
                self.trouble = message
            case protocol.TurnAborted():
                return True
            case _:
                pass
        return self.session is not None and self.session.state.is_terminal

    async def _answer(self, question: records.Question) -> None:
        operator = self._exercise.operator
        if question.kind is records.QuestionKind.APPROVAL:
            self.approvals.append(question.text)
            answer = APPROVE if operator.approves else DENY
        elif question.secret and operator.secret:
            answer = operator.secret
        else:
            answer = operator.answer(question.text, tuple(o.label for o in question.options))
        await self._core.request(
            protocol.UserInputAnswer(question_id=question.question_id, answer=answer)
        )


def _target(exercise: Exercise) -> str:
    """Return the one app that an exercise is about; empty when it is about several."""
    packages = {step.package for step in exercise.route if isinstance(step, Launch)}
    return packages.pop() if Tag.SINGLE_APP in exercise.tags and len(packages) == 1 else ""
