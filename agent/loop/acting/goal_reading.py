"""Read what the operator asked for, as acts are compared with it where nobody reads them.

The stored requirements say it where there are any, else the words themselves. Pure.
"""

from collections.abc import Iterable, Sequence

from agent.loop.verification.goals import asks_only_for_an_answer, split_forbidden
from agent.records import Requirement, RequirementKind
from agent.records.requirements import wanted
from agent.safety.unread.goal_words import GoalWords

_LOOKING = {
    *(RequirementKind.TELL, RequirementKind.OPEN),
    *(RequirementKind.KEEP, RequirementKind.CONDITION),
}


def goal_words(texts: Sequence[str], requirements: Iterable[Requirement] = ()) -> GoalWords:
    """Return what is asked for.

    Args:
        texts: what the operator wrote, oldest first.
        requirements: those of the session, withdrawn ones too.
    """
    listed = wanted(requirements)
    asks: list[str] = []
    forbids = [one.text for one in listed if one.kind is RequirementKind.KEEP]
    for text in texts:
        wants, forbidden = split_forbidden(text)
        asks += wants
        forbids += forbidden
    kinds = {one.kind for one in listed}
    if kinds:
        looks = RequirementKind.TELL in kinds and kinds <= _LOOKING
    else:
        looks = bool(texts) and all(map(asks_only_for_an_answer, texts))
    named = (text for one in listed for text in (one.object, one.value, one.recipient))
    return GoalWords(
        texts=tuple(filter(None, (*asks, *named))), looks=looks, forbids=tuple(forbids)
    )
