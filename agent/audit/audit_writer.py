"""Write what sessions did and were allowed into a chain of hashes beside the store.

Not the store's own log: a second record, of what matters for a review, that shows when either was
changed. Each line names the stored event that it is about and that event's sha256. Invariants: a
line is written only after its event was committed; an event that was committed while nobody wrote
is caught up with at the next start; no line holds more of a text than the store does.
"""

import asyncio
import hashlib
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from agent import protocol
from agent.audit.hash_chain import Chain
from agent.errors import StoreError
from agent.records import ActionOutcome, QuestionKind
from agent.safety.approval import is_yes
from agent.safety.effects.wording import headline
from agent.safety.warrants.wording import cited
from agent.state.commit import Commit
from agent.state.event_text import closed_words, review_words
from agent.store.store import Store
from agent.text import one_line

DIRECTORY = "audit"
REVIEW_REQUESTED = "assistant.background_job.review_requested"
REVIEW_RESOLVED = "assistant.background_job.review_resolved"
"""OpenPhone's words; their lines hold digests, and nothing of what is on the screen."""
STARTED = "audit_started"
"""The first line; the number of the newest event that was stored before it."""
DELETED = "sessions_deleted"
"""A line that names sessions of which, from then on, nothing is stored."""
REPLACED = "store_replaced"
"""A line after which the events belong to another store, whose numbers begin anew."""
_PAGE_EVENTS = 5_000
_DETAIL_CHARS = 200
_log = logging.getLogger(__name__)

Fact = dict[str, object]


def event_digest(event: protocol.Event) -> str:
    """Hash a stored event as the audit names it."""
    return hashlib.sha256(protocol.encode(event)).hexdigest()


class AuditWriter:
    """Choose what of the events belongs in the audit; knows the open calls and approvals."""

    def __init__(self, lines: Iterable[Fact] = ()) -> None:
        self._actions: dict[tuple[str, str], str] = {}
        """By session and call: models number their calls alike."""
        self._approvals: set[str] = set()
        self._reviews: set[str] = set()
        for line in lines:
            self._remember(line)

    def fact(self, event: protocol.Event) -> Fact | None:
        """Return the line for an event; None for one that is not audited."""
        told = self._fact_of(event)
        if told is None:
            return None
        fact: Fact = {
            "event_id": event.event_id,
            "event_sha256": event_digest(event),
            "session_id": event.session_id,
            **{name: value for name, value in told.items() if value not in ("", None)},
        }
        self._remember(fact)
        return fact

    def _fact_of(self, event: protocol.Event) -> Fact | None:
        match event.msg:
            case protocol.SessionConfigured(session=session):
                return {
                    "event_type": "session_created",
                    "autonomy": session.autonomy.value,
                    "dry_run": session.dry_run or None,
                    "detail": one_line(session.goal, _DETAIL_CHARS),
                }
            case protocol.TaskStarted(turn_id=turn_id):
                return {"event_type": "task_started", "task_id": turn_id}
            case protocol.TaskComplete(turn_id=turn_id):
                return {"event_type": "task_finished", "task_id": turn_id}
            case protocol.TurnAborted(turn_id=turn_id, reason=reason):
                return {"event_type": "task_stopped", "task_id": turn_id, "detail": reason.value}
            case protocol.UserMessage():
                return {"event_type": "operator_message"}
            case protocol.ObservationRecorded(step=step, observation=seen):
                return {
                    "event_type": "screen_context_read",
                    "step": step,
                    "package": seen.foreground.package,
                    "frame_sha256": seen.frame.digest if seen.frame else "",
                }
            case protocol.ToolCallRequested(kind="action") as call:
                return {
                    "event_type": "capability_evaluated",
                    "step": call.step,
                    "call_id": call.call_id,
                    "action": call.tool,
                    "capability": call.capability,
                    "risk": call.risk,
                    "decision": call.decision,
                    "rule": call.rule,
                    "also": ", ".join(call.also),
                    "reason": call.reason,
                    "detail": one_line(call.element.label, _DETAIL_CHARS) if call.element else "",
                }
            case protocol.ToolCallFinished(call_id=call_id) as done:
                action = self._actions.get((event.session_id, call_id))
                if action is None:
                    return None
                return {
                    "event_type": _ENDS[done.outcome],
                    "step": done.step,
                    "call_id": call_id,
                    "action": action,
                    "detail": one_line(done.text, _DETAIL_CHARS),
                }
            case protocol.OperatorActed(operator=operator, op=op, serial=serial):
                return {
                    "event_type": "operator_acted",
                    "caller": operator,
                    "action": op,
                    "detail": serial,
                }
            case protocol.HostForgotten(host=host, by=by, jobs_to=jobs_to):
                return {
                    "event_type": "host_forgotten",
                    "caller": by,
                    "detail": f"{host}; its jobs to {jobs_to}" if jobs_to else host,
                }
            case protocol.ApprovalGiven(question_id=question_id, yes_by=yes_by, people=people):
                return {
                    "event_type": "confirmation_seconded",
                    "question_id": question_id,
                    "caller": yes_by[-1] if yes_by else "",
                    "detail": f"{len(yes_by)} of {people}",
                }
            case protocol.RequestUserInput(question=question) if question.review is not None:
                ticket = question.review
                return {
                    "event_type": REVIEW_REQUESTED,
                    "question_id": question.question_id,
                    "call_id": question.call_id,
                    "job_id": ticket.job_id,
                    "confirmation_id": ticket.confirmation_id,
                    "params_sha256": ticket.params_digest,
                    "screen_sha256": ticket.screen_digest,
                }
            case protocol.QuestionAnswered(question_id=question_id) if question_id in self._reviews:
                return {
                    "event_type": REVIEW_RESOLVED,
                    "question_id": question_id,
                    "decision": "approved" if is_yes(event.msg.answer) else "denied",
                    "caller": event.msg.answered_by,
                }
            case protocol.QuestionClosed(question_id=question_id) if question_id in self._reviews:
                return {
                    "event_type": REVIEW_RESOLVED,
                    "question_id": question_id,
                    "decision": "none",
                    "detail": one_line(closed_words(event.msg), _DETAIL_CHARS),
                }
            case protocol.RequestUserInput(question=question) if (
                question.kind is QuestionKind.APPROVAL
            ):
                return {
                    "event_type": "confirmation_requested",
                    "question_id": question.question_id,
                    "call_id": question.call_id,
                    "detail": one_line(question.text, _DETAIL_CHARS),
                }
            case protocol.QuestionAnswered(question_id=question_id) if (
                question_id in self._approvals
            ):
                said = "action_confirmed" if is_yes(event.msg.answer) else "action_denied"
                return {
                    "event_type": said,
                    "question_id": question_id,
                    "caller": event.msg.answered_by,
                }
            case protocol.QuestionClosed(question_id=question_id) if question_id in self._approvals:
                return {
                    "event_type": "action_denied",
                    "question_id": question_id,
                    "detail": one_line(closed_words(event.msg), _DETAIL_CHARS),
                }
            case protocol.SessionsDeleted(session_ids=gone):
                return {"event_type": DELETED, "sessions": list(gone)}
            case protocol.ActReviewed(step=step, call_id=call_id, review=review):
                return {
                    "event_type": "act_reviewed",
                    "step": step,
                    "call_id": call_id,
                    "decision": review.verdict.value,
                    "caller": review.reviewer,
                    "detail": one_line(review_words(review), _DETAIL_CHARS),
                }
            case protocol.UndoStarted(offer=offer):
                return {
                    "event_type": "undo_requested",
                    "step": offer.step,
                    "caller": "operator",
                    "action": f"undo {offer.how.value}",
                    "detail": one_line(offer.says, _DETAIL_CHARS),
                }
            case protocol.UndoFinished(step=step, outcome=outcome, is_back=is_back):
                return {
                    "event_type": _UNDO_ENDS[outcome],
                    "step": step,
                    "caller": "operator",
                    "action": "undo",
                    "detail": "seen to be back" if is_back else event.msg.detail,
                }
            case protocol.AllowanceUsed(call_id=call_id, effect=effect):
                return {
                    "event_type": "allowance_used",
                    "call_id": call_id,
                    "warrant": event.msg.warrant_id,
                    "clause": event.msg.clause or None,
                    "detail": one_line(_under(event.msg) + headline(effect), _DETAIL_CHARS),
                }
            case protocol.WarrantChanged(warrant=warrant, reason=reason):
                return {
                    "event_type": f"warrant_{reason}",
                    "warrant": warrant.warrant_id,
                    "caller": warrant.signed_by,
                    "detail": one_line(f"{warrant.warrant_id}: {warrant.words}", _DETAIL_CHARS),
                }
            case protocol.WarrantUsed(use=use):
                return {
                    "event_type": "warrant_used",
                    "warrant": use.warrant_id,
                    "clause": use.clause,
                    "call_id": use.call_id,
                    "detail": f"{cited(use.warrant_id, use.clause)}, session {use.session}",
                }
            case protocol.TextLetThrough(texts=texts):
                return {
                    "event_type": "text_let_through",
                    "detail": f"{len(texts)} let through by the operator",
                }
            case protocol.BudgetExtended(kind=kind, amount=amount):
                return {"event_type": "budget_extended", "detail": f"{amount:g} {kind.value}"}
            case _:
                return None

    def _remember(self, line: Fact) -> None:
        call = (str(line.get("session_id", "")), str(line.get("call_id", "")))
        question_id = str(line.get("question_id", ""))
        match line.get("event_type"):
            case "capability_evaluated":
                self._actions[call] = str(line.get("action", ""))
            case "action_executed" | "action_rejected" | "action_unknown":
                self._actions.pop(call, None)
            case "confirmation_requested":
                self._approvals.add(question_id)
            case str(kind) if kind == REVIEW_REQUESTED:
                self._reviews.add(question_id)
            case str(kind) if kind == REVIEW_RESOLVED:
                self._reviews.discard(question_id)
            case "action_confirmed" | "action_denied":
                self._approvals.discard(question_id)
            case _:
                pass


def _under(used: protocol.AllowanceUsed) -> str:
    return f"{cited(used.warrant_id, used.clause)}: " if used.warrant_id else ""


_ENDS = {
    ActionOutcome.DONE: "action_executed",
    ActionOutcome.FAILED: "action_rejected",
    ActionOutcome.UNKNOWN: "action_unknown",
}


_UNDO_ENDS = {
    ActionOutcome.DONE: "undo_executed",
    ActionOutcome.FAILED: "undo_failed",
    ActionOutcome.UNKNOWN: "undo_unknown",
}


@asynccontextmanager
async def audited(store: Store, data_dir: Path) -> AsyncIterator[None]:
    """Keep the audit of a store for the length of a block, which its writer ends before.

    Raises:
        OSError: the audit's directory cannot be used.
    """
    chain = Chain(data_dir / DIRECTORY)
    await asyncio.to_thread(chain.open)
    last = await store.last_event_id()
    after = newest_event_id(chain.newest)
    if chain.is_empty:
        # What was stored before there was an audit is not made up afterwards.
        await asyncio.to_thread(chain.append, [{"event_type": STARTED, "event_id": last}])
        after = last
    elif last < after:
        # The operator set the store aside, or brought an older one back.
        await asyncio.to_thread(chain.append, [{"event_type": REPLACED, "event_id": last}])
        after = last
    auditor = _Auditor(store, chain, AuditWriter(chain.newest), after)
    unsubscribe = store.subscribe(auditor.on_commit)
    writer = asyncio.create_task(auditor.run(last), name="audit")
    try:
        yield
    finally:
        unsubscribe()
        auditor.close()
        with suppress(asyncio.CancelledError):
            await writer


class _Auditor:
    def __init__(self, store: Store, chain: Chain, audit_writer: AuditWriter, after: int) -> None:
        self._store = store
        self._chain = chain
        self._audit_writer = audit_writer
        self._after = after
        """The newest event that was looked at."""
        self._waiting: list[protocol.Event] = []
        self._unwritten: list[Fact] = []
        self._news = asyncio.Event()
        self._closed = False

    def on_commit(self, commit: Commit) -> None:
        self._waiting += commit.events
        self._news.set()

    def close(self) -> None:
        self._closed = True
        self._news.set()

    async def run(self, last: int) -> None:
        """Catch up to the event that was the last one at the start, then follow."""
        try:
            await self._catch_up(last)
        except StoreError as error:
            # Going on would leave a hole for good; the next start catches up.
            _log.error("The audit has stopped: the store cannot be read: %s", error)
            return
        while not (self._closed and not self._waiting):
            await self._news.wait()
            self._news.clear()
            taken, self._waiting = self._waiting, []
            await self._take([event for event in taken if event.event_id > self._after])

    async def _catch_up(self, last: int) -> None:
        while self._after < last:
            page = await self._store.events(after=self._after, limit=_PAGE_EVENTS)
            await self._take([event for event in page if event.event_id <= last])
            # Not past it: what came meanwhile is in the page too, and is taken by the follower.
            self._after = min(page[-1].event_id, last) if page else last

    async def _take(self, events: Iterable[protocol.Event]) -> None:
        for event in events:
            fact = self._audit_writer.fact(event)
            self._after = event.event_id
            if fact is not None:
                self._unwritten.append(fact)
        try:
            await asyncio.to_thread(self._chain.append, self._unwritten)
        except OSError as error:
            # Kept, and tried again with the next; a restart finds them in the store.
            _log.error("The audit could not be written: %s", error.strerror or error)
        else:
            self._unwritten = []


def newest_event_id(lines: Iterable[Fact]) -> int:
    """Return the newest event of the store that a chain's newest lines are about."""
    newest = 0
    for line in lines:
        is_new_store = line.get("event_type") == REPLACED
        newest = _event_id(line) if is_new_store else max(newest, _event_id(line))
    return newest


def _event_id(line: Fact) -> int:
    value = line.get("event_id")
    return value if isinstance(value, int) else 0
