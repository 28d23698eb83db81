"""Find the phone that a job is to run on: this one, or one that is what the job needs.

Not the waiting for it, which is its session's, and not the rules of what fits
(`agent.placement`). Invariant: a job that names what its phone must be never runs on another.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent.errors import UsageError
from agent.placement.needs import LAST, AppNeed, Needs, parse_needs
from agent.placement.phone_facts import Fit, fit_of
from agent.records import DeviceInfo, DeviceState, Job
from agent.sessions.registry.services import Services
from agent.text import one_line


def wanted_tags(payload: Mapping[str, Any]) -> tuple[str, ...]:
    """Read the tags that a job's phone must have."""
    tags = payload.get("tags", ())
    return tuple(str(tag) for tag in tags) if isinstance(tags, list | tuple) else ()


def wanted_word(payload: Mapping[str, Any], key: str) -> str:
    """Read one word of a payload: `serial`, `app` or `needs`."""
    value = payload.get(key, "")
    return value if isinstance(value, str) else ""


def needs_of(payload: Mapping[str, Any]) -> Needs:
    """Return all that a job's phone has to be. Raises UsageError for what cannot be read."""
    needs, app = parse_needs(wanted_word(payload, "needs")), wanted_word(payload, "app")
    tags = dict.fromkeys((*wanted_tags(payload), *needs.tags))
    apps = (AppNeed(app), *needs.apps) if app else needs.apps
    return replace(needs, tags=tuple(tags), apps=apps)


def fits(payload: Mapping[str, Any], info: DeviceInfo) -> bool:
    """Return whether a phone is one that a job may run on, as far as is known without asking it."""
    serial = wanted_word(payload, "serial")
    if serial and serial != info.serial:
        return False
    return fit_of(needs_of(payload), info, None) is not Fit.NO


def others_too(job: Job) -> Needs | None:
    """Return what the phones have to be that a run may begin on, whichever is free first.

    None where the phone that was chosen is the one: it was named.
    """
    needs = needs_of(job.payload_json)
    return None if wanted_word(job.payload_json, "serial") or needs.same else needs


async def is_still_fit(job: Job, parts: Services, serial: str) -> bool:
    """Return whether a phone that a job has worked on is one that it may go on with.

    One that is away is, where the job wants just that one, or none is there: it is waited for.
    """
    wants = await _named(job, parts)
    if wants or not serial:
        return wants in ("", serial)
    needs = needs_of(job.payload_json)
    online = {one.serial for one in parts.fleet.devices() if one.state is DeviceState.ONLINE}
    if serial not in online:
        return not online and not needs.restricts
    if not needs.restricts:
        return True
    return serial in {info.serial for info in await parts.assignment.fitting(needs)}


async def place(job: Job, parts: Services) -> str:
    """Return the phone of a run; empty when any will do.

    Raises:
        UsageError: no phone that is online is what the job wants.
    """
    if serial := await _named(job, parts):
        return serial
    needs = needs_of(job.payload_json)
    if not needs.restricts:
        return ""
    # One that nobody drives starts at once.
    found = await parts.assignment.fitting(needs)
    if found:
        return found[0].serial
    raise UsageError(
        f"No phone with {_shown(job.payload_json)} is online.",
        "Connect one, or look: switchboard devices list",
    )


async def _named(job: Job, parts: Services) -> str:
    """Return the phone that a job names, or that of the session that its needs name."""
    same = needs_of(job.payload_json).same
    if same == LAST:
        return job.last_surface_id
    if same:
        return (await parts.registry.get(same)).record.serial
    return wanted_word(job.payload_json, "serial")


def _shown(payload: Mapping[str, Any]) -> str:
    app, tags = wanted_word(payload, "app"), wanted_tags(payload)
    rest = parse_needs(wanted_word(payload, "needs")).shown
    return " and ".join(
        [f"the app {one_line(app, 80)}"] * bool(app)
        + [f"the tags {', '.join(tags)}"] * bool(tags)
        + [rest] * bool(rest)
    )
