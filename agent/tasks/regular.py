"""The regular task: observe, think, act, until the goal is met or cannot be (CONTRACTS 5.3).

The loop on one page; each part of a step is a module of `agent.loop`. Invariants: every step, call
and result is a stored event, the intent before the phone is touched; a resumed turn rebuilds its
memory from those events, looks first, and never repeats an action whose outcome is unknown.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Callable

from msgspec.structs import replace

from agent.errors import DeviceError, DeviceLostError
from agent.loop import prompts, verify
from agent.loop.act import Actor
from agent.loop.changes import describe_change
from agent.loop.guard import background_refusal, duplicate_refusal
from agent.loop.memory import Memory, action_key
from agent.loop.observe import Observer, Seconds, Seen, Sleep
from agent.loop.pace import PACE, Pace
from agent.loop.recover import wrong_app
from agent.loop.resume import Lost, what_became_of
from agent.loop.think import Thought, think, tidy
from agent.models.model import ModelRequest, ToolCall
from agent.protocol import (
    AgentMessage,
    Event,
    EventMsg,
    ObservationRecorded,
    PlanUpdate,
    SteerApplied,
    StepCompleted,
    StepStarted,
    ToolCallFinished,
    ToolCallRequested,
    UserMessage,
)
from agent.records import (
    ActionOutcome,
    AppInfo,
    Observation,
    QuestionOption,
    TimeSplit,
    Usage,
)
from agent.tasks.task import TaskContext, TurnEnd
from agent.text import one_line
from agent.tools.actions import Deed, resolve
from agent.tools.arguments import AskUser, BadArguments, Finish, UpdatePlan, Wait
from agent.tools.registry import ToolArguments, ToolKind, read_call, schemas

MAX_SPEECHLESS = 4
"""Replies in a row without a tool call, after which the turn ends (CONTRACTS 5.4)."""
_LOOK_TRIES = 3
_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class RegularTask:
    """Pursue one goal on one phone.

    Args:
        pace: bounds on watching a screen.
        sleep: waits; seconds: a monotonic clock; jitter: a number from [0, 1). Tests give theirs.
    """

    def __init__(
        self,
        *,
        pace: Pace = PACE,
        sleep: Sleep = asyncio.sleep,
        seconds: Seconds = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._pace = pace
        self._sleep = sleep
        self._seconds = seconds
        self._jitter = jitter

    @property
    def kind(self) -> str:
        return "regular"

    async def run(self, context: TaskContext) -> TurnEnd:
        """Work until the turn ends."""
        turn = _Turn(context, self._pace, self._sleep, self._seconds, self._jitter)
        end = await turn.begin()
        while end is None:
            await context.checkpoint()
            end = turn.out_of_budget() or await turn.step()
        return end


class _Turn:
    """One turn's state: memory, the screen in hand, and the clock of the step."""

    def __init__(
        self,
        context: TaskContext,
        pace: Pace,
        sleep: Sleep,
        seconds: Seconds,
        jitter: Callable[[], float],
    ) -> None:
        self.context = context
        self.sleep = sleep
        self.seconds = seconds
        self.jitter = jitter
        self.pace = pace
        self.observer = Observer(
            put_blob=context.put_blob,
            now_ms=context.now_ms,
            pace=pace,
            sleep=sleep,
            seconds=seconds,
        )
        self.actor = Actor(context, self.observer, pace, sleep, seconds)
        self.memory = Memory(context.session.goal)
        self.apps: tuple[AppInfo, ...] = ()
        self.seen: Seen | None = None
        """The newest observation, when no step has used it."""
        self.shown: Seen | None = None
        self.seen_at = 0.0
        self.time = TimeSplit()
        self.usage = Usage()
        self.speechless = 0
        self.call_ids: set[str] = set()

    # --- a turn ----------

    async def begin(self) -> TurnEnd | None:
        """Remember the past, and settle the call that it left open."""
        context = self.context
        session = context.session
        self.apps = await self._installed()
        self.memory = Memory(session.goal, self.apps, session.target_package)
        for event in context.history:
            self._remember(event)
        self.memory.order(context.prompt)
        end = None if self.memory.pending is None else await self._settle(self.memory.pending)
        if self.memory.step:
            self.memory.resumed()
        return end

    def out_of_budget(self) -> TurnEnd | None:
        """End the turn when its steps are used up."""
        limits = self.context.limits
        if self.context.session.steps >= limits.max_steps:
            return TurnEnd(
                completed=False,
                message=f"The limit of {limits.max_steps} steps was reached before the goal.",
            )
        if self.memory.total >= limits.max_total_steps:
            return TurnEnd(
                completed=False,
                message=f"The limit of {limits.max_total_steps} steps in all, counted or not, "
                "was reached before the goal.",
            )
        return None

    # --- a step ----------

    async def step(self) -> TurnEnd | None:
        """Observe, think, act, once."""
        self.time, self.usage = TimeSplit(), Usage()
        step = self.memory.step + 1
        await self._tell(StepStarted(step=step))
        await self._steer(step)
        screen = await self._look(step)
        thought = await self._think()
        end, counted = await self._carry_out(step, thought, screen)
        await self._tell(
            StepCompleted(step=step, time=self.time, usage=self.usage, counted=counted)
        )
        return end

    async def _steer(self, step: int) -> None:
        for hint in self.context.take_steering():
            # Where the hint came with the live turn, its own event is not in the history.
            self.memory.fold(UserMessage(text=hint.text, message_id=hint.message_id, steer=True))
            await self._tell(SteerApplied(message_id=hint.message_id, step=step))

    async def _look(self, step: int) -> Observation:
        """Take the observation in hand, or a new one, and store it as this step's."""
        seen, self.seen = self.seen, None
        if seen is not None and self.seconds() - self.seen_at > self.pace.stale_s:
            # Somebody was waited for in between: paused, or asked.
            seen = None
        if seen is None:
            seen = await self._observe(self.memory.last_seen)
        self.shown = seen
        previous = self.memory.last_seen
        observation = replace(seen.observation, change=describe_change(previous, seen.observation))
        warnings = self.memory.warnings(observation.fingerprint)
        stray = wrong_app(observation.foreground.package, self.memory.target)
        observation = replace(
            observation,
            screen_text=prompts.observation_text(
                observation,
                step=step,
                max_steps=self.context.limits.max_steps,
                plan=self.memory.plan,
                warnings=(*warnings, stray) if stray else warnings,
            ),
        )
        await self._tell(ObservationRecorded(step=step, observation=observation))
        if seen.image is not None:
            self.memory.show(seen.image, seen.image_type)
        return observation

    async def _think(self) -> Thought:
        began = self.seconds()
        request = ModelRequest(messages=self.memory.conversation(), tools=schemas())
        thought = await think(self.context, request, sleep=self.sleep, random=self.jitter)
        self._spent(model_ms=self._since(began))
        self.usage = self.usage.plus(thought.reply.usage)
        return thought

    async def _carry_out(
        self, step: int, thought: Thought, screen: Observation
    ) -> tuple[TurnEnd | None, bool]:
        """Do what the model chose; gives the turn's end, if it is one, and whether it counts."""
        if thought.text or thought.call is None:
            await self._tell(AgentMessage(step=step, text=thought.text or "(no reply)"))
        if thought.call is None:
            self.speechless += 1
            if self.speechless < MAX_SPEECHLESS:
                return None, False
            message = f"The model called no tool {MAX_SPEECHLESS} times in a row."
            return TurnEnd(completed=False, message=message), False
        self.speechless = 0
        call = replace(thought.call, call_id=self._call_id(thought.call, step))
        try:
            tool, arguments = read_call(call)
            deed = self._resolve(arguments, screen)
        except BadArguments as error:
            await self._request(step, call, thought, ToolKind.CONTROL, None)
            await self._finish(call, ActionOutcome.FAILED, verify.failed(str(error)), thought)
            return None, True
        request = await self._request(step, call, thought, tool.kind, deed)
        if deed is not None:
            return await self._act(deed, screen, request, thought), tool.counted
        return await self._control(arguments, request, thought), tool.counted

    def _resolve(self, arguments: ToolArguments, screen: Observation) -> Deed | None:
        if isinstance(arguments, Wait | UpdatePlan | AskUser | Finish):
            return None
        return resolve(arguments, screen, self.apps)

    # --- tools ----------

    async def _act(
        self, deed: Deed, screen: Observation, request: ToolCallRequested, thought: Thought | None
    ) -> TurnEnd | None:
        if self.context.background:
            text = background_refusal(request.tool)
            await self._finish(request, ActionOutcome.FAILED, text, thought)
            return TurnEnd(
                completed=False,
                message=f"{request.tool} changes the phone, and nobody is watching: it needs "
                "confirmation.",
            )
        if self.memory.trail.is_duplicate(action_key(request)):
            await self._finish(request, ActionOutcome.FAILED, duplicate_refusal(), thought)
            return None
        try:
            act = await self.actor.do(deed, screen, request)
        except DeviceLostError:
            text = verify.failed("The phone went away before anything was done")
            await self._finish(request, ActionOutcome.FAILED, text, thought)
            return None
        self._spent(act_ms=act.act_ms, idle_ms=act.idle_ms)
        if act.seen is not None:
            self._hold(act.seen)
        await self._finish(request, act.outcome, act.text, thought)
        return None

    async def _control(
        self, arguments: ToolArguments, request: ToolCallRequested, thought: Thought | None
    ) -> TurnEnd | None:
        match arguments:
            case Finish(success=success, summary=summary):
                message = tidy(summary).strip() or "The model gave no reason."
                await self._finish(request, ActionOutcome.DONE, "Recorded.", thought)
                return TurnEnd(completed=success, message=message)
            case UpdatePlan(plan=plan, explanation=explanation):
                plan = tuple(replace(item, step=tidy(item.step)) for item in plan)
                await self._tell(PlanUpdate(plan=plan, explanation=tidy(explanation)))
                await self._finish(request, ActionOutcome.DONE, "Plan updated.", thought)
                # Nothing was touched: the same screen serves the next step.
                self.seen = self.shown
            case Wait(seconds=seconds):
                began = self.seconds()
                await self.sleep(seconds)
                self._spent(idle_ms=self._since(began))
                text = f"Waited {seconds:g} s."
                await self._finish(request, ActionOutcome.DONE, text, thought)
            case AskUser(question=question, options=options):
                await self._ask(question, options, request, thought)
            case _:
                raise AssertionError(f"{request.tool} is not a control tool")
        return None

    async def _ask(
        self,
        question: str,
        options: tuple[str, ...],
        request: ToolCallRequested,
        thought: Thought | None,
    ) -> None:
        began = self.seconds()
        if not question.strip():
            text = verify.failed("`question` is empty")
            await self._finish(request, ActionOutcome.FAILED, text, thought)
            return
        labels = dict.fromkeys(one_line(tidy(option), 80) for option in options[:10])
        answer = await self.context.ask(
            tidy(question)[:2000],
            call_id=request.call_id,
            step=request.step,
            options=tuple(QuestionOption(label=label) for label in labels if label),
        )
        self._spent(idle_ms=self._since(began))
        if answer is None:
            text = verify.failed("Nobody answered in time")
            await self._finish(request, ActionOutcome.FAILED, text, thought)
        else:
            text = f"The operator answers: {prompts.operator_text(answer)}"
            await self._finish(request, ActionOutcome.DONE, text, thought)

    # --- after an interruption ----------

    async def _settle(self, lost: ToolCallRequested) -> TurnEnd | None:
        """Give the call that was under way a result: take it up again, or say it is unknown."""
        waited = what_became_of(self.context.history, lost.call_id) is Lost.WAITED
        call = ToolCall(call_id=lost.call_id, name=lost.tool, arguments=lost.arguments)
        try:
            _, arguments = read_call(call)
            if isinstance(arguments, AskUser):
                await self._ask(arguments.question, arguments.options, lost, None)
                return None
            if waited and lost.kind == ToolKind.ACTION and lost.element is not None:
                return await self._take_up(lost, arguments)
        except BadArguments:
            # What was stored is not what can be carried out; nobody knows what became of it.
            pass
        await self._finish(lost, ActionOutcome.UNKNOWN, prompts.OUTCOME_UNKNOWN, None)
        return None

    async def _take_up(self, lost: ToolCallRequested, arguments: ToolArguments) -> TurnEnd | None:
        """Look whether the element that approval was asked for is there, and ask on."""
        screen = (await self._observe(None)).observation
        same = next(
            (e for e in screen.elements if lost.element and e.key == lost.element.key), None
        )
        if same is None or "element" not in arguments.__struct_fields__:
            text = verify.failed("The work was interrupted, and the element is not there any more")
            await self._finish(lost, ActionOutcome.FAILED, text, None)
            return None
        deed = self._resolve(replace(arguments, element=same.number), screen)
        assert deed is not None, "an action resolves to a deed"
        return await self._act(deed, screen, lost, None)

    # --- the phone ----------

    async def _observe(self, previous: Observation | None) -> Seen:
        """Observe; a device that is away is waited for, one that stutters is tried again."""
        tries = 0
        while True:
            try:
                seen = await self.observer.observe(self.context.device, previous)
            except DeviceLostError:
                await self._await_device()
            except DeviceError:
                tries += 1
                if tries >= _LOOK_TRIES:
                    raise
                await self.sleep(self.pace.poll_s)
            else:
                self._hold(seen)
                self.seen = None
                return seen

    async def _installed(self) -> tuple[AppInfo, ...]:
        """List the apps; without a list the model can still find them on the screen."""
        for _ in range(_LOOK_TRIES):
            try:
                return await self.context.device.apps()
            except DeviceLostError:
                await self._await_device()
            except DeviceError:
                break
        return ()

    async def _await_device(self) -> None:
        began = self.seconds()
        await self.context.wait_for_device()
        self._spent(idle_ms=self._since(began))

    # --- bookkeeping ----------

    def _hold(self, seen: Seen) -> None:
        """Keep an observation for the next step, and its time for this one."""
        self.seen, self.seen_at = seen, self.seconds()
        self._spent(observe_ms=seen.observe_ms, settle_ms=seen.settle_ms)

    async def _tell(self, msg: EventMsg) -> Event:
        event = await self.context.emit(msg)
        self.memory.fold(event.msg)
        return event

    def _remember(self, event: Event) -> None:
        if isinstance(event.msg, ToolCallRequested):
            self.call_ids.add(event.msg.call_id)
        self.memory.fold(event.msg)

    async def _request(
        self, step: int, call: ToolCall, thought: Thought, kind: ToolKind, deed: Deed | None
    ) -> ToolCallRequested:
        msg = ToolCallRequested(
            step=step,
            call_id=call.call_id,
            tool=one_line(call.name, 60) or "unnamed",
            arguments=thought.arguments,
            kind=kind.value,
            element=deed.element if deed else None,
            point=deed.point if deed else None,
            prompt_digest=thought.prompt_digest,
            reply_digest=thought.reply_digest,
        )
        await self._tell(msg)
        return msg

    async def _finish(
        self,
        call: ToolCall | ToolCallRequested,
        outcome: ActionOutcome,
        text: str,
        thought: Thought | None,
    ) -> None:
        if thought is not None and thought.dropped_calls:
            text += f" Your {thought.dropped_calls} other calls were left out: one at a time."
        await self._tell(
            ToolCallFinished(
                step=self.memory.step, call_id=call.call_id, outcome=outcome, text=text
            )
        )

    def _call_id(self, call: ToolCall, step: int) -> str:
        """Give the model's own id where it is usable, so that an endpoint knows it again."""
        usable = _CALL_ID.fullmatch(call.call_id) and call.call_id not in self.call_ids
        call_id = call.call_id if usable else f"call_{self.context.turn_id[-8:]}_{step}"
        self.call_ids.add(call_id)
        return call_id

    def _spent(
        self,
        *,
        observe_ms: int = 0,
        model_ms: int = 0,
        act_ms: int = 0,
        settle_ms: int = 0,
        idle_ms: int = 0,
    ) -> None:
        self.time = self.time.plus(
            TimeSplit(
                observe_ms=observe_ms,
                model_ms=model_ms,
                act_ms=act_ms,
                settle_ms=settle_ms,
                idle_ms=idle_ms,
            )
        )

    def _since(self, began: float) -> int:
        return round((self.seconds() - began) * 1000)
