"""How an approval is asked and what counts as a yes.

Not the asking itself (that is the core's). Invariant: only a plain yes is a yes; silence, an empty
answer and anything unclear are a no.
"""

from __future__ import annotations

from agent.records import QuestionOption
from agent.safety.words import words

APPROVE = "Approve"
DENY = "Deny"
OPTIONS = (
    QuestionOption(label=APPROVE, description="Do it, this once."),
    QuestionOption(label=DENY, description="Do not do it; the agent is told so."),
)
_YES = frozenset({"approve", "approved", "yes", "y", "ok", "okay", "allow", "allowed"})


def is_yes(answer: str | None) -> bool:
    """Tell whether an answer approves."""
    said = words(answer or "")
    return len(said) == 1 and said[0] in _YES


def approval_text(what: str, reason: str) -> str:
    """Word the question: what would be done, and why it is asked."""
    return f"May I do this? {what} ({reason}.)"
