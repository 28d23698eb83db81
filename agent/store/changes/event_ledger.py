"""Fold event drafts into numbered events and the derived rows. No I/O.

The writer supplies the current rows and writes the changed ones. Invariants: a refused request
leaves no trace in the ledger; event ids rise by one over the store and seq by one over a session;
the first answer wins.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from agent import protocol
from agent.errors import StoreError, UsageError, WrongStateError
from agent.records import Commitment, Job, Question, RunRecord, Session, Watcher
from agent.state.commit import Commit
from agent.state.session_fold import fold_all
from agent.store.changes.blob_refs import NAMING, digests_of
from agent.store.changes.overlay import Layers
from agent.store.leases import Lease


class EventDraft(msgspec.Struct, frozen=True):
    """An event to store, without its numbers and time."""

    session_id: str
    msg: protocol.EventMsg
    submission_id: str = ""
    dated_ms: int = 0
    """When it happened, for a copy of the past (a fork, an import); 0 = now, by the store's clock.
    """


class SessionHead(NamedTuple):
    """The current end of a session's log."""

    last_seq: int
    session: Session


class QuestionHead(NamedTuple):
    """The current state of a question."""

    question: Question
    is_open: bool


class Keys(NamedTuple):
    """The rows that must be known before drafts can be folded."""

    sessions: frozenset[str]
    questions: frozenset[str] = frozenset()
    jobs: frozenset[int] = frozenset()


ASKING = frozenset(
    {
        protocol.ApprovalGiven,
        protocol.RequestUserInput,
        protocol.QuestionAnswered,
        protocol.QuestionClosed,
    }
)
"""What changes a question."""
_BESIDE = ASKING | frozenset(
    {
        protocol.JobChanged,
        protocol.WatcherChanged,
        protocol.CommitmentChanged,
        protocol.RunChanged,
        protocol.JobsDropped,
    }
)
"""What changes more than a session; to know the others at once makes every append faster."""


def keys_of(drafts: tuple[EventDraft, ...]) -> Keys:
    """Return the keys of the rows that the drafts touch."""
    sessions = {draft.session_id for draft in drafts if draft.session_id}
    questions: set[str] = set()
    for msg in (draft.msg for draft in drafts if type(draft.msg) in ASKING):
        match msg:
            case protocol.RequestUserInput(question=question):
                questions.add(question.question_id)
            case (
                protocol.QuestionAnswered(question_id=question_id)
                | protocol.ApprovalGiven(question_id=question_id)
            ):
                questions.add(question_id)
            case protocol.QuestionClosed(question_id=question_id):
                questions.add(question_id)
            case _:
                pass
    return Keys(frozenset(sessions), frozenset(questions))


class BlobRow(NamedTuple):
    """A blob whose file is in place."""

    digest: str
    media_type: str
    size_bytes: int
    stored_ms: int


class EventLedger:
    """The tables as they will be after writing everything folded so far.

    `sessions`, `questions`, `jobs` and `leases` are layered: the first map holds the changes, those
    below the stored rows. Every row that `keys_of` names must be in a lower layer before `fold`.
    """

    def __init__(
        self,
        *,
        last_event_id: int,
        last_job_id: int,
        sessions: Layers[str, SessionHead],
        questions: Layers[str, QuestionHead],
        jobs: Layers[int, Job],
        leases: Layers[str, Lease],
    ) -> None:
        self.last_event_id = last_event_id
        self.last_job_id = last_job_id
        self.sessions = sessions
        self.questions = questions
        self.jobs = jobs
        self.leases = leases
        self.events: list[tuple[protocol.Event, bytes]] = []
        self.watchers: dict[int, Watcher] = {}
        self.commitments: dict[int, Commitment] = {}
        self.runs: dict[str, RunRecord] = {}
        self.dropped_jobs: tuple[int, ...] = ()
        """Jobs of which nothing is left."""
        self.blobs: list[BlobRow] = []
        self.uses: list[tuple[str, str]] = []
        """(session, blob): what events name."""
        self.pruned: set[str] = set()
        """Sessions whose older uses of blobs are over."""
        self.deleted: tuple[str, ...] = ()
        """Sessions of which nothing is left."""
        self.unnamed: tuple[str, ...] = ()
        """Blobs to forget if no event names them."""

    def branch(self) -> "EventLedger":
        """Start a trial on top of this ledger; `adopt` keeps it, dropping it costs nothing."""
        return EventLedger(
            last_event_id=self.last_event_id,
            last_job_id=self.last_job_id,
            sessions=self.sessions.new_child(),
            questions=self.questions.new_child(),
            jobs=self.jobs.new_child(),
            leases=self.leases.new_child(),
        )

    def adopt(self, trial: "EventLedger") -> None:
        self.last_event_id = trial.last_event_id
        self.last_job_id = trial.last_job_id
        self.sessions.maps[0].update(trial.sessions.maps[0])
        self.questions.maps[0].update(trial.questions.maps[0])
        self.jobs.maps[0].update(trial.jobs.maps[0])
        self.leases.maps[0].update(trial.leases.maps[0])
        self.events.extend(trial.events)
        self.watchers.update(trial.watchers)
        self.commitments.update(trial.commitments)
        self.runs.update(trial.runs)
        self.dropped_jobs += trial.dropped_jobs
        self.blobs.extend(trial.blobs)
        if trial.pruned:
            self._forget_uses(trial.pruned)
        self.uses.extend(trial.uses)
        self.deleted += trial.deleted
        self.unnamed += trial.unnamed

    def commit(self) -> Commit:
        """Return the commit that the store's listeners receive once this is stored."""
        changed = self.sessions.maps[0]
        return Commit(
            tuple(event for event, _ in self.events),
            {key: head.session for key, head in changed.items() if key not in self.deleted},
        )

    def fold(self, draft: EventDraft, body: bytes, ts_ms: int) -> protocol.Event:
        """Number one draft and fold it; see `fold_all`."""
        [event] = self.fold_all((draft,), (body,), ts_ms)
        return event

    def fold_all(
        self, drafts: Sequence[EventDraft], bodies: Sequence[bytes], ts_ms: int
    ) -> tuple[protocol.Event, ...]:
        """Number and fold drafts, each run of one session at once.

        Args:
            drafts: what to store, in order.
            bodies: their messages as JSON.
            ts_ms: the store's clock.

        Raises:
            UsageError: a session or question that does not exist.
            WrongStateError: a session that exists already, or a question that is no longer open.
        """
        first = len(self.events)
        for session_id, run in groupby(zip(drafts, bodies, strict=True), _session_of):
            self._fold_run(session_id, tuple(run), ts_ms)
        return tuple(event for event, _ in self.events[first:])

    def _fold_run(
        self, session_id: str, run: tuple[tuple[EventDraft, bytes], ...], ts_ms: int
    ) -> None:
        """Fold consecutive drafts of one session, or of none."""
        head = self.sessions.get(session_id) if session_id else None
        seq = head.last_seq if head else 0
        if session_id and head is None and type(run[0][0].msg) is not protocol.SessionConfigured:
            raise UsageError(f"There is no session {session_id}.")
        events: list[protocol.Event] = []
        for draft, body in run:
            kind = type(draft.msg)
            if kind is protocol.SessionConfigured:
                self._check_new(draft, is_known=bool(head or events))
            self.last_event_id += 1
            seq += bool(session_id)
            event = protocol.Event(
                event_id=self.last_event_id,
                session_id=session_id,
                seq=seq,
                ts_ms=draft.dated_ms or ts_ms,
                submission_id=draft.submission_id,
                msg=draft.msg,
            )
            events.append(event)
            self.events.append((event, body))
            if kind in _BESIDE:
                self._fold_beside(draft.msg)
            if kind in NAMING:
                self.uses.extend((session_id, digest) for digest in digests_of(draft.msg))
            elif kind is protocol.SessionPruned:
                self._forget_uses({session_id})
        session = fold_all(head.session if head else None, events)
        if session is not None:
            self.sessions[session_id] = SessionHead(seq, session)

    def _forget_uses(self, session_ids: set[str]) -> None:
        self.pruned |= session_ids
        self.uses = [use for use in self.uses if use[0] not in session_ids]

    def _check_new(self, draft: EventDraft, *, is_known: bool) -> None:
        assert isinstance(draft.msg, protocol.SessionConfigured)
        configured = draft.msg.session.session_id
        if configured != draft.session_id or not draft.session_id:
            raise UsageError(
                f"The first event of session {draft.session_id!r} configures {configured!r}."
            )
        if is_known:
            raise WrongStateError(f"Session {draft.session_id} exists already.")

    def _fold_beside(self, msg: protocol.EventMsg) -> None:
        match msg:
            case protocol.JobChanged(job=job):
                self.jobs[job.id] = job
                self.last_job_id = max(self.last_job_id, job.id)
            case protocol.RunChanged(run=run):
                self.runs[run.run_id] = run
            case protocol.JobsDropped(job_ids=job_ids):
                self.dropped_jobs += job_ids
            case protocol.WatcherChanged(watcher=watcher):
                self.watchers[watcher.id] = watcher
            case protocol.CommitmentChanged(commitment=commitment):
                self.commitments[commitment.id] = commitment
            case protocol.RequestUserInput(question=question):
                known = self.questions.get(question.question_id)
                if known is not None and not known.is_open:
                    raise WrongStateError(f"Question {question.question_id} has ended already.")
                self.questions[question.question_id] = QuestionHead(question, True)
            case protocol.QuestionAnswered(question_id=question_id):
                self.questions[question_id] = QuestionHead(self._open_question(question_id), False)
            case protocol.ApprovalGiven(question_id=question_id, yes_by=yes_by):
                given = replace(self._open_question(question_id), yes_by=yes_by)
                self.questions[question_id] = QuestionHead(given, True)
            case protocol.QuestionClosed(question_id=question_id):
                known = self.questions.get(question_id)
                # Whoever closes all questions of a turn may come after an answer: not an error.
                if known is not None:
                    self.questions[question_id] = QuestionHead(known.question, False)
            case _:
                pass

    def _open_question(self, question_id: str) -> Question:
        known = self.questions.get(question_id)
        if known is None:
            raise UsageError(f"There is no question {question_id}.")
        if not known.is_open:
            raise WrongStateError(
                "This question is no longer open.",
                "The first answer counts; steer the session instead.",
            )
        return known.question


def _session_of(pair: tuple[EventDraft, bytes]) -> str:
    return pair[0].session_id


def body_of(msg: protocol.EventMsg) -> bytes:
    """Encode a message for storage.

    Raises:
        StoreError: it contains what JSON cannot encode, such as a lone surrogate.
    """
    try:
        return protocol.encode(msg)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        kind = type(msg).__name__
        raise StoreError(
            f"A {kind} cannot be stored: {error}.", "Clean foreign text before it is stored."
        ) from error
