"""Escalate beyond warnings when a session makes no progress.

The warnings are rung one (`agent.loop.signals.recover`). Rung two: a session of one app that finds
another app in front twice in a row returns to its own. Rung three: if the warnings have not helped,
the operator is asked instead of spending more steps. Invariants: an escalation does nothing that
the session itself may not do; it asks the operator once per incident; it ends the turn on silence,
or if no operator may be asked.
"""

from dataclasses import dataclass
from secrets import token_hex

from agent.errors import DeviceError, DeviceLostError
from agent.loop.signals.recover import TROUBLED
from agent.loop.task_context import TaskContext, TurnEnd
from agent.loop.turn.turn_recorder import TurnRecorder
from agent.protocol import SteerApplied, UserMessage, WarningEvent
from agent.records import AtLimit, QuestionOption, Speaker
from agent.safety.capabilities import Capability, Decision, decide
from agent.tools.relaunch import launch

STRAYS = 2  # Screens of another app in a row, after which the session's own is brought back.
STOP = "Stop"
_STUCK = "the session got stuck, and nobody knew better"
_NOWHERE = (
    "no progress: its last actions changed nothing, went round in a circle or only scrolled, and "
    "nobody was to be asked"
)


@dataclass(slots=True)
class Escalation:
    """The upper rungs of one turn."""

    context: TaskContext
    recorder: TurnRecorder

    async def climb(self) -> TurnEnd | None:
        """Escalate before the next step if due; returns an outcome if the turn must end."""
        trail = self.recorder.memory.trail
        if trail.strays >= STRAYS:
            trail.strays = 0
            await self._bring_back()
        if trail.troubled >= TROUBLED:
            trail.troubled = 0
            return await self._ask()
        return None

    async def _bring_back(self) -> None:
        session = self.context.session
        may = decide(Capability.LAUNCH, session.autonomy) is Decision.ALLOW
        if self.context.background or session.dry_run or not may:
            return
        target = session.target_package
        await self.recorder.emit(
            WarningEvent(message=f"Another app stayed in front; {target} is brought back.")
        )
        await self.context.checkpoint()
        began = self.recorder.seconds()
        try:
            await launch(self.context.device, target, session)
        except DeviceLostError:
            # It is waited for where the screen is looked at.
            return
        except DeviceError as error:
            await self.recorder.emit(WarningEvent(message=f"That failed: {error.message}"))
        self.recorder.spent(act_ms=self.recorder.since(began))

    async def _ask(self) -> TurnEnd | None:
        session = self.context.session
        if self.context.background or session.at_limit is AtLimit.STOP:
            return TurnEnd(completed=False, message=f"Stopped: {_NOWHERE}.")
        memory = self.recorder.memory
        answer = await self.context.ask(
            "I am getting nowhere: my last actions changed nothing, or went round in a circle. "
            "What should I try?",
            call_id=f"stuck_{self.context.turn_id}_{memory.step}",
            step=memory.step,
            options=(QuestionOption(label=STOP, description="End here; it can be resumed."),),
        )
        if answer is None or answer == STOP:
            return TurnEnd(completed=False, message=f"Stopped: {_STUCK}.")
        message_id = f"m-{token_hex(6)}"
        # The turn has heard the answer already, if it is in the operator's own words.
        speaker = Speaker.OPERATOR if answer in self.context.operator_texts else Speaker.MODEL
        await self.recorder.emit(
            UserMessage(text=answer, message_id=message_id, speaker=speaker, steer=True)
        )
        await self.recorder.emit(SteerApplied(message_id=message_id, step=memory.step))
        return None
