"""What the operator approved for the rest of a session: the same button of the same app.

Not the asking. Invariants: a grant is as narrow as the button it was given for, by tool, app, id
and words; money, secrets, permissions, what is typed and what is no button are never granted for
longer than once; a grant outlives a restart, because it is read from the session's own history.
"""

from __future__ import annotations

from collections.abc import Iterable

from agent.protocol import Event, QuestionAnswered, RequestUserInput
from agent.records import Subject
from agent.safety.approval import is_for_session
from agent.safety.policy import Risk
from agent.safety.words import words

_GRANTABLE = frozenset({Risk.NONE, Risk.DESTRUCTIVE, Risk.OUTGOING})
_TOOLS = frozenset({"click_element", "long_press_element"})

Deed = tuple[str, str, str, str, tuple[str, ...]]


def grantable(subject: Subject | None) -> bool:
    """Tell whether an approval may hold for the rest of its session."""
    return _deed(subject) is not None


class Grants:
    """The grants of one session."""

    def __init__(self) -> None:
        self._deeds: set[Deed] = set()

    @classmethod
    def of(cls, history: Iterable[Event]) -> Grants:
        """Read the grants that a session's events hold."""
        grants = cls()
        asked: dict[str, Subject | None] = {}
        for event in history:
            match event.msg:
                case RequestUserInput(question=question):
                    asked[question.question_id] = question.subject
                case QuestionAnswered(question_id=question_id, answer=answer):
                    grants.take(asked.get(question_id), answer)
                case _:
                    pass
        return grants

    def take(self, subject: Subject | None, answer: str | None) -> None:
        """Take in an answer: it grants only when it says so, and only what may be granted."""
        deed = _deed(subject)
        if deed is not None and is_for_session(answer):
            self._deeds.add(deed)

    def covers(self, subject: Subject) -> bool:
        """Tell whether a deed has been granted already."""
        return _deed(subject) in self._deeds


def _deed(subject: Subject | None) -> Deed | None:
    if subject is None or subject.element is None or subject.action not in _TOOLS:
        return None
    if subject.risk not in _GRANTABLE or not words(subject.element.label):
        return None
    element = subject.element
    return (
        subject.action,
        element.package,
        element.resource_id,
        f"{subject.capability} {subject.risk}",
        tuple(words(element.label)),
    )
