"""How an approval is asked and what counts as a yes.

Not the asking itself (that is the core's). Invariant: only a plain yes is a yes; silence, an empty
answer and anything unclear are a no.
"""

from agent.records import QuestionOption
from agent.safety.redacting.redaction import redact_secrets
from agent.safety.words import words
from agent.text import one_line, sentence

APPROVE = "Approve"
DENY = "Deny"
FOR_SESSION = "Approve for this session"
"""Lets the same button of the same app pass for the rest of the session."""
FOR_RUN = "Approve for this run"
"""The same of a job's review: it holds until that run ends."""
_WITH = "approve with:"
OPTIONS = (
    QuestionOption(label=APPROVE, description="Do it, this once."),
    QuestionOption(label=DENY, description="Do not do it; the agent is told."),
)
_YES = frozenset({"approve", "approved", "yes", "y", "ok", "okay", "allow", "allowed"})
_NO = frozenset({"deny", "denied", "no", "n", "reject", "rejected", "refuse", "refused"})
_REASON_CHARS = 200
_REJECTED = "The operator rejected this"


def is_yes(answer: str | None) -> bool:
    if is_for_session(answer) or typed_instead(answer) is not None:
        return True
    said = words(answer or "")
    return len(said) == 1 and said[0] in _YES


def is_no(answer: str | None) -> bool:
    """Return whether an answer plainly refuses, with or without a reason after a colon."""
    head, _, _ = (answer or "").strip().partition(":")
    said = words(head)
    return not (answer or "").strip() or (len(said) == 1 and said[0] in _NO)


def is_for_session(answer: str | None) -> bool:
    """Return whether an answer approves the same action for the rest of the session or the run."""
    return words(answer or "") in (words(FOR_SESSION), words(FOR_RUN))


def typed_instead(answer: str | None) -> str | None:
    """Return the text that the operator wants typed in the place of the model's; None: no such."""
    said = (answer or "").strip()
    if not said.casefold().startswith(_WITH):
        return None
    return said[len(_WITH) :].strip() or None


def refused_because(answer: str | None) -> str:
    """Return, for whoever asked, the operator's answer that is no yes, and its reason if given.

    Args:
        answer: as it was given; None when nobody gave one in time.
    """
    if answer is None:
        return "Nobody answered in time, so the answer is no"
    said = redact_secrets(one_line(answer, _REASON_CHARS)).strip()
    head, _, reason = said.partition(":")
    head_words = words(head)
    if not head_words or (len(head_words) == 1 and head_words[0] in _NO):
        return f'The operator rejected this: "{reason.strip()}"' if reason.strip() else _REJECTED
    return f'The operator answered "{said}", which approves nothing'


def approval_text(what: str, reason: str) -> str:
    """Return the words of the question: what would be done, and why it is asked."""
    lines = "\n" if "\n" in what else " "
    return f"May I do this? {sentence(what)}{lines}{as_sentence(reason)}".rstrip()


def as_sentence(reason: str) -> str:
    """Return why something is asked, a clause, as a sentence of its own; an empty one is none."""
    return sentence(reason[:1].upper() + reason[1:])
