"""Mark what was stored before a database had several hosts as that of the host it belongs to.

Not a move. Invariants: it is done once, by the host whose core had the database to itself; phones
are named with that host from then on; what is settled is marked when it is taken up again.
"""

from typing import Any

from msgspec.structs import replace

from agent.core import Peers
from agent.protocol import CommitmentChanged, SessionHosted, WatcherChanged
from agent.records import at_host
from agent.store.store import EventDraft, Store

_FOREVER_MS = 1 << 62
_ALL = 10_000
_REASON = "the fleet has several hosts"


async def adopt_unhosted(whole: Store, own: Store, peers: Peers) -> None:
    """Mark what belongs to no host as ours, where it is. Raises StoreError.

    Args:
        whole: the store of the whole fleet.
        own: this host's part of it.
        peers: say which host this is.
    """
    host = peers.host
    if peers.is_guest or peers.unhosted != host:
        return
    drafts: list[EventDraft] = []
    for session in await whole.sessions(limit=1 << 30, active_only=True):
        if not session.host:
            serial = at_host(host, session.serial) if session.serial else ""
            hosted = SessionHosted(host=host, serial=serial, reason=_REASON)
            drafts.append(EventDraft(session.session_id, hosted))
    for watcher in await whole.watches.watchers(limit=_ALL, live_only=True):
        if not watcher.host:
            condition = _with_host(watcher.condition_json, host)
            marked = replace(watcher, host=host, condition_json=condition)
            drafts.append(EventDraft("", WatcherChanged(watcher=marked, reason=_REASON)))
    for one in await whole.watches.commitments(limit=_ALL, live_only=True):
        if not one.host:
            kept = CommitmentChanged(commitment=replace(one, host=host), reason=_REASON)
            drafts.append(EventDraft("", kept))
    for draft in drafts:
        await own.append(draft)
    jobs = (
        *await whole.due_jobs(_FOREVER_MS, 1 << 30),
        *await whole.stale_jobs(_FOREVER_MS),
        *await whole.job_runs.open_jobs(),
    )
    for job in {one.id: one for one in jobs if not one.host}.values():
        ours = replace(job, host=host, payload_json=_with_host(job.payload_json, host))
        await whole.replace_job(ours, expect=job.status, reason=_REASON)


def _with_host(said: dict[str, Any], host: str) -> dict[str, Any]:
    serial = said.get("serial")
    return {**said, "serial": at_host(host, serial)} if isinstance(serial, str) and serial else said
