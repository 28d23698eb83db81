"""Rows of the devices, and how sessions and devices are named.

Pure functions from the picture to rows; the session list is `widgets.lists.session_list`, the
attention queue `widgets.attention.attention_rows`.
Invariant: what needs a person reads without colour.
"""

from collections.abc import Mapping

from agent.records import DeviceInfo, DeviceState, Question, Session
from agent.state.device_names import device_names
from agent.state.memoize import memoize_last
from agent.state.reducer import SessionView, State
from agent.text import one_line
from widgets.base import formatting, status
from widgets.base.rows import Line, Parts, Row
from widgets.lists.hosts import host_away, host_beside


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
