"""Determine from a session's history the outcome of the call that a stop interrupted. Pure.

Invariant: an action counts as not done only if the stored events prove it: it still waited for
approval when the turn ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from agent import protocol

OVERTAKEN = "The operator did not answer this, and asked for something else"
"""What a call is told that waited for the operator when newer words came."""


class Lost(StrEnum):
    """What is known about a call without a result."""

    UNKNOWN = "unknown"
    """It may have been done."""
    WAITED = "waited"
    """It waited for the operator until the turn ended, so nothing was done."""


def what_became_of(history: Sequence[protocol.Event], call_id: str) -> Lost:
    """Return what is known about a tool call without a result."""
    question_id = ""
    turn_over = False
    for event in history:
        match event.msg:
            case protocol.RequestUserInput(question=question) if question.call_id == call_id:
                question_id, turn_over = question.question_id, False
            case protocol.TurnAborted() | protocol.TaskStarted() if question_id:
                turn_over = True
            case protocol.QuestionAnswered(question_id=answered) if answered == question_id != "":
                if not turn_over:
                    return Lost.UNKNOWN
            case protocol.QuestionClosed(question_id=closed) if closed == question_id != "":
                if not turn_over:
                    return Lost.UNKNOWN
                question_id = ""
            case _:
                pass
    return Lost.WAITED if question_id else Lost.UNKNOWN
