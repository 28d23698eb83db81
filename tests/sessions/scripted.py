"""A model that answers from a script, for planners, reviews and summaries."""

import json
from collections.abc import Callable

from agent.models.model import Message, ModelReply, ModelRequest, ToolCall
from agent.tools.planning import READ_GOAL


class ScriptedModel:
    """Gives its lines in order, and the last one again and again; it keeps what it was asked.

    It reads no goal for a plan.
    """

    name = "scripted"
    sees = False
    notice = ""

    def __init__(self, *lines: ModelReply) -> None:
        self._lines = list(lines)
        self.asked: list[ModelRequest] = []

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        if any(tool.name == READ_GOAL for tool in request.tools):
            return ModelReply(text="I cannot read it.")
        self.asked.append(request)
        return self._lines.pop(0) if len(self._lines) > 1 else self._lines[0]

    async def close(self) -> None:
        return None

    @property
    def messages(self) -> tuple[Message, ...]:
        """What it was shown last."""
        return self.asked[-1].messages


def call(tool: str, **arguments: object) -> ModelReply:
    return ModelReply(
        tool_calls=(ToolCall(call_id="", name=tool, arguments=json.dumps(arguments)),)
    )


def propose(*targets: dict[str, str]) -> ModelReply:
    return call("propose_targets", targets=list(targets), reason="divided")
