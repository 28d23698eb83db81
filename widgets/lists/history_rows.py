"""Rows of the history: stored sessions, and places that a search found.

Pure functions from records to rows. Invariant: a row's key names what is to be replayed, a session
or an event of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime

from textual.content import Content

from agent.records import DeviceInfo, SearchHit, Session, SessionState, VerifiedBy
from agent.text import one_line
from widgets.base import formatting, status
from widgets.base.rich_parts import Parts, steady
from widgets.base.row_list import Line, Row
from widgets.lists.session_rows import device_name, session_title

_SNIPPET_CHARS = 300
COLUMNS_FROM = 130
"""Columns from which on facts stand in columns of their own."""
_SIZES = (16, 16, 8, 10, 7)
"""Cells of phone, model, steps, tokens and money."""
_OUTCOME, _WHEN = 26, 12
_KIND_CELLS = 11
_KINDS = {
    "session_configured": "goal",
    "user_message": "you wrote",
    "agent_message": "it said",
    "result_published": "result",
    "task_complete": "it ended",
    "tool_call_requested": "it did",
    "tool_call_finished": "came of it",
    "request_user_input": "it asked",
    "question_answered": "answer",
    "question_closed": "no answer",
    "session_state_changed": "ended",
    "error": "error",
    "warning": "warning",
    "plan_update": "plan",
    "facts_update": "it noted",
    "session_assigned": "phone",
}
"""What each kind of event is to a reader."""


def stored_rows(
    sessions: Iterable[Session],
    devices: Mapping[str, DeviceInfo],
    *,
    now_ms: int,
    width: int,
    asking: AbstractSet[str] = frozenset(),
    delegating: AbstractSet[str] = frozenset(),
    picked: str = "",
) -> list[Row]:
    """List sessions: how each stands, its title, and its facts in columns or on a second line.

    Args:
        width: columns that a row may take.
        asking: ids of the sessions that have an open question.
        delegating: ids of the sessions that have a child at work.
        picked: the session that another is to be compared with.
    """
    rows: list[Row] = []
    for session in sessions:
        one = session.session_id
        mark = status.of_session(session, asks=one in asking, delegates=one in delegating)
        left: Parts = (
            (f" {mark.glyph} ", mark.style),
            (session_title(session), "$foreground"),
        )
        facts = _facts(session, devices)
        outcome = _outcome(session, mark)
        when = moment(session.created_ms, now_ms)
        chosen: Parts = (("▣ picked  ", "bold $ask"),) if one == picked else ()
        if width >= COLUMNS_FROM:
            in_columns = "".join(_cell(*one) for one in zip(facts, _SIZES, strict=True))
            right: Parts = (
                *chosen,
                (in_columns, "$muted"),
                (_cell(outcome, _OUTCOME), mark.style),
                (f"{when:>{_WHEN}}", "$faint"),
            )
            rows.append(Row(one, (Line(left, right),)))
            continue
        said = " · ".join(filter(None, facts))
        below: Parts = (
            (f"   {outcome}", mark.style),
            (f" · {said}" if said else "", "$muted"),
        )
        rows.append(Row(one, (Line(left, (*chosen, (when, "$faint"))), Line(below))))
    return rows


def column_titles(width: int) -> Parts:
    """Name the columns of `stored_rows`; nothing where there are none."""
    if width < COLUMNS_FROM:
        return ()
    titles = zip(("phone", "model", "steps", "tokens", "cost"), _SIZES, strict=True)
    named = "".join(_cell(title, size) for title, size in titles)
    return ((f"{named}{_cell('outcome', _OUTCOME)}{'began':>{_WHEN}}", "$faint"),)


def _facts(session: Session, devices: Mapping[str, DeviceInfo]) -> tuple[str, str, str, str, str]:
    """Return phone, model, steps, tokens and money; empty what there is none of."""
    usage = session.usage
    used = usage.input_tokens + usage.output_tokens
    count = session.last_step
    return (
        device_name(session.serial, devices) if session.serial else "",
        one_line(session.model.rpartition("/")[2], 40),
        f"{count} step{'' if count == 1 else 's'}" if count else "",
        f"{formatting.tokens(used)} tok" if used else "",
        formatting.money(usage.cost_usd) if usage.cost_usd else "",
    )


def _outcome(session: Session, mark: status.Mark) -> str:
    """Say how it ended and who says so, and what is no longer stored of it."""
    words = mark.word
    judged = session.verified_by is not VerifiedBy.NOBODY
    if session.state is SessionState.COMPLETED and judged:
        who = "you" if session.verified_by is VerifiedBy.OPERATOR else session.verified_by.value
        words = f"{words}, says {who}"
    if session.kept:
        return f"{words} · kept"
    return f"{words} · no pictures" if session.pruned else words


def moment(at_ms: int, now_ms: int) -> str:
    """Say when something was in local time: 14:05 today, Nov 20 14:05 this year, else the date."""
    at, now = (datetime.fromtimestamp(ms / 1000, UTC).astimezone() for ms in (at_ms, now_ms))
    if at.date() == now.date():
        return f"{at:%H:%M}"
    return f"{at:%b} {at.day} {at:%H:%M}" if at.year == now.year else f"{at:%Y-%m-%d}"


def _cell(text: str, size: int) -> str:
    """Fit a text into a column and the space behind it."""
    cut = Content(steady(text)).truncate(size, ellipsis=True)
    return cut.plain + " " * (size + 2 - cut.cell_length)


def hit_rows(
    hits: Iterable[SearchHit], session_of: Callable[[str], Session | None], *, now_ms: int
) -> list[Row]:
    """List what was found, by session: its title, then the places in it with the words marked.

    Sessions come in the order of their newest hit, which stands under the title. A row is keyed by
    `id/seq`.
    """
    found: dict[str, list[SearchHit]] = {}
    for hit in hits:
        found.setdefault(hit.session_id, []).append(hit)
    rows: list[Row] = []
    for session_id, places in found.items():
        session = session_of(session_id)
        mark = status.of_session(session) if session is not None else None
        left: Parts = (
            (f" {mark.glyph if mark else ' '} ", mark.style if mark else "$muted"),
            (session_title(session) if session else session_id, "bold $foreground"),
        )
        count = f"{len(places)} place{'' if len(places) == 1 else 's'}"
        when = moment(session.created_ms if session else places[0].ts_ms, now_ms)
        right: Parts = ((f"{count}  ", "$muted"), (when, "$faint"))
        title: tuple[Line, ...] = (Line(left, right),)
        for hit in places:
            kind = _KINDS.get(hit.kind, one_line(hit.kind.replace("_", " "), 30))
            lead: Parts = ((f"     {kind:<{_KIND_CELLS}}", "$faint"),)
            place = Line((*lead, *_marked(hit)))
            rows.append(Row(f"{hit.session_id}/{hit.seq}", (*title, place)))
            title = ()
    return rows


def _marked(hit: SearchHit) -> Parts:
    parts: list[tuple[str, str]] = [(" ", "")]
    at = 0
    for start, end in hit.matches:
        if at <= start < end <= len(hit.snippet):
            parts += [
                (_clean(hit.snippet[at:start]), "$foreground"),
                (_clean(hit.snippet[start:end]), "bold $ask"),
            ]
            at = end
    parts.append((_clean(hit.snippet[at:]), "$foreground"))
    return tuple(parts)


def _clean(text: str) -> str:
    """Clean a piece without losing the spaces at its ends."""
    lead = " " if text[:1].isspace() else ""
    tail = " " if len(text) > 1 and text[-1:].isspace() else ""
    return f"{lead}{one_line(text, _SNIPPET_CHARS)}{tail}"
