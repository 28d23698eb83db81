"""What a turn takes over from the turns before it, read from the stored events, pure.

Not the task's own memory: it reads the history itself. Invariant: the same events give the same
staging, so a turn that is resumed after a crash goes on with what it was asked to do.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from secrets import token_hex

from msgspec.structs import replace

from agent import protocol
from agent.loop.conversation.turn_prompt import TurnPrompt
from agent.loop.task_context import Steering, TaskKind


@dataclass(frozen=True)
class Staging:
    """Where a turn begins."""

    asks_goal: bool
    """Whether it is asked for the session's goal, not for the operator's newest message."""
    steps_before: int
    """Counted steps that other prompts used up; the limit is for one prompt."""
    steering: tuple[Steering, ...]
    """Hints that no step has applied."""


def stage(history: Iterable[protocol.Event]) -> Staging:
    """Read where the next turn begins. A prompt has a limit of its own."""
    asked = TurnPrompt()
    steps = 0
    steps_before = 0
    steering: dict[str, Steering] = {}
    for event in history:
        if asked.fold(event.msg):
            steps_before = steps
        match event.msg:
            case protocol.UserMessage(message_id=message_id, steer=True) as told:
                steering[message_id] = Steering(
                    message_id=message_id, text=told.text, speaker=told.speaker, said=told.said
                )
            case protocol.SteerEdited(message_id=message_id, text=text):
                if message_id in steering:
                    steering[message_id] = replace(steering[message_id], text=text)
            case protocol.SteerWithdrawn(message_id=message_id):
                steering.pop(message_id, None)
            case protocol.SteerApplied(message_id=message_id):
                steering.pop(message_id, None)
            case protocol.StepCompleted(counted=True):
                steps += 1
            case protocol.SessionRolledBack():
                steering.clear()
            case _:
                pass
    return Staging(asked.goal, steps_before, tuple(steering.values()))


def seen_by(kind: TaskKind, history: Sequence[protocol.Event]) -> tuple[protocol.Event, ...]:
    """Keep what a turn of this kind is to remember: a planner's steps are not a phone's.

    What happened between turns, the operator's words and a compaction are everybody's.
    """
    if kind.is_review_turn:
        return tuple(history)
    kept: list[protocol.Event] = []
    running = ""
    for event in history:
        match event.msg:
            case protocol.TaskStarted(kind=started):
                running = started
            case protocol.TaskComplete() | protocol.TurnAborted():
                ended, running = running, ""
                if ended in {"", kind.value}:
                    kept.append(event)
                continue
            case _:
                pass
        shared = isinstance(event.msg, protocol.UserMessage | protocol.HistoryCompacted)
        if shared or running in {"", kind.value}:
            kept.append(event)
    return tuple(kept)


def new_message_id() -> str:
    return f"m-{token_hex(6)}"
