"""Turn a request for a watcher into its record: check it, name what is wrong, fill in the rest.

It stores nothing. Invariant: what passes can be looked for; secrets in it are taken out first.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from agent.errors import UsageError
from agent.jobs.creation import MAIN, SESSION_PREFIX
from agent.protocol import WatcherCreate
from agent.records import (
    Condition,
    Evaluator,
    NotifyOn,
    Reaction,
    Watcher,
    WatcherStatus,
    WatcherType,
    WatchSchedule,
)
from agent.safety.redacting.redaction import redact_secrets
from agent.schedules import check_moment
from agent.sessions.registry.device_assignment import Assignment
from agent.sessions.rules.answers import checked_text
from agent.sessions.rules.creation import requested_id
from agent.text import clean, one_line
from agent.tools.direct import direct_call
from agent.watchers.rules import LONGEST_MS, SHORTEST_MS, usual_interval_ms
from agent.watchers.web import checked_url

T = TypeVar("T", Condition, Reaction)
MODES = ("notification", "silent")
PROMPT_LIMIT_CHARS = 4000
_TITLE_LIMIT_CHARS = 200
_TARGETS = (MAIN, "isolated")
_JUDGED = (WatcherType.WEB_CHANGE, WatcherType.NOTIFICATION, WatcherType.MESSAGE_REPLY)
"""What a model may judge: pages, notifications and messages."""


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
    target = checked_target(op.session_target)
    next_ms = schedule.next_run_at if op.watcher_type is WatcherType.TIME else now_ms

    def build(watcher_id: int) -> Watcher:
        return Watcher(
            id=watcher_id,
            type=op.watcher_type,
            title=title,
            condition_json=_builtins(condition),
            schedule_json=_builtins(schedule),
            session_target=target,
            delivery_json=_builtins(reaction),
            status=WatcherStatus.ACTIVE,
            last_result_hash="",
            failure_count=0,
            failure_alert_at=0,
            created_at=now_ms,
            updated_at=now_ms,
            next_run_at=next_ms,
            last_run_at=0,
            request=requested_id(op.request_id),
        )

    return build


def _condition(op: WatcherCreate, assignment: Assignment) -> Condition:
    if op.serial:
        if not op.watcher_type.is_on_a_phone:
            raise UsageError(
                f"A {op.watcher_type} watcher does not use a phone.",
                "Leave out `serial` (--device).",
            )
        assignment.check_known(op.serial)
    texts = tuple(one for one in (text.strip() for text in op.texts) if one)
    if any(not clean(text).strip() for text in texts):
        # It would be found in everything, or in nothing.
        raise UsageError("One of `texts` (--text) is only control characters.", "Write some words.")
    raw = Condition(
        serial=op.serial,
        package=op.package.strip(),
        sender=redact_secrets(op.sender.strip()),
        texts=tuple(redact_secrets(text) for text in texts),
        match_any=op.match_any,
        url=checked_url(op.url) if op.url else "",
        evaluator=op.evaluator,
        meaning=redact_secrets(op.meaning.strip()),
        notify_on=_outcome(op),
    )
    _check_condition(op.watcher_type, raw)
    if raw.notify_on.is_silence and not op.deadline_at:
        raise UsageError("The deadline for the answer is missing.", "Give `deadline_at` (--until).")
    return _converted(raw, Condition, "condition")


def _check_condition(kind: WatcherType, wanted: Condition) -> None:
    """Refuse what cannot be looked for. Raises UsageError naming the field and the option."""
    match kind:
        case WatcherType.MESSAGE_REPLY if not wanted.sender:
            raise UsageError("The sender to wait for is missing.", "Give `sender` (--from).")
        case WatcherType.SCREEN_TEXT if not wanted.texts:
            raise UsageError(
                "The text that the screen must show is missing.", "Give `texts` (--text)."
            )
        case WatcherType.CALL_BACK if wanted.texts or wanted.package:
            raise UsageError(
                "A call watcher takes no text and no app.",
                "Leave out `texts` (--text) and `package` (--app).",
            )
        case WatcherType.WEB_CHANGE if not wanted.url:
            raise UsageError("The page to watch is missing.", "Give its `url` (URL).")
        case WatcherType.WEB_CHANGE if (
            wanted.evaluator is Evaluator.TEXT_CONTAINS and not wanted.texts
        ):
            raise UsageError("The text to look for is missing.", "Give `texts` (--text).")
        case _:
            pass
    is_judged = wanted.evaluator is Evaluator.SEMANTIC_MATCH
    if is_judged != bool(wanted.meaning):
        raise UsageError(
            "semantic_match needs `meaning`, and no other evaluator takes it.",
            "Give `meaning` (--means) with the evaluator semantic_match, or neither.",
        )
    if is_judged and kind not in _JUDGED:
        raise UsageError(
            f"A {kind} watcher cannot use a meaning.",
            f"Use {', '.join(_JUDGED)}; or start a job that looks (--do).",
        )
    if is_judged and wanted.notify_on.is_silence:
        raise UsageError(
            "A missing message has no meaning to judge.", "Leave out `meaning` (--means)."
        )


def _outcome(op: WatcherCreate) -> NotifyOn:
    """Return which outcome counts, in the words of its type. Raises UsageError."""
    waits = op.notify_on
    match op.watcher_type:
        case WatcherType.CALL_BACK:
            return NotifyOn.NO_CALL if waits.is_silence else NotifyOn.CALL
        case WatcherType.MESSAGE_REPLY if waits in (NotifyOn.REPLY, NotifyOn.NO_REPLY):
            return waits
        case _ if waits is NotifyOn.REPLY:
            return waits
    raise UsageError(
        f"A {op.watcher_type} watcher cannot wait for {waits}.",
        "Only message_reply waits for reply or no_reply, and call_back for call or no_call.",
    )


def _schedule(op: WatcherCreate, now_ms: int) -> WatchSchedule:
    for name, at_ms in (("next_run_at", op.next_run_at), ("deadline_at", op.deadline_at)):
        check_moment(name, at_ms)
    if op.deadline_at and op.deadline_at <= now_ms:
        raise UsageError(
            "The deadline has already passed.", "Give a future `deadline_at` (--until)."
        )
    if op.interval_ms and not SHORTEST_MS <= op.interval_ms <= LONGEST_MS:
        raise UsageError(
            f"interval_ms is {op.interval_ms}.",
            f"Use {SHORTEST_MS:,} (--every 15s) to {LONGEST_MS:,} (1d), or 0 for the default.",
        )
    is_time = op.watcher_type is WatcherType.TIME
    if is_time and not op.next_run_at and not op.interval_ms:
        raise UsageError(
            "The time is missing.", "Give `next_run_at` (--at), `interval_ms` (--every) or both."
        )
    if op.next_run_at and not is_time:
        raise UsageError(
            f"A {op.watcher_type} watcher starts to look at once.",
            "Leave out `next_run_at` (--at), or start a job with `interval_ms` (--every).",
        )
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
    if op.tool and prompt:
        raise UsageError(
            "A match starts a job with a prompt or a tool call, not both.",
            "Give `prompt` (--do) or `tool` (--tool).",
        )
    if op.arguments and not op.tool:
        raise UsageError("The tool that the arguments are for is missing.", "Give `tool` (--tool).")
    if op.tool:
        direct_call(op.tool, op.arguments)
    raw = Reaction(
        mode=op.delivery_mode,
        notification_text=one_line(redact_secrets(op.notification_text), 400),
        prompt=prompt,
        tool=op.tool,
        arguments=redacted(op.arguments),
    )
    return _converted(raw, Reaction, "delivery")


def redacted(value: Any) -> Any:
    """Take the secrets out of every text of a JSON value."""
    match value:
        case str():
            return redact_secrets(value)
        case dict():
            return {name: redacted(one) for name, one in value.items()}
        case list() | tuple():
            return [redacted(one) for one in value]
        case _:
            return value


def checked_target(target: str) -> str:
    """Return where a match's job runs; no session is looked for. Raises UsageError."""
    named = target.startswith(SESSION_PREFIX) and len(target) > len(SESSION_PREFIX)
    if target in _TARGETS or named:
        return target
    raise UsageError(
        f"A watcher's job cannot run in session target {one_line(target, 80)!r}.",
        "Use isolated, main or session:ID (--target).",
    )


def _title(kind: WatcherType, condition: Condition) -> str:
    words = ", ".join(condition.texts)
    match kind:
        case WatcherType.TIME:
            return "A time"
        case WatcherType.NOTIFICATION:
            what = " ".join(filter(None, (words or condition.meaning, condition.package)))
            return one_line(f"Notification: {what or 'any'}", _TITLE_LIMIT_CHARS)
        case WatcherType.MESSAGE_REPLY:
            what = "No message" if condition.notify_on is NotifyOn.NO_REPLY else "Message"
            return one_line(f"{what} from {condition.sender}", _TITLE_LIMIT_CHARS)
        case WatcherType.CALL_BACK:
            what = "No call" if condition.notify_on is NotifyOn.NO_CALL else "Call"
            return one_line(f"{what} from {condition.sender or 'anybody'}", _TITLE_LIMIT_CHARS)
        case WatcherType.WEB_CHANGE:
            what = words or condition.meaning or condition.url
            return one_line(f"Page: {what}", _TITLE_LIMIT_CHARS)
        case WatcherType.SCREEN_TEXT:
            return one_line(f"Screen: {words}", _TITLE_LIMIT_CHARS)


def _converted(raw: T, kind: type[T], what: str) -> T:
    """Check the bounds that the types name. Raises UsageError."""
    try:
        return msgspec.json.decode(msgspec.json.encode(raw), type=kind)
    except UnicodeEncodeError as error:
        raise UsageError(
            f"The {what} contains half of a character.", "Write its texts again, in UTF-8."
        ) from error
    except msgspec.ValidationError as error:
        raise UsageError(
            f"The {what} cannot be used: {one_line(str(error), 200)}.", "Correct what it names."
        ) from error


def _builtins(struct: msgspec.Struct) -> dict[str, Any]:
    built = msgspec.to_builtins(struct)
    assert isinstance(built, dict), "a struct is an object"
    return built
