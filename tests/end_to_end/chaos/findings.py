"""What has to hold after hosts were broken, and what does not: log, records and phones compared."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from agent import protocol
from agent.records import Session, SessionState

_TELLING = {"error", "turn_aborted", "session_state_changed", "device_lost", "task_complete"}


Logs: TypeAlias = Mapping[str, Sequence[protocol.Event]]  # The stored events of each session.


class Recorded(NamedTuple):
    """A line of what hosts wrote down; see `recorded_host`."""

    kind: str
    host: str
    process: str
    words: tuple[str, ...]


class Findings(msgspec.Struct, kw_only=True):
    """What a look at the log, at the records and at the phones found."""

    sessions: int = 0
    completed: int = 0
    failed: int = 0
    waiting: int = 0
    """Those that wait for a person or a phone, and say for what."""
    stuck: int = 0
    """Those that neither ended nor say what they wait for."""
    events: int = 0
    acknowledged: int = 0
    lost: int = 0
    """Events that were acknowledged or seen by the observer and are not stored as they were; gaps
    in a session's log; acts whose intent is not stored."""
    acts: int = 0
    old: int = 0
    """Acts on a phone by a process after one of a process that took it over from it."""
    twice: int = 0
    """Intents that two processes carried out, and actions that follow no look."""
    doubled: int = 0
    """Notes and messages that are more than once on a phone."""
    why: list[str] = []
    """What is wrong, in words."""

    @property
    def is_exact(self) -> bool:
        return not (self.lost or self.old or self.twice or self.doubled or self.stuck)

    def take_session(self, session: Session, events: Sequence[protocol.Event]) -> None:
        """Look at how a session stands, and through its log."""
        name = session.session_id
        self.sessions += 1
        self.events += len(events)
        self.completed += session.state is SessionState.COMPLETED
        if session.state is SessionState.FAILED:
            self.failed += 1
            self.why.append(f"{name} failed: {_ends(events)}")
        if not session.state.is_terminal:
            says = session.state is SessionState.WAITING_FOR_USER and _why(events)
            self.waiting += bool(says)
            self.stuck += not says
            if not says:
                self.why.append(f"{name} is {session.state} and does not say why")
        numbers = [event.seq for event in events]
        if numbers != list(range(1, len(events) + 1)):
            self.lost += 1
            self.why.append(f"{name} has a log with gaps")
        blind = _blind_actions(events)
        self.twice += len(blind)
        self.why += [f"{name} acted without a look: {call}" for call in blind]

    def take_events(
        self, logs: Logs, records: Sequence[Recorded], seen: Mapping[int, bytes]
    ) -> None:
        """Compare what was acknowledged, and what an observer saw, with what is stored."""
        stored = {event.event_id: event for events in logs.values() for event in events}
        for one in records:
            if one.kind != "ack" or one.words[1] == "-":
                continue
            self.acknowledged += 1
            number, session_id, seq, kind = one.words
            event = stored.get(int(number))
            if event is None or (event.session_id, str(event.seq), _tag(event)) != (
                session_id,
                seq,
                kind,
            ):
                self.lost += 1
                self.why.append(f"event {number} of {session_id} was acknowledged and is lost")
        for number, as_seen in seen.items():
            event = stored.get(number)
            if event is None:
                if msgspec.json.decode(as_seen, type=protocol.Event).session_id:
                    self.lost += 1
                    self.why.append(f"event {number} was seen and is not stored")
            elif msgspec.json.encode(event) != as_seen:
                self.lost += 1
                self.why.append(f"event {number} is stored otherwise than it was seen")
        missed = sorted(set(stored) - set(seen))
        self.lost += len(missed)
        if missed:
            self.why.append(f"events that the observer never saw: {missed[:10]}")

    def take_acts(self, logs: Logs, records: Sequence[Recorded]) -> None:
        """Compare what was done on phones with what was meant, and by whom."""
        intents = {
            (session_id, event.msg.call_id)
            for session_id, events in logs.items()
            for event in events
            if isinstance(event.msg, protocol.ToolCallRequested)
        }
        orders: dict[str, list[tuple[str, str]]] = defaultdict(list)
        actors: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
        for one in records:
            if one.kind != "act":
                continue
            self.acts += 1
            serial, session_id, call_id = one.words
            who = (one.host, one.process)
            order = orders[serial]
            if who in order and order[-1] != who:
                self.old += 1
                self.why.append(f"{who} acted on {serial} after {order[-1]} had taken it over")
            elif who not in order:
                order.append(who)
            if call_id != "-":
                actors[session_id, call_id].add(who)
        for call, by in actors.items():
            if call not in intents:
                self.lost += 1
                self.why.append(f"{call} was acted and its intent is not stored")
            if len(by) > 1:
                self.twice += 1
                self.why.append(f"{call} was acted by {by}")

    def take_phones(self, states: Iterable[object], texts: Collection[str]) -> None:
        """Count what was to be left on phones once."""
        counts = Counter(one for state in states for one in _strings(state) if one in texts)
        for text, count in counts.items():
            if count > 1:
                self.doubled += 1
                self.why.append(f"{text!r} is {count} times on phones")


def _tag(event: protocol.Event) -> str:
    return str(type(event.msg).__struct_config__.tag)


def _why(events: Sequence[protocol.Event]) -> str:
    """Return what a session that waits says of it: its open question, or why its turn ended."""
    said = ""
    for event in events:
        match event.msg:
            case protocol.RequestUserInput(question=question):
                said = question.text
            case protocol.TurnAborted(reason=reason):
                said = reason.value
            case protocol.TaskStarted() | protocol.QuestionAnswered():
                said = ""
            case _:
                pass
    return said


def _ends(events: Sequence[protocol.Event]) -> str:
    """Return the last things that a session's log says of its end."""
    said = [str(event.msg)[:300] for event in events if _tag(event) in _TELLING]
    return " | ".join(said[-4:])


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)


def _blind_actions(events: Sequence[protocol.Event]) -> list[str]:
    """Return the actions that follow no look, or one that another action has followed."""
    found, has_looked = [], False
    for event in events:
        match event.msg:
            case protocol.ObservationRecorded():
                has_looked = True
            case protocol.TaskStarted():
                has_looked = False
            case protocol.ToolCallRequested(kind="action", call_id=call_id):
                if not has_looked:
                    found.append(call_id)
                has_looked = False
            case _:
                pass
    return found
