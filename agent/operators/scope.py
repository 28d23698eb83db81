"""Determine from an op's fields which phones it concerns, and which right it needs there.

`agent.operators.operator_core` refuses ops. Invariant: an op that names no phone, directly or
indirectly, concerns all phones; its declared right (`OpBase.needs`) is only ever raised.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from agent.errors import UsageError
from agent.placement.needs import LAST, parse_needs
from agent.protocol import (
    CommitmentSearch,
    DeviceTag,
    JobCreate,
    JobList,
    JobQueue,
    Op,
    SessionAttach,
    SessionCreate,
    SessionDetach,
    WatcherList,
)
from agent.records import Autonomy, Campaign, Job, Right, Watcher, campaign_of

LISTS = (CommitmentSearch, JobList, JobQueue, SessionDetach, WatcherList)
"""Ops that concern nothing by themselves: they list, and the list is filtered, or let go of one's
own."""


class OpScope(msgspec.Struct, frozen=True, kw_only=True):
    """What an op names. Empty: it concerns all phones."""

    session_ids: tuple[str, ...] = ()
    serials: tuple[str, ...] = ()
    question_id: str = ""
    job_id: int = 0
    watcher_id: int = 0
    tags: tuple[str, ...] = ()  # It runs on a phone that has all of these, whichever is free.
    everything: bool = False

    @property
    def is_named(self) -> bool:
        return bool(
            self.session_ids or self.serials or self.question_id or self.job_id or self.watcher_id
        )


_PLACING = frozenset({"app", "campaign", "needs", "serial", "tags"})
"""The fields of a job's payload that say where it runs."""

NAMING_FIELDS = frozenset({"session_id", "serial", "question_id", "job_id", "watcher_id"})
"""The fields by which an op names what it concerns."""


def concern_of(op: Op) -> OpScope:
    if isinstance(op, LISTS):
        session_id = getattr(op, "session_id", "")
        return OpScope(session_ids=(session_id,) if session_id else ())
    found = OpScope(
        session_ids=_field_values(op, "session_id"),
        serials=_field_values(op, "serial"),
        question_id=getattr(op, "question_id", ""),
        job_id=getattr(op, "job_id", 0),
        watcher_id=getattr(op, "watcher_id", 0),
    )
    match op:
        case SessionCreate(targets=targets) if targets:
            # A tree may divide its work anew, over phones that nobody named.
            return OpScope(everything=True)
        case DeviceTag(tags=tags) if tags is not None:
            # Rights go by tags: who sets them gives rights.
            return OpScope(everything=True)
        case SessionCreate(serial="", phone_needs=text) if text:
            return _of_needs(text)
        case JobCreate(campaign=Campaign() as campaign):
            if _PLACING & set(op.payload) or (campaign.phones and campaign.needs):
                # It would be listed as work on a phone that it does not concern.
                return OpScope(everything=True)
            if campaign.phones:
                return OpScope(serials=campaign.phones)
            return _of_needs(campaign.needs)
        case JobCreate():
            return _of_job(op, found)
        case _:
            return found if found.is_named else OpScope(everything=True)


def _of_job(op: JobCreate, found: OpScope) -> OpScope:
    if _PLACING & set(op.payload):
        return OpScope(everything=True)
    target = op.session_target
    if target.startswith("session:"):
        return msgspec.structs.replace(found, session_ids=(target.removeprefix("session:"),))
    if target == "current":
        return OpScope(everything=True)
    if op.phone_needs and not (found.serials or op.tags):
        return _of_needs(op.phone_needs)
    if op.phone_needs and parse_needs(op.phone_needs).same:
        return OpScope(everything=True)
    if found.serials or op.tags:
        return msgspec.structs.replace(found, tags=op.tags if not found.serials else ())
    return OpScope(everything=True)


def _of_needs(text: str) -> OpScope:
    """Return what work concerns whose phone is described by requirements. Raises UsageError."""
    needs = parse_needs(text)
    if needs.same and needs.same != LAST:
        return OpScope(session_ids=(needs.same,))
    if needs.same or not needs.tags:
        return OpScope(everything=True)
    return OpScope(tags=needs.tags)


def _field_values(op: Op, field: str) -> tuple[str, ...]:
    value = getattr(op, field, "")
    return (value,) if value else ()


def needs_of(op: Op, by_default: Autonomy) -> tuple[tuple[Right, ...], ...]:
    """Return the rights that an op needs: of each group any one.

    Args:
        by_default: a session's autonomy where the op does not set it.
    """
    match op:
        case SessionAttach(drive=False):
            return ((Right.WATCH,),)
        case DeviceTag(tags=tags) if tags is not None:
            return ((Right.ADMINISTER,),)
        case SessionCreate() if op.allowances or _is_freer(op.autonomy, by_default):
            # What would be approved is approved beforehand.
            return (op.needs, (Right.APPROVE,))
        case JobCreate(campaign=Campaign(autonomy=autonomy)) if _is_freer(autonomy, by_default):
            return (op.needs, (Right.APPROVE,))
        case _:
            return (op.needs,)


def _is_freer(wanted: Autonomy | None, by_default: Autonomy) -> bool:
    order = tuple(Autonomy)
    return wanted is not None and order.index(wanted) > order.index(by_default)


def phones_of_job(job: Job) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the phones that a job names, or the tags that its one phone must have.

    A campaign names each of its phones from the start, however they were selected.
    """
    payload: Mapping[str, Any] = job.payload_json
    campaign = campaign_of(job.payload_json)
    if campaign.phones:
        return campaign.phones, ()
    serial, tags = payload.get("serial", ""), payload.get("tags", ())
    found = tuple(str(one) for one in tags) if isinstance(tags, list | tuple) else ()
    try:
        found += parse_needs(str(payload.get("needs", ""))).tags
        found += parse_needs(campaign.needs).tags
    except UsageError:
        found = ()
    return ((serial,) if isinstance(serial, str) and serial else ()), found


def phone_of_watcher(watcher: Watcher) -> str:
    """Return the one phone that a watcher watches; empty for all, or none."""
    serial = watcher.condition_json.get("serial", "")
    return serial if isinstance(serial, str) else ""
