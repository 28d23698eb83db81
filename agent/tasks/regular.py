"""The regular task: observe, think, act, until the goal is met or cannot be (CONTRACTS 5.3).

The loop on one page, which docs/the-loop.md draws; each part of a step is a module of `agent.loop`.
What a call leads to is `agent.tasks.carrying_out`, a lost call `agent.tasks.settling`.
Invariants: every step, call and result is a stored event, the intent before the phone is touched; a
resumed turn rebuilds its memory from those events, looks first, and never repeats an action whose
outcome is unknown.
"""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import replace as with_fields

from msgspec.structs import replace

from agent.errors import ModelError
from agent.loop.acting.dry_run import would_fail
from agent.loop.acting.tool_call_parsing import Choice, read_choice
from agent.loop.conversation.model_call import CleanReply, StoredReply, keep, remembered, think
from agent.loop.observe import Seconds, Sleep
from agent.loop.screen import verify
from agent.loop.task_context import TaskContext, TurnEnd
from agent.loop.timing import PACE, Pace
from agent.loop.turn.control_tools import ControlArguments
from agent.loop.turn.touch_guard import watched
from agent.loop_features import NOTHING, Without
from agent.models.model import (
    CallWithdrawn,
    ModelRequest,
    ToolCall,
    ToolChoice,
    ToolSchema,
    Withdraws,
)
from agent.protocol import AgentMessage, TaskComplete, ToolCallRequested, TurnAborted, WarningEvent
from agent.records import ActionOutcome, Observation
from agent.safety.redacting.secrets import SECRET
from agent.tasks.carrying_out import CarryingOut, rehearsed_end
from agent.tasks.settling import Settling
from agent.tasks.turn_parts import TurnParts
from agent.tools.actions import ResolvedAction
from agent.tools.argument_names import ignored_note, in_own_names
from agent.tools.arguments import Finish, ToolKind
from agent.tools.foreign import NoServers, ToolServers
from agent.tools.planned_action import secret_text
from agent.tools.registry import schemas
from agent.tools.service_tool_args import ServiceCall

MAX_SPEECHLESS = 4
"""Replies in a row without a tool call, after which the turn ends (CONTRACTS 5.4)."""


class RegularTask:
    """Pursue one goal on one phone.

    Args:
        pace: bounds on watching a screen.
        sleep: waits; seconds: a monotonic clock; jitter: a number from [0, 1). Tests give theirs.
        without: patterns that are switched off, for measuring.
        servers: the programs whose tools a session may be given.
    """

    def __init__(
        self,
        *,
        pace: Pace = PACE,
        sleep: Sleep = asyncio.sleep,
        seconds: Seconds = time.monotonic,
        jitter: Callable[[], float] = random.random,
        without: Without = NOTHING,
        servers: ToolServers | None = None,
    ) -> None:
        self._without = without
        self._servers = servers or NoServers()
        self._pace = pace
        self._sleep = sleep
        self._seconds = seconds
        self._jitter = jitter

    @property
    def kind(self) -> str:
        return "regular"

    async def run(self, context: TaskContext) -> TurnEnd:
        """Work until the turn ends."""
        async with (
            self._servers.open(context.session, _package_of(context)) as toolbox,
            watched(context, self._sleep),
        ):
            parts = TurnParts(
                context,
                toolbox,
                self._pace,
                self._sleep,
                self._seconds,
                self._jitter,
                self._without,
            )
            turn = _Turn(parts)
            try:
                end = await turn.begin()
                while end is None:
                    await context.checkpoint()
                    end = await parts.budget.check() or await parts.escalation.climb()
                    end = end or await turn.step()
                return end
            finally:
                parts.executor.guard.reviews.drop()
                await parts.observations.close()

    async def abort(self, context: TaskContext) -> None:
        """Do nothing: a gesture in flight ended with its call."""


class _Turn:
    """One turn: its memory, its parts and its steps."""

    def __init__(self, parts: TurnParts) -> None:
        self.parts = parts
        self.context = parts.context
        self.sleep = parts.sleep
        self.seconds = parts.seconds
        self.jitter = parts.jitter
        self.secrets = parts.secrets
        self.memory = parts.memory
        self.recorder = parts.recorder
        self.observations = parts.observations
        self.executor = parts.executor
        self.foreign = parts.foreign
        self.completion = parts.completion
        self.compactor = parts.compactor
        self.route = parts.route
        self.following = parts.following
        self.carrying_out = CarryingOut(parts)
        self.speechless = 0
        self.unread = 0
        """Answers in a row without a call that could be read."""
        self.before: Observation | None = None
        """The screen of the step before."""
        self.output_limit = 0
        """Most tokens of a reply, raised once one was cut off; 0: the model's default."""

    # --- a turn ----------

    async def begin(self) -> TurnEnd | None:
        """Restore memory from the history, and settle the call that it left open."""
        ended = any(isinstance(e.msg, TaskComplete | TurnAborted) for e in self.context.history)
        for notice in (self.context.model.notice, self.context.reviewing.off):
            if notice and not ended:
                await self.recorder.emit(WarningEvent(message=notice))
        for trouble in self.foreign.toolbox.troubles:
            await self.recorder.emit(WarningEvent(message=trouble))
        self.memory.know(await self.observations.installed(), await self.observations.local_time())
        for event in self.context.history:
            self.recorder.recall(event)
        if self.context.asks_goal:
            self.recorder.ask_goal()
        end = None
        if self.memory.pending is not None:
            end = await Settling(self.parts, self.carrying_out).settle(self.memory.pending)
        if self.memory.step:
            self.memory.resumed()
        return end

    # --- a step ----------

    async def step(self) -> TurnEnd | None:
        """Observe, think, act, once."""
        await self.compactor.before_step()
        step = self.recorder.open_step()
        hinted = await self.recorder.steer(step)
        screen = await self.observations.look(step)
        next_call = self.following.take(screen)
        thought = remembered(self.route.next(screen)) or (None if hinted else next_call)
        if thought is None:
            self.following.begin(screen)
            thought = await self._think()
        end, counted = await self._carry_out(step, thought, screen)
        self.before = screen
        await self.recorder.close_step(step, counted=counted)
        return end

    def _request(self) -> ModelRequest:
        return ModelRequest(
            messages=self.memory.conversation(),
            tools=self._offered(),
            tool_choice=ToolChoice.REQUIRED,
            max_output_tokens=self.output_limit,
            cache_key=self.context.session.session_id,
            unread=self.unread,
        )

    def _offered(self) -> tuple[ToolSchema, ...]:
        own = schemas(self.memory.groups, sees=self.context.model.sees)
        return self.completion.tools((*own, *self.foreign.schemas()))

    async def _think(self) -> CleanReply:
        began = self.seconds()
        request = self._request()
        try:
            thought = await think(self.context, request, sleep=self.sleep, random=self.jitter)
        except ModelError as error:
            if not error.too_long:
                raise
            await self.compactor.too_long(error, request)
            request = self._request()
            thought = await think(self.context, request, sleep=self.sleep, random=self.jitter)
        self.compactor.sent(request, thought.reply.usage)
        self.recorder.spent(model_ms=self.recorder.since(began))
        self.recorder.usage = self.recorder.usage.plus(thought.reply.usage)
        self.output_limit = thought.doubled_to or self.output_limit
        return thought

    async def _carry_out(
        self, step: int, thought: CleanReply, screen: Observation
    ) -> tuple[TurnEnd | None, bool]:
        """Carry out the model's call; return the turn's end, if any, and whether it counts."""
        if thought.call is not None:
            named = self.foreign.named(thought.call)
            foreign = self.foreign.tool(named.name)
            if foreign is not None:
                self.speechless = self.unread = 0
                return await self.carrying_out.call_foreign(step, foreign, named, thought), True
        choice = self._choose(thought, screen)
        thought = self._in_own_names(thought, choice)
        kept = await keep(self.context, thought, self._hide(choice.resolved))
        if kept.text or thought.call is None:
            said = f"{kept.text} ({thought.cut_off})".strip() if thought.cut_at else kept.text
            self.recorder.hold(AgentMessage(step=step, text=said or "(no reply)"))
        if thought.call is None:
            return self._without_call(thought), False
        self.speechless = 0
        self.memory.reasoning = thought.reply.reasoning
        call = replace(thought.call, call_id=self.recorder.call_id(thought.call, step))
        request = await self._store_intent(step, call, kept, choice, screen)
        if choice.tool is None or choice.arguments is None:
            return await self._unusable(call, choice, thought), True
        model = self.context.model
        if not isinstance(model, Withdraws):
            return await self._do(request, thought, choice, screen), choice.tool.counted
        try:
            async with model.under_way():
                return await self._do(request, thought, choice, screen), choice.tool.counted
        except CallWithdrawn:
            await self.carrying_out.withdrawn(request, thought, choice)
            return None, choice.tool.counted

    def _choose(self, thought: CleanReply, screen: Observation) -> Choice:
        """Read the model's call, and find what it names on the screen; nothing is done yet."""
        choice = Choice()
        if thought.call is not None:
            choice = read_choice(
                thought.call,
                screen,
                self.memory.apps,
                self.context.library,
                before=self.before,
                offered=[tool.name for tool in self._offered()],
            )
        self.unread = 0 if choice.tool is not None else self.unread + 1
        resolved = choice.resolved
        if resolved is not None and (text := secret_text(resolved)):
            self.secrets.add(text)
        if resolved is not None and not self.context.background:
            self.executor.guard.prepare(resolved, screen)
        return choice

    def _in_own_names(self, thought: CleanReply, choice: Choice) -> CleanReply:
        """Return an answer with the arguments by their own names, and note what was ignored."""
        self.parts.ignored = ""
        if thought.call is None or choice.arguments is None:
            return thought
        own = in_own_names(thought.call.name, thought.call.arguments)
        self.parts.ignored = ignored_note(own.ignored)
        return with_fields(thought, call=replace(thought.call, arguments=own.arguments))

    def _without_call(self, thought: CleanReply) -> TurnEnd | None:
        """Count an answer without a call; end the turn after several in a row."""
        self.speechless += 1
        if self.speechless < MAX_SPEECHLESS:
            return None
        message = f"The model called no tool {MAX_SPEECHLESS} times in a row."
        if thought.cut_at:
            message += f" Its answer was {thought.cut_off}: set model.max_output_tokens."
        return TurnEnd(completed=False, message=message)

    async def _store_intent(
        self, step: int, call: ToolCall, kept: StoredReply, choice: Choice, screen: Observation
    ) -> ToolCallRequested:
        """Store what will be called, before the phone is touched."""
        resolved = choice.resolved
        is_usable = choice.tool is not None and choice.arguments is not None
        return await self.recorder.request(
            step,
            call,
            kind=choice.tool.tool_kind if choice.tool and is_usable else ToolKind.CONTROL,
            kept=kept,
            resolved=resolved,
            verdict=self.executor.guard.weigh(resolved, screen) if resolved else None,
        )

    async def _unusable(
        self, call: ToolCall, choice: Choice, thought: CleanReply
    ) -> TurnEnd | None:
        """Return the end of a dry run; elsewhere the model reads why its call cannot be used."""
        ends = choice.tool is not None and self.context.session.dry_run
        why = choice.unusable
        text = would_fail(call.name, why) if ends else verify.malformed(why)
        await self.parts.finish(call, ActionOutcome.FAILED, text, thought)
        return rehearsed_end(text) if ends else None

    async def _do(
        self, request: ToolCallRequested, thought: CleanReply, choice: Choice, screen: Observation
    ) -> TurnEnd | None:
        if choice.resolved is not None:
            return await self.carrying_out.act(choice.resolved, screen, request, thought)
        if isinstance(choice.arguments, ServiceCall):
            return await self.carrying_out.use_service_tool(choice.arguments, request, thought)
        assert isinstance(choice.arguments, ControlArguments | Finish), "no action"
        return await self.carrying_out.control(choice.arguments, request, thought)

    def _hide(self, resolved: ResolvedAction | None) -> Callable[[str], str]:
        """Return a function that redacts known secrets and the one about to be typed."""
        text = "" if resolved is None else secret_text(resolved)
        if not text:
            return self.secrets.hide
        # The whole text of this call, however short: a PIN has four digits.
        return lambda said: SECRET if said == text else self.secrets.hide(said)


def _package_of(context: TaskContext) -> str:
    """Return the package of the app that a session is about; empty where it is not known."""
    session = context.session
    card = context.library.named(session.goal)
    return session.target_package or (card.package if card is not None else "")
