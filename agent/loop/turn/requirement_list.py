"""Make and keep the list of what a session's goal requires, for one turn.

The comparing is `agent.loop.verification.coverage`. Invariants: the list is the session's record,
stored before it is told; a part of the goal that a model leaves out is listed all the same.
"""

from collections.abc import Sequence

from agent.loop.task_context import TaskContext
from agent.loop.turn.turn_recorder import TurnRecorder
from agent.loop.verification.coverage import Wished, covering
from agent.protocol import RequirementsUpdate, SessionConfigured
from agent.records import Requirement, RequirementOrigin
from agent.state.event_text import requirements_words
from agent.tools.arguments import RequiredPart


async def listed(
    context: TaskContext, recorder: TurnRecorder, parts: Sequence[RequiredPart] = ()
) -> tuple[tuple[Requirement, ...], str]:
    """Store the list as it now is; return it, and what to tell of parts that were left out.

    Args:
        parts: what a model makes of the goal; empty: the list stays, and what it lacks is added.
    """
    past = recorder.past
    goal = context.session.goal if past is None else past.goal
    hints = () if past is None else tuple(past.hints)
    wished = [Wished(one.text, one.kind, one.object, one.value, one.to) for one in parts]
    before = context.session.requirements
    now = covering(wished, before, goal, hints)
    if now != before:
        await recorder.emit(RequirementsUpdate(requirements=now))
    said = {one.text for one in parts}
    known = {one.number for one in before}
    added = [one for one in now if one.number not in known and one.text not in said]
    if not parts or not added:
        return now, ""
    return now, f"Listed too, as the goal says it: {requirements_words(added)}."


def given_with_goal(context: TaskContext) -> tuple[str, ...]:
    """Return what was required beside the goal when the session was created."""
    msgs = (event.msg for event in context.history)
    first = next((msg for msg in msgs if isinstance(msg, SessionConfigured)), None)
    requirements = context.session.requirements if first is None else first.session.requirements
    given = {RequirementOrigin.OPTION, RequirementOrigin.PLAN}
    return tuple(one.text for one in requirements if one.origin in given)
