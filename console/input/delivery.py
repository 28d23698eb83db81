"""Why a text can no longer go where it was begun for: who decided what, and when.

Pure over the view state. Invariant: a text is delivered to the address that was shown when it was
begun, or it is not delivered.
"""

from datetime import datetime
from typing import NamedTuple

from agent.records import SessionState
from agent.state.reducer import MessageItem, QuestionItem, SessionView, State
from agent.text import one_line
from widgets.base import formatting
from widgets.lists.session_rows import device_name
from widgets.questions.composer import Mode, Purpose

_OF_QUESTIONS = frozenset({Mode.ANSWER, Mode.REASON, Mode.MODIFY})
_GONE = "The session was deleted."


class Address(NamedTuple):
    """What a text was begun for.

    Attributes:
        purpose: what was shown as such.
        session_id: the session that was selected then.
    """

    purpose: Purpose
    session_id: str


def why_undeliverable(address: Address, state: State, *, driven: str = "") -> str:
    """Return a sentence that says why; empty while the text can be delivered.

    Args:
        address: what the text was begun for.
        state: the view state.
        driven: the phone whose wheel this console has.
    """
    (mode, subject), view = address.purpose, state.sessions.get(address.session_id)
    if mode in _OF_QUESTIONS:
        return _why_not_asked(subject.partition("/")[0], view, state)
    match mode:
        case Mode.STEER | Mode.PROMPT:
            return _why_not_told(mode, state.sessions.get(subject))
        case Mode.NEXT:
            return _why_not_followed(state.sessions.get(subject))
        case Mode.EDIT:
            session_id, _, message_id = subject.partition("/")
            return _why_not_edited(message_id, state.sessions.get(session_id))
        case Mode.NOTE if driven != subject:
            return f"You no longer drive {device_name(subject, state.devices)}."
        case _:
            return ""


def _why_not_asked(question_id: str, view: SessionView | None, state: State) -> str:
    if question_id in state.questions:
        return ""
    if view is None:
        return _GONE
    asked = next(
        (
            item
            for item in reversed(view.transcript.items)
            if isinstance(item, QuestionItem) and item.question.question_id == question_id
        ),
        None,
    )
    if asked is None or (asked.answer is None and not asked.closed):
        return "The question is no longer open."
    when = _at(asked.ended_ms)
    if asked.answer is None:
        return f"The question closed{when}: {one_line(asked.closed, 80)}."
    who = one_line(formatting.answerer(asked.answered_by), 40)
    given = one_line(formatting.answer_word(asked.question, asked.answer), 60)
    said = f"with {formatting.quoted(given, 60)} " if given and not asked.question.secret else ""
    # A console of the same operator has the same name: which of them it was, is not known.
    where = "from a console" if who == "you" else f"by {who}"
    return f"Answered {said}{where}{when}."


def _why_not_told(mode: Mode, view: SessionView | None) -> str:
    if view is None:
        return _GONE
    session = view.session
    if session.state.is_terminal:
        was = "was" if session.state is SessionState.CANCELLED else "has"
        return f"The session {was} {session.state.value.lower()}{_at(session.updated_ms)}."
    if mode is Mode.STEER and not session.turn_id:
        return f"The turn that this hint was for has ended{_at(session.updated_ms)}."
    if mode is Mode.PROMPT and session.turn_id:
        return f"The session was set to work meanwhile{_newest_words(view)}."
    return ""


def _why_not_followed(view: SessionView | None) -> str:
    if view is None:
        return _GONE
    if view.session.state.is_terminal:
        return ""
    return f"The session was resumed{_at(view.session.updated_ms)}."


def _why_not_edited(message_id: str, view: SessionView | None) -> str:
    if view is None:
        return _GONE
    for item in view.transcript.items:
        if isinstance(item, MessageItem) and item.message_id == message_id:
            if item.applied_step:
                return f"The hint was applied at step {item.applied_step}."
            if item.withdrawn:
                return "The hint was withdrawn."
            return ""
    return ""


def _newest_words(view: SessionView) -> str:
    """Return what set a session to work, where its transcript tells."""
    said = next((m for m in reversed(view.transcript.items) if isinstance(m, MessageItem)), None)
    if said is None:
        return ""
    return f" with {formatting.quoted(said.text, 60)}{_at(said.at_ms)}"


def _at(at_ms: int) -> str:
    return f" at {datetime.fromtimestamp(at_ms / 1000).astimezone():%H:%M:%S}" if at_ms else ""
