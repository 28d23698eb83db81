"""Rows of watchers and of commitments, and the detail of one of each.

Pure functions from records to rows. Invariant: columns line up at every width they fit; what a
phone or a page wrote is cleaned.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from agent.records import Commitment, Watcher, WatcherStatus, WatcherType
from agent.text import clean, one_line
from widgets.base import formatting, status
from widgets.base.rows import Line, Parts, Row
from widgets.lists import columns
from widgets.lists.columns import Column

_WIDE_FROM = 70
_KINDS = {
    WatcherType.TIME: "a time",
    WatcherType.NOTIFICATION: "notifications",
    WatcherType.MESSAGE_REPLY: "messages",
    WatcherType.CALL_BACK: "calls",
    WatcherType.WEB_CHANGE: "a page",
    WatcherType.SCREEN_TEXT: "a screen",
}


def watcher_heading(width: int) -> Parts:
    """Write the heading that stands over `watcher_rows`."""
    return columns.heading(_WATCHER_COLUMNS, width)


def _watcher_status(one: Watcher, now_ms: int) -> tuple[str, str]:
    mark = status.WATCHER[one.status]
    return f"{mark.glyph} {mark.word}", "$ask" if one.unread else mark.style


def _matches(one: Watcher, now_ms: int) -> tuple[str, str]:
    return str(one.fired_count or "·"), "$good" if one.fired_count else "$faint"


def _fails(one: Watcher, now_ms: int) -> tuple[str, str]:
    return str(one.failure_count or "·"), "$bad" if one.failure_count else "$faint"


_WATCHER_COLUMNS: tuple[Column[Watcher], ...] = (
    Column("status", ((0, 11),), _watcher_status),
    Column("looks at", ((0, 14),), lambda one, now_ms: (_KINDS[one.type], "$foreground")),
    Column("every", ((_WIDE_FROM, 8),), lambda one, now_ms: (_every(one.schedule_json), "$muted")),
    Column("found", ((_WIDE_FROM, 7),), _matches),
    Column("fails", ((_WIDE_FROM, 6),), _fails),
)


def watcher_rows(watchers: Iterable[Watcher], *, now_ms: int, width: int) -> list[Row]:
    """List watchers, one line each."""
    rows: list[Row] = []
    for one in watchers:
        cells = columns.cells(_WATCHER_COLUMNS, one, now_ms=now_ms, width=width)
        right: Parts = ()
        if width >= 100 and one.shortfall:
            right = ((one_line(one.shortfall, 60), "$bad"),)
        elif width >= 100 and one.last_result:
            right = ((one_line(one.last_result, 60), "$muted"),)
        rows.append(_row(one.id, cells, one.title, right))
    return rows


def watcher_detail(one: Watcher, now_ms: int) -> Parts:
    mark = status.WATCHER[one.status]
    facts = [
        ("status", f"{mark.glyph} {mark.word}", mark.style),
        ("number", str(one.id), "$foreground"),
        ("looks at", _KINDS[one.type], "$foreground"),
        *((name, value, "$foreground") for name, value in _wanted(one.condition_json)),
        ("next look", _wake(one, now_ms), "$foreground"),
        ("every", _every(one.schedule_json), "$foreground"),
        ("again", "yes" if one.schedule_json.get("recurring") else "once", "$foreground"),
        ("until", _moment(one.schedule_json.get("deadline_at")), "$foreground"),
        ("found", f"{one.fired_count}, {_ago(one.fired_at, now_ms)}", "$foreground"),
        ("failures", str(one.failure_count), "$bad" if one.failure_count else "$foreground"),
        *((("not read", one.shortfall, "$bad"),) if one.shortfall else ()),
        ("last job", str(one.job_id or "—"), "$foreground"),
    ]
    prompt = one.delivery_json.get("prompt", "")
    tool = one.delivery_json.get("tool", "")
    if isinstance(tool, str) and tool:
        prompt = f"call {one_line(tool, 100)} with {one.delivery_json.get('arguments', {})}"
    return (
        *_facts(one.title, facts),
        *_passage("what a match starts", prompt if isinstance(prompt, str) else ""),
        *_passage("last result", one.last_result),
    )


def commitment_heading(width: int) -> Parts:
    """Write the heading that stands over `commitment_rows`."""
    return columns.heading(_COMMITMENT_COLUMNS, width)


def _commitment_status(one: Commitment, now_ms: int) -> tuple[str, str]:
    mark = status.COMMITMENT[one.status]
    return f"{mark.glyph} {mark.word}", mark.style


_COMMITMENT_COLUMNS: tuple[Column[Commitment], ...] = (
    Column("status", ((0, 12),), _commitment_status),
    Column("due", ((0, 13),), lambda one, now_ms: (_due(one, now_ms), "$foreground")),
)


def commitment_rows(commitments: Iterable[Commitment], *, now_ms: int, width: int) -> list[Row]:
    """List commitments, one line each."""
    rows: list[Row] = []
    for one in commitments:
        cells = columns.cells(_COMMITMENT_COLUMNS, one, now_ms=now_ms, width=width)
        right: Parts = ()
        if width >= 100 and one.description:
            right = ((one_line(one.description, 60), "$muted"),)
        rows.append(_row(one.id, cells, one.title, right))
    return rows


def commitment_detail(one: Commitment, now_ms: int) -> Parts:
    mark = status.COMMITMENT[one.status]
    facts = [
        ("status", f"{mark.glyph} {mark.word}", mark.style),
        ("number", str(one.id), "$foreground"),
        ("due", _due(one, now_ms), "$foreground"),
        ("at", _moment(one.due_at), "$foreground"),
        ("expires", _moment(one.expires_at), "$foreground"),
        ("sure", f"{one.confidence:.0%}", "$foreground"),
        ("created", _ago(one.created_at, now_ms), "$foreground"),
    ]
    said = "\n".join(f"{name}: {value}" for name, value in one.evidence_json.items())
    return (
        *_facts(one.title, facts),
        *_passage("description", one.description),
        *_passage("evidence", said),
    )


# --- pieces ----------


def _row(number: int, cells: Parts, title: str, right: Parts) -> Row:
    titled: Parts = (*cells, (one_line(title, 200), "$foreground"))
    return Row(str(number), (Line(titled, right),))


def _facts(title: str, facts: Iterable[tuple[str, str, str]]) -> Parts:
    parts: list[tuple[str, str]] = [(one_line(title, 200) + "\n\n", "bold $foreground")]
    for name, value, style in facts:
        parts += [(f"{name:<10}", "$faint"), (f"{value}\n", style)]
    return tuple(parts)


def _passage(name: str, text: str) -> Parts:
    if not text:
        return ()
    return ((f"\n{name}\n", "$faint"), (clean(text, 2_000) + "\n", "$foreground"))


def _wanted(condition: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what is looked for, in the words of the form."""
    said: list[tuple[str, str]] = []
    for key, name in (("serial", "phone"), ("package", "app"), ("sender", "from"), ("url", "page")):
        if condition.get(key):
            said.append((name, one_line(str(condition[key]), 120)))
    texts = condition.get("texts")
    if isinstance(texts, list | tuple) and texts:
        joined = " or " if condition.get("match_any") else " and "
        said.append(("words", one_line(joined.join(str(text) for text in texts), 200)))
    if condition.get("meaning"):
        said.append(("meaning", one_line(str(condition["meaning"]), 200)))
    silence = {"no_reply": "no message comes", "no_call": "no call comes"}
    if condition.get("notify_on") in silence:
        said.append(("when", silence[str(condition["notify_on"])]))
    return said


def _every(schedule: Mapping[str, Any]) -> str:
    every = schedule.get("interval_ms", 0)
    return formatting.interval(every if isinstance(every, int) else 0)


def _wake(one: Watcher, now_ms: int) -> str:
    if one.status is not WatcherStatus.ACTIVE:
        return "—"
    # Quiet looks are not stored, so a time that has passed is not late.
    left = one.next_run_at - now_ms
    return f"in {formatting.countdown(left)}" if left > 0 else "as its interval says"


def _due(one: Commitment, now_ms: int) -> str:
    if one.status.is_over or not one.due_at:
        return "—"
    left = one.due_at - now_ms
    return f"in {formatting.countdown(left)}" if left > 0 else f"{formatting.age(-left)} ago"


def _moment(at_ms: object) -> str:
    if not isinstance(at_ms, int) or at_ms <= 0:
        return "—"
    try:
        return f"{datetime.fromtimestamp(at_ms / 1000).astimezone():%Y-%m-%d %H:%M}"
    except (OverflowError, OSError, ValueError):
        return "—"


def _ago(at_ms: int, now_ms: int) -> str:
    return formatting.ago(now_ms - at_ms) if at_ms else "never"
