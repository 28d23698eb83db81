"""How an approval is asked and what counts as a yes.

Not the asking itself (that is the core's). Invariant: only a plain yes is a yes; silence, an empty
answer and anything unclear are a no.
"""

from __future__ import annotations

from agent.records import QuestionOption
from agent.safety.words import words

APPROVE = "Approve"
DENY = "Deny"
FOR_SESSION = "Approve for this session"
"""Lets the same button of the same app pass for the rest of the session."""
_WITH = "approve with:"
OPTIONS = (
    QuestionOption(label=APPROVE, description="Do it, this once."),
    QuestionOption(label=DENY, description="Do not do it; the agent is told so."),
)
_YES = frozenset({"approve", "approved", "yes", "y", "ok", "okay", "allow", "allowed"})


def is_yes(answer: str | None) -> bool:
    """Tell whether an answer approves."""
    if is_for_session(answer) or typed_instead(answer) is not None:
        return True
    said = words(answer or "")
    return len(said) == 1 and said[0] in _YES


def is_for_session(answer: str | None) -> bool:
    """Tell whether an answer approves the same deed for the rest of the session."""
    return words(answer or "") == words(FOR_SESSION)


def typed_instead(answer: str | None) -> str | None:
    """Give the text that the operator wants typed in the place of the model's; None: no such."""
    said = (answer or "").strip()
    if not said.casefold().startswith(_WITH):
        return None
    return said[len(_WITH) :].strip() or None


def approval_text(what: str, reason: str) -> str:
    """Word the question: what would be done, and why it is asked."""
    return f"May I do this? {what} ({reason}.)"
