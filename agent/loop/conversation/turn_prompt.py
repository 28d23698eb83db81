"""Which prompt a turn works on: the session's goal, or what the operator asked for since; pure.

Everything that reads a session's events goes by this one rule: the core, when it begins a turn,
and what a turn remembers of those before it.
"""

from dataclasses import dataclass

from agent import protocol
from agent.loop.task_context import TaskKind
from agent.records import SessionState


@dataclass(slots=True)
class TurnPrompt:
    """What the next turn is asked for, as events are folded in their order.

    A new message of the operator, a resume from a terminal state and the end of a turn begin a
    prompt; a turn that was stopped or died is the same prompt, resumed.
    """

    goal: bool = True
    """Whether it is the session's goal, not the operator's newest message."""
    again: bool = False
    """Whether it is the goal once more, after it was met; who has said so clears it."""
    _met: bool = False
    _generation: int = 0
    _running: str = TaskKind.REGULAR

    def fold(self, msg: protocol.EventMsg) -> bool:
        """Take in one stored event; return whether it begins a prompt."""
        match msg:
            case protocol.UserMessage(steer=False):
                self.goal = self.again = self._met = False
            case protocol.SessionContinued(generation=later) if later > self._generation:
                self._generation, self.goal = later, True
                self.again, self._met = self._met, False
            case protocol.SessionRolledBack():
                self.goal = True
            case protocol.TaskComplete() if self._running == TaskKind.REGULAR:
                self.goal = True
            case protocol.TaskStarted(kind=kind):
                self._running = kind
                return False
            case protocol.SessionStateChanged(state=state):
                self._met = self._met or state is SessionState.COMPLETED
                return False
            case _:
                return False
        return True
