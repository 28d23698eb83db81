"""Work that would go on by itself, in words for a person who is asked: when, what, where to.

Not the creation. Invariant: whatever a watcher, a job or a commitment would do stands on the card:
its next runs in local time, its prompt in full, the page that it fetches, decoded.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, assert_never

import msgspec

from agent.errors import UsageError
from agent.protocol import CommitmentCreate, JobCreate, WatcherCreate
from agent.records import Effect, EffectVerb, Schedule, Source, Stated
from agent.safety.egress.destinations import read_destination
from agent.safety.redacting.redaction import redact_secrets
from agent.schedules import next_due_ms, read_schedule, upcoming_ms
from agent.text import clean

StandingWork = JobCreate | WatcherCreate | CommitmentCreate
SHOWN_RUNS = 3
_PROMPT_CHARS = 4000
_SOON_MS = 15_000


def effect_of(op: StandingWork, *, now_ms: int, phone: str = "") -> Effect:
    """Return what an approval of standing work states."""
    return Effect(
        verb=EffectVerb.STANDING_WORK,
        control=_text(op.title),
        recipient=None
        if (to := _destination(op)) is None
        else Stated(text=to, source=Source.MODEL),
        content=Stated(text=_work(op), source=Source.MODEL),
        screen=when(op, now_ms=now_ms),
        phone=op.serial if isinstance(op, JobCreate | WatcherCreate) and op.serial else phone,
        undo="It can be stopped in the list of jobs and watchers.",
    )


def card(op: StandingWork, *, now_ms: int) -> str:
    """Return the lines that a question about standing work has."""
    kind = {JobCreate: "job", WatcherCreate: "watcher", CommitmentCreate: "commitment"}[type(op)]
    lines = [
        f'Create the {kind} "{_text(op.title) or "untitled"}".',
        f"When: {when(op, now_ms=now_ms)}.",
    ]
    to = _destination(op)
    if to is not None:
        lines.append(f"This computer fetches: {to}")
    work = _work(op)
    if work:
        lines.append(f"It says: {work}")
    if isinstance(op, JobCreate | WatcherCreate):
        lines.append(f"Delivery: {op.delivery_mode}; session: {op.session_target}.")
    return "\n".join(lines)


def when(op: StandingWork, *, now_ms: int) -> str:
    """Return when work is done, with its next runs in local time."""
    match op:
        case CommitmentCreate():
            return f"due {local_time(op.due_at)}" if op.due_at else "it has no due time"
        case WatcherCreate():
            parts = []
            if op.next_run_at:
                parts.append(f"at {local_time(op.next_run_at)}")
            if op.interval_ms:
                parts.append(f"looks every {op.interval_ms / 1000:g} s")
            parts.append(
                "continues after each match" if op.recurring else "ends at the first match"
            )
            if op.deadline_at:
                parts.append(f"until {local_time(op.deadline_at)}")
            return ", ".join(parts)
        case JobCreate():
            return _runs(op, now_ms)


def _runs(op: JobCreate, now_ms: int) -> str:
    raw = Schedule(
        next_run_at=op.next_run_at,
        interval_ms=op.interval_ms,
        cron=" ".join(op.cron.split()),
        timezone=op.timezone.strip(),
        on=op.on,
        quiet=op.quiet,
    )
    try:
        schedule = read_schedule(msgspec.to_builtins(raw))
        at_ms: int | None = op.next_run_at or None
        if at_ms is None and not schedule.on:
            at_ms = next_due_ms(schedule, now_ms) if schedule.cron else now_ms + _SOON_MS
        runs = () if at_ms is None else upcoming_ms(schedule, at_ms, SHOWN_RUNS + 1)
    except UsageError as error:
        return f"its schedule cannot be read: {error.message}"
    on = f"at each of these events: {', '.join(op.on)}" if op.on else ""
    if not runs:
        return on or "never by itself"
    again = ", and so on until it is stopped" if len(runs) > SHOWN_RUNS else ", once"
    shown = ", ".join(map(local_time, runs[:SHOWN_RUNS])) + again
    return f"{shown}; {on}" if on else shown


def local_time(at_ms: int) -> str:
    """Write a moment as this computer's clock shows it."""
    try:
        return datetime.fromtimestamp(at_ms / 1000).astimezone().strftime("%a %d %b %Y %H:%M %Z")
    except (OverflowError, OSError, ValueError):
        return f"{at_ms} ms since 1970"


def _destination(op: StandingWork) -> str | None:
    if not isinstance(op, WatcherCreate) or not op.url:
        return None
    to = read_destination(op.url)
    return _text(op.url) if to is None else redact_secrets(to.shown)


def _work(op: StandingWork) -> str:
    match op:
        case JobCreate():
            parts = [op.prompt, _payload(op.payload), op.notification_text]
        case WatcherCreate():
            looked_for = ", ".join(filter(None, (*op.texts, op.meaning, op.sender)))
            calls = f"{op.tool} {_payload(op.arguments)}" if op.tool else ""
            parts = [looked_for, op.prompt, calls, op.notification_text]
        case CommitmentCreate():
            parts = [op.description]
        case _:
            assert_never(op)
    return "; ".join(filter(None, (redact_secrets(clean(part, _PROMPT_CHARS)) for part in parts)))


def _payload(payload: Mapping[str, Any]) -> str:
    return msgspec.json.encode(payload).decode() if payload else ""


def _text(said: str) -> str:
    return redact_secrets(clean(said, 200)).replace("\n", " ").strip()
