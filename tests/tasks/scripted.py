"""A model that plays a script, and a time that passes only when it is waited for."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agent.errors import ModelError
from agent.loop.timing import Pace
from agent.models.model import MessageKind, ModelReply, ModelRequest, ToolCall
from agent.records import Usage
from agent.tasks.regular import RegularTask

Turn = ModelReply | ModelError | Callable[[ModelRequest], ModelReply]


def says(name: str, *, speech: str = "", **arguments: object) -> ModelReply:
    return raw(name, json.dumps(arguments), speech=speech)


def raw(name: str, arguments: str, *, speech: str = "", call_id: str = "") -> ModelReply:
    call = ToolCall(call_id=call_id, name=name, arguments=arguments)
    return ModelReply(text=speech, tool_calls=(call,), usage=Usage(calls=1, input_tokens=7))


DONE = says("finish", success=True, summary="All done.")


@dataclass
class ScriptedModel:
    """Plays its turns in order and keeps what it was shown."""

    turns: list[Turn]
    requests: list[ModelRequest] = field(default_factory=list)
    name: str = "scripted"
    sees: bool = False
    notice: str = ""

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        self.requests.append(request)
        assert self.turns, "the script has no turn left"
        turn = self.turns.pop(0)
        if isinstance(turn, ModelError):
            raise turn
        reply = turn if isinstance(turn, ModelReply) else turn(request)
        if on_text is not None and reply.text:
            on_text(reply.text)
        return reply

    async def close(self) -> None:
        return None


def scripted(*turns: Turn) -> ScriptedModel:
    return ScriptedModel(list(turns))


@dataclass
class Clock:
    """Seconds that pass only in `sleep`."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def seconds(self) -> float:
        return self.now


def task(clock: Clock | None = None, pace: Pace | None = None) -> RegularTask:
    time = clock or Clock()
    return RegularTask(
        pace=pace or Pace(), sleep=time.sleep, seconds=time.seconds, jitter=lambda: 0.5
    )


def texts(model: ScriptedModel, at: int = -1) -> Sequence[str]:
    """Return what a request says up to its newest screen, which its effects follow."""
    messages = model.requests[at].messages
    return [message.text for message in messages if message.kind is not MessageKind.EFFECTS]
