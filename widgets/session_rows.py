"""Rows of the session tree and of the attention queue.

Pure functions from the picture to rows. Invariant: what needs a person reads without colour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from agent.records import DeviceInfo, DeviceState, Session
from agent.state import Attention, AttentionKind, SessionView, State, tree
from agent.text import one_line
from widgets import phrases, status
from widgets.parts import Parts
from widgets.row_list import Line, Row

ASKING = "May I do this?"
"""How an approval begins; where there is little room its mark says as much."""


def session_title(session: Session) -> str:
    """Name a session: its title, or its goal."""
    return one_line(session.title or session.goal, 160) or session.session_id


def step_words(view: SessionView) -> list[str]:
    """Say how far a session is: the step as the transcript numbers it, then what it counts.

    Not every step counts against the budget, so the two numbers differ.
    """
    session = view.session
    words = [f"step {view.step}"] if view.step else []
    if session.steps or view.step:
        words.append(f"{session.steps} of {session.max_steps} counted")
    return words


def device_name(serial: str, devices: Mapping[str, DeviceInfo]) -> str:
    """Name a device shortly: as the operator calls it, else by its model, with the end of its
    serial where several are alike.
    """
    device = devices.get(serial)
    if device is None:
        return one_line(serial, 24)
    if device.name:
        return one_line(device.name, 24)
    kind = "virtual" if device.virtual else device.model
    same = [d for d in devices.values() if (d.model, d.virtual) == (device.model, device.virtual)]
    if not kind:
        return one_line(serial, 24)
    if len(same) == 1:
        return one_line(kind, 24)
    # Of several alike the end of the serial tells which: a port, or the last of a serial number.
    return f"{one_line(kind, 18)} {one_line(serial)[-5:].rpartition(':')[2]}"


def session_rows(
    state: State,
    *,
    now_ms: int,
    asking: AbstractSet[str],
    folded: AbstractSet[str] = frozenset(),
    wanted: str = "",
) -> list[Row]:
    """List sessions as a tree.

    Args:
        state: the picture.
        now_ms: the present, for ages.
        asking: ids of the sessions that have an open question.
        folded: ids of the sessions whose children are hidden.
        wanted: a filter on title, goal, device and state; empty shows all.
    """
    rows: list[Row] = []
    hidden_below = -1
    parents = {view.session.parent_id for view in state.sessions.values()}
    at_work = delegating(state)
    for depth, view in tree(state):
        session = view.session
        if hidden_below >= 0 and depth > hidden_below:
            continue
        hidden_below = depth if session.session_id in folded else -1
        if wanted and not _matches(view, wanted, state):
            continue
        branch = ""
        if session.session_id in parents:
            branch = "▸ " if session.session_id in folded else "▾ "
        rows.append(
            _session_row(
                view,
                state,
                lead="  " * depth + branch,
                now_ms=now_ms,
                asks=session.session_id in asking,
                delegates=session.session_id in at_work,
                is_news=session.session_id in state.notices,
            )
        )
    return rows


def delegating(state: State) -> frozenset[str]:
    """Name the sessions that have a child which has not ended."""
    return frozenset(
        view.session.parent_id
        for view in state.sessions.values()
        if view.session.parent_id and not view.session.state.is_terminal
    )


def _matches(view: SessionView, wanted: str, state: State) -> bool:
    session = view.session
    mark = status.of_session(session)
    device = device_name(session.serial, state.devices)
    known = state.devices.get(session.serial)
    tags = " ".join(known.tags) if known else ""
    hay = f"{session.title} {session.goal} {session.serial} {device} {tags} {mark.word}"
    return all(word in hay.casefold() for word in wanted.casefold().split())


def _session_row(
    view: SessionView,
    state: State,
    *,
    lead: str,
    now_ms: int,
    asks: bool,
    delegates: bool,
    is_news: bool = False,
) -> Row:
    session = view.session
    mark = status.of_session(session, asks=asks, delegates=delegates)
    title = session_title(session)
    ended = session.state.is_terminal
    head: Parts = (
        (lead, "$faint"),
        (f"{mark.glyph} ", mark.style),
        (title, "$muted" if ended else "$foreground"),
    )
    # Ages of the same minute look the same, so a quiet row is not drawn again each second.
    if ended:
        right: Parts = (
            ("new " if is_news else "", "bold $ask"),
            (f"{mark.word} ", mark.style),
            (f"{phrases.age(now_ms - session.updated_ms):>3}", "$faint"),
        )
        return Row(session.session_id, (Line(head, right),))
    facts: list[tuple[str, str]] = [(" " * len(lead) + "  ", ""), (mark.word, mark.style)]
    if progress := step_words(view):
        facts.append((f" {progress[0]}", "$foreground"))
    if session.serial:
        facts.append((f" · {device_name(session.serial, state.devices)}", "$muted"))
    age = ((phrases.age(now_ms - session.created_ms), "$faint"),)
    return Row(session.session_id, (Line(head), Line(tuple(facts), age)))


def attention_rows(
    waiting: Sequence[Attention], state: State, *, now_ms: int, folded: bool = False
) -> list[Row]:
    """List what waits for the operator, oldest first."""
    rows: list[Row] = []
    for one in waiting:
        mark = status.ATTENTION[one.kind]
        view = state.sessions.get(one.session_id)
        where = session_title(view.session) if view else device_name(one.serial, state.devices)
        where = one_line(one.about, 80) or where
        age: Parts = ()
        until_ms = one.until_ms or (one.question.deadline_ms if one.question else 0)
        if until_ms:
            age = ((f"{phrases.clock(max(0, until_ms - now_ms))} left", "$warn"),)
        elif one.since_ms:
            age = ((phrases.age(now_ms - one.since_ms), "$faint"),)
        text = one_line(one.text, 200)
        if one.kind is AttentionKind.APPROVAL:
            # The mark says that it is asked; there is room for little more than what is.
            text = text.removeprefix(ASKING).strip() or text
        head = Line(((f"{mark.glyph} ", mark.style), (text, "$foreground")), age)
        below: Parts = (("  ", ""), (mark.word, mark.style), (f" · {where}", "$muted"))
        if one.question is not None and one.question.options:
            choices = "  ".join(
                f"{number} {one_line(phrases.answer_word(one.question, option.label), 24)}"
                for number, option in enumerate(one.question.options[:9], 1)
            )
            below = (("  ", ""), (choices, "$ask"), (f" · {where}", "$muted"))
        rows.append(Row(one.key, (head,) if folded else (head, Line(below))))
    return rows


def device_rows(state: State) -> list[Row]:
    """List the devices: state, name, who drives."""
    rows: list[Row] = []
    for device in sorted(state.devices.values(), key=lambda d: d.serial):
        mark = status.of_device(device)
        driver = state.sessions.get(device.driver)
        who = session_title(driver.session) if driver else one_line(device.driver, 40)
        style = "$faint" if device.state is DeviceState.GONE else "$foreground"
        name = device_name(device.serial, state.devices)
        right = ((who or mark.word, "$muted" if who else mark.style),)
        left: Parts = ((f"{mark.glyph} ", mark.style), (name, style))
        if device.tags:
            left = (*left, (f" {one_line(' '.join(device.tags), 40)}", "$faint"))
        rows.append(Row(device.serial, (Line(left, right),)))
    return rows
