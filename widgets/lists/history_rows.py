"""Rows of the history: stored sessions, and places that a search found.

Pure functions from records to rows. Invariant: a row's key names what is to be replayed, a session
or an event of one.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime

from agent.records import DeviceInfo, SearchHit, Session, SessionState, VerifiedBy
from agent.state.device_names import device_names
from agent.text import one_line
from widgets.base import formatting, status
from widgets.base.rows import Line, Parts, Row
from widgets.lists.columns import Cells, fit, size_at
from widgets.lists.session_rows import device_name, session_title

_SNIPPET_CHARS = 300
COLUMNS_FROM = 130
"""Columns from which on facts stand in columns of their own."""
_WHEN, _GAP = 12, 2
_OUTCOME = ((0, 28), (150, 30), (180, 34), (200, 42))
"""Cells of the outcome from which width on; the widest has room for who verified a result and what
is gone of it."""
_KIND_CELLS = 11
_WORKED = re.compile(r"(?:OK|RESOLVED): ?")
"""How the loop begins what it tells the model of a call that worked."""
_CODED = re.compile(r"\bin_progress\b")
_KINDS = {
    "session_configured": "goal",
    "user_message": "you wrote",
    "agent_message": "model",
    "result_published": "result",
    "task_complete": "turn ended",
    "tool_call_requested": "action",
    "tool_call_finished": "outcome",
    "request_user_input": "question",
    "question_answered": "answer",
    "question_closed": "no answer",
    "session_state_changed": "ended",
    "error": "error",
    "warning": "warning",
    "plan_update": "plan",
    "facts_update": "fact noted",
    "session_assigned": "phone",
}
"""What each kind of event is to a reader."""


class StoredRows:
    """The rows of one list as they were made last: of many, few change at once."""

    def __init__(self) -> None:
        self._made_for: tuple[object, ...] = ()
        self._rows: dict[str, tuple[Session, tuple[str, bool, bool, bool], Row]] = {}

    def show(
        self,
        sessions: Iterable[Session],
        devices: Mapping[str, DeviceInfo],
        *,
        now_ms: int,
        width: int,
        asking: AbstractSet[str],
        delegating: AbstractSet[str],
        picked: str,
    ) -> list[Row]:
        """List sessions: how each stands, its title, and its facts in columns or on a second line.

        Args:
            width: columns that a row may take.
            asking: ids of the sessions that have an open question.
            delegating: ids of the sessions that have a child at work.
            picked: the session that another is to be compared with.
        """
        made_for = device_names(devices), width
        if made_for != self._made_for:
            self._made_for, self._rows = made_for, {}
        rows: list[Row] = []
        for session in sessions:
            one = session.session_id
            when = moment(session.created_ms, now_ms)
            alike = when, one in asking, one in delegating, one == picked
            made = self._rows.get(one)
            if made is None or made[0] is not session or made[1] != alike:
                mark = status.of_session(session, asks=alike[1], delegates=alike[2])
                row = _stored_row(session, devices, mark, when, width, is_picked=alike[3])
                made = self._rows[one] = session, alike, row
            rows.append(made[2])
        return rows


def _stored_row(
    session: Session,
    devices: Mapping[str, DeviceInfo],
    mark: status.Mark,
    when: str,
    width: int,
    *,
    is_picked: bool,
) -> Row:
    one = session.session_id
    left: Parts = ((f" {mark.glyph} ", mark.style), (session_title(session), "$foreground"))
    facts = tuple(text(session, devices) for _, _, text in _FACTS)
    outcome = _outcome(session, mark)
    chosen: Parts = (("▣ picked  ", "bold $ask"),) if is_picked else ()
    if width >= COLUMNS_FROM:
        in_columns = "".join(
            fit(fact, size, _GAP)
            for fact, (_, cells, _) in zip(facts, _FACTS, strict=True)
            if (size := size_at(cells, width))
        )
        right: Parts = (
            *chosen,
            (in_columns, "$muted"),
            (fit(outcome, size_at(_OUTCOME, width), _GAP), mark.style),
            (f"{when:>{_WHEN}}", "$faint"),
        )
        return Row(one, (Line(left, right),))
    said = " · ".join(filter(None, facts))
    below: Parts = ((f"   {outcome}", mark.style), (f" · {said}" if said else "", "$muted"))
    return Row(one, (Line(left, (*chosen, (when, "$faint"))), Line(below)))


def column_titles(width: int) -> Parts:
    """Name the columns of `StoredRows`; nothing where there are none."""
    if width < COLUMNS_FROM:
        return ()
    sizes = ((title, size_at(cells, width)) for title, cells, _ in _FACTS)
    named = "".join(fit(title, size, _GAP) for title, size in sizes if size)
    return (
        (f"{named}{fit('outcome', size_at(_OUTCOME, width), _GAP)}{'began':>{_WHEN}}", "$faint"),
    )


_Devices = Mapping[str, DeviceInfo]


def _phone(session: Session, devices: _Devices) -> str:
    return device_name(session.serial, devices) if session.serial else ""


def _steps(session: Session, devices: _Devices) -> str:
    count = session.last_step
    return f"{count} step{'' if count == 1 else 's'}" if count else ""


def _tokens(session: Session, devices: _Devices) -> str:
    used = session.usage.input_tokens + session.usage.output_tokens
    return f"{formatting.tokens(used)} tok" if used else ""


def _cost(session: Session, devices: _Devices) -> str:
    return formatting.money(session.usage.cost_usd) if session.usage.cost_usd else ""


_FACTS: tuple[tuple[str, Cells, Callable[[Session, _Devices], str]], ...] = (
    ("phone", ((0, 16), (180, 18)), _phone),
    (
        "model",
        ((150, 16), (180, 18)),
        lambda session, devices: one_line(session.model.rpartition("/")[2], 40),
    ),
    ("steps", ((0, 10),), _steps),
    ("tokens", ((180, 12),), _tokens),
    ("cost", ((0, 9),), _cost),
)
"""The facts of a session: name, cells, and what there is to say; empty where there is nothing.

The goal keeps 50 cells: on narrower lists the facts that say least of a session are left out, and
on two lines there is room for all of them.
"""


_WHO = {
    VerifiedBy.VERIFIER: "a model",
    VerifiedBy.EFFECTS: "effects",
    VerifiedBy.RULES: "rules",
    VerifiedBy.CHECKER: "checker",
    VerifiedBy.OPERATOR: "you",
}


def _outcome(session: Session, mark: status.Mark) -> str:
    """Return how it ended, what is stored of it, and who verified it."""
    judged = session.verified_by is not VerifiedBy.NOBODY
    done = session.state is SessionState.COMPLETED and judged
    stored = "kept" if session.kept else "no pictures" if session.pruned else ""
    # What a narrow column cuts off is what matters least.
    who = f"verified by {_WHO[session.verified_by]}" if done else ""
    if stored:
        return " · ".join(filter(None, (mark.word, stored, who)))
    return ", ".join(filter(None, (mark.word, who)))


def moment(at_ms: int, now_ms: int) -> str:
    """Return a local time: 14:05 today, Nov 20 14:05 this year, else the date."""
    at, now = (datetime.fromtimestamp(ms / 1000, UTC).astimezone() for ms in (at_ms, now_ms))
    if at.date() == now.date():
        return f"{at:%H:%M}"
    return f"{at:%b} {at.day} {at:%H:%M}" if at.year == now.year else f"{at:%Y-%m-%d}"


_BEST = 2  # How many places of a session are shown before it is unfolded.
_WEIGHT = {
    kind: weight
    for weight, kind in enumerate(
        (
            "result_published",
            "user_message",
            "session_configured",
            "question_answered",
            "request_user_input",
            "error",
            "agent_message",
            "facts_update",
        )
    )
}
"""What says most of a session, first; what was done to reach it says less."""


def hit_rows(
    hits: Iterable[SearchHit],
    session_of: Callable[[str], Session | None],
    *,
    now_ms: int,
    asking: AbstractSet[str] = frozenset(),
    unfolded: AbstractSet[str] = frozenset(),
) -> list[Row]:
    """List what was found: a row for each session, its title and the two places that say most.

    Sessions come in the order of their newest hit. A row is keyed by `id/seq` of its best place. An
    unfolded session has a row for each of its other places below it.

    Args:
        asking: ids of the sessions that have an open question.
        unfolded: ids of the sessions whose places are all shown.
    """
    found: dict[str, list[SearchHit]] = {}
    for hit in hits:
        found.setdefault(hit.session_id, []).append(hit)
    rows: list[Row] = []
    for session_id, places in found.items():
        session = session_of(session_id)
        asks = session_id in asking
        mark = status.of_session(session, asks=asks) if session is not None else None
        is_open = session_id in unfolded
        fold = "" if len(places) <= _BEST else "▾ " if is_open else "▸ "
        left: Parts = (
            (f" {mark.glyph if mark else ' '} ", mark.style if mark else "$muted"),
            (fold, "$muted"),
            (session_title(session) if session else session_id, "bold $foreground"),
        )
        count = f"{len(places)} match{'' if len(places) == 1 else 'es'}"
        when = moment(session.created_ms if session else places[0].ts_ms, now_ms)
        right: Parts = ((f"{count}  ", "$muted"), (when, "$faint"))
        best, *others = sorted(places, key=_says_least)
        shown = [best] if is_open else [best, *others[: _BEST - 1]]
        lines = (Line(left, right), *(_place(hit) for hit in shown))
        rows.append(Row(f"{session_id}/{best.seq}", lines))
        if is_open:
            rows += [
                Row(f"{session_id}/{hit.seq}", (_place(hit),)) for hit in places if hit is not best
            ]
    return rows


def _says_least(hit: SearchHit) -> tuple[int, int, int]:
    """Return what places of a session are ordered by: many words, then what kind, then new."""
    words = {hit.snippet[start:end].casefold() for start, end in hit.matches}
    return -len(words), _WEIGHT.get(hit.kind, len(_WEIGHT)), -hit.seq


def _place(hit: SearchHit) -> Line:
    kind = _KINDS.get(hit.kind, one_line(hit.kind.replace("_", " "), 30))
    lead: Parts = ((f"     {kind:<{_KIND_CELLS}}", "$faint"),)
    return Line((*lead, *_marked(hit)))


def _marked(hit: SearchHit) -> Parts:
    """Write a place with its matches marked, without what only a program reads in it."""
    parts: list[tuple[str, str]] = [(" ", "")]
    # Letter for letter, so that the matches stay where they are.
    text = _CODED.sub(lambda found: found[0].replace("_", " "), hit.snippet)
    worked = _WORKED.match(text)
    at = worked.end() if worked is not None else 0
    half = len(text) // 2
    # The index holds a title and a goal, which are often the same.
    text = text[:half] if len(text) % 2 and text[:half] == text[half + 1 :] else text
    for start, end in hit.matches:
        if at <= start < end <= len(text):
            parts += [
                (_clean(text[at:start]), "$foreground"),
                (_clean(text[start:end]), "bold $ask"),
            ]
            at = end
    parts.append((_clean(text[at:]), "$foreground"))
    return tuple(parts)


def _clean(text: str) -> str:
    """Clean a piece without losing the spaces at its ends."""
    lead = " " if text[:1].isspace() else ""
    tail = " " if len(text) > 1 and text[-1:].isspace() else ""
    return f"{lead}{one_line(text, _SNIPPET_CHARS)}{tail}"
