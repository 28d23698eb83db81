"""Rows of the history: stored sessions, and places that a search found.

Pure functions from records to rows. Invariant: a row's key names what is to be replayed, a session
or an event of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet

from agent.records import DeviceInfo, SearchHit, Session
from agent.text import one_line
from widgets import phrases, status
from widgets.parts import Parts
from widgets.row_list import Line, Row
from widgets.session_rows import device_name, session_title

_SNIPPET_CHARS = 300


def stored_rows(
    sessions: Iterable[Session],
    devices: Mapping[str, DeviceInfo],
    *,
    now_ms: int,
    asking: AbstractSet[str] = frozenset(),
    delegating: AbstractSet[str] = frozenset(),
    picked: str = "",
) -> list[Row]:
    """List sessions, a line each: how it stands, its title, its phone, its age.

    Args:
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
        count = session.last_step
        facts = [f"{count} step{'' if count == 1 else 's'}"] if count else []
        if session.serial:
            facts.append(device_name(session.serial, devices))
        right: Parts = (
            ("▣ picked  " if one == picked else "", "bold $ask"),
            (f"{' · '.join(facts)}  " if facts else "", "$muted"),
            (mark.word, mark.style),
            (f" {phrases.age(now_ms - session.created_ms):>4}", "$faint"),
        )
        rows.append(Row(session.session_id, (Line(left, right),)))
    return rows


def hit_rows(
    hits: Iterable[SearchHit], session_of: Callable[[str], Session | None], *, now_ms: int
) -> list[Row]:
    """List what was found: the text around it with the words marked, over the session it is in."""
    rows: list[Row] = []
    for hit in hits:
        session = session_of(hit.session_id)
        title = session_title(session) if session else hit.session_id
        age: Parts = ((phrases.age(now_ms - hit.ts_ms), "$faint"),)
        kind = one_line(hit.kind.replace("_", " "), 30)
        below: Parts = ((f"   {title}", "$muted"), (f" · {kind}", "$faint"))
        rows.append(Row(f"{hit.session_id}/{hit.seq}", (Line(_marked(hit), age), Line(below))))
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
