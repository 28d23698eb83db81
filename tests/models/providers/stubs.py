"""Refuse a request as each provider does: one function a provider, written after its own sources.

A function takes a request's JSON body and returns what the provider would answer: a status and its
words, or None where it accepts the request. Sources stand with the rules; where two models of one
provider differ, the stricter rule is here.
"""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

Body = dict[str, Any]


class Refusal(NamedTuple):
    """What a provider answers to a request that it does not accept."""

    status: int
    message: str
    param: str = ""


Rules = Callable[[Body], Refusal | None]
_SENDERS = frozenset({"system", "developer", "user", "assistant", "tool"})


def _pairs(messages: list[Body]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the ids of each reply's calls and of the results that follow it."""
    for at, message in enumerate(messages):
        calls = [call["id"] for call in message.get("tool_calls") or ()]
        results = []
        for later in messages[at + 1 :]:
            if later["role"] != "tool":
                break
            results.append(later["tool_call_id"])
        if calls:
            yield calls, results


def _ids(messages: list[Body]) -> Iterator[str]:
    for message in messages:
        yield from (call["id"] for call in message.get("tool_calls") or ())
        if message["role"] == "tool":
            yield message["tool_call_id"]


def _has_picture(messages: list[Body]) -> bool:
    return any(
        isinstance(message.get("content"), list)
        and any(part.get("type") == "image_url" for part in message["content"])
        for message in messages
    )


def _unpaired(messages: list[Body]) -> bool:
    return any(set(calls) != set(results) for calls, results in _pairs(messages))


def mistral(body: Body) -> Refusal | None:
    """Follow mistral-common 1.13, protocol/instruct/validator.py (V3 to V11) and request.py."""
    for name in ("max_completion_tokens", "stream_options", "prompt_cache_key"):
        if name in body:
            return Refusal(422, f"Extra inputs are not permitted: {name}", name)
    messages: list[Body] = body["messages"]
    for call_id in _ids(messages):
        if not re.fullmatch(r"[a-zA-Z0-9]{9}", call_id):
            return Refusal(
                400, f"Tool call id was {call_id} but must be a-z, A-Z, 0-9, with a length of 9."
            )
    for before, after in pairwise(messages):
        if before["role"] == "tool" and after["role"] == "system":
            return Refusal(400, "Unexpected role 'system' after role 'tool'")
    for calls, results in _pairs(messages):
        if len(set(calls)) != len(calls) or len(set(results)) != len(results):
            return Refusal(400, f"Duplicate tool call id {calls[0]} in tool results")
        if set(calls) != set(results):
            return Refusal(400, "Not the same number of function calls and responses")
    return None


def openai(body: Body) -> Refusal | None:
    """Follow OpenAI's chat completions: string limits of its API reference, and its words."""
    messages: list[Body] = body["messages"]
    for at, message in enumerate(messages):
        for call in message.get("tool_calls") or ():
            if len(call["id"]) > 40:
                return Refusal(
                    400,
                    f"Invalid 'messages[{at}].tool_calls[0].id': string too long. Expected a "
                    f"string with maximum length 40, but got {len(call['id'])} instead.",
                    f"messages[{at}].tool_calls[0].id",
                )
    if "max_tokens" in body:
        return Refusal(400, "Unsupported parameter: 'max_tokens'", "max_tokens")
    if _unpaired(messages):
        return Refusal(400, "An assistant message with 'tool_calls' must be followed by results")
    return None


def kimi(body: Body) -> Refusal | None:
    """Follow docs/tool_call_guidance.md of Kimi K2, and the words of its thinking models."""
    messages: list[Body] = body["messages"]
    seen: set[str] = set()
    for at, message in enumerate(messages):
        for call in message.get("tool_calls") or ():
            named = rf"functions\.{re.escape(call['function']['name'])}:\d+"
            if not re.fullmatch(named, call["id"]) or call["id"] in seen:
                return Refusal(400, f"tool_call_id {call['id']} is not found")
            seen.add(call["id"])
        if (
            message.get("tool_calls")
            and "reasoning_content" in message
            and not message.get("reasoning_content")
        ):
            return Refusal(400, f"reasoning_content is missing in message at index {at}")
    if _unpaired(messages):
        return Refusal(400, "tool_call_id is not found")
    return None


def deepseek(body: Body) -> Refusal | None:
    """Follow api-docs.deepseek.com: thinking with tools, and its parser's words for a picture."""
    if _has_picture(body["messages"]):
        return Refusal(
            400, "Failed to deserialize the JSON body: unknown variant `image_url`, expected `text`"
        )
    if "max_completion_tokens" in body:
        return Refusal(400, "unknown field `max_completion_tokens`", "max_completion_tokens")
    if _unpaired(body["messages"]):
        return Refusal(400, "insufficient tool messages following tool_calls message")
    return None


def groq(body: Body) -> Refusal | None:
    """Follow console.groq.com: models that read text only, and properties that it does not know."""
    for at, message in enumerate(body["messages"]):
        if not isinstance(message.get("content"), str | None):
            return Refusal(400, f"'messages.{at}' : content must be a string")
        if "reasoning_content" in message:
            return Refusal(400, f"'messages.{at}' : property 'reasoning_content' is unsupported")
    return None


def llamacpp(body: Body) -> Refusal | None:
    """Follow llama.cpp's server of October 2026: a picture for a text model is a 500."""
    if _has_picture(body["messages"]):
        return Refusal(
            500,
            "image input is not supported - hint: if this is unexpected, you may need to provide "
            "the mmproj",
        )
    return None


def openrouter(body: Body) -> Refusal | None:
    """Follow OpenRouter: it looks for a provider that has every feature of the request."""
    if _has_picture(body["messages"]):
        return Refusal(404, "No endpoints found that support image input")
    return None


def vllm(body: Body) -> Refusal | None:
    """Follow vLLM's chat_utils.py for a model without a multimodal processor."""
    if _has_picture(body["messages"]):
        return Refusal(400, "m is not a multimodal model")
    return None


def anthropic(body: Body) -> Refusal | None:
    """Follow platform.claude.com/docs/en/api/messages: ids, turns and results."""
    awaited: set[str] = set()
    seen: set[str] = set()
    for at, turn in enumerate(body["messages"]):
        if turn["role"] != ("user", "assistant")[at % 2]:
            return Refusal(400, f"messages.{at}: roles must alternate")
        results = {b["tool_use_id"] for b in turn["content"] if b["type"] == "tool_result"}
        if results != awaited:
            return Refusal(400, f"messages.{at}: `tool_use` ids without `tool_result` blocks")
        uses = [block["id"] for block in turn["content"] if block["type"] == "tool_use"]
        for use in uses:
            if not re.fullmatch(r"[a-zA-Z0-9_-]+", use):
                return Refusal(
                    400,
                    f"messages.{at}.content.0.tool_use.id: String should match pattern "
                    "'^[a-zA-Z0-9_-]+$'",
                )
            if use in seen:
                return Refusal(400, f"messages.{at}: `tool_use` ids must be unique")
        seen |= set(uses)
        awaited = set(uses)
    return None


PROVIDERS: dict[str, Rules] = {
    "mistral": mistral,
    "openai": openai,
    "kimi": kimi,
    "deepseek": deepseek,
    "groq": groq,
    "llamacpp": llamacpp,
    "openrouter": openrouter,
    "vllm": vllm,
    "anthropic": anthropic,
}
