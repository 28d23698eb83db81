"""Turn a request for a watcher into its record: check it, name what is wrong, fill in the rest.

It stores nothing. Invariant: what passes can be looked for; secrets in it are taken out first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from agent.errors import UsageError
from agent.jobs.creation import SESSION_PREFIX
from agent.protocol import WatcherCreate
from agent.records import (
    LATEST_MS,
    Condition,
    Evaluator,
    NotifyOn,
    Reaction,
    Watcher,
    WatcherStatus,
    WatcherType,
    WatchSchedule,
)
from agent.safety.redaction import redact_secrets
from agent.sessions.answers import checked_text
from agent.sessions.assignment import Assignment
from agent.text import one_line
from agent.watchers.rules import LONGEST_MS, SHORTEST_MS, usual_interval_ms
from agent.watchers.web import checked_url

T = TypeVar("T", Condition, Reaction)
MODES = ("notification", "silent")
PROMPT_LIMIT_CHARS = 4000
_TITLE_LIMIT_CHARS = 200
_TARGETS = ("main", "isolated", "current")


def planned_watcher(
    op: WatcherCreate, *, assignment: Assignment, now_ms: int
) -> Callable[[int], Watcher]:
    """Check a request and give what makes its record once the id is known.

    Raises:
        UsageError: a field that cannot be used; the message names it.
    """
    condition = _condition(op, assignment)
    schedule = _schedule(op, now_ms)
    reaction = _reaction(op)
    title = one_line(redact_secrets(op.title), _TITLE_LIMIT_CHARS) or _title(
        op.watcher_type, condition
    )
    _check_target(op.session_target)
    next_ms = schedule.next_run_at if op.watcher_type is WatcherType.TIME else now_ms

    def build(watcher_id: int) -> Watcher:
        return Watcher(
            id=watcher_id,
            type=op.watcher_type,
            title=title,
            condition_json=_builtins(condition),
            schedule_json=_builtins(schedule),
            session_target=op.session_target,
            delivery_json=_builtins(reaction),
            status=WatcherStatus.ACTIVE,
            last_result_hash="",
            failure_count=0,
            failure_alert_at=0,
            created_at=now_ms,
            updated_at=now_ms,
            next_run_at=next_ms,
            last_run_at=0,
        )

    return build


def _condition(op: WatcherCreate, assignment: Assignment) -> Condition:
    if op.serial:
        if not op.watcher_type.is_on_a_phone:
            raise UsageError(f"A {op.watcher_type} watcher looks at no phone.", "Leave it out.")
        assignment.check_known(op.serial)
    texts = tuple(one for one in (text.strip() for text in op.texts) if one)
    raw = Condition(
        serial=op.serial,
        package=op.package.strip(),
        sender=redact_secrets(op.sender.strip()),
        texts=tuple(redact_secrets(text) for text in texts),
        match_any=op.match_any,
        url=checked_url(op.url) if op.url else "",
        evaluator=op.evaluator,
        notify_on=op.notify_on,
    )
    match op.watcher_type:
        case WatcherType.MESSAGE_REPLY if not raw.sender:
            raise UsageError("It is not said whose message is waited for.", "Give `sender`.")
        case WatcherType.SCREEN_TEXT if not texts:
            raise UsageError("It is not said what the screen is to show.", "Give `texts`.")
        case WatcherType.WEB_CHANGE if not raw.url:
            raise UsageError("It is not said which page is watched.", "Give its `url`.")
        case WatcherType.WEB_CHANGE if raw.evaluator is Evaluator.TEXT_CONTAINS and not texts:
            raise UsageError("It is not said what the page is to say.", "Give `texts`.")
        case _:
            pass
    if raw.notify_on is NotifyOn.NO_REPLY and not op.deadline_at:
        raise UsageError("It is not said until when to wait for a reply.", "Give `deadline_at`.")
    return _converted(raw, Condition, "condition")


def _schedule(op: WatcherCreate, now_ms: int) -> WatchSchedule:
    for name, at_ms in (("next_run_at", op.next_run_at), ("deadline_at", op.deadline_at)):
        if not 0 <= at_ms <= LATEST_MS:
            raise UsageError(f"{name} is {at_ms}.", "Use milliseconds since the epoch.")
    if op.deadline_at and op.deadline_at <= now_ms:
        raise UsageError("The deadline has passed already.", "Give one that is to come.")
    if op.interval_ms and not SHORTEST_MS <= op.interval_ms <= LONGEST_MS:
        raise UsageError(
            f"interval_ms is {op.interval_ms}.",
            f"Use {SHORTEST_MS:,} (15 s) to {LONGEST_MS:,} (a day), or 0 for what is usual.",
        )
    is_time = op.watcher_type is WatcherType.TIME
    if is_time and not op.next_run_at and not op.interval_ms:
        raise UsageError("It is not said when.", "Give `next_run_at`, `interval_ms` or both.")
    return WatchSchedule(
        next_run_at=(op.next_run_at or now_ms + op.interval_ms) if is_time else 0,
        interval_ms=op.interval_ms or usual_interval_ms(op.watcher_type),
        recurring=op.recurring or (is_time and op.interval_ms > 0),
        deadline_at=op.deadline_at,
    )


def _reaction(op: WatcherCreate) -> Reaction:
    if op.delivery_mode not in MODES:
        raise UsageError(
            f"There is no delivery mode {op.delivery_mode!r}.", f"Use {' or '.join(MODES)}."
        )
    prompt = op.prompt.strip()
    if prompt:
        prompt = checked_text(prompt, "The prompt", limit=PROMPT_LIMIT_CHARS)
    raw = Reaction(
        mode=op.delivery_mode,
        notification_text=one_line(redact_secrets(op.notification_text), 400),
        prompt=prompt,
    )
    return _converted(raw, Reaction, "delivery")


def _check_target(target: str) -> None:
    named = target.startswith(SESSION_PREFIX) and len(target) > len(SESSION_PREFIX)
    if target not in _TARGETS and not named:
        raise UsageError(
            f"A watcher's job cannot run in session target {target!r}.",
            "Use isolated, main or session:ID.",
        )


def _title(kind: WatcherType, condition: Condition) -> str:
    """Name a watcher by what it looks for."""
    words = ", ".join(condition.texts)
    match kind:
        case WatcherType.TIME:
            return "A time"
        case WatcherType.NOTIFICATION:
            what = " ".join(filter(None, (words, condition.package)))
            return one_line(f"Notification: {what or 'any'}", _TITLE_LIMIT_CHARS)
        case WatcherType.MESSAGE_REPLY:
            what = "No message" if condition.notify_on is NotifyOn.NO_REPLY else "Message"
            return one_line(f"{what} from {condition.sender}", _TITLE_LIMIT_CHARS)
        case WatcherType.WEB_CHANGE:
            return one_line(f"Page: {words or condition.url}", _TITLE_LIMIT_CHARS)
        case WatcherType.SCREEN_TEXT:
            return one_line(f"Screen: {words}", _TITLE_LIMIT_CHARS)


def _converted(raw: T, kind: type[T], what: str) -> T:
    """Check the bounds that the types name. Raises UsageError."""
    try:
        return msgspec.convert(msgspec.to_builtins(raw), kind)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"The {what} cannot be used: {one_line(str(error), 200)}.", "Correct what it names."
        ) from error


def _builtins(struct: msgspec.Struct) -> dict[str, Any]:
    built = msgspec.to_builtins(struct)
    assert isinstance(built, dict), "a struct is an object"
    return built
