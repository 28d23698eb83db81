"""Compare the lines of the audit with the stored events that they name.

Not the check of the chain itself (that is `agent.audit.hash_chain`). Invariant: an event that is
not stored any more is in order only where the chain itself says that its session was deleted after
it, or that the store is another since.
"""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from agent.audit.audit_writer import DELETED, REPLACED, STARTED, event_digest
from agent.errors import UsageError
from agent.protocol import Event


class History(Protocol):
    """Reads a session's events, page by page. Raises UsageError for an unknown session."""

    def __call__(self, session_id: str, *, after_seq: int) -> Awaitable[Sequence[Event]]: ...


@dataclass(slots=True)
class Compared:
    """What a comparison found; events by session and number."""

    edited: list[tuple[str, int]] = field(default_factory=list)
    missing: list[tuple[str, int]] = field(default_factory=list)
    """Gone without a word in the chain."""
    deleted: int = 0
    """How many are gone as the chain says."""
    untold: int = 0
    """The number of the newest event that was stored before the chain began."""


async def compare(lines: Sequence[dict[str, Any]], history: History) -> Compared:
    """Look up every event that a line names."""
    found = Compared()
    wanted: dict[str, dict[int, str]] = {}
    deleted: dict[str, int] = {}
    for line in lines:
        session_id, event_id = _name(line.get("session_id")), line.get("event_id")
        match line.get("event_type"):
            case kind if kind == STARTED:
                found.untold = event_id if isinstance(event_id, int) else 0
            case kind if kind == REPLACED:
                found.deleted += sum(map(len, wanted.values()))
                wanted.clear()
                deleted.clear()
            case kind if kind == DELETED:
                at = event_id if isinstance(event_id, int) else 0
                named = line.get("sessions")
                for gone in named if isinstance(named, list) else ():
                    deleted[_name(gone)] = at
            case _ if session_id and isinstance(event_id, int) and "event_sha256" in line:
                wanted.setdefault(session_id, {})[event_id] = str(line["event_sha256"])
            case _:
                pass
    for session_id, digests in wanted.items():
        left = await _left(session_id, digests, history, found)
        # A session of the same name may have been imported since, which nobody deleted.
        until = deleted.get(session_id, 0)
        gone = [event_id for event_id in left if event_id > until]
        found.deleted += len(left) - len(gone)
        found.missing += [(session_id, event_id) for event_id in gone]
    return found


def _name(value: object) -> str:
    """Read a session's id from a line that may have been edited into anything."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


async def _left(
    session_id: str, digests: dict[int, str], history: History, found: Compared
) -> dict[int, str]:
    """Tick off what is stored; returns what is not."""
    left = dict(digests)
    after = 0
    try:
        while page := await history(session_id, after_seq=after):
            for event in page:
                digest = left.pop(event.event_id, None)
                if digest is not None and digest != event_digest(event):
                    found.edited.append((session_id, event.event_id))
            after = page[-1].seq
    except UsageError:
        # Nothing at all is stored of the session.
        return left
    return left
