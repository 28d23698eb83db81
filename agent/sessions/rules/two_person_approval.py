"""Approvals that need two people: which they are, and who has said yes so far; pure.

Not the answering (`agent.sessions.questions.answering`). Invariants: a yes counts for an operator
who may approve at the moment of the last one; nobody counts twice; a no needs one person, always.
"""

from collections.abc import Callable, Collection

from agent.errors import NotAllowedError, UsageError
from agent.records import EffectVerb, Question, Subject
from agent.safety.approval import is_for_session, typed_instead

PEOPLE = 2


def people_for(subject: Subject | None, policy: Collection[EffectVerb]) -> int:
    """Return how many people have to approve an act.

    Args:
        subject: what would be done; what nothing is known of has an unknown effect.
        policy: the effects that two people approve.
    """
    effect = subject.effect if subject is not None else None
    verb = effect.verb if effect is not None else EffectVerb.UNKNOWN
    return PEOPLE if verb in policy else 1


def approvers_of(
    question: Question, answer: str, operator: str, may_approve: Callable[[str], bool]
) -> tuple[str, ...]:
    """Return who has said yes, with the one who says it now.

    Args:
        question: an approval of more than one person.
        answer: a yes.
        operator: who says it; empty: nobody who has signed in.
        may_approve: whether an operator may approve here, at this moment.

    Raises:
        NotAllowedError: nobody has signed in, or they may not approve.
        UsageError: the answer is more than a plain yes, or theirs counts already.
    """
    if not operator or not may_approve(operator):
        raise NotAllowedError(
            f"This needs the approval of {question.people} signed-in operators.",
            "Reject it, or see who may approve: switchboard operators list",
        )
    if is_for_session(answer) or typed_instead(answer) is not None:
        raise UsageError(
            "Two people can only approve an action unchanged, and once.", "Approve or deny it."
        )
    still = tuple(one for one in question.yes_by if one != operator and may_approve(one))
    if operator in question.yes_by and len(still) + 1 < question.people:
        raise UsageError(
            "You have already approved this.", "Another operator has to approve it too."
        )
    return (*still, operator)
