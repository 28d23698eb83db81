"""Ask a model for one tool call, so that an operator knows that it answers."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agent.config import Settings
from agent.errors import UsageError

if TYPE_CHECKING:
    from agent.models.model import ModelReply

_ENOUGH_TOKENS = 256
"""A small model that does not call the tool may talk on until its window is full."""


async def ask_model(
    settings: Settings, name: str, *, environ: Mapping[str, str] | None = None
) -> "tuple[str, str, ModelReply, int]":
    """Ask a model to call the tool `wait`.

    Args:
        environ: where the key is looked up; the process's own environment when left out.

    Returns:
        Its name, what the operator should know of it, its reply, and how many milliseconds it took.

    Raises:
        UsageError: it is the offline pilot. ModelError, ConfigError: it could not be asked.
    """
    from msgspec.structs import replace

    from agent.models.choice import PILOT, build_model
    from agent.models.model import FinishReason, Message, MessageKind, ModelRequest, Role
    from agent.tools.registry import schemas

    model = build_model(settings, name, environ=environ)
    if model.name == PILOT:
        raise UsageError(
            "There is no model to test: the offline pilot follows rules and calls no service.",
            "Name one, as in `switchboard models test gpt-5-mini`, or set model.name; "
            "`switchboard models list` shows the endpoint and the key.",
        )
    message = Message(
        role=Role.USER,
        kind=MessageKind.GOAL,
        text="This is a test of your tools. Call the tool `wait` with seconds 0 now.",
    )
    tools = tuple(tool for tool in schemas() if tool.name == "wait")
    began = time.monotonic()
    try:
        request = ModelRequest(messages=(message,), tools=tools, max_output_tokens=_ENOUGH_TOKENS)
        reply = await model.complete(request)
        if reply.finish is FinishReason.LENGTH and not (reply.tool_calls or reply.text):
            # Its hidden reasoning took the room; a model that rambles would have said something.
            reply = await model.complete(replace(request, max_output_tokens=0))
    finally:
        await model.close()
    return model.name, model.notice, reply, round((time.monotonic() - began) * 1000)
