"""Read the core's overview as the queue that a paired phone shows. Pure.

Invariant: a card shows what its answer is bound to, and nothing of it is cut.
"""

from collections.abc import Mapping

from agent.consent.bound_answer import bound_to
from agent.core import Overview
from agent.records import DeviceInfo, Question, QuestionKind, Session
from agent.state.approval_card import approval_card
from agent.text import clean, one_line
from console.paired.page_messages import Card, Choice, Fact, Queue, SessionRow
from widgets.lists.session_rows import device_name

_MOST_CHARS = 6_000
_TITLE_CHARS = 200
_SEVERAL = "These are several questions: answer each, with an empty line between the answers."


def queue_of(overview: Overview) -> Queue:
    """Return what waits for the operator, the most urgent first, and the sessions at work."""
    devices = {one.serial: one for one in overview.devices}
    sessions = {one.session_id: one for one in overview.sessions}
    waiting = sorted(
        overview.questions, key=lambda one: (one.kind is not QuestionKind.APPROVAL, one.asked_ms)
    )
    return Queue(
        cards=tuple(
            _card(one, sessions[one.session_id], devices)
            for one in waiting
            if one.session_id in sessions
        ),
        sessions=tuple(
            SessionRow(
                session_id=one.session_id,
                title=one_line(one.title or one.goal, _TITLE_CHARS),
                state=one.state.value,
                phone=device_name(one.serial, devices) if one.serial else "",
            )
            for one in sorted(overview.sessions, key=lambda one: -one.created_ms)
            if one.turn_id and not one.state.is_terminal
        ),
    )


def _card(question: Question, session: Session, devices: Mapping[str, DeviceInfo]) -> Card:
    phone = device_name(session.serial, devices) if session.serial else ""
    bound = bound_to(question, session.generation)
    said = approval_card(question, phone)
    headline, _, rest = clean(question.shown, _MOST_CHARS).strip().partition("\n")
    frame = question.subject.frame if question.subject is not None else None
    return Card(
        question_id=question.question_id,
        session_id=question.session_id,
        generation=bound.generation,
        digest=bound.digest,
        headline=headline if said is None else said.headline,
        act=rest.strip() if said is None else said.act,
        facts=()
        if said is None
        else tuple(Fact(one.name, one.text, one.note, one.is_unsure) for one in said.facts),
        note=_SEVERAL if question.parts else "" if said is None else said.note,
        phone=phone,
        goal=one_line(session.goal, _TITLE_CHARS),
        is_approval=question.is_approval,
        is_secret=question.secret,
        has_picture=frame is not None,
        choices=tuple(
            Choice(one.label, clean(one.shown, _TITLE_CHARS), clean(one.description, _TITLE_CHARS))
            for one in question.options
        ),
        asked_ms=question.asked_ms,
        deadline_ms=question.deadline_ms,
    )
