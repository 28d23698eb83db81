"""Facts as a sentence each: those that are no step, message or question of their own. Pure.

Not the transcript that they stand in (`agent.state.transcript`). Invariant: a fact that says
nothing to a reader gives an empty sentence, and every other one its words.
"""

from collections.abc import Sequence
from enum import StrEnum

from agent import protocol, records
from agent.safety.attribution import FLAGGED, asks_for_secret
from agent.safety.effects.wording import headline
from agent.safety.redacting.notice import let_through_notice, redacted_notice
from agent.state.terms import term
from agent.text import counted, lasting
from agent.text import sentence as ended


class Tone(StrEnum):
    """How a notice should sound."""

    INFO = "info"
    RESULT = "result"
    WARNING = "warning"
    ERROR = "error"


_NOTICEABLY_MS = 1000  # From this on it is said how late a question closed.
_ABORTED = {
    protocol.AbortReason.INTERRUPTED: "Stopped; it can be resumed.",
    protocol.AbortReason.REPLACED: "Replaced by a newer turn.",
    protocol.AbortReason.BUDGET_LIMITED: "Stopped: the budget is used up.",
    protocol.AbortReason.CANCELLED: "Cancelled.",
    protocol.AbortReason.FAILED: "Failed; it can be resumed.",
    protocol.AbortReason.AWAITING_REVIEW: "Its job waits until the action has been reviewed.",
    protocol.AbortReason.RECOVERED: "The core was restarted during this turn; it can be resumed.",
}


def _as_sentence(reason: str) -> str:
    """Write a reason, which may be only the end of a sentence, as a sentence of its own."""
    # A serial or a package is not a word that begins with a capital.
    is_word = reason.partition(" ")[0].rstrip(";,").isalpha()
    return ended(reason[:1].upper() + reason[1:] if is_word else reason)


def sentence(msg: protocol.EventMsg) -> tuple[Tone, str, str]:
    """Return a fact as a sentence; empty when it says nothing to a reader of the transcript."""
    match msg:
        case protocol.ResultPublished(text=text):
            return Tone.RESULT, text, FLAGGED if asks_for_secret(text) else ""
        case protocol.VerificationRecorded(verification=done):
            return verified_tone(done), verified_words(done), evidence_words(done)
        case protocol.RequirementsUpdate(requirements=requirements):
            return Tone.INFO, f"Requires: {requirements_words(requirements)}", msg.reason
        case protocol.ErrorEvent(message=text, remedy=remedy):
            return Tone.ERROR, text, remedy
        case protocol.WarningEvent(message=text):
            return Tone.WARNING, text, ""
        case protocol.TextRedacted(kinds=kinds, where=where):
            return Tone.WARNING, redacted_notice(kinds, where), ""
        case protocol.TextLetThrough(texts=texts):
            return Tone.INFO, let_through_notice(len(texts)), ""
        case protocol.StreamError(message=text, attempt=attempt, delay_ms=delay_ms):
            again = f"Attempt {attempt} failed; trying again in {max(1, round(delay_ms / 1000))} s."
            return Tone.WARNING, text, again
        case protocol.BudgetExtended(kind=kind, amount=amount):
            return Tone.INFO, f"The budget was extended by {amount:g} {term(kind)}.", ""
        case protocol.AllowanceUsed(effect=effect, warrant_id=str(warrant)) if warrant:
            by = f"warrant {warrant}, clause {msg.clause}"
            return Tone.INFO, f"Allowed by {by}: {headline(effect)}.", ""
        case protocol.AllowanceUsed(effect=effect):
            return Tone.INFO, f"Allowed for this session: {headline(effect)}.", ""
        case protocol.ActReviewed(review=review):
            if review.verdict is records.ReviewVerdict.ALLOW:
                # Nearly every act has one; the audit lists them.
                return Tone.INFO, "", ""
            return Tone.INFO, f"The reviewer: {review_words(review)}", ""
        case protocol.ApprovalGiven(yes_by=yes_by, people=people):
            by = ", ".join(yes_by)
            return Tone.INFO, f"Approved by {by}: {len(yes_by)} of {people}.", ""
        case protocol.OperatorActed(operator=operator, op=op):
            return Tone.INFO, f"{operator}: {op.replace('_', ' ')}", ""
        case protocol.TurnAborted(reason=reason):
            return Tone.WARNING, _ABORTED[reason], ""
        case protocol.SessionStateChanged(state=records.SessionState.FAILED, reason=reason):
            return Tone.ERROR, _as_sentence(reason) or "Failed.", ""
        case protocol.SessionStateChanged(state=records.SessionState.CANCELLED, reason=reason):
            return Tone.WARNING, _as_sentence(reason) or "Cancelled.", ""
        case protocol.WheelActed(said=said, outcome=outcome, detail=detail):
            tone = Tone.INFO if outcome is records.ActionOutcome.DONE else Tone.WARNING
            came = "" if outcome is records.ActionOutcome.DONE else f" ({outcome.value})"
            return tone, f"Operator: {said}{came}", detail
        case protocol.UndoFinished():
            is_known = msg.is_back or msg.outcome is not records.ActionOutcome.DONE
            tone = Tone.INFO if msg.is_back else Tone.WARNING
            return tone, f"Operator: {undo_words(msg)}", "" if is_known else UNDO_UNSEEN
        case protocol.WheelHandedBack(note=note):
            return Tone.INFO, "The operator handed the wheel back.", note
        case protocol.SessionFlagsChanged(lost=lost, reason=reason):
            return (Tone.WARNING if lost else Tone.INFO), _as_sentence(reason), ""
        case protocol.SessionContinued(after_step=step, reason=reason):
            return Tone.INFO, _as_sentence(reason) or f"Continued after step {step}.", ""
        case protocol.SessionDeferred(state=records.SessionState.QUEUED, reason=reason):
            return Tone.INFO, _as_sentence(reason), ""
        case protocol.SessionDeferred(state=state):
            return Tone.INFO, f"It is {term(state)} once no client drives it.", ""
        case protocol.RouteGiven(origin=origin, actions=actions):
            said = f"Follows the {counted(len(actions), 'action')} of session {origin}"
            return Tone.INFO, f"{said}, and asks its model where the screen differs.", ""
        case protocol.TargetsPlanned(targets=targets, reason=reason):
            parts = "; ".join(_part(target) for target in targets)
            return Tone.INFO, f"Delegates: {parts}", reason
        case protocol.TargetObserved(runtime=runtime, message=message):
            return Tone.INFO, message or f"Its app is {term(runtime)}.", ""
        case protocol.RecoveryScheduled(attempt=attempt, limit=limit, reason=reason):
            return Tone.WARNING, f"{reason} Retrying automatically, {attempt} of {limit}.", ""
        case protocol.ReviewPublished(review=review):
            found = "; ".join(finding.title for finding in review.findings)
            return Tone.RESULT, f"Review: {found or review.explanation}", review.explanation
        case protocol.HistoryCompacted():
            return Tone.INFO, compacted(msg), ""
        case protocol.SessionPruned(reason=reason):
            return Tone.INFO, reason or "Its frames were dropped.", ""
        case protocol.SessionAssigned(serial=serial):
            return Tone.INFO, f"Works on {serial}." if serial else "", ""
        case protocol.SessionHosted(host=host, serial=serial, reason=reason):
            return Tone.INFO, f"Belongs to host {host}: {serial or 'no phone yet'}.", reason
        case protocol.SessionRenamed(title=title):
            return Tone.INFO, f"Renamed: {title}", ""
        case _:
            # What only others are told of, as the change of a device.
            return Tone.INFO, "", ""


def review_words(review: records.ActReview) -> str:
    """Return in a line what a reviewer said of an act, and why its own verdict does not count."""
    effect = "no effect" if review.effect is None else review.effect.value.replace("_", " ")
    if review.fault:
        said = f" {review.sentence}" if review.sentence else ""
        return f"asks, because {review.fault}.{said}"
    verdict = {"allow": "allows", "ask": "asks", "stop": "refuses"}[review.verdict.value]
    return f"{verdict} ({effect}). {review.sentence}".rstrip()


def compacted(msg: protocol.HistoryCompacted) -> str:
    """Return the words for a conversation replaced by a summary, and how much shorter it is."""
    why = "The context window was nearly full: the" if msg.automatic else "The"
    sizes = (
        f", about {counted(msg.tokens_before, 'token')} became {msg.tokens_after:,}"
        if msg.tokens_before
        else ""
    )
    return f"{why} model's memory was replaced by a summary{sizes}."


UNVERIFIED = "the model says so; nothing on the screen shows it"
"""Why a session is completed that only its own model calls done."""
_WHO = {
    records.VerifiedBy.VERIFIER: "the verifier",
    records.VerifiedBy.EFFECTS: "what was seen to change",
    records.VerifiedBy.RULES: "the rules for the final screen",
    records.VerifiedBy.CHECKER: "the checker",
    records.VerifiedBy.OPERATOR: "the operator",
    records.VerifiedBy.NOBODY: "nobody",
}


def verified_mark(session: records.Session) -> str:
    """Return in a word who verified a session that has ended; empty while that says nothing."""
    if session.state is not records.SessionState.COMPLETED or session.dry_run:
        return ""
    if session.verdict is records.GoalVerdict.NOT_MET:
        return f"wrong, verified by {session.verified_by.value}"
    if session.is_verified and session.one_act:
        return "one act"
    return f"verified by {session.verified_by.value}" if session.is_verified else "unverified"


def closed_words(closed: protocol.QuestionClosed) -> str:
    """Return why a question closed; where it expired, also after which limit, and whose it was."""
    if not closed.limit_ms:
        return closed.reason
    whose = f"the limit of {closed.closed_by}" if closed.closed_by else "the question's own limit"
    is_late = closed.late_ms >= _NOTICEABLY_MS
    late = f", noticed {lasting(closed.late_ms)} later" if is_late else ""
    return f"{closed.reason} (waited {lasting(closed.limit_ms)}, {whose}{late})"


def verified_words(found: records.Verification) -> str:
    """Return a sentence that says who found a goal met or not met, and why."""
    who = _WHO[found.verified_by]
    why = f" {found.reason}" if found.reason else ""
    match found.verdict:
        case records.GoalVerdict.MET if found.is_met:
            return f"Verified by {who}.{why}"
        case records.GoalVerdict.NOT_MET:
            return f"Not met, according to {who}.{why}"
        case _:
            return f"Unverified: {UNVERIFIED}.{why}"


def verified_tone(found: records.Verification) -> Tone:
    """Return how the outcome of a verification should sound."""
    return Tone.INFO if found.is_met else Tone.WARNING


def evidence_words(found: records.Verification) -> str:
    """Return the evidence of a verification in a line, by requirement; empty without any."""
    if found.requirements:
        return "; ".join(map(requirement_words, found.requirements))
    return pointed_words(found.evidence)


UNDO_UNSEEN = "The screen does not show whether it is back: look at the phone."


def undo_words(done: protocol.UndoFinished) -> str:
    """Return what taking an effect back came to, as a sentence."""
    match done.outcome:
        case records.ActionOutcome.DONE:
            said = "took back" if done.is_back else "tried to take back"
            return ended(f"{said} step {done.step}: {done.said}")
        case records.ActionOutcome.FAILED:
            return ended(f"could not take back step {done.step}: {done.detail or done.said}")
        case records.ActionOutcome.UNKNOWN:
            return ended(f"may have taken back step {done.step}: {done.detail or done.said}")


_VERDICTS = {
    records.GoalVerdict.MET: "met",
    records.GoalVerdict.NOT_MET: "not met",
    records.GoalVerdict.CANNOT_TELL: "not shown",
}


def requirement_words(one: records.RequirementVerdict) -> str:
    """Return a requirement with its verdict, by whom and on which evidence, in a line."""
    by = "" if one.verified_by is records.VerifiedBy.NOBODY else f" by {one.verified_by.value}"
    shown = ", ".join(filter(None, (one.reason.rstrip("."), pointed_words(one.evidence))))
    return f"{one.number}. {one.text}: {_VERDICTS[one.verdict]}{by}" + (f" ({shown})" * bool(shown))


def pointed_words(evidence: Sequence[records.Evidence]) -> str:
    """Return in a line what was pointed at; empty where no stored screen and no effect is."""
    return "; ".join(map(_pointed, (one for one in evidence if one.step or one.effect)))


def _pointed(one: records.Evidence) -> str:
    whose = f" of session {one.session_id}" if one.session_id else ""
    if one.effect:
        return f"effect {one.effect}{whose}: {one.quote}"
    at = f" [{one.element}]" if one.element else ""
    return f"step {one.step}{at}{whose} shows “{one.quote}”"


def requirements_words(requirements: Sequence[records.Requirement]) -> str:
    """Return requirements in a line, those that were withdrawn marked."""
    return "; ".join(map(requirement_line, requirements))


def requirement_line(one: records.Requirement) -> str:
    """Return a requirement in a line, with who added it and whether it counts."""
    person = one.kind is records.RequirementKind.PERSON
    notes = [
        "withdrawn" if one.withdrawn else "",
        "yours" if one.is_operators else "",
        "from the plan" if one.origin is records.RequirementOrigin.PLAN else "",
        "you are asked" if person else "",
        f"on {one.phone}" if one.phone else "",
    ]
    said = ", ".join(filter(None, notes))
    return f"{one.number}. {one.text}" + (f" ({said})" if said else "")


def completed_reason(found: records.Verification | None) -> str:
    """Return why a session is completed, for its state's reason."""
    if found is None or not found.is_met:
        return UNVERIFIED
    return f"the goal is met, verified by {_WHO[found.verified_by]}"


def _part(target: protocol.Target) -> str:
    where = " in ".join(filter(None, (target.serial, target.package)))
    return f"{target.objective} ({where})" if where else target.objective
