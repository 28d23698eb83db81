"""A reviewer that answers as a test says, and keeps what it was asked."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agent.errors import ModelError
from agent.models.model import ModelReply, ModelRequest, ToolCall
from agent.models.reviewers.reviewing import Reviewing
from agent.records import Usage

PASSES: dict[str, Any] = {
    "effect": "none",
    "object": "",
    "reaches": "",
    "amount": "",
    "reversible": True,
    "asked_by": "",
    "approved": False,
    "verdict": "allow",
    "reason": "It only opens a page.",
}


def says(**changed: Any) -> dict[str, Any]:
    return {**PASSES, **changed}


OPENS_A_DOOR = says(
    effect="other",
    object="Front door",
    reversible=False,
    verdict="ask",
    reason="It would open the front door, and you asked whether it is locked.",
)


@dataclass
class Reader:
    """Implements the Model protocol; `answer` is given the question's text."""

    answer: Callable[[str], dict[str, Any] | str | ModelError]
    waits_s: float = 0.0
    requests: list[ModelRequest] = field(default_factory=list)
    name: str = "reader"
    sees: bool = False
    notice: str = ""

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        self.requests.append(request)
        if self.waits_s:
            await asyncio.sleep(self.waits_s)
        said = self.answer(request.messages[-1].text)
        usage = Usage(calls=1, input_tokens=100, output_tokens=10)
        if isinstance(said, ModelError):
            raise said
        if isinstance(said, str):
            return ModelReply(text=said, usage=usage)
        call = ToolCall(call_id="c", name="give_review", arguments=json.dumps(said))
        return ModelReply(tool_calls=(call,), usage=usage)

    async def close(self) -> None:
        return None


def read_by(reader: Reader, timeout_s: float = 5.0) -> Reviewing:
    return Reviewing(model=reader, timeout_s=timeout_s)
