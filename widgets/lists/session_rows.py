"""Rows of the attention queue and of the devices, and how sessions and devices are named.

Pure functions from the picture to rows; the session list is `widgets.lists.session_list`.
Invariant: what needs a person reads without colour.
"""

from collections.abc import Mapping, Sequence

from agent.records import DeviceInfo, DeviceState, Question, Session, Speaker
from agent.state.memoize import memoize_last
from agent.state.reducer import Attention, AttentionKind, SessionView, State
from agent.text import one_line
from widgets.base import formatting, status
from widgets.base.rows import Line, Parts, Row
from widgets.lists.device_names import device_names
from widgets.lists.hosts import host_away, host_beside

ASKING = "May I do this?"
"""How an approval begins; where there is little room its mark says as much."""


def session_title(session: Session) -> str:
    """Name a session: its title, or its goal; a branch says where it begins."""
    name = one_line(session.title or session.goal, 160) or session.session_id
    if not session.forked_from:
        return name
    where = f" from step {session.forked_step}" if session.forked_step else ""
    return f"Branch{where}: {name}"


def step_words(view: SessionView) -> list[str]:
    """Return how far a session is: its newest step, and how much of its limit is used.

    Not every step counts against the limit, so the two numbers may differ.
    """
    session = view.session
    if not (session.steps or view.step):
        return []
    if view.step in (0, session.steps):
        return [f"step {session.steps} of {session.max_steps}"]
    return [f"step {view.step}", f"{session.steps} of {session.max_steps} used"]


def phone_asked_about(question: Question | None, devices: Mapping[str, DeviceInfo]) -> str:
    """Name the phone that an approval would act on; empty where it states none."""
    subject = question.subject if question is not None else None
    effect = subject.effect if subject is not None else None
    return device_name(effect.phone, devices) if effect is not None and effect.phone else ""


def device_name(serial: str, devices: Mapping[str, DeviceInfo]) -> str:
    """Name a device shortly, as `device_names` does; by its serial where it is not known."""
    return one_line(serial, 24) if serial not in devices else device_names(devices)[serial]


def delegating(state: State) -> frozenset[str]:
    """Name the sessions that have a child which has not ended."""
    return _delegating(state.sessions)


@memoize_last
def _delegating(sessions: Mapping[str, SessionView]) -> frozenset[str]:
    return frozenset(
        view.session.parent_id
        for view in sessions.values()
        if view.session.parent_id and not view.session.state.is_terminal
    )


OPTION = "$ask"
"""The style of an option's part."""


def attention_rows(
    waiting: Sequence[Attention], state: State, *, now_ms: int, open_key: str | None = None
) -> list[Row]:
    """List what waits for the operator, oldest first.

    Args:
        waiting: what waits.
        state: the picture.
        now_ms: the present, for ages.
        open_key: where there is not room for two lines each, the one row that has them.
    """
    rows: list[Row] = []
    for one in waiting:
        mark = status.ATTENTION[one.kind]
        view = state.sessions.get(one.session_id)
        where = session_title(view.session) if view else device_name(one.serial, state.devices)
        where = one_line(one.about, 80) or where
        phone = view.session.serial if view else ""
        age: Parts = ()
        until_ms = one.until_ms or (one.question.deadline_ms if one.question else 0)
        if until_ms:
            age = ((f"{formatting.time_left(until_ms - now_ms)} left", "$warn"),)
        elif one.since_ms:
            age = ((formatting.age(now_ms - one.since_ms), "$faint"),)
        text = one_line(one.text, 200)
        if one.kind is AttentionKind.APPROVAL:
            # The mark says that it is asked; there is room for little more than what is.
            text = text.removeprefix(ASKING).strip() or text
        elif one.question is not None and one.question.speaker is not Speaker.PRODUCT:
            # As short: a row has room for few words.
            who = "agent" if one.question.speaker is Speaker.MODEL else one.question.speaker.value
            text = f"{who}: {one_line(one.question.text, 200)}"
        elif one.kind is AttentionKind.LOST:
            text = f"{device_name(one.serial, state.devices) or 'The phone'} is away"
        left: Parts = ((f"{mark.glyph} ", mark.style),)
        named = phone if one.question is not None else ""
        if one.kind is AttentionKind.DEVICE:
            named, where = one.serial, ""
        if named:
            # Sessions of one goal ask the same, and phones of one host go at once: the phone tells
            # them apart.
            left = (*left, (f"{device_name(named, state.devices)} ", "$muted"))
        head = Line((*left, (text, "$foreground")), age)
        beside: Parts = ((f" · {where}", "$muted"),) if where else ()
        below: Parts = (("  ", ""), (mark.word, mark.style), *beside)
        if one.question is not None and one.question.options:
            choices: list[tuple[str, str]] = []
            for number, option in enumerate(one.question.options[:9], 1):
                words = one_line(formatting.option_words(one.question, option), 24)
                choices += [("  ", ""), (f"{number} {words}", OPTION)]
            below = (*choices, *beside)
        folded = open_key is not None and one.key != open_key
        if folded:
            # One line: which session it is tells more than how long it waits.
            head = Line((*head.left, *beside), head.right)
        rows.append(Row(one.key, (head,) if folded else (head, Line(below))))
    return rows


@memoize_last
def by_serial(devices: Mapping[str, DeviceInfo]) -> tuple[DeviceInfo, ...]:
    """Put devices in the order in which they are listed."""
    return tuple(sorted(devices.values(), key=lambda one: formatting.natural(one.serial)))


def device_rows(state: State, most: int | None = None) -> list[Row]:
    """List devices, the first so many: state, name, host where there are several, who drives."""
    rows: list[Row] = []
    for device in by_serial(state.devices)[:most]:
        mark = status.of_device(device)
        driver = state.sessions.get(device.driver)
        who = session_title(driver.session) if driver else one_line(device.driver, 40)
        style = "$faint" if device.state is DeviceState.GONE else "$foreground"
        name = device_name(device.serial, state.devices)
        away = host_away(device)
        right = ((who or away or mark.word, "$muted" if who else mark.style),)
        left: Parts = ((f"{mark.glyph} ", mark.style), (name, style))
        if not away and (host := host_beside(device.serial, state.devices, name)):
            left = (*left, (f" {host}", "$faint"))
        if device.tags:
            left = (*left, (f" {one_line(' '.join(device.tags), 40)}", "$faint"))
        rows.append(Row(device.serial, (Line(left, right),)))
    return rows
