"""Rows of the attention queue: what decides stands first, in the width that there is. Pure.

Invariants: what needs a person reads without colour; the phone and the time that is left are never
cut away.
"""

from collections.abc import Sequence

from rich.cells import cell_len

from agent.records import Question, Speaker
from agent.state.reducer import Attention, AttentionKind, State
from agent.text import counted, one_line
from widgets.attention.alike import Alike, grouped
from widgets.attention.line_split import split
from widgets.base import formatting, status
from widgets.base.effect_parts import effect_parts
from widgets.base.header_line import cut_middle
from widgets.base.rows import Line, Parts, Row
from widgets.lists.session_rows import device_name, phone_asked_about, session_title

ASKING = "May I do this?"
"""How an approval begins; where there is little room its mark says as much."""
OPTION = "$ask"
"""The style of an option's part."""
_UNKNOWN_WIDTH = 1_000
_ROOMY = 44  # Cells from which the time that is left is said in words.
_MOST_LINES = 3
"""How many lines what is asked may take where the row is the one that is read; else two."""
_NAMED = 6  # How many phones of a group are named.


def attention_rows(
    waiting: Sequence[Attention],
    state: State,
    *,
    now_ms: int,
    width: int = 0,
    most: int = 0,
    open_key: str = "",
) -> list[Row]:
    """List what waits for the operator, the most urgent first, with what fails alike as one row.

    Args:
        waiting: what waits.
        state: the picture.
        now_ms: the present, for ages.
        width: cells of a line; 0 = not known.
        most: lines that there is room for; of more, each row but one takes one line; 0 = any.
        open_key: the row that is read.
    """
    listed = grouped(waiting, state)
    rows = _Rows(state, now_ms, width or _UNKNOWN_WIDTH)
    if not most or 2 * len(listed) <= most:
        full = [rows.row(one, lines=2) for one in listed]
        if not most or sum(len(row.lines) for row in full) <= most:
            return full
    return [rows.row(one, lines=_MOST_LINES if one.key == open_key else 0) for one in listed]


class _Rows:
    """Writes rows of one width at one time."""

    def __init__(self, state: State, now_ms: int, width: int) -> None:
        self._state = state
        self._now_ms = now_ms
        self._width = width

    def row(self, one: Attention | Alike, *, lines: int) -> Row:
        """Write a row; with 0 lines on one, else with what is asked on as many at most."""
        head = self._group_head(one) if isinstance(one, Alike) else self._head(one)
        beside = self._phones(one) if isinstance(one, Alike) else self._session(one)
        between: Parts = ((" · ", "$muted"), *beside) if beside else ()
        if not lines:
            # One line: which session it is tells more than how long it waits.
            return Row(one.key, (Line((*head.left, *between), head.right),))
        asked = self._wrapped(head, lines)
        if isinstance(one, Alike):
            return Row(one.key, (*asked, Line((("  ", ""), *beside))))
        below = _choices(one.question)
        if not below:
            mark = status.ATTENTION[one.kind]
            below = (("  ", ""), (mark.word, mark.style))
        return Row(one.key, (*asked, Line((*below, *between))))

    def _head(self, one: Attention) -> Line:
        mark = status.ATTENTION[one.kind]
        left: Parts = ((f"{mark.glyph} ", mark.style),)
        name = self._phone(one)
        if one.kind is AttentionKind.DEVICE:
            left = (*left, (f"{name} ", "$muted"))
            name = ""
        phone: Parts = (
            ((f"{cut_middle(name, max(8, self._width * 2 // 5))} ", "$muted"),) if name else ()
        )
        return Line((*left, *self._matter(one)), (*phone, *self._time(one)))

    def _matter(self, one: Attention) -> Parts:
        """Return what is asked, or what has happened."""
        question = one.question
        text = one_line(one.text, 400)
        if question is not None and one.kind is AttentionKind.APPROVAL:
            effect = question.subject.effect if question.subject is not None else None
            # The mark says that it is asked; there is room for little more than what is.
            plain: Parts = ((text.removeprefix(ASKING).strip() or text, "$foreground"),)
            asked = effect_parts(effect) if effect is not None else plain
            if question.people > 1:
                count = f" ({len(question.yes_by)} of {question.people} approved)"
                asked = (*asked, (count, "$warn"))
            return asked
        if question is not None and question.speaker is not Speaker.PRODUCT:
            # As short: a row has room for few words.
            who = "agent" if question.speaker is Speaker.MODEL else question.speaker.value
            text = f"{who}: {one_line(question.text, 400)}"
        elif one.kind is AttentionKind.LOST:
            text = f"{device_name(one.serial, self._state.devices) or 'The phone'} is away"
        return ((text, "$foreground"),)

    def _phone(self, one: Attention) -> str:
        """Name the phone, where what is asked does not: sessions of one goal ask the same."""
        devices = self._state.devices
        if one.kind is AttentionKind.LOST:
            return ""
        view = self._state.sessions.get(one.session_id)
        serial = one.serial or (view.session.serial if view else "")
        return phone_asked_about(one.question, devices) or (
            device_name(serial, devices) if serial else ""
        )

    def _time(self, one: Attention) -> Parts:
        until_ms = one.until_ms or (one.question.deadline_ms if one.question else 0)
        if until_ms:
            left = " left" if self._width >= _ROOMY else ""
            return ((f"{formatting.time_left(until_ms - self._now_ms)}{left}", "$warn"),)
        if one.since_ms:
            return ((formatting.age(self._now_ms - one.since_ms), "$faint"),)
        return ()

    def _session(self, one: Attention) -> Parts:
        """Return what it is of: its session, or what is known instead of one."""
        if one.kind is AttentionKind.DEVICE:
            return ()
        view = self._state.sessions.get(one.session_id)
        title = session_title(view.session) if view else ""
        where = one_line(one.about, 80) or title or device_name(one.serial, self._state.devices)
        return ((where, "$muted"),) if where else ()

    def _group_head(self, group: Alike) -> Line:
        mark = status.ATTENTION[group.kind]
        count = len(group.members)
        match group.kind:
            case AttentionKind.FAILED:
                said = f"{counted(count, 'session')} failed"
            case AttentionKind.LOST:
                said = f"{counted(count, 'phone')} away"
            case _:
                said = counted(count, "phone")
        cause = ""
        if group.cause:
            cause = f" {group.cause}" if group.kind is AttentionKind.DEVICE else f": {group.cause}"
        newest_ms = max(one.since_ms for one in group.members)
        age: Parts = ((formatting.age(self._now_ms - newest_ms), "$faint"),) if newest_ms else ()
        left = ((f"{mark.glyph} ", mark.style), (said, "bold $foreground"), (cause, "$foreground"))
        return Line(left, age)

    def _phones(self, group: Alike) -> Parts:
        names: dict[str, None] = {}
        for one in group.members:
            if one.serial:
                names[device_name(one.serial, self._state.devices)] = None
        named = list(names)[:_NAMED]
        more = f" and {len(names) - len(named)} more" if len(names) > len(named) else ""
        return ((", ".join(named) + more, "$muted"),) if named else ()

    def _wrapped(self, head: Line, lines: int) -> tuple[Line, ...]:
        """Return what is asked on so many lines at most; the last one may be cut."""
        right = sum(cell_len(text) for text, _ in head.right)
        found: list[Line] = []
        left, room = head.left, self._width - right - bool(right)
        while left and len(found) < lines:
            is_last = len(found) == lines - 1
            here, rest = (left, ()) if is_last else split(left, room)
            found.append(Line(here, () if found else head.right))
            left, room = ((("  ", ""), *rest) if rest else ()), self._width
        return tuple(found)


def _choices(question: Question | None) -> Parts:
    """Return the options of a question, each with the number that chooses it."""
    choices: list[tuple[str, str]] = []
    if question is not None:
        for number, option in enumerate(question.options[:9], 1):
            words = one_line(formatting.option_words(question, option), 24)
            choices += [("  ", ""), (f"{number} {words}", OPTION)]
    return tuple(choices)
