"""Record one turn: persist events, update memory, name calls, sum time and usage.

Invariant: memory contains only stored events, so a resumed turn has the same memory. Simultaneous
events are one append, because the step waits until each append is durable.
"""

import re
from dataclasses import dataclass, field

from agent import protocol
from agent.loop.conversation.history import HistoryLines
from agent.loop.conversation.memory import Memory
from agent.loop.conversation.model_call import StoredReply
from agent.loop.effects.finder import EffectFinder
from agent.loop.observe import Seconds
from agent.loop.task_context import TaskContext
from agent.loop.verification.claim_history import ClaimHistory
from agent.models.model import ToolCall
from agent.records import ActionOutcome, Observation, TimeSplit, Usage
from agent.safety.effects.verdict import Verdict
from agent.text import one_line
from agent.tools.actions import ResolvedAction
from agent.tools.arguments import ToolKind

_CALL_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


@dataclass(slots=True)
class TurnRecorder:
    """The record of one turn."""

    context: TaskContext
    memory: Memory
    seconds: Seconds
    time: TimeSplit = field(default_factory=TimeSplit)
    usage: Usage = field(default_factory=Usage)
    past: ClaimHistory | None = None
    """Remembers what a claim of success is judged by; None in a turn that makes none."""
    history: HistoryLines = field(default_factory=HistoryLines)
    """What happened, for a summary of it."""
    effects: EffectFinder = field(init=False)
    """Finds what the acts of the session have changed."""
    more_steps: int = 0
    """How many the operator has granted beyond the turn's limit."""
    _call_ids: set[str] = field(default_factory=set)
    _held: tuple[protocol.EventMsg, ...] = ()

    def __post_init__(self) -> None:
        self.effects = EffectFinder(self.context.session.serial)

    async def emit(self, *msgs: protocol.EventMsg) -> None:
        """Store held events and these, then update memory."""
        self._hear()
        held, self._held = self._held, ()
        if held or msgs:
            for event in await self.context.emit(*held, *msgs):
                self._remember(event.msg)

    def _hear(self) -> None:
        """Add a question and its answer to memory, which the session stored already."""
        for msg in self.context.take_exchanges():
            self._remember(msg)

    def hold(self, msg: protocol.EventMsg) -> None:
        """Hold an event until the next append; only if one follows without a wait."""
        self._held = (*self._held, msg)

    def recall(self, event: protocol.Event) -> None:
        """Add an event to memory that was stored before."""
        if isinstance(event.msg, protocol.ToolCallRequested):
            self._call_ids.add(event.msg.call_id)
        self._remember(event.msg)

    def ask_goal(self) -> None:
        """Make the session's goal the current request, whatever was requested since."""
        self.memory.ask_goal()
        if self.past is not None:
            self.past.ask_goal()

    def _remember(self, msg: protocol.EventMsg) -> None:
        self.memory.fold(msg)
        self.history.take(msg)
        self.effects.fold(msg)
        if self.past is not None:
            self.past.fold(msg)

    async def observed(self, step: int, seen: Observation) -> None:
        """Store what a step sees, with the effects that it shows."""
        found = self.effects.find(step, seen)
        shown = (protocol.EffectsSeen(step=step, effects=found),) if found else ()
        await self.emit(protocol.ObservationRecorded(step=step, observation=seen), *shown)

    async def steer(self, step: int) -> bool:
        """Apply pending hints; return whether there were any."""
        hints = self.context.take_steering()
        for hint in hints:
            # Where the hint came with the live turn, its own event is not in the history.
            told = protocol.UserMessage(
                text=hint.text,
                message_id=hint.message_id,
                speaker=hint.speaker,
                said=hint.said,
                steer=True,
            )
            self._remember(told)
            await self.emit(protocol.SteerApplied(message_id=hint.message_id, step=step))
        return bool(hints)

    def open_step(self) -> int:
        """Start a step and return its number. Its event is held: call `emit` before a wait."""
        self.time, self.usage = TimeSplit(), Usage()
        # The steps of a planner are not remembered here, and their numbers are taken.
        step = max(self.memory.step, self.context.session.last_step) + 1
        self.hold(protocol.StepStarted(step=step))
        return step

    async def close_step(self, step: int, *, counted: bool) -> None:
        """End a step with its time and usage."""
        await self.emit(
            protocol.StepCompleted(step=step, time=self.time, usage=self.usage, counted=counted)
        )

    async def request(
        self,
        step: int,
        call: ToolCall,
        *,
        kind: ToolKind,
        kept: StoredReply,
        resolved: ResolvedAction | None = None,
        verdict: Verdict | None = None,
    ) -> protocol.ToolCallRequested:
        """Store the model's choice; for an action, the intent before the phone is touched."""
        msg = protocol.ToolCallRequested(
            step=step,
            call_id=call.call_id,
            tool=one_line(call.name, 60) or "unnamed",
            arguments=kept.arguments,
            kind=kind.value,
            element=resolved.element if resolved else None,
            point=resolved.point if resolved else None,
            path=resolved.path if resolved else (),
            prompt_digest=kept.prompt_digest,
            reply_digest=kept.digest,
            capability=verdict.capability.value if verdict else "",
            risk=verdict.risk.value if verdict else "",
            decision=verdict.decision.value if verdict else "",
            rule=verdict.rule if verdict else "",
            also=verdict.also if verdict else (),
            reason="" if not verdict or verdict.is_allowed else one_line(verdict.reason, 200),
        )
        await self.emit(msg)
        return msg

    async def finish(
        self, call: ToolCall | protocol.ToolCallRequested, outcome: ActionOutcome, text: str
    ) -> None:
        """Store the result of a call."""
        self.end(call, outcome, text)
        await self.emit()

    def end(
        self, call: ToolCall | protocol.ToolCallRequested, outcome: ActionOutcome, text: str
    ) -> None:
        """Hold the result of the step's call, which is stored with the end of the step."""
        self.hold(
            protocol.ToolCallFinished(
                step=self.memory.step, call_id=call.call_id, outcome=outcome, text=text
            )
        )

    def call_id(self, call: ToolCall, step: int) -> str:
        """Return the model's own call id if usable, so that the endpoint recognises it."""
        usable = _CALL_ID.fullmatch(call.call_id) and call.call_id not in self._call_ids
        call_id = call.call_id if usable else f"call_{self.context.turn_id[-8:]}_{step}"
        self._call_ids.add(call_id)
        return call_id

    def spent(
        self,
        *,
        observe_ms: int = 0,
        model_ms: int = 0,
        act_ms: int = 0,
        settle_ms: int = 0,
        idle_ms: int = 0,
    ) -> None:
        """Add to the step's time."""
        self.time = self.time.plus(
            TimeSplit(
                observe_ms=observe_ms,
                model_ms=model_ms,
                act_ms=act_ms,
                settle_ms=settle_ms,
                idle_ms=idle_ms,
            )
        )

    def since(self, began: float) -> int:
        """Return the milliseconds since a time."""
        return round((self.seconds() - began) * 1000)
