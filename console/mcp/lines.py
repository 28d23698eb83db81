"""Phones and sessions in a line each, as programs read them."""

from collections.abc import Iterable

from agent.codex_bridge.session_object import held_by
from agent.core import Overview
from agent.records import DeviceInfo, Session
from agent.text import one_line
from widgets.base import status


def line_of(session: Session, overview: Overview | None = None) -> str:
    """Return a session in a line: its id, state, phone and title.

    Args:
        session: its record.
        overview: as it is now: then the line says whether the session asks, and whom a queued
            one waits for.
    """
    questions = overview.questions if overview else ()
    devices = overview.devices if overview else ()
    asks = any(question.session_id == session.session_id for question in questions)
    mark = status.of_session(session, asks=asks)
    where = f" on {session.serial}" if session.serial else ""
    holder = held_by(session, devices)
    waits = f", waits for session {one_line(holder, 40)}" if holder else ""
    if not waits and session.waits_for:
        waits = f", {one_line(session.waits_for, 300)}"
    return f"{session.session_id}  {mark.word}{where}{waits}  {one_line(session.title, 120)}"


def phone_lines(devices: Iterable[DeviceInfo]) -> str:
    """Return the phones, a line each, and who uses them."""
    lines = [
        f"{one.serial}  {one.state.value}  {one_line(one.model, 60)}"
        + (f"  in use by session {one.driver}" if one.driver else "")
        for one in devices
    ]
    return "\n".join(lines) or "No phone is connected."
