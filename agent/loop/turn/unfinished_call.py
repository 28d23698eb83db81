"""Determine from a session's history the outcome of the call that a stop interrupted. Pure.

Invariant: an action counts as not done only if the stored events prove it: the last question that
was asked for it has no answer, or one that approves nothing, from before the turn ended.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from agent import protocol
from agent.loop.screen.verify import blocked
from agent.records import Question, QuestionKind
from agent.safety.approval import is_yes, refused_because

OVERTAKEN = "The operator did not answer this, and asked for something else"
"""What a call is told that waited for the operator when newer words came."""
WITHDRAWN = "FAILED: The call was cancelled before anything was done."
WITHDRAWN_MIDWAY = "the call was cancelled meanwhile, so that it may be done in part"
UNDONE = "Nothing was done: the work was interrupted before the operator answered"
_NOT_APPROVED = (
    f"FAILED: {UNDONE}. If it is still needed, call it again: the operator is asked again."
)


class Lost(StrEnum):
    """What is known about a call without a result."""

    UNKNOWN = "unknown"
    """It may have been done."""
    WAITED = "waited"
    """It waited for the operator until the turn ended, so nothing was done; it may be asked on."""
    REFUSED = "refused"
    """Its question was closed or answered without a yes, so nothing was done."""


class Fate(NamedTuple):
    """What is known about a call without a result."""

    lost: Lost
    told: str = _NOT_APPROVED
    """What the model is told where nothing was done and nothing is asked on."""


def what_became_of(history: Sequence[protocol.Event], call_id: str) -> Fate:
    """Return what is known about a tool call without a result."""
    asked: Question | None = None
    turn_over = False
    fate = Fate(Lost.UNKNOWN)
    for event in history:
        match event.msg:
            case protocol.RequestUserInput(question=question) if question.call_id == call_id:
                asked, turn_over, fate = question, False, Fate(Lost.WAITED)
            case protocol.TurnAborted() | protocol.TaskStarted() if asked is not None:
                turn_over = True
            case protocol.QuestionAnswered(question_id=answered, answer=answer) if (
                asked is not None and answered == asked.question_id and not turn_over
            ):
                fate = _answered(asked, answer)
            case protocol.QuestionClosed(question_id=closed, reason=reason) if (
                asked is not None and closed == asked.question_id
            ):
                expired = reason == protocol.CloseReason.EXPIRED
                fate = _refused(None) if expired else Fate(Lost.REFUSED)
            case _:
                pass
    return fate


def _answered(asked: Question, answer: str) -> Fate:
    if asked.kind is QuestionKind.APPROVAL and not is_yes(answer):
        return _refused(answer)
    return Fate(Lost.UNKNOWN)


def _refused(answer: str | None) -> Fate:
    return Fate(Lost.REFUSED, blocked(refused_because(answer)))
