"""One line of speech for an event: what a headless run says on stderr.

Not the transcript of the console. Invariant: pure, and every line is cleaned foreign text.
"""

from agent import protocol
from agent.records import PlanStatus, attributed
from agent.safety.effects.wording import headline
from agent.safety.redacting.notice import let_through_notice, redacted_notice
from agent.state import event_text
from agent.state.effect_text import effect_line
from agent.state.event_text import (
    closed_words,
    compacted,
    evidence_words,
    requirements_words,
    undo_words,
    verified_words,
)
from agent.state.reducer import ActionView
from agent.state.terms import term
from agent.text import call_result_words, counted, one_line, sentence
from widgets.base.formatting import action_object, action_verb

_MARKS = {PlanStatus.PENDING: "[ ]", PlanStatus.IN_PROGRESS: "[>]", PlanStatus.COMPLETED: "[x]"}


def narrate(event: protocol.Event) -> str:
    """Return an event in a line; empty when a person need not hear of it."""
    return one_line(_event_line(event.msg), 400)


def _event_line(msg: protocol.EventMsg) -> str:
    match msg:
        case protocol.SessionConfigured(session=session):
            return f"session {session.session_id}: {session.goal}"
        case protocol.SessionAssigned(serial=serial):
            return f"on {serial}" if serial else "no device any more"
        case protocol.SessionContinued(after_step=step, reason=reason):
            return f"resumes after step {step}" + (f": {reason}" if reason else "")
        case protocol.SessionStateChanged(state=state, reason=reason):
            return term(state) + (f": {reason}" if reason else "")
        case protocol.SessionFlagsChanged():
            flags = [name for name in ("paused", "held", "lost") if getattr(msg, name)]
            return " and ".join(flags or ["resumed"]) + (f": {msg.reason}" if msg.reason else "")
        case protocol.SessionDeferred(state=state):
            return f"{term(state)} once no client drives it"
        case protocol.TurnAborted(reason=reason):
            return f"turn ended early: {term(reason)}"
        case protocol.AgentMessage(step=step, text=text):
            return f"step {step}: {text}"
        case protocol.ToolCallRequested():
            return f"step {msg.step}: {_call(msg)}"
        case protocol.ToolCallFinished(step=step, outcome=outcome, text=text):
            return f"step {step}: {term(outcome)}: {call_result_words(text)}"
        case protocol.EffectsSeen(effects=effects):
            return f"effects: {'; '.join(map(effect_line, effects))}"
        case protocol.PlanUpdate(plan=plan):
            return "plan: " + "  ".join(f"{_MARKS[item.status]} {item.step}" for item in plan)
        case protocol.RequirementsUpdate(requirements=requirements):
            return f"requires: {requirements_words(requirements)}"
        case protocol.FactsUpdate(facts=facts):
            return "remembered: " + "; ".join(facts)
        case protocol.RequestUserInput(question=question):
            labels = " / ".join(option.shown for option in question.options)
            return f"{question.kind.value}: {question.shown}" + (f" ({labels})" if labels else "")
        case protocol.QuestionAnswered(answer=answer, answered_by=by):
            return f"answered by {by}: {answer}"
        case protocol.QuestionClosed():
            return f"question closed: {closed_words(msg)}"
        case protocol.VerificationRecorded(verification=verification):
            shown = evidence_words(verification)
            said = verified_words(verification)
            return f"verification: {said}" + (f" ({shown})" if shown else "")
        case protocol.ResultPublished(text=text):
            return f"result: {attributed(text, msg.speaker)}"
        case protocol.ErrorEvent(message=message, remedy=remedy):
            return f"error: {sentence(message)} {remedy}".rstrip()
        case protocol.WheelActed(said=said, outcome=outcome):
            return f"operator: {said}: {term(outcome)}"
        case protocol.UndoFinished():
            return f"operator: {undo_words(msg)}"
        case protocol.WheelHandedBack(note=note):
            return "the operator handed the wheel back" + (f": {note}" if note else "")
        case protocol.BudgetExtended(kind=kind, amount=amount):
            return f"budget extended by {amount:g} {term(kind)}"
        case protocol.AllowanceUsed(effect=effect, warrant_id=str(warrant)) if warrant:
            return f"allowed by warrant {warrant}, clause {msg.clause}: {headline(effect)}"
        case protocol.AllowanceUsed(effect=effect):
            return f"allowed for this session: {headline(effect)}"
        case protocol.TextRedacted(kinds=kinds, where=where):
            return f"warning: {redacted_notice(kinds, where)}"
        case protocol.TextLetThrough(texts=texts):
            return let_through_notice(len(texts))
        case protocol.WarningEvent(message=message):
            return f"warning: {message}"
        case protocol.StreamError(message=message, attempt=attempt, delay_ms=delay_ms):
            wait_s = max(1, round(delay_ms / 1000))
            return f"model: {sentence(message)} Attempt {attempt} failed; the next is in {wait_s} s"
        case protocol.UserMessage(text=text):
            return f"operator: {text}"
        case protocol.RouteGiven(origin=origin, actions=actions):
            return f"follows {counted(len(actions), 'action')} of session {origin}"
        case protocol.TargetsPlanned(targets=targets, reason=reason):
            parts = "; ".join(f"{t.objective} ({t.serial or 'any phone'})" for t in targets)
            return f"delegates: {parts}" + (f" – {reason}" if reason else "")
        case protocol.TargetObserved(runtime=runtime, message=message):
            return f"app {term(runtime)}" + (f": {message}" if message else "")
        case protocol.RecoveryScheduled(attempt=attempt, limit=limit, reason=reason):
            return f"recovery {attempt} of {limit}: {reason}"
        case protocol.SteerEdited(text=text):
            return f"operator, instead: {text}"
        case protocol.SteerWithdrawn():
            return "operator: hint withdrawn"
        case protocol.ReviewPublished(review=review):
            found = "; ".join(finding.title for finding in review.findings)
            return f"review: {found or review.explanation}"
        case protocol.HistoryCompacted():
            return compacted(msg)
        case protocol.SessionRolledBack(turns=turns):
            return f"rolled back {turns} turn" + ("s" if turns != 1 else "")
        case protocol.SessionKept(kept=kept):
            return "kept" if kept else "no longer kept"
        case protocol.SessionTagged(tags=tags):
            return f"tags: {' '.join(tags) or 'none'}"
        case protocol.SessionDismissed(dismissed=dismissed):
            return "dismissed" if dismissed else "no longer dismissed"
        case protocol.SessionPruned(reason=reason):
            return f"frames dropped: {reason}" if reason else "frames dropped"
        case protocol.SessionsDeleted(session_ids=session_ids):
            return f"deleted {', '.join(session_ids)}"
        case _:
            return event_text.sentence(msg)[1]


def _call(msg: protocol.ToolCallRequested) -> str:
    action = ActionView(
        call_id=msg.call_id, tool=msg.tool, arguments=msg.arguments, element=msg.element
    )
    return f"{action_verb(action)} {action_object(action)}".rstrip()
