"""What the record of a job says of its phone, its hours, its notices and its review, in words.

Pure; for the Jobs screen and for `switchboard jobs show`. Invariant: a record that somebody else
wrote is said as far as it can be read, never an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from agent.records import DeviceInfo, Job, JobStatus, JobType, campaign_of
from agent.state.terms import without_codes
from agent.text import clean, one_line
from widgets.lists.session_rows import device_name


class Asked(NamedTuple):
    """What a job waits for a person with."""

    what: str
    until_ms: int
    """When silence becomes a no; 0 for never."""
    session_id: str


def where(job: Job, devices: Mapping[str, DeviceInfo] = MappingProxyType({})) -> str:
    """Return which phones a job may run on; a phone that is known by what it is called."""
    if job.type is JobType.CAMPAIGN:
        return f"each of {len(campaign_of(job.payload_json).phones)}"
    payload = job.payload_json
    tags = payload.get("tags", ())
    said = [
        device_name(str(payload.get("serial") or ""), devices),
        f"one with the app {payload['app']}" if payload.get("app") else "",
        f"one tagged {', '.join(map(str, tags))}" if isinstance(tags, list) and tags else "",
        f"one that is {payload['needs']}" if payload.get("needs") else "",
    ]
    return one_line(", ".join(filter(None, said)), 200) or "any"


def quiet(job: Job) -> str:
    """Return the hours in which a job starts nothing; empty for none."""
    hours = job.schedule_json.get("quiet")
    if not isinstance(hours, dict):
        return ""
    zone = job.schedule_json.get("timezone", "")
    return one_line(f"{hours.get('since', '')} to {hours.get('until', '')} {zone}", 80)


def told(job: Job) -> str:
    """Return how the operator hears of a job's runs."""
    mode = job.delivery_json.get("mode", "notification")
    if job.type is JobType.HEARTBEAT or mode == "none":
        return "nothing"
    if mode == "silent":
        return "a mark in the list"
    wording = job.delivery_json.get("notification_text", "")
    return f"a notice: “{one_line(wording, 400)}”" if wording else "a notice"


def result_words(text: str) -> str:
    """Return what a run came to without the code that the core files it under.

    A refused review reads `background.action_denied: the operator refused tap: ...`.
    """
    return without_codes(clean(text, 2_000))


REVIEW_PHASES = {
    "awaiting_review": "waits for your review",
    "approval_executing": "approved; continues once its phone is free",
    "resuming": "reviewed; continues once its phone is free",
    "review_resolution_unknown": "reviewed; whether the action was carried out is not known",
}
"""Where a job stands whose run has asked for a review; its newest result is then the asking."""


def phase_words(phase: str) -> str:
    """Return where the run of a job stands."""
    return REVIEW_PHASES.get(phase) or one_line(phase.replace("_", " "), 60)


def asked(job: Job) -> Asked | None:
    """Return what a job wants reviewed; None for one that waits for no review."""
    if job.status is not JobStatus.AWAITING_REVIEW:
        return None
    until_ms = job.pending_tool_request_json.get("expires_at", 0)
    return Asked(
        one_line(str(job.pending_tool_request_json.get("summary", "")), 1000),
        until_ms if isinstance(until_ms, int) else 0,
        one_line(str(job.checkpoint_json.get("session_id", "")), 40),
    )
