"""A core whose sessions and jobs change by ops alone, so that nothing races with what is typed.

What a real core does later, on phones and with models, it leaves out: a session that is begun works
until it is stopped, and a job is due when it is run.
"""

import asyncio
from collections.abc import Callable

import numpy as np
from msgspec.structs import replace

from agent import protocol, records
from agent.errors import SwitchboardError, UsageError, WrongStateError
from agent.state.reducer import SessionView
from tests.console.fakes import FakeCore, commitment, job, phone, watcher
from tests.console.script import ask, configure, elements, run, step

_OPEN = (records.SessionState.QUEUED, records.SessionState.RUNNING)


class ScriptedCore(FakeCore):
    """Carries ops out at once and in order, unless it is stopped."""

    def __init__(
        self, script: Callable[[FakeCore], None] | None = None, *, now_ms: int = 0
    ) -> None:
        super().__init__()
        self.now_ms = now_ms or self.now_ms
        self.picture = np.full((48, 27, 3), 90, dtype=np.uint8)
        self.answers = {
            protocol.DeviceLook: self._looked_at,
            protocol.DeviceLog: lambda _: protocol.Reply(submission_id="x", lines=_LOG),
            protocol.DeviceExamine: lambda _: protocol.Reply(submission_id="x", findings=_FINDINGS),
            protocol.DeviceRepair: _repaired,
        }
        self._goes = asyncio.Event()
        self._goes.set()
        self._line = asyncio.Lock()
        self._made: dict[str, str] = {}
        self._count = 0
        self.asked: list[protocol.Op] = []
        """All that was asked of it, from when it was asked."""
        self.takes_s = 0.0
        """How long it takes to carry something out: others may be quicker."""
        (script or play)(self)

    def stop(self) -> None:
        """Answer nothing until `go_on`, as a process does that was stopped."""
        self._goes.clear()

    def go_on(self) -> None:
        """Answer again, what waits first."""
        self._goes.set()

    async def request(self, op: protocol.Op) -> protocol.Reply:
        self.asked.append(op)
        if self.takes_s and not op.changes_nothing:
            await asyncio.sleep(self.takes_s)
        async with self._line:
            await self._goes.wait()
            try:
                reply = await super().request(op) if not self._is_known(op) else self._carry_out(op)
            except SwitchboardError as error:
                error.event_id = self.state.event_id
                raise
            return replace(reply, event_id=self.state.event_id)

    async def sessions(self, *, limit: int = 200, before: str = "") -> tuple[records.Session, ...]:
        await self._goes.wait()
        return await super().sessions(limit=limit, before=before)

    async def history(self, session_id: str, **options: int) -> tuple[object, ...]:  # type: ignore[override]
        await self._goes.wait()
        return await super().history(session_id, **options)

    def _looked_at(self, op: protocol.DeviceLook) -> protocol.Reply:
        look = records.PhoneLook(
            serial=op.serial,
            at_ms=1_760_000_000_000,
            foreground=records.Foreground(package="com.android.settings"),
            elements=elements(),
        )
        return protocol.Reply(submission_id="x", look=look)

    # --- ops ----------

    def carry_out_for_another(self, op: protocol.Op) -> None:
        """Carry an op of another client out. Raises as it does for this one."""
        self._carry_out(op)
        self.ops.pop()

    def _is_known(self, op: protocol.Op) -> bool:
        return isinstance(op, _KNOWN)

    def _carry_out(self, op: protocol.Op) -> protocol.Reply:
        self.ops.append(op)
        match op:
            case protocol.SessionCreate(goal=goal, serial=serial, start=start):
                if op.request_id in self._made:
                    return _reply(self._made[op.request_id])
                made = self._create(goal, serial=serial, target_package=op.target_package)
                self._made[op.request_id] = made
                if start:
                    self._begin(made)
                return _reply(made)
            case protocol.NoticeSend(session_id=one) | protocol.SessionFork(session_id=one):
                made = self._create(f"after {one}")
                return _reply(made)
            case protocol.SessionReplay(session_id=one):
                made = self._create(f"again {one}")
                self._begin(made)
                return _reply(made)
            case protocol.SessionStart(session_id=one, prompt=prompt):
                if self._view(one).session.state is not records.SessionState.CREATED:
                    raise WrongStateError("It is no draft.")
                if prompt:
                    self.tell(protocol.UserMessage(text=prompt, message_id=self._id("m")), one)
                self._begin(one)
            case protocol.UserInput(session_id=one, text=text):
                session = self._view(one).session
                if session.state.is_terminal:
                    raise WrongStateError("It has ended.")
                steers = bool(session.turn_id)
                if op.steers not in {None, steers}:
                    raise WrongStateError("It is at another turn.")
                self.tell(
                    protocol.UserMessage(text=text, message_id=self._id("m"), steer=steers), one
                )
                if not steers:
                    self._begin(one)
            case protocol.SteerEdit(session_id=one, message_id=message_id, text=text):
                self.tell(protocol.SteerEdited(message_id=message_id, text=text), one)
            case protocol.SteerWithdraw(session_id=one, message_id=message_id):
                self.tell(protocol.SteerWithdrawn(message_id=message_id), one)
            case protocol.Interrupt(session_id=one):
                for view in list(self.state.sessions.values()):
                    if one in ("", view.session.session_id):
                        self._abort(view, records.SessionState.WAITING_FOR_USER)
            case protocol.SessionKeep(session_id=one, kept=kept):
                self.tell(protocol.SessionKept(kept=kept), one)
            case protocol.SessionTag(session_id=one, tags=tags):
                self.tell(protocol.SessionTagged(tags=tags), one)
            case protocol.SessionRename(session_id=one, title=title):
                self.tell(protocol.SessionRenamed(title=title), one)
            case protocol.SessionDismiss(session_id=one, dismissed=dismissed):
                members = [
                    view.session
                    for view in self.state.sessions.values()
                    if one in (view.session.session_id, view.session.parent_id)
                ]
                if any(not member.state.is_terminal for member in members):
                    raise WrongStateError("It has not ended.")
                for member in members:
                    self.tell(protocol.SessionDismissed(dismissed=dismissed), member.session_id)
            case protocol.SessionCancel(session_id=one):
                if not self._view(one).session.state.is_terminal:
                    self._abort(self._view(one), records.SessionState.CANCELLED, always=True)
            case protocol.SessionPause(session_id=one):
                if self._view(one).session.state not in _OPEN:
                    raise WrongStateError("No turn of it is open.")
                self.tell(protocol.SessionFlagsChanged(paused=True), one)
            case protocol.SessionResume(session_id=one):
                session = self._view(one).session
                if session.paused:
                    self.tell(protocol.SessionFlagsChanged(paused=False), one)
                elif session.turn_id:
                    raise WrongStateError("It needs no resume.")
                else:
                    self._begin(one)
            case protocol.UserInputAnswer(question_id=question_id, answer=answer):
                question = self.state.questions.get(question_id)
                if question is None:
                    raise WrongStateError("It is not open.")
                if question_id == _LATE:
                    closed = protocol.QuestionClosed(
                        question_id=question_id, reason=protocol.CloseReason.EXPIRED
                    )
                    self.tell(closed, question.session_id)
                    raise WrongStateError("It has expired.")
                told = protocol.QuestionAnswered(question_id=question_id, answer=answer)
                self.tell(told, question.session_id)
            case protocol.JobCreate(title=title, prompt=prompt):
                made_job = job(len(self.state.jobs) + 1, title=title, prompt=prompt)
                self.tell(protocol.JobChanged(job=made_job))
                return protocol.Reply(submission_id="x", job=made_job)
            case protocol.JobEdit(job_id=number, prompt=prompt):
                self._change(number, prompt=prompt or self._job(number).prompt)
            case protocol.JobPause(job_id=number):
                self._change(number, status=records.JobStatus.PAUSED)
            case protocol.JobResume(job_id=number):
                self._change(number, status=records.JobStatus.ACTIVE)
            case protocol.JobStop(job_id=number):
                self._change(number, status=records.JobStatus.STOPPED)
            case protocol.JobRun(job_id=number):
                self._change(number, next_run_at=self.now_ms)
            case protocol.JobRead(job_id=number):
                self._change(number, unread_result=False)
            case protocol.WatcherCreate(title=title, texts=texts):
                number = len(self.state.watchers) + 1
                made_watcher = watcher(number, title=title or ", ".join(texts) or "anything")
                self.tell(protocol.WatcherChanged(watcher=made_watcher))
                return protocol.Reply(submission_id="x", watcher=made_watcher)
            case protocol.WatcherRead(watcher_id=number):
                self._change_watcher(number, unread=False)
            case protocol.WatcherStop(watcher_id=number):
                self._change_watcher(number, status=records.WatcherStatus.STOPPED)
            case protocol.CommitmentCreate(title=title, due_at=due_at):
                number = len(self.state.commitments) + 1
                promised = commitment(number, title=title, due_at=due_at, status="pending")
                self.tell(protocol.CommitmentChanged(commitment=promised))
                return protocol.Reply(submission_id="x", commitment=promised)
            case protocol.CommitmentUpdate(commitment_id=number, status=status):
                held = self.state.commitments.get(number)
                if held is None:
                    raise UsageError(f"There is no commitment {number}.")
                self.tell(protocol.CommitmentChanged(commitment=replace(held, status=status)))
            case protocol.WheelTake(serial=serial):
                self._drive(serial, "operator", paused=True)
            case protocol.WheelHandBack(serial=serial):
                self._drive(serial, "", paused=False)
            case protocol.WheelAct(serial=serial):
                if self.state.devices[serial].driver != "operator":
                    raise WrongStateError("The wheel is not yours.")
            case _:
                raise AssertionError(f"{type(op).__name__} is listed and not carried out.")
        return protocol.Reply(submission_id="x")

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
        session = records.Session(session_id=made, goal=goal, created_ms=self.now_ms, **fields)  # type: ignore[arg-type]
        self.tell(protocol.SessionConfigured(session=session), made)
        return made

    def _begin(self, session_id: str) -> None:
        self.tell(protocol.SessionStateChanged(state=records.SessionState.QUEUED), session_id)
        self.tell(protocol.SessionStateChanged(state=records.SessionState.RUNNING), session_id)
        self.tell(protocol.TaskStarted(turn_id=self._id("t")), session_id)

    def _abort(
        self, view: SessionView, state: records.SessionState, *, always: bool = False
    ) -> None:
        session = view.session
        if session.turn_id:
            aborted = protocol.TurnAborted(
                turn_id=session.turn_id, reason=protocol.AbortReason.INTERRUPTED
            )
            self.tell(aborted, session.session_id)
        if session.paused:
            self.tell(protocol.SessionFlagsChanged(paused=False), session.session_id)
        if session.turn_id or always:
            self.tell(protocol.SessionStateChanged(state=state), session.session_id)

    def _drive(self, serial: str, driver: str, *, paused: bool) -> None:
        """Change who has a phone; the session that works on it waits, or goes on."""
        for view in list(self.state.sessions.values()):
            session = view.session
            if session.serial == serial and session.turn_id and session.state in _OPEN:
                self.tell(protocol.SessionFlagsChanged(paused=paused), session.session_id)
                driver = driver or session.session_id
        self.tell(protocol.DeviceChanged(device=replace(self.state.devices[serial], driver=driver)))

    def _change_watcher(self, number: int, **fields: object) -> None:
        held = self.state.watchers.get(number)
        if held is None:
            raise UsageError(f"There is no watcher {number}.")
        self.tell(protocol.WatcherChanged(watcher=replace(held, **fields)))

    def _job(self, number: int) -> records.Job:
        found = self.state.jobs.get(number)
        if found is None:
            raise UsageError(f"There is no job {number}.")
        return found

    def _change(self, number: int, **fields: object) -> None:
        self.tell(protocol.JobChanged(job=replace(self._job(number), **fields)))


_LOG = tuple(f"01-01 12:00:{at:02} I/Settings: line {at}" for at in range(30))
_FINDINGS = (
    records.PhoneFinding(name="screen", ok=True, detail="It stays on."),
    records.PhoneFinding(name="keyboard", ok=False, detail="It is another.", can_repair=True),
)


def _repaired(op: protocol.DeviceRepair) -> protocol.Reply:
    findings = [replace(one, ok=True) for one in _FINDINGS if one.name == op.name]
    return protocol.Reply(submission_id="x", findings=tuple(findings))


_KNOWN = (
    protocol.CommitmentCreate,
    protocol.CommitmentUpdate,
    protocol.Interrupt,
    protocol.JobCreate,
    protocol.JobEdit,
    protocol.JobPause,
    protocol.JobRead,
    protocol.JobResume,
    protocol.JobRun,
    protocol.JobStop,
    protocol.NoticeSend,
    protocol.SessionCancel,
    protocol.SessionCreate,
    protocol.SessionDismiss,
    protocol.SessionFork,
    protocol.SessionKeep,
    protocol.SessionPause,
    protocol.SessionReplay,
    protocol.SessionResume,
    protocol.SessionStart,
    protocol.SessionRename,
    protocol.SessionTag,
    protocol.SteerEdit,
    protocol.SteerWithdraw,
    protocol.UserInput,
    protocol.UserInputAnswer,
    protocol.WatcherCreate,
    protocol.WatcherRead,
    protocol.WatcherStop,
    protocol.WheelAct,
    protocol.WheelHandBack,
    protocol.WheelTake,
)


def _reply(session_id: str) -> protocol.Reply:
    return protocol.Reply(submission_id="x", session_id=session_id)


_LATE = "q5"  # The question whose time is over when an answer to it comes.


def play(core: FakeCore) -> None:
    """Play what was there before: two phones, seven sessions, five questions, an approval, jobs."""
    core.tell(protocol.DeviceChanged(device=phone("phone-1", driver="s1")))
    core.tell(protocol.DeviceChanged(device=phone("phone-2", tags=("bench",))))
    core.tell(
        protocol.WatcherChanged(watcher=watcher(1, title="Parcel", status="fired", unread=True))
    )
    core.tell(protocol.WatcherChanged(watcher=watcher(2, title="Tickets")))
    core.tell(protocol.CommitmentChanged(commitment=commitment(1, title="Call Ana")))
    core.tell(protocol.CommitmentChanged(commitment=commitment(2, title="Pay", status="pending")))
    for number, title in enumerate(("Digest", "Backup", "Battery"), 1):
        core.tell(protocol.JobChanged(job=job(number, title=title)))
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
    core.tell(protocol.SessionStateChanged(state=records.SessionState.COMPLETED), "s4")
    configure(core, "s5", "Tidy the downloads")
    configure(core, "s6", "Buy the train ticket")
    run(core, "s6")
    core.tell(
        protocol.RequestUserInput(
            question=records.Question(
                question_id="q4",
                session_id="s6",
                text="Press “Pay 12 €”?",
                asked_ms=core.now_ms,
                kind=records.QuestionKind.APPROVAL,
                subject=records.Subject(action="click_element", capability="payment", risk="high"),
            )
        ),
        "s6",
    )
    configure(core, "s7", "Expire while it is read")
    run(core, "s7")
    ask(core, "s7", _LATE, "Which one, soon?", "This", "That")
