"""Tell which feature of a request an endpoint refused, whatever status it answered with.

A server that lacks a feature does not always answer 400: llama.cpp's says 500 to a picture for a
model that reads text only, and a router 404. Such a refusal is final, so it is never an outage to
wait for; the request is sent again without the feature. Pure.
"""

import re
from enum import StrEnum
from typing import Any

from agent.models.wires.failures import said_of

OTHER_MATTERS = frozenset({401, 402, 403, 408, 409, 429})
"""The key, money, and being asked too often: no feature is at fault."""


class Feature(StrEnum):
    """What a request may have that an endpoint may lack."""

    PICTURES = "pictures"
    CALL_IDS = "call ids"
    SIGNATURES = "signatures"
    TOOLS = "tools"
    SCHEMA = "schema"


_NAMES = {
    # "image input is not supported" (llama.cpp), "unknown variant `image_url`" (DeepSeek), "not a
    # multimodal model" (vLLM), "support image input" (OpenRouter), "only supported by certain
    # models" after "image_url" (OpenAI), "does not support vision".
    Feature.PICTURES: re.compile(r"image|vision|multi-?modal|mmproj", re.IGNORECASE),
    # "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9" (mistral-common),
    # "Invalid 'messages[2].tool_calls[0].id'" (OpenAI), "tool_use.id: String should match pattern".
    Feature.CALL_IDS: re.compile(
        r"tool[ _-]?(?:call|use)s?(?:\[\d+\])?[ _.-]?id\b|\bcall_id\b", re.IGNORECASE
    ),
}
_TOOLS_WORD = r"\b(?:tools?|function[ _-]?call(?:s|ing)?)\b(?![\[.])"
_LACKS = r"(?:support|requir|enabl|allow|unknown|unrecogni|not permitted|not available)"
_TOOLS = re.compile(
    rf"{_TOOLS_WORD}[^.]{{0,80}}{_LACKS}|{_LACKS}[^.]{{0,80}}{_TOOLS_WORD}", re.IGNORECASE
)
"""How servers say that they take no tools at all: "does not support tools" (Ollama), "tools param
requires --jinja flag" (llama.cpp of 2025, with HTTP 500), "tool choice requires
--enable-auto-tool-choice" (vLLM), "No endpoints found that support tool use" (OpenRouter),
"Function calling is not enabled" (Google). One of the tools, `tools[0].function`, is another
matter."""
_LACKING = re.compile(_LACKS, re.IGNORECASE)
_SIGNATURES = re.compile(r"thought[_ ]?signature", re.IGNORECASE)
"""As Google says it of a call that was made elsewhere: "Function call is missing a
thought_signature"."""
_SCHEMA = re.compile(
    r"response_format|json_?schema|structured[ _-]outputs?|grammar|guided", re.IGNORECASE
)
"""How servers name what makes an answer follow a schema; "failed to parse grammar" (llama.cpp)."""
_PLAIN_CONTENT = re.compile(r"content[\w\s`'\".:\[\]]{0,40} must be (?:a )?string", re.IGNORECASE)
"""How servers that know no parts of a message refuse one with a picture."""


def lacks_tools(said: str) -> bool:
    """Return whether a refusal says that no tools are taken at all."""
    return "tool_choice" not in said and bool(_TOOLS.search(said))


def lacks(said: str) -> bool:
    """Return whether a refusal says that something is not known, allowed or supported."""
    return bool(_LACKING.search(said))


def refused_feature(
    error: Any, *, has_pictures: bool, has_tools: bool = False, has_schema: bool = False
) -> Feature | None:
    """Return the feature that a refusal names; None where it names none that was used.

    Args:
        error: an APIError of an SDK.
        has_pictures: whether the request had pictures.
        has_tools: whether it offered tools, which can be told in words instead.
        has_schema: whether it wanted an answer by a schema.
    """
    if getattr(error, "status_code", 0) in OTHER_MATTERS:
        return None
    said = said_of(error)
    if has_pictures and (_NAMES[Feature.PICTURES].search(said) or _PLAIN_CONTENT.search(said)):
        return Feature.PICTURES
    if _NAMES[Feature.CALL_IDS].search(said):
        return Feature.CALL_IDS
    if _SIGNATURES.search(said):
        return Feature.SIGNATURES
    if has_schema and _SCHEMA.search(said):
        return Feature.SCHEMA
    if has_tools and lacks_tools(said):
        return Feature.TOOLS
    return None
