"""Carry out what the model chose: an action, a service, another program's tool, a control.

Invariants: nothing is done in a dry run; what is banned, or repeats what led nowhere, is refused;
each call ends with a result, also where the phone went away.
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from agent.errors import DeviceLostError
from agent.loop.acting.action_review import Way
from agent.loop.acting.dry_run import rehearse
from agent.loop.acting.executor import ActionResult
from agent.loop.acting.guard import ban_refusal, duplicate_refusal
from agent.loop.acting.tool_call_parsing import Choice
from agent.loop.conversation.memory import action_key
from agent.loop.conversation.model_call import CleanReply, keep
from agent.loop.screen import verify
from agent.loop.signals.keypad import is_repeatable
from agent.loop.task_context import TurnEnd
from agent.loop.turn.control_tools import ControlArguments
from agent.loop.turn.foreign_tools import read_arguments
from agent.loop.turn.unfinished_call import WITHDRAWN, WITHDRAWN_MIDWAY
from agent.models.model import ToolCall
from agent.protocol import AgentMessage, ToolCallRequested
from agent.records import ActionOutcome, Observation
from agent.tasks.turn_parts import TurnParts
from agent.tools.actions import ResolvedAction
from agent.tools.arguments import BadArguments, Finish, ToolKind
from agent.tools.foreign import ForeignTool
from agent.tools.service_tool_args import ServiceCall


class CarryingOut:
    """What a call of one turn leads to; each method returns the turn's end, if that is it."""

    def __init__(self, parts: TurnParts) -> None:
        self.parts = parts
        self.context = parts.context
        self.secrets = parts.secrets
        self.memory = parts.memory
        self.recorder = parts.recorder
        self.observations = parts.observations
        self.executor = parts.executor
        self.reviewing = parts.reviewing
        self.service_tools = parts.service_tools
        self.foreign = parts.foreign
        self.controls = parts.controls
        self.completion = parts.completion

    async def act(
        self,
        resolved: ResolvedAction,
        screen: Observation,
        request: ToolCallRequested,
        thought: CleanReply | None,
    ) -> TurnEnd | None:
        if self.context.session.dry_run:
            verdict = await self.executor.guard.reviewed(resolved, screen, request)
            text = await rehearse(self.context, resolved, screen, verdict, plan=self.memory.plan)
            await self.parts.finish(request, ActionOutcome.FAILED, text, thought)
            return rehearsed_end(text)
        way = Way.FREELY
        if self.context.background:
            way = await self.reviewing.way(resolved, screen, request)
        if way is Way.REVIEW:
            asked = self.reviewing.ask(resolved, screen, request)
            if isinstance(asked, TurnEnd):
                return asked
            await self.parts.finish(request, ActionOutcome.FAILED, asked, thought)
            return None
        banned = self.memory.trail.bans.get(resolved.element.key, "") if resolved.element else ""
        if banned and resolved.element is not None and request.tool == "click_element":
            self.executor.guard.reviews.drop()
            text = ban_refusal(resolved.element, banned)
            await self.parts.finish(request, ActionOutcome.FAILED, text, thought)
            return None
        repeatable = resolved.element is not None and is_repeatable(
            resolved.element, screen.elements
        )
        if self.memory.trail.is_duplicate(action_key(request)) and not repeatable:
            self.executor.guard.reviews.drop()
            await self.parts.finish(request, ActionOutcome.FAILED, duplicate_refusal(), thought)
            return None
        try:
            if way is Way.APPROVED:
                act = await self.reviewing.carry_out(self.executor, resolved, screen, request)
            else:
                act = await self.executor.do(resolved, screen, request, covered=self.memory.covered)
        except DeviceLostError:
            text = verify.failed("The phone went away before anything was done")
            await self.parts.finish(request, ActionOutcome.FAILED, text, thought)
            return None
        await self.record_result(act, request, thought)
        return None

    async def record_result(
        self, act: ActionResult, request: ToolCallRequested, thought: CleanReply | None
    ) -> None:
        """Keep what an action came to, and the screen that verified it."""
        self.recorder.spent(model_ms=act.review_ms, act_ms=act.act_ms, idle_ms=act.idle_ms)
        if act.seen is not None:
            self.observations.hold(act.seen)
        await self.parts.finish(request, act.outcome, act.text, thought, waited=act.waited)

    async def use_service_tool(
        self, arguments: ServiceCall, request: ToolCallRequested, thought: CleanReply | None
    ) -> TurnEnd | None:
        done = await self.service_tools.work(arguments, request)
        if done.end is None:
            self.observations.keep()
            await self.parts.finish(request, done.outcome, done.text, thought)
        return done.end

    async def call_foreign(
        self, step: int, tool: ForeignTool, said: ToolCall, thought: CleanReply
    ) -> TurnEnd | None:
        kept = await keep(self.context, thought, self.secrets.hide)
        if kept.text:
            self.recorder.hold(AgentMessage(step=step, text=kept.text))
        self.memory.reasoning = thought.reply.reasoning
        call = replace(said, call_id=self.recorder.call_id(said, step))
        kind = ToolKind.OBSERVE if tool.reads_only else ToolKind.ACTION
        verdict = self.foreign.judge(tool)
        request = await self.recorder.request(step, call, kind=kind, kept=kept, verdict=verdict)
        try:
            arguments = read_arguments(tool, request.arguments)
        except BadArguments as error:
            await self.parts.finish(
                call, ActionOutcome.FAILED, verify.malformed(str(error)), thought
            )
            return None
        rehearsed = self.foreign.rehearsed(tool, arguments)
        if rehearsed:
            await self.parts.finish(call, ActionOutcome.FAILED, rehearsed, thought)
            return rehearsed_end(rehearsed)
        return await self.work_elsewhere(tool, arguments, request, thought)

    async def work_elsewhere(
        self,
        tool: ForeignTool,
        arguments: Mapping[str, Any],
        request: ToolCallRequested,
        thought: CleanReply | None,
    ) -> TurnEnd | None:
        done = await self.foreign.work(tool, arguments, request)
        if done.end is None:
            self.observations.keep()
            await self.parts.finish(request, done.outcome, done.text, thought)
        return done.end

    async def control(
        self,
        arguments: ControlArguments | Finish,
        request: ToolCallRequested,
        thought: CleanReply | None,
    ) -> TurnEnd | None:
        if isinstance(arguments, Finish):
            done = await self.completion.finish(arguments, request)
        else:
            done = await self.controls.do(arguments, request)
        await self.parts.finish(request, done.outcome, done.text, thought)
        return done.end

    async def withdrawn(
        self, request: ToolCallRequested, thought: CleanReply, choice: Choice
    ) -> None:
        """Record a call that was taken back while it was carried out."""
        self.executor.guard.reviews.drop()
        await self.context.close_questions()
        resolved = choice.resolved
        is_open = isinstance(choice.arguments, ServiceCall) or (
            resolved is not None and self.executor.has_sent
        )
        if is_open:
            what = request.tool if resolved is None else resolved.said
            text = verify.unknown(what, WITHDRAWN_MIDWAY)
            await self.parts.finish(request, ActionOutcome.UNKNOWN, text, thought)
            return
        self.executor.guard.undone()
        await self.parts.finish(request, ActionOutcome.FAILED, WITHDRAWN, thought)


def rehearsed_end(text: str) -> TurnEnd:
    """Return the end of a dry run."""
    return TurnEnd(completed=True, message=text, reason="a dry run: nothing was done")
