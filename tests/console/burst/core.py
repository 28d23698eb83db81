"""A core whose sessions and jobs change by ops alone, so that nothing races with what is typed.

What a real core does later, on phones and with models, it leaves out: a session that is begun works
until it is stopped, and a job is due when it is run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import numpy as np
from msgspec.structs import replace

from agent.errors import UsageError, WrongStateError
from agent.protocol import (
    AbortReason,
    CommitmentChanged,
    CommitmentCreate,
    CommitmentUpdate,
    DeviceChanged,
    DeviceExamine,
    DeviceLog,
    DeviceLook,
    DeviceRepair,
    Interrupt,
    JobChanged,
    JobCreate,
    JobEdit,
    JobPause,
    JobRead,
    JobResume,
    JobRun,
    JobStop,
    NoticeSend,
    Op,
    QuestionAnswered,
    Reply,
    RequestUserInput,
    SessionCancel,
    SessionConfigured,
    SessionCreate,
    SessionDismiss,
    SessionDismissed,
    SessionFlagsChanged,
    SessionFork,
    SessionKeep,
    SessionKept,
    SessionPause,
    SessionRename,
    SessionRenamed,
    SessionReplay,
    SessionResume,
    SessionStart,
    SessionStateChanged,
    SessionTag,
    SessionTagged,
    SteerEdit,
    SteerEdited,
    SteerWithdraw,
    SteerWithdrawn,
    TaskStarted,
    TurnAborted,
    UserInput,
    UserInputAnswer,
    UserMessage,
    WatcherChanged,
    WatcherCreate,
    WatcherRead,
    WatcherStop,
    WheelAct,
    WheelHandBack,
    WheelTake,
)
from agent.records import (
    Foreground,
    Job,
    JobStatus,
    PhoneFinding,
    PhoneLook,
    Question,
    QuestionKind,
    Session,
    SessionState,
    Subject,
    WatcherStatus,
)
from agent.state.reducer import SessionView
from tests.console.fakes import FakeCore, commitment, job, phone, watcher
from tests.console.script import ask, configure, elements, run, step

_OPEN = (SessionState.QUEUED, SessionState.RUNNING)


class ScriptedCore(FakeCore):
    """Carries ops out at once and in order, unless it is stopped."""

    def __init__(
        self, script: Callable[[FakeCore], None] | None = None, *, now_ms: int = 0
    ) -> None:
        super().__init__()
        self.now_ms = now_ms or self.now_ms
        self.picture = np.full((48, 27, 3), 90, dtype=np.uint8)
        self.answers = {
            DeviceLook: self._looked_at,
            DeviceLog: lambda _: Reply(submission_id="x", lines=_LOG),
            DeviceExamine: lambda _: Reply(submission_id="x", findings=_FINDINGS),
            DeviceRepair: _repaired,
        }
        self._goes = asyncio.Event()
        self._goes.set()
        self._line = asyncio.Lock()
        self._made: dict[str, str] = {}
        self._count = 0
        (script or play)(self)

    def stop(self) -> None:
        """Answer nothing until `go_on`, as a process does that was stopped."""
        self._goes.clear()

    def go_on(self) -> None:
        """Answer again, what waits first."""
        self._goes.set()

    async def request(self, op: Op) -> Reply:
        async with self._line:
            await self._goes.wait()
            reply = await super().request(op) if not self._is_known(op) else self._carry_out(op)
            return replace(reply, event_id=self.state.event_id)

    async def sessions(self, *, limit: int = 200, before: str = "") -> tuple[Session, ...]:
        await self._goes.wait()
        return await super().sessions(limit=limit, before=before)

    async def history(self, session_id: str, **options: int) -> tuple[object, ...]:  # type: ignore[override]
        await self._goes.wait()
        return await super().history(session_id, **options)

    def _looked_at(self, op: DeviceLook) -> Reply:
        look = PhoneLook(
            serial=op.serial,
            at_ms=1_760_000_000_000,
            foreground=Foreground(package="com.android.settings"),
            elements=elements(),
        )
        return Reply(submission_id="x", look=look)

    # --- ops ----------

    def _is_known(self, op: Op) -> bool:
        return isinstance(op, _KNOWN)

    def _carry_out(self, op: Op) -> Reply:
        self.ops.append(op)
        match op:
            case SessionCreate(goal=goal, serial=serial, start=start):
                if op.request_id in self._made:
                    return _reply(self._made[op.request_id])
                made = self._create(goal, serial=serial, target_package=op.target_package)
                self._made[op.request_id] = made
                if start:
                    self._begin(made)
                return _reply(made)
            case NoticeSend(session_id=one) | SessionFork(session_id=one):
                made = self._create(f"after {one}")
                return _reply(made)
            case SessionReplay(session_id=one):
                made = self._create(f"again {one}")
                self._begin(made)
                return _reply(made)
            case SessionStart(session_id=one, prompt=prompt):
                if self._view(one).session.state is not SessionState.CREATED:
                    raise WrongStateError("It is no draft.")
                if prompt:
                    self.tell(UserMessage(text=prompt, message_id=self._id("m")), one)
                self._begin(one)
            case UserInput(session_id=one, text=text):
                session = self._view(one).session
                if session.state.is_terminal:
                    raise WrongStateError("It has ended.")
                steers = bool(session.turn_id)
                self.tell(UserMessage(text=text, message_id=self._id("m"), steer=steers), one)
                if not steers:
                    self._begin(one)
            case SteerEdit(session_id=one, message_id=message_id, text=text):
                self.tell(SteerEdited(message_id=message_id, text=text), one)
            case SteerWithdraw(session_id=one, message_id=message_id):
                self.tell(SteerWithdrawn(message_id=message_id), one)
            case Interrupt(session_id=one):
                for view in list(self.state.sessions.values()):
                    if one in ("", view.session.session_id):
                        self._abort(view, SessionState.WAITING_FOR_USER)
            case SessionKeep(session_id=one, kept=kept):
                self.tell(SessionKept(kept=kept), one)
            case SessionTag(session_id=one, tags=tags):
                self.tell(SessionTagged(tags=tags), one)
            case SessionRename(session_id=one, title=title):
                self.tell(SessionRenamed(title=title), one)
            case SessionDismiss(session_id=one, dismissed=dismissed):
                members = [
                    view.session
                    for view in self.state.sessions.values()
                    if one in (view.session.session_id, view.session.parent_id)
                ]
                if any(not member.state.is_terminal for member in members):
                    raise WrongStateError("It has not ended.")
                for member in members:
                    self.tell(SessionDismissed(dismissed=dismissed), member.session_id)
            case SessionCancel(session_id=one):
                if not self._view(one).session.state.is_terminal:
                    self._abort(self._view(one), SessionState.CANCELLED, always=True)
            case SessionPause(session_id=one):
                if self._view(one).session.state not in _OPEN:
                    raise WrongStateError("No turn of it is open.")
                self.tell(SessionFlagsChanged(paused=True), one)
            case SessionResume(session_id=one):
                session = self._view(one).session
                if session.paused:
                    self.tell(SessionFlagsChanged(paused=False), one)
                elif session.turn_id:
                    raise WrongStateError("It needs no resume.")
                else:
                    self._begin(one)
            case UserInputAnswer(question_id=question_id, answer=answer):
                question = self.state.questions.get(question_id)
                if question is None:
                    raise WrongStateError("It is not open.")
                told = QuestionAnswered(question_id=question_id, answer=answer)
                self.tell(told, question.session_id)
            case JobCreate(title=title, prompt=prompt):
                made_job = job(len(self.state.jobs) + 1, title=title, prompt=prompt)
                self.tell(JobChanged(job=made_job))
                return Reply(submission_id="x", job=made_job)
            case JobEdit(job_id=number, prompt=prompt):
                self._change(number, prompt=prompt or self._job(number).prompt)
            case JobPause(job_id=number):
                self._change(number, status=JobStatus.PAUSED)
            case JobResume(job_id=number):
                self._change(number, status=JobStatus.ACTIVE)
            case JobStop(job_id=number):
                self._change(number, status=JobStatus.STOPPED)
            case JobRun(job_id=number):
                self._change(number, next_run_at=self.now_ms)
            case JobRead(job_id=number):
                self._change(number, unread_result=False)
            case WatcherCreate(title=title, texts=texts):
                number = len(self.state.watchers) + 1
                made_watcher = watcher(number, title=title or ", ".join(texts) or "anything")
                self.tell(WatcherChanged(watcher=made_watcher))
                return Reply(submission_id="x", watcher=made_watcher)
            case WatcherRead(watcher_id=number):
                self._change_watcher(number, unread=False)
            case WatcherStop(watcher_id=number):
                self._change_watcher(number, status=WatcherStatus.STOPPED)
            case CommitmentCreate(title=title, due_at=due_at):
                number = len(self.state.commitments) + 1
                promised = commitment(number, title=title, due_at=due_at, status="pending")
                self.tell(CommitmentChanged(commitment=promised))
                return Reply(submission_id="x", commitment=promised)
            case CommitmentUpdate(commitment_id=number, status=status):
                held = self.state.commitments.get(number)
                if held is None:
                    raise UsageError(f"There is no commitment {number}.")
                self.tell(CommitmentChanged(commitment=replace(held, status=status)))
            case WheelTake(serial=serial):
                self._drive(serial, "operator", paused=True)
            case WheelHandBack(serial=serial):
                self._drive(serial, "", paused=False)
            case WheelAct(serial=serial):
                if self.state.devices[serial].driver != "operator":
                    raise WrongStateError("The wheel is not yours.")
            case _:
                raise AssertionError(f"{type(op).__name__} is listed and not carried out.")
        return Reply(submission_id="x")

    def _id(self, kind: str) -> str:
        self._count += 1
        return f"{kind}{self._count}"

    def _view(self, session_id: str) -> SessionView:
        view = self.state.sessions.get(session_id)
        if view is None:
            raise UsageError(f"There is no session {session_id}.")
        return view

    def _create(self, goal: str, **fields: object) -> str:
        made = self._id("n")
        session = Session(session_id=made, goal=goal, created_ms=self.now_ms, **fields)  # type: ignore[arg-type]
        self.tell(SessionConfigured(session=session), made)
        return made

    def _begin(self, session_id: str) -> None:
        self.tell(SessionStateChanged(state=SessionState.QUEUED), session_id)
        self.tell(SessionStateChanged(state=SessionState.RUNNING), session_id)
        self.tell(TaskStarted(turn_id=self._id("t")), session_id)

    def _abort(self, view: SessionView, state: SessionState, *, always: bool = False) -> None:
        session = view.session
        if session.turn_id:
            aborted = TurnAborted(turn_id=session.turn_id, reason=AbortReason.INTERRUPTED)
            self.tell(aborted, session.session_id)
        if session.paused:
            self.tell(SessionFlagsChanged(paused=False), session.session_id)
        if session.turn_id or always:
            self.tell(SessionStateChanged(state=state), session.session_id)

    def _drive(self, serial: str, driver: str, *, paused: bool) -> None:
        """Change who has a phone; the session that works on it waits, or goes on."""
        for view in list(self.state.sessions.values()):
            session = view.session
            if session.serial == serial and session.turn_id and session.state in _OPEN:
                self.tell(SessionFlagsChanged(paused=paused), session.session_id)
                driver = driver or session.session_id
        self.tell(DeviceChanged(device=replace(self.state.devices[serial], driver=driver)))

    def _change_watcher(self, number: int, **fields: object) -> None:
        held = self.state.watchers.get(number)
        if held is None:
            raise UsageError(f"There is no watcher {number}.")
        self.tell(WatcherChanged(watcher=replace(held, **fields)))

    def _job(self, number: int) -> Job:
        found = self.state.jobs.get(number)
        if found is None:
            raise UsageError(f"There is no job {number}.")
        return found

    def _change(self, number: int, **fields: object) -> None:
        self.tell(JobChanged(job=replace(self._job(number), **fields)))


_LOG = tuple(f"01-01 12:00:{at:02} I/Settings: line {at}" for at in range(30))
_FINDINGS = (
    PhoneFinding(name="screen", ok=True, detail="It stays on."),
    PhoneFinding(name="keyboard", ok=False, detail="It is another.", can_repair=True),
)


def _repaired(op: DeviceRepair) -> Reply:
    findings = [replace(one, ok=True) for one in _FINDINGS if one.name == op.name]
    return Reply(submission_id="x", findings=tuple(findings))


_KNOWN = (
    CommitmentCreate,
    CommitmentUpdate,
    Interrupt,
    JobCreate,
    JobEdit,
    JobPause,
    JobRead,
    JobResume,
    JobRun,
    JobStop,
    NoticeSend,
    SessionCancel,
    SessionCreate,
    SessionDismiss,
    SessionFork,
    SessionKeep,
    SessionPause,
    SessionReplay,
    SessionResume,
    SessionStart,
    SessionRename,
    SessionTag,
    SteerEdit,
    SteerWithdraw,
    UserInput,
    UserInputAnswer,
    WatcherCreate,
    WatcherRead,
    WatcherStop,
    WheelAct,
    WheelHandBack,
    WheelTake,
)


def _reply(session_id: str) -> Reply:
    return Reply(submission_id="x", session_id=session_id)


def play(core: FakeCore) -> None:
    """Play what was there before: two phones, six sessions, four questions, an approval, jobs."""
    core.tell(DeviceChanged(device=phone("phone-1", driver="s1")))
    core.tell(DeviceChanged(device=phone("phone-2", tags=("bench",))))
    core.tell(WatcherChanged(watcher=watcher(1, title="Parcel", status="fired", unread=True)))
    core.tell(WatcherChanged(watcher=watcher(2, title="Tickets")))
    core.tell(CommitmentChanged(commitment=commitment(1, title="Call Ana")))
    core.tell(CommitmentChanged(commitment=commitment(2, title="Pay", status="pending")))
    for number, title in enumerate(("Digest", "Backup", "Battery"), 1):
        core.tell(JobChanged(job=job(number, title=title)))
    configure(core, "s1", "Open Settings and pair the headphones", serial="phone-1")
    run(core, "s1")
    for number in range(1, 4):
        step(core, "s1", number)
    configure(core, "s2", "Write a note about milk", serial="phone-2")
    run(core, "s2")
    ask(core, "s2", "q1", "Which notebook?", "Home", "Work")
    ask(core, "s2", "q2", "Which colour?", "Red", "Green", "Blue")
    configure(core, "s3", "Send Anna the address")
    run(core, "s3")
    ask(core, "s3", "q3", "Which Anna?", "Anna B.", "Anna K.")
    configure(core, "s4", "Set an alarm for 6:45")
    run(core, "s4")
    core.tell(SessionStateChanged(state=SessionState.COMPLETED), "s4")
    configure(core, "s5", "Tidy the downloads")
    configure(core, "s6", "Buy the train ticket")
    run(core, "s6")
    core.tell(
        RequestUserInput(
            question=Question(
                question_id="q4",
                session_id="s6",
                text="Press “Pay 12 €”?",
                asked_ms=core.now_ms,
                kind=QuestionKind.APPROVAL,
                subject=Subject(action="click_element", capability="payment", risk="high"),
            )
        ),
        "s6",
    )
