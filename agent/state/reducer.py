"""A pure reducer: fold events into what an operator sees. No I/O, no clock.

`fold_session` is the session record itself, `reduce` the whole view state: session views with their
transcripts, open questions, devices and jobs. Invariants: an event that was folded already changes
nothing; what an event does not touch is shared, not copied.
"""

from collections.abc import Container, Iterable, Sequence
from typing import Protocol

from msgspec.structs import replace

from agent import protocol, records
from agent.state.attention import (
    Attention,
    AttentionKind,
    attention,
    children_of,
    failure_key,
    reminders,
    tree,
)
from agent.state.commit import Commit
from agent.state.session_fold import fold_all, fold_session
from agent.state.transcript import (
    ActionView,
    Item,
    MessageItem,
    NoticeItem,
    QuestionItem,
    StepItem,
    Tone,
    Transcript,
    follow_all,
)
from agent.state.view_state import SessionView, State

__all__ = [
    "ActionView",
    "Attention",
    "AttentionKind",
    "Item",
    "MessageItem",
    "NoticeItem",
    "QuestionItem",
    "SessionView",
    "State",
    "StepItem",
    "Tone",
    "Transcript",
    "attention",
    "children_of",
    "failure_key",
    "fold_session",
    "from_overview",
    "reduce",
    "reduce_all",
    "reduce_commit",
    "reminders",
    "tree",
    "with_history",
    "with_session",
]


class _Overview(Protocol):
    """The shape of `agent.core.Overview`, which this module may not see."""

    @property
    def event_id(self) -> int: ...
    @property
    def sessions(self) -> tuple[records.Session, ...]: ...
    @property
    def questions(self) -> tuple[records.Question, ...]: ...
    @property
    def devices(self) -> tuple[records.DeviceInfo, ...]: ...
    @property
    def servers_away(self) -> tuple[records.ServerAway, ...]: ...
    @property
    def jobs(self) -> tuple[records.Job, ...]: ...
    @property
    def watchers(self) -> tuple[records.Watcher, ...]: ...
    @property
    def commitments(self) -> tuple[records.Commitment, ...]: ...
    @property
    def notices(self) -> tuple[records.Notice, ...]: ...


def from_overview(overview: _Overview) -> State:
    """Start from a core's overview; `with_history` adds transcripts."""
    return State(
        event_id=overview.event_id,
        # A stored session has at least its first event, and none of its transcript is here yet.
        sessions={s.session_id: SessionView(session=s, seq=1) for s in overview.sessions},
        questions={q.question_id: q for q in overview.questions},
        devices={d.serial: d for d in overview.devices},
        servers_away={s.address: s.why for s in overview.servers_away},
        jobs={j.id: j for j in overview.jobs},
        watchers={w.id: w for w in overview.watchers},
        commitments={c.id: c for c in overview.commitments},
        notices={n.session_id: n for n in overview.notices},
    )


_SHARED = (protocol.OF_NO_SESSION - {protocol.RunChanged}) | {
    protocol.ApprovalGiven,
    protocol.QuestionAnswered,
    protocol.QuestionClosed,
    protocol.RequestUserInput,
}
"""The events that `_fold_shared` folds; a test holds the two together."""


def reduce(state: State, event: protocol.Event) -> State:
    """Fold one event into the state."""
    if event.event_id <= state.event_id:
        return state
    state = _fold_shared(replace(state, event_id=event.event_id), event.msg)
    known = state.sessions.get(event.session_id)
    session = fold_all(known.session if known else None, (event,))
    if session is None:
        return state
    view = _followed(known, session, (event,))
    return replace(state, sessions={**state.sessions, session.session_id: view})


def reduce_all(state: State, events: Iterable[protocol.Event]) -> State:
    """Fold many events; the same as `reduce` for each, and several times as fast.

    For long tapes, where nobody looks between two events.
    """
    return reduce_commit(state, Commit(tuple(events)))


def reduce_commit(state: State, commit: Commit) -> State:
    """Fold what was committed together; records that come with it are taken as they are."""
    event_id = state.event_id
    of_session: dict[str, list[protocol.Event]] = {}
    for event in commit.events:
        if event.event_id <= event_id:
            continue
        event_id = event.event_id
        if type(event.msg) in _SHARED:
            state = _fold_shared(state, event.msg)
        if isinstance(event.msg, protocol.SessionsDeleted):
            for session_id in event.msg.session_ids:
                of_session.pop(session_id, None)
        of_session.setdefault(event.session_id, []).append(event)
    sessions = dict(state.sessions)
    for session_id, told in of_session.items():
        known = state.sessions.get(session_id)
        record = commit.record_of(session_id, known.session if known else None, told)
        view = None if record is None else _followed(known, record, told)
        if view is not None:
            sessions[view.session.session_id] = view
    return replace(state, event_id=event_id, sessions=sessions)


def _followed(
    known: SessionView | None, session: records.Session, events: Sequence[protocol.Event]
) -> SessionView:
    known = known or SessionView(session=session)
    steps = [event.msg.step for event in events if isinstance(event.msg, protocol.StepStarted)]
    return SessionView(
        session=session,
        seq=max(known.seq, *(event.seq for event in events), 0),
        step=max(known.step, *steps, 0),
        transcript=follow_all(known.transcript, events),
    )


def _fold_shared(state: State, msg: protocol.EventMsg) -> State:
    match msg:
        case protocol.DeviceChanged(device=device):
            return replace(state, devices={**state.devices, device.serial: device})
        case protocol.AdbServerChanged(address=address, why=why):
            others = {key: one for key, one in state.servers_away.items() if key != address}
            return replace(state, servers_away={**others, address: why} if why else others)
        case protocol.HostForgotten(host=host):
            phones = {
                key: one for key, one in state.devices.items() if records.host_of(key) != host
            }
            return replace(state, devices=phones)
        case protocol.JobChanged(job=job):
            return replace(state, jobs={**state.jobs, job.id: job})
        case protocol.JobsDropped(job_ids=gone_jobs):
            left_jobs = {key: j for key, j in state.jobs.items() if key not in gone_jobs}
            return replace(state, jobs=left_jobs)
        case protocol.WatcherChanged(watcher=watcher):
            return replace(state, watchers={**state.watchers, watcher.id: watcher})
        case protocol.CommitmentChanged(commitment=commitment):
            return replace(state, commitments={**state.commitments, commitment.id: commitment})
        case protocol.RequestUserInput(question=question):
            return replace(state, questions={**state.questions, question.question_id: question})
        case protocol.ApprovalGiven(question_id=asked, yes_by=yes_by):
            known = state.questions.get(asked)
            if known is None:
                return state
            given = replace(known, yes_by=yes_by)
            return replace(state, questions={**state.questions, asked: given})
        case (
            protocol.QuestionAnswered(question_id=gone) | protocol.QuestionClosed(question_id=gone)
        ):
            left = {key: q for key, q in state.questions.items() if key != gone}
            return replace(state, questions=left)
        case protocol.SessionsDeleted(session_ids=gone_ids):
            return replace(
                state,
                sessions={k: v for k, v in state.sessions.items() if k not in gone_ids},
                questions={
                    k: q for k, q in state.questions.items() if q.session_id not in gone_ids
                },
            )
        case protocol.NoticePosted(notice=notice):
            return replace(state, notices={**state.notices, notice.session_id: notice})
        case protocol.NoticeWithdrawn(notice_of=session_id, token=token):
            kept = {
                key: shown
                for key, shown in state.notices.items()
                if (key, shown.token) != (session_id, token)
            }
            return replace(state, notices=kept)
        case protocol.ShutdownComplete():
            return replace(state, closed=True)
        case _:
            return state


def with_history(state: State, session_id: str, events: Iterable[protocol.Event]) -> State:
    """Continue the transcript of a session with stored events; known ones change nothing."""
    view = state.sessions.get(session_id)
    if view is None:
        return state
    view = _followed(view, view.session, tuple(events))
    return replace(state, sessions={**state.sessions, session_id: view})


def without_old_transcripts(state: State, *, keep: Container[str], most: int) -> State:
    """Drop the transcripts of settled sessions, which can be read from the store again.

    Args:
        state: the view state.
        keep: sessions whose transcripts stay in any case.
        most: how many others stay, the newest.
    """
    settled = [
        view.session
        for key, view in state.sessions.items()
        if view.session.state.is_terminal and view.transcript.items and key not in keep
    ]
    if len(settled) <= most:
        return state
    settled.sort(key=lambda session: session.created_ms, reverse=True)
    dropped = {
        session.session_id: replace(state.sessions[session.session_id], transcript=Transcript())
        for session in settled[most:]
    }
    return replace(state, sessions={**state.sessions, **dropped})


def with_session(state: State, events: Iterable[protocol.Event]) -> State:
    """Add a session that the state lacks, from all its stored events so far.

    An overview has only the newest trees; this adds an older one that is active again.
    """
    session: records.Session | None = None
    for event in (past := tuple(events)):
        session = fold_session(session, event)
    if session is None or session.session_id in state.sessions:
        return state
    view = SessionView(session=session, seq=past[-1].seq)
    known = replace(state, sessions={**state.sessions, session.session_id: view})
    return with_history(known, session.session_id, past)
