"""Settle the call that an earlier turn left open: take it up again, or say what is known of it.

Invariant: an action whose outcome is unknown is never repeated; one that was approved is done only
on the screen that it was approved for.
"""

from msgspec.structs import replace

from agent.loop.acting.action_review import CHANGED_SINCE, STILL_APPROVED
from agent.loop.acting.acts import with_number
from agent.loop.acting.tool_call_parsing import resolved_action
from agent.loop.conversation import prompts
from agent.loop.screen import verify
from agent.loop.screen.elements import find_by_key
from agent.loop.task_context import Grant, TurnEnd
from agent.loop.turn.foreign_tools import read_arguments
from agent.loop.turn.unfinished_call import OVERTAKEN, UNDONE, Lost, what_became_of
from agent.models.model import ToolCall
from agent.protocol import ToolCallRequested, WarningEvent
from agent.records import ActionOutcome
from agent.tasks.carrying_out import CarryingOut
from agent.tasks.turn_parts import TurnParts
from agent.tools.arguments import AskUser, BadArguments, ClickElement, LongPressElement
from agent.tools.registry import ToolArguments, read_call
from agent.tools.service_tool_args import ServiceCall


class Settling:
    """What becomes of a call that was under way when its turn was lost."""

    def __init__(self, parts: TurnParts, carrying_out: CarryingOut) -> None:
        self.parts = parts
        self.context = parts.context
        self.memory = parts.memory
        self.recorder = parts.recorder
        self.observations = parts.observations
        self.executor = parts.executor
        self.reviewing = parts.reviewing
        self.foreign = parts.foreign
        self.controls = parts.controls
        self.carrying_out = carrying_out

    async def settle(self, lost: ToolCallRequested) -> TurnEnd | None:
        """Return the call that was under way a result: take it up again, or say what is known."""
        fate = what_became_of(self.context.history, lost.call_id)
        undone = fate.lost is not Lost.UNKNOWN
        call = ToolCall(call_id=lost.call_id, name=lost.tool, arguments=with_number(lost))
        grant = self.context.grant
        try:
            foreign = self.foreign.tool(lost.tool)
            if foreign is not None and grant is not None and grant.call_id == lost.call_id:
                given = read_arguments(foreign, lost.arguments)
                return await self.carrying_out.work_elsewhere(foreign, given, lost, None)
            arguments = read_call(call)
            if grant is not None and grant.call_id == lost.call_id:
                return await self._do_granted(lost, arguments, grant)
            if self.memory.overtaken and (undone or isinstance(arguments, AskUser)):
                # The new words came in the place of an answer.
                await self.parts.finish(lost, ActionOutcome.FAILED, verify.failed(OVERTAKEN), None)
                return None
            if isinstance(arguments, AskUser):
                asked = await self.controls.ask(arguments, lost)
                await self.parts.finish(lost, asked.outcome, asked.text, None)
                return None
            if fate.lost is Lost.WAITED and isinstance(arguments, ClickElement | LongPressElement):
                return await self._take_up(lost, arguments)
        except BadArguments:
            # What was stored is not what can be carried out.
            pass
        if undone:
            await self.parts.finish(lost, ActionOutcome.FAILED, fate.told, None)
        else:
            await self.parts.finish(lost, ActionOutcome.UNKNOWN, prompts.OUTCOME_UNKNOWN, None)
        return None

    async def _take_up(self, lost: ToolCallRequested, arguments: ToolArguments) -> TurnEnd | None:
        """Look whether the element that approval was asked for is there, and ask on."""
        screen = (await self.observations.observe(None)).observation
        same = None if lost.element is None else find_by_key(screen.elements, lost.element.key)
        if same is None or lost.element is None or same.label != lost.element.label:
            text = verify.failed(f"{UNDONE}, and the element is no longer there")
            await self.parts.finish(lost, ActionOutcome.FAILED, text, None)
            return None
        again = replace(arguments, element=same.number)
        resolved = resolved_action(again, screen, self.memory.apps, self.context.library)
        assert resolved is not None, "an action is resolved before it is done"
        return await self.carrying_out.act(resolved, screen, lost, None)

    async def _do_granted(
        self, lost: ToolCallRequested, arguments: ToolArguments, grant: Grant
    ) -> TurnEnd | None:
        """Look afresh, then do the one action that was approved, unless the screen is another."""
        if isinstance(arguments, ServiceCall):
            return await self.carrying_out.use_service_tool(arguments, lost, None)
        screen = (await self.observations.observe(None)).observation
        resolved = self.reviewing.again(lost, arguments, screen, self.memory.apps)
        if isinstance(resolved, str):
            why = f"{resolved}. {STILL_APPROVED}" if self.reviewing.is_kept(lost) else resolved
            await self.parts.finish(lost, ActionOutcome.FAILED, verify.failed(why), None)
            return None
        if not self.reviewing.holds(resolved, screen, lost, grant.screen_digest):
            await self.recorder.emit(WarningEvent(message=CHANGED_SINCE))
            return await self.carrying_out.act(resolved, screen, lost, None)
        await self.carrying_out.record_result(
            await self.reviewing.carry_out(self.executor, resolved, screen, lost), lost, None
        )
        return None
