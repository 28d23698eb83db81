"""Find the phone that a job is to run on: this one, one with an app, one with tags.

Not the waiting for it, which is its session's. Invariant: a job that names what its phone must be
never runs on another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from agent.devices.protocols import Fleet
from agent.errors import DeviceError, UsageError
from agent.knowledge.library import Library
from agent.records import AppInfo, DeviceInfo, DeviceState, Job
from agent.sessions.registry.device_assignment import MayUse
from agent.text import one_line


def wanted_tags(payload: Mapping[str, Any]) -> tuple[str, ...]:
    """Read the tags that a job's phone must have."""
    tags = payload.get("tags", ())
    return tuple(str(tag) for tag in tags) if isinstance(tags, list | tuple) else ()


def wanted(payload: Mapping[str, Any], key: str) -> str:
    """Read one word of a payload: `serial` or `app`."""
    value = payload.get(key, "")
    return value if isinstance(value, str) else ""


def fits(payload: Mapping[str, Any], info: DeviceInfo) -> bool:
    """Return whether a phone is one that a job may run on, as far as is known without asking it."""
    serial = wanted(payload, "serial")
    if serial and serial != info.serial:
        return False
    return set(wanted_tags(payload)) <= set(info.tags)


def others_too(job: Job) -> MayUse | None:
    """Return what tells the phones that a run may begin on, whichever is free first.

    None where the phone that was chosen is the one: it was named, or asked for its apps.
    """
    payload = job.payload_json
    if wanted(payload, "serial") or wanted(payload, "app"):
        return None
    return partial(fits, payload)


async def is_still_fit(job: Job, fleet: Fleet, library: Library, serial: str) -> bool:
    """Return whether a phone that a job has worked on is one that it may go on with.

    One that is away is, where the job wants just that one, or none is there: it is waited for.
    """
    payload = job.payload_json
    here = {info.serial: info for info in fleet.devices()}
    online = {one for one, info in here.items() if info.state is DeviceState.ONLINE}
    wants = wanted(payload, "serial")
    if wants or not serial:
        return wants in ("", serial)
    app, tags = wanted(payload, "app"), wanted_tags(payload)
    if serial not in online:
        return not online and not app and not tags
    if not fits(payload, here[serial]):
        return False
    return not app or await _has(fleet, serial, library.called(app) | {app.casefold()})


async def place(job: Job, fleet: Fleet, library: Library) -> str:
    """Return the phone of a run; empty when any will do.

    Args:
        job: as it was claimed.
        fleet: the phones there are.
        library: the cards, which say what people call an app that has no label.

    Raises:
        UsageError: no phone that is online is what the job wants.
    """
    payload = job.payload_json
    serial, app, tags = wanted(payload, "serial"), wanted(payload, "app"), wanted_tags(payload)
    if serial or not (app or tags):
        return serial
    online = [i for i in fleet.devices() if i.state is DeviceState.ONLINE and fits(payload, i)]
    called = library.called(app) | {app.casefold()}
    # One that nobody drives starts at once.
    for info in sorted(online, key=lambda one: bool(one.driver)):
        if not app or await _has(fleet, info.serial, called):
            return info.serial
    what = " and ".join(
        [f"the app {one_line(app, 80)}"] * bool(app) + [f"the tags {', '.join(tags)}"] * bool(tags)
    )
    raise UsageError(
        f"No phone with {what} is online.", "Connect one, or look: switchboard devices list"
    )


async def _has(fleet: Fleet, serial: str, called: frozenset[str]) -> bool:
    try:
        installed = await (await fleet.device(serial)).apps()
    except DeviceError:
        return False
    return _names(installed, called)


def _names(installed: Iterable[AppInfo], called: frozenset[str]) -> bool:
    return any(called & {one.package.casefold(), one.label.casefold()} for one in installed)
