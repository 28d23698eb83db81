"""The plan task: divide an agent session's goal among phones and apps, ask first where needed.

It drives no phone and needs no lease. Invariants: nothing is sent off that `agent.tasks.targets`
did not pass; a planner that proposes nothing usable in two attempts fails, one that proposes
nothing at all leaves the work to the session itself; a plan that died is taken up with the question
that it was waiting on (CONTRACTS 1.9, A10).
"""

import asyncio
import random
import time
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from agent.knowledge.app_names import with_names
from agent.loop.conversation.memory import Memory
from agent.loop.conversation.model_call import CleanReply, keep, think, tidy
from agent.loop.observe import Seconds, Sleep
from agent.loop.screen import verify
from agent.loop.task_context import Following, TaskContext, TurnEnd
from agent.loop.turn.budget import budget_words
from agent.loop.turn.control_tools import Controls
from agent.loop.turn.turn_recorder import TurnRecorder
from agent.loop.turn.unfinished_call import OVERTAKEN
from agent.models.model import Message, MessageKind, ModelRequest, Role, ToolCall, ToolChoice
from agent.protocol import AgentMessage, RequirementsUpdate, Target, ToolCallRequested, WarningEvent
from agent.records import ActionOutcome, RequirementKind
from agent.tasks.delegation import Delegation, PhoneView
from agent.tasks.goal_reading import Reading, parts_of_goal
from agent.tasks.phone_names import mentions, serials_of
from agent.tasks.plan_check import Scope, doubted, gaps, handed_on, required
from agent.tasks.planner_prompts import INSTRUCTIONS, apps_text, goal_text, phones_text
from agent.tasks.targets import BadTargets, checked_targets, on_main_displays
from agent.text import counted
from agent.tools.arguments import AskUser, BadArguments, Finish, ToolKind, UpdatePlan
from agent.tools.planning import (
    ListApps,
    ListDevices,
    PlanningArguments,
    ProposeTargets,
    WorkAlone,
    planning_schemas,
    read_planning_call,
)

MAX_ATTEMPTS = 2
"""Proposals that cannot be carried out, after which the planner fails (CONTRACTS 1.9)."""
MAX_STEPS = 10
MAX_THINKING_MS = 90_000
_BEFORE_OTHERS = frozenset({"list_devices", "list_apps", "update_plan"})
"""What a call after it in the same answer may build on; every other one decides something."""
_OR_WHY = "If the plan is right all the same, call it again and say why as `reason`"
_UNUSABLE = "The planner made no usable plan; the session works itself."


class PlanTask:
    """Divide one goal.

    Args:
        delegation: the session's way to look at phones and to send others off.
        sleep: waits; seconds: a monotonic clock; jitter: a number from [0, 1). Tests give theirs.
    """

    def __init__(
        self,
        delegation: Delegation,
        *,
        sleep: Sleep = asyncio.sleep,
        seconds: Seconds = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._delegation = delegation
        self._sleep = sleep
        self._seconds = seconds
        self._jitter = jitter

    @property
    def kind(self) -> str:
        return "plan"

    async def run(self, context: TaskContext) -> TurnEnd:
        """Plan until the work is divided, or found to need no dividing, or cannot be done."""
        planning = _Planning(context, self._delegation, self._sleep, self._seconds, self._jitter)
        end = await planning.begin()
        while end is None:
            await context.checkpoint()
            end = await planning.step()
        return end

    async def abort(self, context: TaskContext) -> None:
        """Nothing is held."""


class _Planning:
    """One plan turn's state."""

    def __init__(
        self,
        context: TaskContext,
        delegation: Delegation,
        sleep: Sleep,
        seconds: Seconds,
        jitter: Callable[[], float],
    ) -> None:
        self.context = context
        self.delegation = delegation
        self.sleep = sleep
        self.seconds = seconds
        self.jitter = jitter
        self.memory = Memory(context.session.goal)
        self.recorder = TurnRecorder(context, self.memory, seconds)
        self.controls = Controls(context, self.recorder, None, sleep, seconds)
        self.phones: tuple[PhoneView, ...] = ()
        self.refusals = 0
        self.gap_told = False
        """The planner was told once what its plan leaves out."""
        self.readings: dict[str, Reading] = {}
        """What each goal was read to ask of which phones."""
        self.steps = 0
        self.thinking_ms = 0
        self.unread = 0
        """Answers in a row without a call that could be read."""
        self.thought: CleanReply | None = None
        """The answer that is carried out, from its present call on."""
        self.rest: CleanReply | None = None
        """Its next call, where that follows at once."""

    async def begin(self) -> TurnEnd | None:
        """Look at the phones, remember the past, and take up the question it left open."""
        await self._look()
        self._brief(self.context.session.goal)
        for event in self.context.history:
            self.recorder.recall(event)
        if self.context.asks_goal:
            self.recorder.ask_goal()
        lost = self.memory.pending
        if lost is None:
            return None
        if self.memory.overtaken:
            await self.recorder.finish(lost, ActionOutcome.FAILED, verify.failed(OVERTAKEN))
            return None
        call = ToolCall(call_id=lost.call_id, name=lost.tool, arguments=lost.arguments)
        try:
            arguments = read_planning_call(call)
        except BadArguments:
            await self.recorder.finish(lost, ActionOutcome.FAILED, verify.failed("It was lost"))
            return None
        return await self._do(arguments, lost)

    async def _look(self) -> None:
        """Look at the phones, and name the apps of which they tell only the package."""
        library = self.context.library
        self.phones = tuple(
            replace(phone, apps=with_names(phone.apps, library))
            for phone in await self.delegation.phones()
        )

    def _brief(self, goal: str) -> None:
        """Write the planner's own instructions in the place of those for a phone."""
        self.memory.messages[:2] = [
            Message(role=Role.SYSTEM, kind=MessageKind.INSTRUCTIONS, text=INSTRUCTIONS),
            Message(role=Role.USER, kind=MessageKind.GOAL, text=self._goal_text(goal)),
        ]

    def _goal_text(self, goal: str) -> str:
        session = self.context.session
        each = budget_words(self.context.limits.max_steps, session.budget)
        return goal_text(
            goal,
            self.phones,
            budget=f"Each session on a phone: {each}. For this plan: {MAX_STEPS} calls.",
        )

    async def step(self) -> TurnEnd | None:
        """Think once, and do what the planner chose."""
        if self.steps >= MAX_STEPS or self.thinking_ms >= MAX_THINKING_MS:
            return await self._without_delegating(_UNUSABLE)
        self.steps += 1
        step = self.recorder.open_step()
        await self.recorder.emit()
        hinted = await self.recorder.steer(step)
        following, self.rest = self.rest, None
        thought = following if following is not None and not hinted else await self._think()
        end = await self._carry_out(step, thought)
        await self.recorder.close_step(step, counted=False)
        return end

    async def _think(self) -> CleanReply:
        began = self.seconds()
        request = ModelRequest(
            messages=self.memory.conversation(),
            tools=planning_schemas(),
            tool_choice=ToolChoice.REQUIRED,
            cache_key=self.context.session.session_id,
            unread=self.unread,
        )
        thought = await think(self.context, request, sleep=self.sleep, random=self.jitter)
        spent_ms = self.recorder.since(began)
        self.thinking_ms += spent_ms
        self.recorder.spent(model_ms=spent_ms)
        self.recorder.usage = self.recorder.usage.plus(thought.reply.usage)
        self.unread = 0 if thought.call is not None else self.unread + 1
        return thought

    async def _carry_out(self, step: int, thought: CleanReply) -> TurnEnd | None:
        kept = await keep(self.context, thought, lambda said: said)
        if kept.text or thought.call is None:
            await self.recorder.emit(AgentMessage(step=step, text=kept.text or "(no reply)"))
        if thought.call is None:
            return await self._refused()
        self.thought = thought
        self.memory.reasoning = thought.reply.reasoning
        call = replace(thought.call, call_id=self.recorder.call_id(thought.call, step))
        request = await self.recorder.request(step, call, kind=ToolKind.CONTROL, kept=kept)
        try:
            arguments = read_planning_call(call)
        except BadArguments as error:
            await self._fail(request, str(error))
            return await self._refused()
        return await self._do(arguments, request)

    async def _refused(self) -> TurnEnd | None:
        """Count what was no call at all; a model that cannot plan may still be able to work."""
        self.refusals += 1
        return await self._without_delegating(_UNUSABLE) if self.refusals >= MAX_ATTEMPTS else None

    # --- tools ----------

    async def _do(self, arguments: PlanningArguments, request: ToolCallRequested) -> TurnEnd | None:
        match arguments:
            case ProposeTargets():
                return await self._propose(arguments, request)
            case WorkAlone() if len(several := self._named()) > 1 and not self.gap_told:
                self.gap_told = True
                names = ", ".join(several)
                await self._fail(
                    request, f"the goal names {names}, but only one phone would work. {_OR_WHY}"
                )
            case WorkAlone(reason=reason):
                await self._doubt_one_phone()
                await self._finish(request, ActionOutcome.DONE, "Beginning.")
                return await self._without_delegating(tidy(reason))
            case ListDevices():
                await self._look()
                await self._finish(request, ActionOutcome.DONE, phones_text(self.phones))
            case ListApps(device=serial):
                text = apps_text(self.phones, serial)
                outcome = ActionOutcome.DONE if text else ActionOutcome.FAILED
                text = text or verify.failed(f"No phone {serial!r} is online")
                await self._finish(request, outcome, text)
            case AskUser() | UpdatePlan():
                if isinstance(arguments, AskUser):
                    done = await self.controls.ask(arguments, request)
                else:
                    done = await self.controls.do(arguments, request)
                await self._finish(request, done.outcome, done.text)
            case Finish(success=success, summary=summary):
                if success:
                    await self._fail(request, "Nothing has been done yet; propose or work alone")
                    return await self._refused()
                await self._finish(request, ActionOutcome.DONE, "Recorded.")
                return TurnEnd(completed=False, message=tidy(summary) or "It cannot be planned.")
        return None

    async def _propose(
        self, proposal: ProposeTargets, request: ToolCallRequested
    ) -> TurnEnd | None:
        try:
            targets = checked_targets(
                [target.as_target() for target in proposal.targets],
                self.phones,
                unsaid=[
                    number
                    for number, target in enumerate(proposal.targets, start=1)
                    if not target.final_presentation
                ],
            )
        except BadTargets as error:
            await self._fail(request, str(error))
            self.refusals += 1
            if self.refusals < MAX_ATTEMPTS:
                return None
            return TurnEnd(completed=False, message=f"The plan cannot be carried out: {error}.")
        scope = Scope(proposal.phones, proposal.count, self._serials(proposal.without))
        infos = [phone.info for phone in self.phones]
        read = await self._read(targets)
        found = gaps(self._goal, targets, read.parts, infos, scope, self._answers)
        if found and not self.gap_told:
            self.gap_told = True
            await self._fail(request, f"{'; '.join(found)}. {_OR_WHY}")
            return None
        if not read.parts:
            found = (*found, f"nobody could read which phones the goal means ({read.why})")
        targets = handed_on(self._goal, targets, read.parts)
        kept = tuple(one for one in self.context.session.requirements if one.is_operators)
        listed = required(targets, read.parts, found, kept)
        await self.recorder.emit(RequirementsUpdate(requirements=listed))
        notes = on_main_displays(targets, self.phones)
        # The result first: with the children stored, the session is no planner any more.
        told = "\n".join(
            (f"{counted(len(targets), 'session is', 'sessions are')} started.", *notes)
        )
        await self._finish(request, ActionOutcome.DONE, told)
        said = scope.words(targets, infos)
        reason = "\n".join(filter(None, (said, tidy(proposal.reason), *notes)))
        await self.delegation.delegate(targets, reason)
        return TurnEnd(
            completed=True,
            message=f"Delegated to {counted(len(targets), 'session')}.",
            following=Following.CHILDREN,
        )

    async def _read(self, targets: Sequence[Target]) -> Reading:
        """Return what the goal asks of which phones; nobody is asked twice."""
        goal = self._goal
        if goal not in self.readings:
            read = await parts_of_goal(self.context, goal, self.phones, targets, self._answers)
            self.recorder.usage = self.recorder.usage.plus(read.usage)
            self.readings[goal] = read
        return self.readings[goal]

    def _serials(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return phones by their serials; what names none stays."""
        known = {
            name.casefold(): phone.info.serial
            for phone in self.phones
            for name in (phone.info.name, phone.info.serial)
        }
        return tuple(known.get(name.strip().casefold(), name) for name in names)

    @property
    def _answers(self) -> tuple[str, ...]:
        return tuple(text for text in self.context.operator_texts if text != self._goal)

    @property
    def _goal(self) -> str:
        return self.memory.newest_order

    def _named(self) -> tuple[str, ...]:
        found = mentions(self._goal, [phone.info for phone in self.phones])
        return serials_of(found, sure=True)

    async def _doubt_one_phone(self) -> None:
        """Require that a person says that one phone is right, where the goal names several."""
        named = self._named()
        if len(named) < 2:
            return
        before = self.context.session.requirements
        last = max((one.number for one in before), default=0)
        doubt = doubted(
            [f"only one phone works, of {', '.join(named)}"],
            after=last,
            kind=RequirementKind.PERSON,
        )
        await self.recorder.emit(RequirementsUpdate(requirements=(*before, *doubt)))

    async def _without_delegating(self, why: str) -> TurnEnd:
        if why == _UNUSABLE:
            await self.recorder.emit(WarningEvent(message=why))
        return TurnEnd(completed=True, message=why, following=Following.REGULAR_TURN)

    async def _finish(self, request: ToolCallRequested, outcome: ActionOutcome, text: str) -> None:
        """Store the result of a call, and decide what becomes of the others of its answer."""
        thought, self.thought = self.thought, None
        rest = None if thought is None else thought.rest
        if thought is not None and rest is not None:
            if outcome is ActionOutcome.DONE and request.tool in _BEFORE_OTHERS:
                self.rest = rest
            else:
                left = counted(thought.calls_after, "other call was", "other calls were")
                text = f"{text} Your {left} not done."
        await self.recorder.finish(request, outcome, text)

    async def _fail(self, request: ToolCallRequested, reason: str) -> None:
        await self._finish(request, ActionOutcome.FAILED, verify.failed(reason))
