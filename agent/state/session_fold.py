"""Fold events into the record of one session. No I/O, no clock.

The store keeps the result beside the events and the runtime keeps it in memory, so both are what
replaying the events gives. `agent.state.reducer` folds everything else. Invariant: the
record is a function of the session's events alone.
"""

from collections.abc import Iterable
from typing import assert_never

from msgspec.structs import replace

from agent import protocol, records
from agent.records.requirements import numbered
from agent.text import one_line

_TELL_NOTHING = frozenset(
    {
        protocol.SteerApplied,
        protocol.ObservationRecorded,
        protocol.ToolCallRequested,
        protocol.ToolCallFinished,
        protocol.EffectsSeen,
    }
)
"""The most frequent events leave the record as it is; to know them at once makes replay fast."""


def fold_session(session: records.Session | None, event: protocol.Event) -> records.Session | None:
    """Fold one event into the record of its session.

    Args:
        session: the record before the event; None before the session's first event.
        event: an event of that session, or of no session, which changes nothing.

    Returns:
        The record after the event; None when the session's first event is missing.
    """
    if isinstance(event.msg, protocol.SessionConfigured):
        return replace(event.msg.session, updated_ms=event.ts_ms)
    if session is None or event.session_id != session.session_id:
        return session
    if type(event.msg) not in _TELL_NOTHING:
        session, was_over = _fold_fact(session, event.msg), session.state.is_terminal
        if was_over and session.state.is_terminal:
            # What is read or cleared away later is no part of what it did, nor of how long.
            return session
    return replace(session, updated_ms=event.ts_ms)


def fold_all(
    session: records.Session | None, events: Iterable[protocol.Event]
) -> records.Session | None:
    """Fold many events; the same as `fold_session` for each, with one time written at the end."""
    updated_ms: int | None = None
    for event in events:
        if isinstance(event.msg, protocol.SessionConfigured):
            session = event.msg.session
        elif session is None or event.session_id != session.session_id:
            continue
        elif type(event.msg) not in _TELL_NOTHING:
            session, was_over = _fold_fact(session, event.msg), session.state.is_terminal
            if was_over and session.state.is_terminal:
                continue
        updated_ms = event.ts_ms
    return (
        session
        if session is None or updated_ms is None
        else replace(session, updated_ms=updated_ms)
    )


def _fold_fact(session: records.Session, msg: protocol.EventMsg) -> records.Session:
    if type(msg) is protocol.UserMessage and not msg.steer and _is_another(session, msg):
        required = numbered(msg.requires, records.RequirementOrigin.OPTION)
        session = replace(session, requirements=required)
    match msg:
        # What every step has comes first: the cases are tried one after the other.
        case protocol.StepStarted(step=step):
            return replace(session, last_step=step)
        case protocol.StepCompleted(time=time, usage=usage, counted=counted):
            return replace(
                session,
                steps=session.steps + int(counted),
                time=session.time.plus(time),
                usage=session.usage.plus(usage),
            )
        case (
            protocol.ReviewPublished(usage=usage)
            | protocol.HistoryCompacted(usage=usage)
            | protocol.ActReviewed(usage=usage)
        ):
            return replace(session, usage=session.usage.plus(usage))
        case protocol.AgentMessage(text=text):
            return replace(session, latest_trace=text)
        case protocol.SessionStateChanged(state=state, reason=reason, stopped=stopped):
            put_off = session.deferred if state is records.SessionState.WAITING_FOR_USER else None
            draft = session.provisional and state is records.SessionState.CREATED
            waits_for = reason if state is records.SessionState.QUEUED else ""
            # The end of a turn that had begun may have said before that it was stopped.
            at_work = state in {records.SessionState.QUEUED, records.SessionState.RUNNING}
            return replace(
                session,
                state=state,
                deferred=put_off,
                provisional=draft,
                waits_for=waits_for,
                stopped=stopped or (session.stopped and not at_work),
            )
        case protocol.SessionWaits(reason=reason):
            return replace(session, waits_for=reason)
        case protocol.SessionFlagsChanged(paused=paused, held=held, lost=lost, driver=driver):
            until_ms = msg.lost_until_ms if lost else 0
            return replace(
                session,
                paused=paused,
                held=held,
                lost=lost,
                lost_until_ms=until_ms,
                driver=driver,
                provisional=session.provisional and not held,
            )
        case protocol.TargetsPlanned(child_ids=child_ids):
            return replace(session, part_ids=child_ids)
        case protocol.SessionDeferred(state=state):
            return replace(session, deferred=state)
        case protocol.SessionAssigned(serial=serial):
            return replace(session, serial=serial)
        case protocol.SessionHosted(host=host, serial=serial):
            return replace(session, host=host, serial=serial)
        case protocol.SessionContinued(generation=generation, job_id=job_id):
            return replace(
                _unverified(session),
                generation=generation,
                latest_error="",
                for_job=job_id,
                stopped=False,
                dismissed=False,
                # A parent that only delegates begins no turn: what its tree sees from now on is
                # there to be dropped again.
                pruned=False,
            )
        case protocol.TaskStarted(kind="review" | "compact"):
            # It reads the session and is no turn of it: a settled session stays as it is.
            return session
        case protocol.TaskStarted(turn_id=turn_id):
            # What it sees from now on is its own again, whatever was dropped before.
            return replace(
                _unverified(session), turn_id=turn_id, pruned=False, stopped=False, waits_for=""
            )
        case protocol.TaskComplete():
            return replace(session, turn_id="", recoveries=0)
        case protocol.TurnAborted(reason=reason):
            return replace(session, turn_id="", stopped=reason is protocol.AbortReason.INTERRUPTED)
        case protocol.RecoveryScheduled(attempt=attempt):
            return replace(session, recoveries=attempt)
        case protocol.TargetObserved(presentation=presentation, runtime=runtime, display=display):
            return replace(
                session, presentation=presentation, target_runtime=runtime, target_display=display
            )
        case protocol.PlanUpdate(plan=plan):
            return replace(session, plan=plan)
        case protocol.FactsUpdate(facts=facts):
            return replace(session, facts=facts)
        case protocol.RequirementsUpdate(requirements=requirements):
            return replace(session, requirements=requirements)
        case protocol.RequestUserInput(question=question):
            return replace(session, latest_question=question.shown)
        case protocol.QuestionAnswered() | protocol.QuestionClosed():
            return replace(session, latest_question="")
        case protocol.SessionRolledBack():
            return replace(
                session,
                plan=(),
                facts=(),
                requirements=tuple(one for one in session.requirements if one.is_given),
                latest_question="",
                latest_result="",
                latest_error="",
                latest_trace="",
                verified_by=records.VerifiedBy.NOBODY,
                verdict=records.GoalVerdict.CANNOT_TELL,
                result_json="",
            )
        case protocol.SessionKept(kept=kept):
            return replace(session, kept=kept)
        case protocol.SessionTagged(tags=tags):
            return replace(session, tags=tags)
        case protocol.SessionRenamed(title=title):
            return replace(session, title=title)
        case protocol.SessionEndpointChosen(endpoint=endpoint):
            return replace(session, endpoint=endpoint)
        case protocol.SessionDismissed(dismissed=dismissed):
            return replace(session, dismissed=dismissed)
        case protocol.SessionPruned():
            return replace(session, pruned=True)
        case protocol.ResultPublished(text=text, result=result):
            return replace(session, latest_result=text, result_json=result)
        case protocol.VerificationRecorded(verification=found):
            return replace(session, verified_by=found.verified_by, verdict=found.verdict)
        case protocol.ErrorEvent(message=message):
            return replace(session, latest_error=message)
        case protocol.BudgetExtended(kind=kind, amount=amount):
            return _extended(session, kind, amount)
        case protocol.AllowanceUsed(at=at, amount=amount):
            return _used(session, at, amount)
        case protocol.TextRedacted(kinds=kinds):
            return replace(session, redacted=tuple(dict.fromkeys((*session.redacted, *kinds))))
        case protocol.TextLetThrough(texts=texts):
            known = tuple(dict.fromkeys((*session.let_through, *texts)))
            return replace(session, let_through=known, redacted=())
        case protocol.UserMessage(text=text, steer=False) if not session.goal:
            # A draft without a goal: what it is started with is its goal.
            title = session.title or one_line(text, 80)
            return replace(session, goal=text, goal_speaker=msg.speaker, title=title)
        case protocol.UserMessage(steer=False, job_id=job_id) if job_id or session.for_job:
            # A job's prompt has a schema of its own or none, and it ends with the job's prompt.
            return replace(session, for_job=job_id, output_schema=msg.output_schema)
        case (
            protocol.SessionConfigured()
            | protocol.ApprovalGiven()
            | protocol.OperatorActed()
            | protocol.UserMessage()
            | protocol.SteerApplied()
            | protocol.SteerEdited()
            | protocol.SteerWithdrawn()
            | protocol.RouteGiven()
            | protocol.ObservationRecorded()
            | protocol.ToolCallRequested()
            | protocol.ToolCallFinished()
            | protocol.EffectsSeen()
            | protocol.UndoStarted()
            | protocol.UndoFinished()
            | protocol.SessionsDeleted()
            | protocol.WarningEvent()
            | protocol.StreamError()
            | protocol.NoticePosted()
            | protocol.NoticeWithdrawn()
            | protocol.DeviceChanged()
            | protocol.AdbServerChanged()
            | protocol.HostForgotten()
            | protocol.WheelTaken()
            | protocol.WheelActed()
            | protocol.WheelHandedBack()
            | protocol.JobChanged()
            | protocol.RunChanged()
            | protocol.JobsDropped()
            | protocol.WatcherChanged()
            | protocol.CommitmentChanged()
            | protocol.WarrantChanged()
            | protocol.WarrantUsed()
            | protocol.ShutdownComplete()
        ):
            return session
        case _:
            assert_never(msg)


def _is_another(session: records.Session, msg: protocol.UserMessage) -> bool:
    """Return whether a prompt asks for something else, so that what was required before goes."""
    if msg.requires:
        return True
    is_goal = not session.goal or msg.text.strip() == session.goal.strip()
    return bool(session.requirements) and session.last_step > 0 and not is_goal


def _unverified(session: records.Session) -> records.Session:
    """Forget what an earlier turn came to; mostly there is nothing to forget."""
    fresh = session.verified_by is records.VerifiedBy.NOBODY and not session.result_json
    if fresh and session.verdict is records.GoalVerdict.CANNOT_TELL:
        return session
    return replace(
        session,
        verified_by=records.VerifiedBy.NOBODY,
        verdict=records.GoalVerdict.CANNOT_TELL,
        result_json="",
    )


def _used(session: records.Session, at: int, amount: int) -> records.Session:
    """Count a use; a copy of a session has its past and none of its allowances."""
    if not 0 <= at < len(session.allowances):
        return session
    one = session.allowances[at]
    counted = replace(one, used=one.used + max(0, amount))
    return replace(
        session, allowances=(*session.allowances[:at], counted, *session.allowances[at + 1 :])
    )


def _extended(session: records.Session, kind: records.BudgetKind, amount: float) -> records.Session:
    budget = session.budget
    match kind:
        case records.BudgetKind.STEPS:
            return replace(session, max_steps=session.max_steps + round(amount))
        case records.BudgetKind.SECONDS:
            return replace(session, budget=replace(budget, seconds=budget.seconds + amount))
        case records.BudgetKind.TOKENS:
            return replace(session, budget=replace(budget, tokens=budget.tokens + round(amount)))
        case records.BudgetKind.MONEY:
            return replace(session, budget=replace(budget, cost_usd=budget.cost_usd + amount))
        case _:
            assert_never(kind)
