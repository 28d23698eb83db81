"""Record one turn: store each fact and remember it, name calls, add up time and usage.

Not the loop. Invariant: nothing is remembered that is not stored, so a resumed turn remembers the
same. What happens at one moment is one append: for each the step waits until it is durable.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from agent import protocol
from agent.loop.conversation.history import HistoryLines
from agent.loop.conversation.memory import Memory
from agent.loop.conversation.model_call import Kept
from agent.loop.observe import Seconds
from agent.loop.task_context import TaskContext
from agent.loop.verification.past import Past
from agent.models.model import ToolCall
from agent.records import ActionOutcome, TimeSplit, Usage
from agent.safety.effects.verdict import Verdict
from agent.text import one_line
from agent.tools.actions import ResolvedAction
from agent.tools.arguments import ToolKind

_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(slots=True)
class TurnRecorder:
    """The record of one turn."""

    context: TaskContext
    memory: Memory
    seconds: Seconds
    time: TimeSplit = field(default_factory=TimeSplit)
    usage: Usage = field(default_factory=Usage)
    past: Past | None = None
    """Remembers what a claim of success is judged by; None in a turn that makes none."""
    history: HistoryLines = field(default_factory=HistoryLines)
    """What happened, for a summary of it."""
    more_steps: int = 0
    """How many the operator has granted beyond the turn's limit."""
    _call_ids: set[str] = field(default_factory=set)
    _held: tuple[protocol.EventMsg, ...] = ()

    async def tell(self, *msgs: protocol.EventMsg) -> None:
        """Store what is held and these facts, then remember them."""
        self._hear()
        held, self._held = self._held, ()
        if held or msgs:
            for event in await self.context.emit(*held, *msgs):
                self._remember(event.msg)

    def _hear(self) -> None:
        """Remember what the operator was asked and answered: the session stored it already."""
        for msg in self.context.take_exchanges():
            self._remember(msg)

    def hold(self, msg: protocol.EventMsg) -> None:
        """Take a fact that is stored with the next one: only where that follows without a wait."""
        self._held = (*self._held, msg)

    def recall(self, event: protocol.Event) -> None:
        """Remember a fact that was stored before."""
        if isinstance(event.msg, protocol.ToolCallRequested):
            self._call_ids.add(event.msg.call_id)
        self._remember(event.msg)

    def ask_goal(self) -> None:
        """Take in that the session's goal is asked for, whatever was asked for since."""
        self.memory.ask_goal()
        if self.past is not None:
            self.past.ask_goal()

    def _remember(self, msg: protocol.EventMsg) -> None:
        self.memory.fold(msg)
        self.history.take(msg)
        if self.past is not None:
            self.past.fold(msg)

    async def steer(self, step: int) -> bool:
        """Take in the hints that wait; return whether there were any."""
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
            await self.tell(protocol.SteerApplied(message_id=hint.message_id, step=step))
        return bool(hints)

    def open_step(self) -> int:
        """Begin a step; returns its number. Its beginning is held: `tell` it before a wait."""
        self.time, self.usage = TimeSplit(), Usage()
        # The steps of a planner are not remembered here, and their numbers are taken.
        step = max(self.memory.step, self.context.session.last_step) + 1
        self.hold(protocol.StepStarted(step=step))
        return step

    async def close_step(self, step: int, *, counted: bool) -> None:
        """End a step with what it took."""
        await self.tell(
            protocol.StepCompleted(step=step, time=self.time, usage=self.usage, counted=counted)
        )

    async def request(
        self,
        step: int,
        call: ToolCall,
        *,
        kind: ToolKind,
        kept: Kept,
        resolved: ResolvedAction | None = None,
        verdict: Verdict | None = None,
    ) -> protocol.ToolCallRequested:
        """Store what the model chose; for an action, the intent before the phone is touched."""
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
        )
        await self.tell(msg)
        return msg

    async def finish(
        self, call: ToolCall | protocol.ToolCallRequested, outcome: ActionOutcome, text: str
    ) -> None:
        """Store what a call came to."""
        self.end(call, outcome, text)
        await self.tell()

    def end(
        self, call: ToolCall | protocol.ToolCallRequested, outcome: ActionOutcome, text: str
    ) -> None:
        """Hold what the step's call came to, which is stored with the end of the step."""
        self.hold(
            protocol.ToolCallFinished(
                step=self.memory.step, call_id=call.call_id, outcome=outcome, text=text
            )
        )

    def call_id(self, call: ToolCall, step: int) -> str:
        """Return the model's own id where it is usable, so that an endpoint knows it again."""
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
        """Return the milliseconds since a moment."""
        return round((self.seconds() - began) * 1000)
