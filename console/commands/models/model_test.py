"""Ask a model for one tool call, so that an operator knows that it answers."""

import asyncio
import time
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from agent.config import Settings
from agent.errors import ModelError, UsageError

if TYPE_CHECKING:
    from agent.models.model import Model, ModelReply, ModelRequest

_ENOUGH_TOKENS = 256
"""A small model that does not call the tool may talk on until its window is full."""
_TEST_S = 90.0
"""A server may be loading its model; after that it answers a question so small at once."""
_UNREAD = 2
"""So many answers without a call make a session ask for it by a schema, where that can be."""


async def ask_model(
    settings: Settings, name: str, *, environ: Mapping[str, str] | None = None
) -> "tuple[str, str, ModelReply, int]":
    """Ask a model to call the tool `wait`.

    Args:
        environ: where the key is looked up; the process's own environment when left out.

    Returns:
        Its name, what the operator should know of it, its reply, and how many milliseconds it took.

    Raises:
        UsageError: it is the offline pilot. ModelError, ConfigError: it could not be asked, or did
            not answer in a minute and a half.
    """
    from agent.models.choice import PILOT, build_model
    from agent.models.model import Message, MessageKind, ModelRequest, Role, ToolChoice
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
    request = ModelRequest(
        messages=(message,),
        tools=tools,
        max_output_tokens=_ENOUGH_TOKENS,
        tool_choice=ToolChoice.REQUIRED,
    )
    began = time.monotonic()
    try:
        async with asyncio.timeout(_TEST_S):
            reply = await _ask_twice(model, request)
    except TimeoutError as error:
        raise ModelError(
            f"{model.name} did not answer within {_TEST_S:g} s.",
            "It may still be loading: try again, or choose a smaller model.",
            retryable=True,
        ) from error
    finally:
        await model.close()
    notice = f"{model.notice} {reply.note}".strip()
    return model.name, notice, reply, round((time.monotonic() - began) * 1000)


async def _ask_twice(model: "Model", request: "ModelRequest") -> "ModelReply":
    """Ask as a session does: once more where no call can be read."""
    from msgspec.structs import replace

    from agent.models.local_servers import once_loaded
    from agent.models.model import FinishReason

    reply = await once_loaded(partial(model.complete, request), _TEST_S)
    if reply.finish is FinishReason.LENGTH and not (reply.tool_calls or reply.text):
        # Its hidden reasoning took the room; a model that rambles would have said something.
        reply = await model.complete(replace(request, max_output_tokens=0))
    reply = _with_written(reply, request)
    if reply.tool_calls:
        return reply
    again = await model.complete(replace(request, unread=_UNREAD))
    again = replace(
        again, usage=reply.usage.plus(again.usage), note=f"{reply.note} {again.note}".strip()
    )
    return _with_written(again, request)


def _with_written(reply: "ModelReply", request: "ModelRequest") -> "ModelReply":
    """Return an answer with the calls that it has in words."""
    from msgspec.structs import replace

    from agent.tools.written_calls import written_calls

    tools = {tool.name: tuple(tool.parameters.get("properties", ())) for tool in request.tools}
    calls = reply.tool_calls or written_calls(reply.text, tools).calls
    return replace(reply, tool_calls=calls)
