"""What an endpoint understands of OpenAI's protocol, learnt from what it refuses.

Not the request. Invariant: each refusal leaves one thing out, so that asking ends.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent.models.wires.call_ids import CallIds
from agent.models.wires.constrained import CallForm
from agent.models.wires.failures import is_too_long, limits_answer, said_of
from agent.models.wires.features import OTHER_MATTERS, Feature, lacks, lacks_tools, refused_feature
from agent.models.wires.known_dialects import KnownDialects

_REFUSALS = frozenset({400, 422})
_LIMITS = frozenset({"max_tokens", "max_completion_tokens", "max_output_tokens"})
_THOUGHTS = frozenset({"reasoning_content", "encrypted_content"})
_NAMED = (
    "tool_choice",
    "prompt_cache_key",
    "stream_options",
    "reasoning_effort",
    "reasoning_content",
    "max_completion_tokens",
    "max_output_tokens",
    "max_tokens",
)
"""Parameters that mean nothing else: a refusal that writes one out is about it."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """What is sent beside the conversation."""

    stream_usage: bool = True
    completion_tokens: bool = True  # `max_completion_tokens`; else the older `max_tokens`.
    strict: bool = True  # Schemas that the endpoint enforces.
    effort: str = ""  # How long the model may reason; empty says nothing of it.
    required: bool = True  # `tool_choice=required`, where the request asks for a call.
    cache_key: bool = False  # `prompt_cache_key`, which OpenAI's own endpoints know.
    limit: bool = True  # A limit of the answer's tokens; without one, the endpoint's own holds.
    reasoning: bool = True  # Reasoning is asked for and sent back.
    pictures: bool = True  # Pictures are sent, where the request has any.
    call_ids: CallIds = CallIds.USUAL
    signed_calls: bool = False  # Every call goes back with a signature, which may say "none".
    calls: CallForm = CallForm.OFFERED
    may_constrain: bool = False  # Calls may be told in words, where tools are refused.


def plainer(dialect: Dialect, without: Sequence[str]) -> Dialect:
    """Return a dialect without what an endpoint is known not to take.

    Args:
        without: names of the dialect's yes-or-no fields.
    """
    options: dict[str, Any] = dict.fromkeys(without, False)
    return replace(dialect, **options)


def simpler(
    dialect: Dialect, error: Any, *, has_pictures: bool = False, has_tools: bool = False
) -> Dialect | None:
    """Return the next plainer dialect after a refusal; None when nothing is left to leave out.

    Args:
        error: an APIError of the SDK; its `param` names what was refused, if it says so.
        has_pictures: whether the request had pictures.
        has_tools: whether it had tools.
    """
    without = _without_feature(dialect, error, has_pictures=has_pictures, has_tools=has_tools)
    if not _is_refusal(error):
        # A server that lacks a feature may answer with any status; then its words have to name it.
        return without
    if dialect.limit and limits_answer(error):
        return replace(dialect, limit=False)
    if is_too_long(error):
        return None
    if without is not None:
        return without
    parameter = error.param if isinstance(error.param, str) else ""
    parameter = parameter or _named(error)
    if dialect.required and parameter.startswith("tool_choice"):
        return replace(dialect, required=False)
    if dialect.cache_key and parameter == "prompt_cache_key":
        return replace(dialect, cache_key=False)
    if dialect.reasoning and (parameter.startswith(("include", "input")) or parameter in _THOUGHTS):
        return replace(dialect, reasoning=False)
    if dialect.completion_tokens and parameter == "max_completion_tokens":
        return replace(dialect, completion_tokens=False)
    if dialect.limit and parameter in _LIMITS:
        return replace(dialect, limit=False)
    if dialect.stream_usage and parameter.startswith("stream_options"):
        return replace(dialect, stream_usage=False)
    if dialect.effort and parameter in {"reasoning_effort", "reasoning", "reasoning.effort"}:
        return replace(dialect, effort="")
    if dialect.strict and parameter.startswith("tools"):
        return replace(dialect, strict=False)
    if parameter:
        return None
    if has_tools and lacks_tools(said_of(error)):
        return None
    # An endpoint that does not say which parameter it refused gets fewer of them.
    if dialect.effort:
        return replace(dialect, effort="")
    if dialect.required:
        return replace(dialect, required=False)
    if dialect.cache_key or dialect.reasoning:
        return replace(dialect, cache_key=False, reasoning=False)
    if dialect.strict:
        return replace(dialect, strict=False)
    if dialect.stream_usage:
        return replace(dialect, stream_usage=False)
    if dialect.completion_tokens:
        return replace(dialect, completion_tokens=False)
    if dialect.pictures and has_pictures:
        return replace(dialect, pictures=False)
    return None


def _is_refusal(error: Any) -> bool:
    """Return whether an error is about what was asked: by its status, or by naming a parameter."""
    status = getattr(error, "status_code", 0)
    if status in _REFUSALS:
        return True
    return status not in OTHER_MATTERS and bool(_named(error)) and lacks(said_of(error))


def _without_feature(
    dialect: Dialect, error: Any, *, has_pictures: bool, has_tools: bool
) -> Dialect | None:
    offers = has_tools and dialect.may_constrain and dialect.calls is CallForm.OFFERED
    feature = refused_feature(
        error,
        has_pictures=dialect.pictures and has_pictures,
        has_tools=offers,
        has_schema=has_tools and dialect.calls is CallForm.CONSTRAINED,
    )
    match feature:
        case Feature.PICTURES:
            return replace(dialect, pictures=False)
        case Feature.CALL_IDS if dialect.call_ids is not CallIds.NINE:
            # Every endpoint that is known takes these, which are Mistral's.
            return replace(dialect, call_ids=CallIds.NINE)
        case Feature.SIGNATURES if not dialect.signed_calls:
            return replace(dialect, signed_calls=True)
        case Feature.TOOLS:
            return replace(dialect, calls=CallForm.CONSTRAINED)
        case Feature.SCHEMA:
            return replace(dialect, calls=CallForm.WRITTEN)
        case _:
            return None


def _named(error: Any) -> str:
    """Return the parameter that a refusal names in its words only, as many servers do."""
    said = said_of(error)
    return next((name for name in _NAMED if name in said), "")


LEARNT: KnownDialects[Dialect] = KnownDialects()
