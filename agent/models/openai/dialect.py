"""What an endpoint understands of OpenAI's protocol, learnt from what it refuses.

Not the request. Invariant: each refusal leaves one thing out, so that asking ends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from agent.models.openai.failures import is_too_long


@dataclass(frozen=True, slots=True)
class Dialect:
    """What is sent beside the conversation."""

    stream_usage: bool = True
    completion_tokens: bool = True
    """`max_completion_tokens`; else the older `max_tokens`."""
    strict: bool = True
    """Schemas that the endpoint enforces."""
    effort: str = ""
    """How long the model may reason; empty says nothing of it."""
    one_call: bool = True
    """`parallel_tool_calls=false`; several calls are borne anyway."""


def simpler(dialect: Dialect, error: Any) -> Dialect | None:
    """Give the next plainer dialect after a refusal; None when there is nothing left to leave.

    Args:
        error: an APIStatusError of the SDK; its `param` names what was refused, if it says so.
    """
    if is_too_long(error):
        return None
    parameter = error.param if isinstance(error.param, str) else ""
    if dialect.completion_tokens and parameter == "max_completion_tokens":
        return replace(dialect, completion_tokens=False)
    if dialect.stream_usage and parameter.startswith("stream_options"):
        return replace(dialect, stream_usage=False)
    if dialect.effort and parameter in {"reasoning_effort", "reasoning", "reasoning.effort"}:
        return replace(dialect, effort="")
    if dialect.one_call and parameter == "parallel_tool_calls":
        return replace(dialect, one_call=False)
    if dialect.strict and parameter.startswith("tools"):
        return replace(dialect, strict=False)
    if parameter:
        return None
    # An endpoint that does not say which parameter it refused gets fewer of them.
    if dialect.effort:
        return replace(dialect, effort="")
    if dialect.strict or dialect.one_call:
        return replace(dialect, strict=False, one_call=False)
    if dialect.stream_usage:
        return replace(dialect, stream_usage=False)
    if dialect.completion_tokens:
        return replace(dialect, completion_tokens=False)
    return None
