"""Remove a host that has left for good from its fleet.

Invariants: a host that is there, or to which work belongs, is not removed; that it was is stored.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from agent.core import ClientInfo
from agent.errors import UsageError, WrongStateError
from agent.protocol import CommitmentChanged, HostForget, HostForgotten, JobChanged, WatcherChanged
from agent.records import HostState, at_host, host_of, on_host
from agent.records.jobs import CAMPAIGN, MOST_PHONES, campaign_of
from agent.store.postgres.hosts import HostRecords, forget, hosts, records_of_host
from agent.store.postgres.link import Link
from agent.store.store import EventDraft, Store

_FEW = 5


async def remove_host(
    link: Link, store: Store, op: HostForget, submission_id: str, by: ClientInfo
) -> None:
    """Remove a host.

    Args:
        link: no transaction is open on it.
        store: the whole fleet's.
        op: what is asked.
        submission_id: of the op.
        by: who asks.

    Raises:
        UsageError: there is no such host.
        WrongStateError: it is there, or work belongs to it.
        StoreError: the database cannot be read or written.
    """
    known = {one.name: one for one in await hosts(link)}
    if op.host not in known:
        raise UsageError(
            f"The fleet has no host {op.host!r}.", f"Its hosts: {', '.join(known) or 'none'}."
        )
    if known[op.host].state is HostState.HERE:
        raise WrongStateError(
            f"Host {op.host} is here; nothing was done.",
            "End its Switchboard first: it would rejoin with its next heartbeat.",
        )
    owned = await records_of_host(link, op.host)
    if owned.sessions:
        raise WrongStateError(
            f"{_count(len(owned.sessions), 'session')} of host {op.host} not ended: "
            f"{_listed(owned.sessions)}. Nothing was done.",
            "Move each to another host first: switchboard fleet move SESSION HOST",
        )
    if not owned.is_empty:
        await _hand_over(store, op, owned, submission_id, known_here=_running_hosts(known))
    if not await forget(link, op.host):
        raise WrongStateError(
            f"Host {op.host} was not forgotten: its process still runs, or it got work meanwhile.",
            "Look again: switchboard fleet hosts",
        )
    done = HostForgotten(host=op.host, by=by.name, jobs_to=op.jobs_to if not owned.is_empty else "")
    await store.append(EventDraft("", done, submission_id))


def _running_hosts(known: Mapping[str, Any]) -> set[str]:
    return {one.name for one in known.values() if one.works and one.state is HostState.HERE}


async def _hand_over(
    store: Store, op: HostForget, owned: HostRecords, submission_id: str, *, known_here: set[str]
) -> None:
    """Have jobs, watchers and commitments belong to another host, on its phones of that name."""
    if not op.jobs_to:
        said = [
            f"{_count(len(numbers), kind)}: {_listed(map(str, numbers))}"
            for kind, numbers in (
                ("job", owned.jobs),
                ("watcher", owned.watchers),
                ("commitment", owned.commitments),
            )
            if numbers
        ]
        raise WrongStateError(
            f"Work belongs to host {op.host}: {'; '.join(said)}. Nothing was done.",
            f"Name the host that gets it: switchboard fleet forget {op.host} --jobs-to HOST",
        )
    if op.jobs_to not in known_here:
        raise UsageError(
            f"Host {op.jobs_to!r} is not running.",
            f"Running: {', '.join(sorted(known_here)) or 'none'}.",
        )
    reason = f"host {op.host} was forgotten"
    drafts: list[EventDraft] = []
    for number in owned.jobs:
        if (job := await store.job(number)) is not None:
            payload = _renamed_phones(job.payload_json, op)
            if campaign := campaign_of(payload).phones:
                runs = await store.job_runs.runs(number, limit=MOST_PHONES)
                phones = _phones(campaign, {run.serial for run in runs}, op)
                payload = {**payload, CAMPAIGN: {**payload[CAMPAIGN], "phones": phones}}
            host = op.jobs_to if job.host in ("", op.host) else job.host
            there = replace(job, host=host, payload_json=payload)
            drafts.append(EventDraft("", JobChanged(job=there, reason=reason), submission_id))
    for number in owned.watchers:
        if (watcher := await store.watches.watcher(number)) is not None:
            there_too = replace(
                watcher, host=op.jobs_to, condition_json=_renamed_phones(watcher.condition_json, op)
            )
            changed = WatcherChanged(watcher=there_too, reason=reason)
            drafts.append(EventDraft("", changed, submission_id))
    for number in owned.commitments:
        if (one := await store.watches.commitment(number)) is not None:
            kept = CommitmentChanged(commitment=replace(one, host=op.jobs_to), reason=reason)
            drafts.append(EventDraft("", kept, submission_id))
    await store.append(*drafts)


def _renamed_phones(said: Mapping[str, Any], op: HostForget) -> dict[str, Any]:
    """Return what names a phone with the phone of that name at the other host."""
    serial = said.get("serial")
    if isinstance(serial, str) and host_of(serial) == op.host:
        return {**said, "serial": at_host(op.jobs_to, on_host(serial))}
    return dict(said)


def _phones(phones: Iterable[str], begun: Container[str], op: HostForget) -> list[str]:
    """Return a campaign's phones, those of the host that have not begun as those of that name at
    the other host, each once.
    """
    there = (
        at_host(op.jobs_to, on_host(one)) if host_of(one) == op.host and one not in begun else one
        for one in phones
    )
    return list(dict.fromkeys(there))


def _count(count: int, what: str) -> str:
    return f"1 {what}" if count == 1 else f"{count} {what}s"


def _listed(names: Any) -> str:
    found = list(names)
    more = f" and {len(found) - _FEW} more" if len(found) > _FEW else ""
    return ", ".join(found[:_FEW]) + more
