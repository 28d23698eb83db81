"""The regular task: observe, think, act, until the goal is met or cannot be (CONTRACTS 5.3).

The loop on one page, which docs/the-loop.md draws; each part of a step is a module of `agent.loop`.
Invariants: every step, call and result is a stored event, the intent before the phone is touched; a
resumed turn rebuilds its memory from those events, looks first, and never repeats an action whose
outcome is unknown.
"""

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import replace as with_fields
from typing import Any

from msgspec.structs import replace

from agent.errors import DeviceLostError, ModelError
from agent.loop.acting.action_replay import Route
from agent.loop.acting.action_review import CHANGED_SINCE, STILL_APPROVED, Reviewing, Way
from agent.loop.acting.acts import with_number
from agent.loop.acting.dry_run import rehearse, would_fail
from agent.loop.acting.executor import ActionResult, Executor
from agent.loop.acting.guard import ban_refusal, duplicate_refusal
from agent.loop.acting.tool_call_parsing import Choice, read_choice, resolved_action
from agent.loop.conversation import prompts
from agent.loop.conversation.memory import Memory, action_key
from agent.loop.conversation.model_call import CleanReply, StoredReply, keep, remembered, think
from agent.loop.images.image_prep import Pictures
from agent.loop.observe import Observer, Seconds, Sleep
from agent.loop.ocr.reader import shared_reader
from agent.loop.screen import verify
from agent.loop.screen.elements import find_by_key
from agent.loop.signals.keypad import is_repeatable
from agent.loop.task_context import Grant, TaskContext, TurnEnd
from agent.loop.timing import PACE, Pace
from agent.loop.turn.budget import BudgetWatch
from agent.loop.turn.compaction import Compactor
from agent.loop.turn.control_tools import ControlArguments, Controls
from agent.loop.turn.escalation import Escalation
from agent.loop.turn.finish import Completion
from agent.loop.turn.following_calls import FollowingCalls
from agent.loop.turn.foreign_tools import Foreign, read_arguments
from agent.loop.turn.observation_cache import ObservationCache
from agent.loop.turn.requirement_list import given_with_goal
from agent.loop.turn.service_tools import ServiceTools
from agent.loop.turn.touch_guard import watched
from agent.loop.turn.turn_recorder import TurnRecorder
from agent.loop.turn.unfinished_call import (
    OVERTAKEN,
    UNDONE,
    WITHDRAWN,
    WITHDRAWN_MIDWAY,
    Lost,
    what_became_of,
)
from agent.loop.verification.claim_history import ClaimHistory
from agent.loop_features import NOTHING, Pattern, Without
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
from agent.safety.capabilities import Decision
from agent.safety.redacting.secrets import SECRET, Secrets
from agent.tools.actions import ResolvedAction
from agent.tools.argument_names import ignored_note, in_own_names
from agent.tools.arguments import (
    AskUser,
    BadArguments,
    ClickElement,
    Finish,
    LongPressElement,
    ToolKind,
    TypeText,
)
from agent.tools.foreign import ForeignTool, NoServers, Toolbox, ToolServers
from agent.tools.registry import ToolArguments, read_call, schemas
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
            turn = _Turn(
                context,
                toolbox,
                self._pace,
                self._sleep,
                self._seconds,
                self._jitter,
                self._without,
            )
            try:
                end = await turn.begin()
                while end is None:
                    await context.checkpoint()
                    end = await turn.budget.check() or await turn.escalation.climb()
                    end = end or await turn.step()
                return end
            finally:
                turn.executor.guard.reviews.drop()
                await turn.observations.close()

    async def abort(self, context: TaskContext) -> None:
        """Do nothing: a gesture in flight ended with its call."""


class _Turn:
    """One turn: its memory, its parts and its steps."""

    def __init__(
        self,
        context: TaskContext,
        toolbox: Toolbox,
        pace: Pace,
        sleep: Sleep,
        seconds: Seconds,
        jitter: Callable[[], float],
        without: Without,
    ) -> None:
        self.context = context
        self.sleep = sleep
        self.seconds = seconds
        self.jitter = jitter
        session = context.session
        self.secrets = Secrets()
        library = context.library
        card = library.of(session.target_package) or library.named(session.goal)
        required = session.required_presentation.value if session.parent_id else ""
        self.memory = Memory(
            session.goal,
            target=session.target_package,
            required=required,
            card=None if Pattern.APP_CARDS in without else card,
            requires=given_with_goal(context),
            without=without,
        )
        past = ClaimHistory(session.goal)
        self.recorder = TurnRecorder(context, self.memory, seconds, past=past)
        observer = Observer(
            put_blob=context.put_blob,
            now_ms=context.now_ms,
            pace=pace,
            sleep=sleep,
            seconds=seconds,
            pictures=Pictures() if context.model.sees else None,
            reader=shared_reader(),
            hide=self.secrets.hide,
            without=without,
        )
        self.observations = ObservationCache(context, observer, self.recorder, pace, sleep, seconds)
        self.executor = Executor(context, observer, pace, sleep, seconds, self.secrets, without)
        self.reviewing = Reviewing(context, self.executor.guard)
        self.service_tools = ServiceTools(context)
        self.foreign = Foreign(context, toolbox)
        self.budget = BudgetWatch(context, self.recorder)
        self.escalation = Escalation(context, self.recorder)
        self.controls = Controls(
            context, self.recorder, self.observations, sleep, seconds, self.secrets
        )
        self.completion = Completion(context, self.recorder, past)
        self.compactor = Compactor(
            context, self.recorder, sleep, jitter, window=context.limits.context_window
        )
        self.route = Route.of(context.history)
        self.speechless = 0
        self.unread = 0
        """Answers in a row without a call that could be read."""
        self.following = FollowingCalls()
        self.before: Observation | None = None
        """The screen of the step before."""
        self.ignored = ""
        """What the result of this step's call says of arguments that there are not."""
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
        end = None if self.memory.pending is None else await self._settle(self.memory.pending)
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
                return await self._call_foreign(step, foreign, named, thought), True
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
            await self._withdrawn(request, thought, choice)
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
        if resolved is not None and resolved.is_secret and isinstance(resolved.action, TypeText):
            self.secrets.add(resolved.action.text)
        if resolved is not None and not self.context.background:
            self.executor.guard.prepare(resolved, screen)
        return choice

    def _in_own_names(self, thought: CleanReply, choice: Choice) -> CleanReply:
        """Return an answer with the arguments by their own names, and note what was ignored."""
        self.ignored = ""
        if thought.call is None or choice.arguments is None:
            return thought
        own = in_own_names(thought.call.name, thought.call.arguments)
        self.ignored = ignored_note(own.ignored)
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
        await self._finish(call, ActionOutcome.FAILED, text, thought)
        return _rehearsed(text) if ends else None

    async def _do(
        self, request: ToolCallRequested, thought: CleanReply, choice: Choice, screen: Observation
    ) -> TurnEnd | None:
        if choice.resolved is not None:
            return await self._act(choice.resolved, screen, request, thought)
        if isinstance(choice.arguments, ServiceCall):
            return await self._use_service_tool(choice.arguments, request, thought)
        assert isinstance(choice.arguments, ControlArguments | Finish), "no action"
        return await self._control(choice.arguments, request, thought)

    async def _withdrawn(
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
            await self._finish(request, ActionOutcome.UNKNOWN, text, thought)
            return
        self.executor.guard.undone()
        await self._finish(request, ActionOutcome.FAILED, WITHDRAWN, thought)

    def _hide(self, resolved: ResolvedAction | None) -> Callable[[str], str]:
        """Return a function that redacts known secrets and the one about to be typed."""
        if resolved is None or not resolved.is_secret or not isinstance(resolved.action, TypeText):
            return self.secrets.hide
        text = resolved.action.text
        # The whole text of this call, however short: a PIN has four digits.
        return lambda said: SECRET if said == text else self.secrets.hide(said)

    # --- tools ----------

    async def _act(
        self,
        resolved: ResolvedAction,
        screen: Observation,
        request: ToolCallRequested,
        thought: CleanReply | None,
    ) -> TurnEnd | None:
        if self.context.session.dry_run:
            verdict = await self.executor.guard.reviewed(resolved, screen, request)
            text = await rehearse(self.context, resolved, screen, verdict, plan=self.memory.plan)
            await self._finish(request, ActionOutcome.FAILED, text, thought)
            return _rehearsed(text)
        way = Way.FREELY
        if self.context.background:
            way = await self.reviewing.way(resolved, screen, request)
        if way is Way.REVIEW:
            asked = self.reviewing.ask(resolved, screen, request)
            if isinstance(asked, TurnEnd):
                return asked
            await self._finish(request, ActionOutcome.FAILED, asked, thought)
            return None
        banned = self.memory.trail.bans.get(resolved.element.key, "") if resolved.element else ""
        if banned and resolved.element is not None and request.tool == "click_element":
            self.executor.guard.reviews.drop()
            text = ban_refusal(resolved.element, banned)
            await self._finish(request, ActionOutcome.FAILED, text, thought)
            return None
        repeatable = resolved.element is not None and is_repeatable(
            resolved.element, screen.elements
        )
        if self.memory.trail.is_duplicate(action_key(request)) and not repeatable:
            self.executor.guard.reviews.drop()
            await self._finish(request, ActionOutcome.FAILED, duplicate_refusal(), thought)
            return None
        try:
            if way is Way.APPROVED:
                act = await self.reviewing.carry_out(self.executor, resolved, screen, request)
            else:
                act = await self.executor.do(resolved, screen, request, covered=self.memory.covered)
        except DeviceLostError:
            text = verify.failed("The phone went away before anything was done")
            await self._finish(request, ActionOutcome.FAILED, text, thought)
            return None
        await self._record_result(act, request, thought)
        return None

    async def _record_result(
        self, act: ActionResult, request: ToolCallRequested, thought: CleanReply | None
    ) -> None:
        """Keep what an action came to, and the screen that verified it."""
        self.recorder.spent(model_ms=act.review_ms, act_ms=act.act_ms, idle_ms=act.idle_ms)
        if act.seen is not None:
            self.observations.hold(act.seen)
        await self._finish(request, act.outcome, act.text, thought, waited=act.waited)

    async def _use_service_tool(
        self, arguments: ServiceCall, request: ToolCallRequested, thought: CleanReply | None
    ) -> TurnEnd | None:
        done = await self.service_tools.work(arguments, request)
        if done.end is None:
            self.observations.keep()
            await self._finish(request, done.outcome, done.text, thought)
        return done.end

    async def _call_foreign(
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
            await self._finish(call, ActionOutcome.FAILED, verify.malformed(str(error)), thought)
            return None
        rehearsed = self.foreign.rehearsed(tool, arguments)
        if rehearsed:
            await self._finish(call, ActionOutcome.FAILED, rehearsed, thought)
            return _rehearsed(rehearsed)
        return await self._work_elsewhere(tool, arguments, request, thought)

    async def _work_elsewhere(
        self,
        tool: ForeignTool,
        arguments: Mapping[str, Any],
        request: ToolCallRequested,
        thought: CleanReply | None,
    ) -> TurnEnd | None:
        done = await self.foreign.work(tool, arguments, request)
        if done.end is None:
            self.observations.keep()
            await self._finish(request, done.outcome, done.text, thought)
        return done.end

    async def _control(
        self,
        arguments: ControlArguments | Finish,
        request: ToolCallRequested,
        thought: CleanReply | None,
    ) -> TurnEnd | None:
        if isinstance(arguments, Finish):
            done = await self.completion.finish(arguments, request)
        else:
            done = await self.controls.do(arguments, request)
        await self._finish(request, done.outcome, done.text, thought)
        return done.end

    # --- after an interruption ----------

    async def _settle(self, lost: ToolCallRequested) -> TurnEnd | None:
        """Return the call that was under way a result: take it up again, or say what is known."""
        fate = what_became_of(self.context.history, lost.call_id)
        undone = fate.lost is not Lost.UNKNOWN
        call = ToolCall(call_id=lost.call_id, name=lost.tool, arguments=with_number(lost))
        grant = self.context.grant
        try:
            foreign = self.foreign.tool(lost.tool)
            if foreign is not None and grant is not None and grant.call_id == lost.call_id:
                given = read_arguments(foreign, lost.arguments)
                return await self._work_elsewhere(foreign, given, lost, None)
            arguments = read_call(call)
            if grant is not None and grant.call_id == lost.call_id:
                return await self._do_granted(lost, arguments, grant)
            if self.memory.overtaken and (undone or isinstance(arguments, AskUser)):
                # The new words came in the place of an answer.
                await self._finish(lost, ActionOutcome.FAILED, verify.failed(OVERTAKEN), None)
                return None
            if isinstance(arguments, AskUser):
                asked = await self.controls.ask(arguments, lost)
                await self._finish(lost, asked.outcome, asked.text, None)
                return None
            if fate.lost is Lost.WAITED and isinstance(arguments, ClickElement | LongPressElement):
                return await self._take_up(lost, arguments)
        except BadArguments:
            # What was stored is not what can be carried out.
            pass
        if undone:
            await self._finish(lost, ActionOutcome.FAILED, fate.told, None)
        else:
            await self._finish(lost, ActionOutcome.UNKNOWN, prompts.OUTCOME_UNKNOWN, None)
        return None

    async def _take_up(self, lost: ToolCallRequested, arguments: ToolArguments) -> TurnEnd | None:
        """Look whether the element that approval was asked for is there, and ask on."""
        screen = (await self.observations.observe(None)).observation
        same = None if lost.element is None else find_by_key(screen.elements, lost.element.key)
        if same is None or lost.element is None or same.label != lost.element.label:
            text = verify.failed(f"{UNDONE}, and the element is no longer there")
            await self._finish(lost, ActionOutcome.FAILED, text, None)
            return None
        again = replace(arguments, element=same.number)
        resolved = resolved_action(again, screen, self.memory.apps, self.context.library)
        assert resolved is not None, "an action is resolved before it is done"
        return await self._act(resolved, screen, lost, None)

    async def _do_granted(
        self, lost: ToolCallRequested, arguments: ToolArguments, grant: Grant
    ) -> TurnEnd | None:
        """Look afresh, then do the one action that was approved, unless the screen is another."""
        if isinstance(arguments, ServiceCall):
            return await self._use_service_tool(arguments, lost, None)
        screen = (await self.observations.observe(None)).observation
        resolved = self.reviewing.again(lost, arguments, screen, self.memory.apps)
        if isinstance(resolved, str):
            why = f"{resolved}. {STILL_APPROVED}" if self.reviewing.is_kept(lost) else resolved
            await self._finish(lost, ActionOutcome.FAILED, verify.failed(why), None)
            return None
        if not self.reviewing.holds(resolved, screen, lost, grant.screen_digest):
            await self.recorder.emit(WarningEvent(message=CHANGED_SINCE))
            return await self._act(resolved, screen, lost, None)
        await self._record_result(
            await self.reviewing.carry_out(self.executor, resolved, screen, lost), lost, None
        )
        return None

    # --- bookkeeping ----------

    async def _finish(
        self,
        call: ToolCall | ToolCallRequested,
        outcome: ActionOutcome,
        text: str,
        thought: CleanReply | None,
        *,
        waited: bool = False,
    ) -> None:
        self.route.on_result(call.call_id, outcome, text)
        if outcome is not ActionOutcome.FAILED:
            text += self.ignored
        self.ignored = ""
        if thought is not None:
            text += self.following.settle(
                thought,
                call.tool if isinstance(call, ToolCallRequested) else call.name,
                outcome=outcome,
                text=text,
                asked=waited
                or (isinstance(call, ToolCallRequested) and call.decision == Decision.ASK.value),
                screen=self.observations.newest,
            )
        if thought is None:
            await self.recorder.finish(call, outcome, text)
        else:
            self.recorder.end(call, outcome, text)


def _package_of(context: TaskContext) -> str:
    """Return the package of the app that a session is about; empty where it is not known."""
    session = context.session
    card = context.library.named(session.goal)
    return session.target_package or (card.package if card is not None else "")


def _rehearsed(text: str) -> TurnEnd:
    return TurnEnd(completed=True, message=text, reason="a dry run: nothing was done")
