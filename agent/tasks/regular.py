"""The regular task: observe, think, act, until the goal is met or cannot be (CONTRACTS 5.3).

The loop on one page; each part of a step is a module of `agent.loop`. Invariants: every step, call
and result is a stored event, the intent before the phone is touched; a resumed turn rebuilds its
memory from those events, looks first, and never repeats an action whose outcome is unknown.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable

from msgspec.structs import replace

from agent.errors import DeviceLostError
from agent.loop import prompts, verify
from agent.loop.act import Act, Actor
from agent.loop.budget import BudgetWatch
from agent.loop.choice import Choice, deed_of, read_choice
from agent.loop.controls import Controls
from agent.loop.elements import find_by_key
from agent.loop.eyes import Eyes
from agent.loop.guard import ban_refusal, duplicate_refusal
from agent.loop.hands import watched
from agent.loop.ladder import Ladder
from agent.loop.ledger import Ledger
from agent.loop.memory import Memory, action_key
from agent.loop.observe import Observer, Seconds, Sleep
from agent.loop.office import Office
from agent.loop.pace import PACE, Pace
from agent.loop.patterns import NOTHING, Pattern, Without
from agent.loop.pictures import Pictures
from agent.loop.rehearse import rehearse, unfit
from agent.loop.resume import Lost, what_became_of
from agent.loop.reviewing import CHANGED_SINCE, Reviewing
from agent.loop.route import Route
from agent.loop.think import Thought, keep, remembered, think
from agent.models.model import ModelRequest, ToolCall
from agent.protocol import (
    AgentMessage,
    SteerApplied,
    TaskComplete,
    ToolCallRequested,
    TurnAborted,
    UserMessage,
    WarningEvent,
)
from agent.records import ActionOutcome, Observation
from agent.safety.secrets import SECRET, Secrets
from agent.tasks.task import Grant, TaskContext, TurnEnd
from agent.tools.actions import Deed
from agent.tools.arguments import (
    AskUser,
    BadArguments,
    ClickElement,
    Finish,
    LongPressElement,
    MoreElements,
    TypeText,
    UpdatePlan,
    Wait,
)
from agent.tools.office_calls import OfficeArguments
from agent.tools.registry import ToolArguments, ToolKind, read_call, schemas

MAX_SPEECHLESS = 4
"""Replies in a row without a tool call, after which the turn ends (CONTRACTS 5.4)."""


class RegularTask:
    """Pursue one goal on one phone.

    Args:
        pace: bounds on watching a screen.
        sleep: waits; seconds: a monotonic clock; jitter: a number from [0, 1). Tests give theirs.
        without: patterns that are switched off, for measuring.
    """

    def __init__(
        self,
        *,
        pace: Pace = PACE,
        sleep: Sleep = asyncio.sleep,
        seconds: Seconds = time.monotonic,
        jitter: Callable[[], float] = random.random,
        without: Without = NOTHING,
    ) -> None:
        self._without = without
        self._pace = pace
        self._sleep = sleep
        self._seconds = seconds
        self._jitter = jitter

    @property
    def kind(self) -> str:
        return "regular"

    async def run(self, context: TaskContext) -> TurnEnd:
        """Work until the turn ends."""
        turn = _Turn(context, self._pace, self._sleep, self._seconds, self._jitter, self._without)
        async with watched(context, self._sleep):
            try:
                end = await turn.begin()
                while end is None:
                    await context.checkpoint()
                    end = await turn.budget.check() or await turn.ladder.climb()
                    end = end or await turn.step()
                return end
            finally:
                await turn.eyes.close()

    async def abort(self, context: TaskContext) -> None:
        """Nothing is held: a gesture in flight ended with the call that made it."""


class _Turn:
    """One turn's state: memory, the screen in hand, and the clock of the step."""

    def __init__(
        self,
        context: TaskContext,
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
            without=without,
        )
        self.ledger = Ledger(context, self.memory, seconds)
        observer = Observer(
            put_blob=context.put_blob,
            now_ms=context.now_ms,
            pace=pace,
            sleep=sleep,
            seconds=seconds,
            pictures=Pictures() if context.model.sees else None,
            hide=self.secrets.hide,
            without=without,
        )
        self.eyes = Eyes(context, observer, self.ledger, pace, sleep, seconds)
        self.actor = Actor(context, observer, pace, sleep, seconds, self.secrets, without)
        self.reviewing = Reviewing(context, self.actor.guard)
        self.office = Office(context)
        self.budget = BudgetWatch(context, self.ledger)
        self.ladder = Ladder(context, self.ledger)
        self.controls = Controls(context, self.ledger, self.eyes, sleep, seconds, self.secrets)
        self.route = Route.of(context.history)
        self.speechless = 0

    # --- a turn ----------

    async def begin(self) -> TurnEnd | None:
        """Remember the past, and settle the call that it left open."""
        if self.context.model.notice and not any(
            isinstance(event.msg, TaskComplete | TurnAborted) for event in self.context.history
        ):
            await self.ledger.tell(WarningEvent(message=self.context.model.notice))
        self.memory.know(await self.eyes.installed())
        for event in self.context.history:
            self.ledger.recall(event)
        self.memory.order(self.context.prompt)
        end = None if self.memory.pending is None else await self._settle(self.memory.pending)
        if self.memory.step:
            self.memory.resumed()
        return end

    # --- a step ----------

    async def step(self) -> TurnEnd | None:
        """Observe, think, act, once."""
        step = self.ledger.open_step()
        await self._steer(step)
        screen = await self.eyes.look(step)
        thought = remembered(self.route.next(screen)) or await self._think()
        end, counted = await self._carry_out(step, thought, screen)
        await self.ledger.close_step(step, counted=counted)
        return end

    async def _steer(self, step: int) -> None:
        for hint in self.context.take_steering():
            # Where the hint came with the live turn, its own event is not in the history.
            self.memory.fold(UserMessage(text=hint.text, message_id=hint.message_id, steer=True))
            await self.ledger.tell(SteerApplied(message_id=hint.message_id, step=step))

    async def _think(self) -> Thought:
        began = self.seconds()
        request = ModelRequest(messages=self.memory.conversation(), tools=schemas())
        thought = await think(self.context, request, sleep=self.sleep, random=self.jitter)
        self.ledger.spent(model_ms=self.ledger.since(began))
        self.ledger.usage = self.ledger.usage.plus(thought.reply.usage)
        return thought

    async def _carry_out(
        self, step: int, thought: Thought, screen: Observation
    ) -> tuple[TurnEnd | None, bool]:
        """Do what the model chose; gives the turn's end, if it is one, and whether it counts."""
        choice = Choice()
        if thought.call is not None:
            choice = read_choice(thought.call, screen, self.memory.apps, self.context.library)
        tool, arguments, deed, unusable = choice
        if deed is not None and deed.is_secret and isinstance(deed.action, TypeText):
            self.secrets.add(deed.action.text)
        kept = await keep(self.context, thought, self._hide(deed))
        if kept.text or thought.call is None:
            self.ledger.hold(AgentMessage(step=step, text=kept.text or "(no reply)"))
        if thought.call is None:
            self.speechless += 1
            if self.speechless < MAX_SPEECHLESS:
                return None, False
            message = f"The model called no tool {MAX_SPEECHLESS} times in a row."
            return TurnEnd(completed=False, message=message), False
        self.speechless = 0
        call = replace(thought.call, call_id=self.ledger.call_id(thought.call, step))
        request = await self.ledger.request(
            step,
            call,
            kind=tool.kind if tool and arguments else ToolKind.CONTROL,
            kept=kept,
            deed=deed,
            verdict=self.actor.guard.weigh(deed, screen) if deed else None,
        )
        if tool is None or arguments is None:
            ends = tool is not None and self.context.session.dry_run
            text = unfit(call.name, unusable) if ends else verify.failed(unusable)
            await self._finish(call, ActionOutcome.FAILED, text, thought)
            return (_rehearsed(text) if ends else None), True
        if deed is not None:
            return await self._act(deed, screen, request, thought), tool.counted
        if isinstance(arguments, OfficeArguments):
            return await self._work_in_office(arguments, request, thought), tool.counted
        assert isinstance(arguments, Finish | UpdatePlan | Wait | AskUser | MoreElements), "no deed"
        return await self._control(arguments, request, thought), tool.counted

    def _hide(self, deed: Deed | None) -> Callable[[str], str]:
        """Give what takes known secrets out, and the one that is about to be typed."""
        if deed is None or not deed.is_secret or not isinstance(deed.action, TypeText):
            return self.secrets.hide
        text = deed.action.text
        # The whole text of this call, however short: a PIN has four digits.
        return lambda said: SECRET if said == text else self.secrets.hide(said)

    # --- tools ----------

    async def _act(
        self, deed: Deed, screen: Observation, request: ToolCallRequested, thought: Thought | None
    ) -> TurnEnd | None:
        if self.context.session.dry_run:
            verdict = self.actor.guard.weigh(deed, screen)
            text = await rehearse(self.context, deed, screen, verdict, plan=self.memory.plan)
            await self._finish(request, ActionOutcome.FAILED, text, thought)
            return _rehearsed(text)
        if self.context.background:
            asked = self.reviewing.ask(deed, screen, request)
            if isinstance(asked, TurnEnd):
                return asked
            await self._finish(request, ActionOutcome.FAILED, asked, thought)
            return None
        banned = self.memory.trail.bans.get(deed.element.key, "") if deed.element else ""
        if banned and deed.element is not None and request.tool == "click_element":
            text = ban_refusal(deed.element, banned)
            await self._finish(request, ActionOutcome.FAILED, text, thought)
            return None
        if self.memory.trail.is_duplicate(action_key(request)):
            await self._finish(request, ActionOutcome.FAILED, duplicate_refusal(), thought)
            return None
        try:
            act = await self.actor.do(deed, screen, request)
        except DeviceLostError:
            text = verify.failed("The phone went away before anything was done")
            await self._finish(request, ActionOutcome.FAILED, text, thought)
            return None
        await self._take_in(act, request, thought)
        return None

    async def _take_in(self, act: Act, request: ToolCallRequested, thought: Thought | None) -> None:
        """Keep what a deed came to, and the screen that verified it."""
        self.ledger.spent(act_ms=act.act_ms, idle_ms=act.idle_ms)
        if act.seen is not None:
            self.eyes.hold(act.seen)
        await self._finish(request, act.outcome, act.text, thought)

    async def _work_in_office(
        self, arguments: OfficeArguments, request: ToolCallRequested, thought: Thought | None
    ) -> TurnEnd | None:
        done = await self.office.work(arguments, request)
        if done.end is None:
            self.eyes.keep()
            await self._finish(request, done.outcome, done.text, thought)
        return done.end

    async def _control(
        self,
        arguments: Finish | UpdatePlan | Wait | AskUser | MoreElements,
        request: ToolCallRequested,
        thought: Thought | None,
    ) -> TurnEnd | None:
        done = await self.controls.do(arguments, request)
        await self._finish(request, done.outcome, done.text, thought)
        return done.end

    # --- after an interruption ----------

    async def _settle(self, lost: ToolCallRequested) -> TurnEnd | None:
        """Give the call that was under way a result: take it up again, or say it is unknown."""
        waited = what_became_of(self.context.history, lost.call_id) is Lost.WAITED
        call = ToolCall(call_id=lost.call_id, name=lost.tool, arguments=lost.arguments)
        grant = self.context.grant
        try:
            _, arguments = read_call(call)
            if grant is not None and grant.call_id == lost.call_id:
                return await self._do_granted(lost, arguments, grant)
            if isinstance(arguments, AskUser):
                asked = await self.controls.ask(arguments, lost)
                await self._finish(lost, asked.outcome, asked.text, None)
                return None
            if waited and isinstance(arguments, ClickElement | LongPressElement):
                return await self._take_up(lost, arguments)
            if waited:
                text = verify.failed("The work was interrupted before this was approved or done")
                await self._finish(lost, ActionOutcome.FAILED, text, None)
                return None
        except BadArguments:
            # What was stored is not what can be carried out; nobody knows what became of it.
            pass
        await self._finish(lost, ActionOutcome.UNKNOWN, prompts.OUTCOME_UNKNOWN, None)
        return None

    async def _take_up(self, lost: ToolCallRequested, arguments: ToolArguments) -> TurnEnd | None:
        """Look whether the element that approval was asked for is there, and ask on."""
        screen = (await self.eyes.observe(None)).observation
        same = None if lost.element is None else find_by_key(screen.elements, lost.element.key)
        if same is None or lost.element is None or same.label != lost.element.label:
            text = verify.failed("The work was interrupted, and the element is not there any more")
            await self._finish(lost, ActionOutcome.FAILED, text, None)
            return None
        again = replace(arguments, element=same.number)
        deed = deed_of(again, screen, self.memory.apps, self.context.library)
        assert deed is not None, "an action resolves to a deed"
        return await self._act(deed, screen, lost, None)

    async def _do_granted(
        self, lost: ToolCallRequested, arguments: ToolArguments, grant: Grant
    ) -> TurnEnd | None:
        """Look afresh, then do the one action that was approved, unless the screen is another."""
        if isinstance(arguments, OfficeArguments):
            return await self._work_in_office(arguments, lost, None)
        screen = (await self.eyes.observe(None)).observation
        deed = self.reviewing.again(lost, arguments, screen, self.memory.apps)
        if isinstance(deed, str):
            await self._finish(lost, ActionOutcome.FAILED, verify.failed(deed), None)
            return None
        if self.reviewing.digest(deed, screen) != grant.screen_digest:
            await self.ledger.tell(WarningEvent(message=CHANGED_SINCE))
            return await self._act(deed, screen, lost, None)
        await self._take_in(await self.reviewing.carry_out(self.actor, deed, screen), lost, None)
        return None

    # --- bookkeeping ----------

    async def _finish(
        self,
        call: ToolCall | ToolCallRequested,
        outcome: ActionOutcome,
        text: str,
        thought: Thought | None,
    ) -> None:
        self.route.took(call.call_id, outcome, text)
        if thought is not None and thought.dropped_calls:
            text += f" Your {thought.dropped_calls} other calls were left out: one at a time."
        if thought is None:
            await self.ledger.finish(call, outcome, text)
        else:
            self.ledger.end(call, outcome, text)


def _rehearsed(text: str) -> TurnEnd:
    return TurnEnd(completed=True, message=text, reason="a dry run: nothing was done")
