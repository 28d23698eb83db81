"""Replay a session in a new one: read its actions, and pass them as a route.

`agent.loop.acting.action_replay` follows the route. Invariants: a route contains only performed
actions that were not rolled back; the new session is a normal one, with its own guards, budget and
transcript.
"""

from collections.abc import Sequence

from agent import protocol
from agent.errors import UsageError
from agent.loop.acting.action_replay import PLANS
from agent.records import ActionOutcome, RouteAction, SessionState, Speaker
from agent.sessions.lifecycle.operations import Operations
from agent.sessions.registry.services import Services
from agent.sessions.rules.rollback import visible


class Replaying:
    """The replays of one core."""

    def __init__(self, parts: Services, operations: Operations) -> None:
        self._parts = parts
        self._operations = operations

    async def replay(self, op: protocol.SessionReplay, submission_id: str = "") -> str:
        """Start a session that repeats another one's actions; returns its id.

        A request with the id of an earlier one starts nothing more.

        Raises:
            UsageError: no such session or phone, or it has no repeatable actions.
        """
        live = await self._parts.registry.get(op.session_id)
        origin = live.record
        actions = actions_of(await self._parts.registry.events(live.session_id))
        if all(action.tool == PLANS for action in actions):
            raise UsageError(
                f"Session {live.session_id} has no actions to repeat.",
                "Replay a session that worked itself; of a tree, one of its children.",
            )
        serial = op.serial or origin.serial
        create = protocol.SessionCreate(
            goal=origin.goal,
            said=origin.goal_said,
            speaker=Speaker.OPERATOR if origin.has_operators_goal else Speaker.MODEL,
            title=origin.title,
            serial=serial,
            account=origin.account,
            target_package=origin.target_package,
            model=origin.model,
            reasoning_effort=origin.reasoning_effort,
            max_steps=origin.max_steps,
            budget=origin.budget,
            at_limit=origin.at_limit,
            autonomy=origin.autonomy,
            tool_servers=origin.tool_servers,
            output_schema=origin.output_schema,
            start=False,
            request_id=op.request_id,
        )
        made, *_ = await self._operations.create(create, submission_id, endpoint=origin.endpoint)
        fresh = await self._parts.registry.get(made.session_id)
        if fresh.record.state is not SessionState.CREATED:
            return made.session_id
        given = protocol.RouteGiven(origin=live.session_id, actions=actions)
        async with fresh.lock:
            await self._parts.registry.append(*fresh.drafts(given, submission_id=submission_id))
        await self._operations.start(
            protocol.SessionStart(session_id=made.session_id), submission_id
        )
        return made.session_id


def actions_of(events: Sequence[protocol.Event]) -> tuple[RouteAction, ...]:
    """List the performed actions, without failed or rolled back ones."""
    asked: dict[str, RouteAction] = {}
    actions: list[RouteAction] = []
    package = ""
    for event in visible(events):
        match event.msg:
            case protocol.ObservationRecorded(observation=seen):
                package = seen.foreground.package
            case protocol.ToolCallRequested() as call if (
                call.kind == "action" or call.tool == PLANS
            ):
                asked[call.call_id] = RouteAction(
                    tool=call.tool, arguments=call.arguments, element=call.element, package=package
                )
            case protocol.ToolCallFinished(call_id=call_id, outcome=ActionOutcome.DONE):
                action = asked.pop(call_id, None)
                if action is not None:
                    actions.append(action)
            case _:
                pass
    return tuple(actions)
