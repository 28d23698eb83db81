"""Ask a model for one tool call, so that an operator knows that it answers."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agent.config import Settings
from agent.errors import UsageError

if TYPE_CHECKING:
    from agent.models.model import ModelReply


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
    from agent.models.choice import PILOT, build_model
    from agent.models.model import Message, MessageKind, ModelRequest, Role
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
        reply = await model.complete(ModelRequest(messages=(message,), tools=tools))
    finally:
        await model.close()
    return model.name, model.notice, reply, round((time.monotonic() - began) * 1000)
