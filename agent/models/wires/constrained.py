"""Have a model write one call as JSON by a schema, where an endpoint reads no calls of its own.

The tools are told in the instructions, the answer is an object with the tool's name and its
arguments, and the endpoint is asked to accept nothing else (`response_format`), so that the form of
a call cannot fail. Earlier calls and results go back in the same words, since a template that knows
no tools knows no results either. Pure. Invariant: the same conversation gets the same words each
time, so that its beginning is found in a cache.
"""

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec.structs import replace

from agent.models.model import Message, Role, ToolCall, ToolSchema

OUTPUT_TOKENS = 1024
"""One call is short; a small model that does not end its text would fill any limit."""
_TOOL, _ARGUMENTS = "tool", "arguments"
_DEFINITIONS = ("$defs", "definitions")
_KEPT: dict[str, tuple[type, ...]] = {
    "type": (str, list),
    "required": (list,),
    "enum": (list,),
    "const": (object,),
    "minimum": (int, float),
    "maximum": (int, float),
    "minItems": (int,),
    "maxItems": (int,),
}
"""What servers make grammars of, beside what holds schemas, and its types. The rest is left out:
one `pattern` or `format` that a server cannot translate would make it refuse the whole request
(llama.cpp common/json-schema-to-grammar.cpp). Arguments are checked again when a call is read."""
_MAX_ITEMS = 32
_MAX_DEPTH = 24
_SIMPLE = frozenset({"string", "integer", "number", "boolean", "null"})


class CallForm(StrEnum):
    """How an endpoint is asked for calls."""

    OFFERED = "tools"
    """Tools are offered, and the endpoint reads the calls."""
    CONSTRAINED = "JSON schema"
    """Tools are told in words, and the endpoint enforces the form of one call."""
    WRITTEN = "words"
    """Tools are told in words, and the call is read from the answer."""


def call_schema(tools: Sequence[ToolSchema]) -> dict[str, Any]:
    """Return the JSON Schema of one call of any of the tools."""
    definitions: dict[str, Any] = {}
    calls = [
        {
            "type": "object",
            "properties": {_TOOL: {"const": tool.name}, _ARGUMENTS: _arguments(tool, definitions)},
            "required": [_TOOL, _ARGUMENTS],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    schema: dict[str, Any] = calls[0] if len(calls) == 1 else {"anyOf": calls}
    return {**schema, "$defs": definitions} if definitions else schema


def _arguments(tool: ToolSchema, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a tool's arguments; what it defines goes among `definitions`."""
    names: dict[str, str] = {}
    for where in _DEFINITIONS:
        own = tool.parameters.get(where)
        if isinstance(own, dict):
            names |= {f"#/{where}/{name}": f"{tool.name}.{name}" for name in own}
    for where in _DEFINITIONS:
        own = tool.parameters.get(where)
        for name, node in own.items() if isinstance(own, dict) else ():
            definitions[f"{tool.name}.{name}"] = _plain(node, names)
    schema = _plain(tool.parameters, names)
    return schema if schema.get("type") == "object" else {"type": "object"}


def _plain(node: object, names: Mapping[str, str], depth: int = 0) -> dict[str, Any]:
    """Return a schema with the keywords that grammars are made of."""
    if not isinstance(node, dict) or depth > _MAX_DEPTH:
        return {}
    ref = node.get("$ref")
    if isinstance(ref, str):
        # One that points elsewhere says nothing here.
        return {"$ref": f"#/$defs/{names[ref]}"} if ref in names else {}
    made: dict[str, Any] = {}
    for key, value in node.items():
        if key == "properties" and isinstance(value, dict):
            made[key] = {name: _plain(one, names, depth + 1) for name, one in value.items()}
        elif key == "items":
            made[key] = _plain(value, names, depth + 1)
        elif key in {"anyOf", "oneOf"} and isinstance(value, list) and value:
            made["anyOf"] = [_plain(one, names, depth + 1) for one in value]
        elif key in _KEPT and isinstance(value, _KEPT[key]):
            made[key] = value
    if "properties" in made:
        made["type"] = "object"
        made["additionalProperties"] = False
    if made.get("type") == "array":
        made["maxItems"] = min(made.get("maxItems", _MAX_ITEMS), _MAX_ITEMS)
    return made


# --- what the model is told ----------


def in_words(messages: Sequence[Message], tools: Sequence[ToolSchema]) -> tuple[Message, ...]:
    """Return a conversation in which tools, calls and results are told in words.

    Neighbours of one sender become one message, as templates with two senders want it.
    """
    told = tools_text(tools)
    names: dict[str, str] = {}
    written: list[Message] = []
    is_told = not told
    for message in messages:
        if message.role is Role.SYSTEM and not is_told:
            message, is_told = replace(message, text=f"{message.text}\n\n{told}"), True
        if message.role is Role.ASSISTANT:
            names |= {call.call_id: call.name for call in message.tool_calls}
            calls = "\n".join(_call_text(call) for call in message.tool_calls)
            # What was said beside a call is left out: the form that is wanted has no place for it.
            message = replace(message, text=calls or message.text, tool_calls=(), reasoning=())
        elif message.role is Role.TOOL:
            name = names.get(message.call_id, "the tool")
            text = f"Result of {name}: {message.text}"
            message = replace(message, role=Role.USER, text=text, call_id="")
        last = written[-1] if written else None
        if last is not None and last.role is message.role and None in {last.image, message.image}:
            image = message if message.image is not None else last
            written[-1] = replace(
                last,
                text=f"{last.text}\n\n{message.text}",
                image=image.image,
                image_type=image.image_type,
            )
        else:
            written.append(message)
    if is_told:
        return tuple(written)
    first, *rest = written
    if first.role is Role.USER:
        return (replace(first, text=f"{told}\n\n{first.text}"), *rest)
    return (Message(role=Role.USER, kind=first.kind, text=told), *written)


def _call_text(call: ToolCall) -> str:
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        arguments = call.arguments
    return _json({_TOOL: call.name, _ARGUMENTS: arguments})


def tools_text(tools: Sequence[ToolSchema]) -> str:
    """Return what a model is told of tools; empty where there are none."""
    if not tools:
        return ""
    form = '{"tool": NAME, "arguments": {…}}'
    lines = (f"- {tool.name}({_signature(tool)}): {tool.description}" for tool in tools)
    return (
        f"Answer with one JSON object, {form}, and nothing else. Arguments marked ? may be left "
        f"out. The tools:\n" + "\n".join(lines)
    )


def _signature(tool: ToolSchema) -> str:
    properties = tool.parameters.get("properties")
    required = tool.parameters.get("required") or ()
    parts = []
    for name, node in properties.items() if isinstance(properties, dict) else ():
        mark = "" if name in required else "?"
        about = node.get("description") if isinstance(node, dict) else ""
        said = f" ({about.rstrip('.')})" if isinstance(about, str) and about else ""
        parts.append(f"{name}{mark}: {_type_text(node)}{said}")
    return ", ".join(parts)


def _type_text(node: object, depth: int = 0) -> str:
    """Return a schema as a few words: `integer`, `"down" | "up"`, `[{step: string}]`."""
    if not isinstance(node, dict) or depth > 3:
        return "any"
    options = node.get("enum")
    if isinstance(options, list) and options:
        return " | ".join(map(_json, options))
    for choices in (node.get("anyOf"), node.get("oneOf")):
        if isinstance(choices, list) and choices:
            return " | ".join(dict.fromkeys(_type_text(one, depth + 1) for one in choices))
    kind = node.get("type")
    if kind == "array":
        return f"[{_type_text(node.get('items'), depth + 1)}]"
    properties = node.get("properties")
    if isinstance(properties, dict):
        required = node.get("required") or ()
        inner = (
            f"{name}{'' if name in required else '?'}: {_type_text(one, depth + 1)}"
            for name, one in properties.items()
        )
        return "{" + ", ".join(inner) + "}"
    return kind if isinstance(kind, str) and kind in {*_SIMPLE, "object"} else "any"


# --- what it answers ----------


def read_call(text: str, tools: Sequence[ToolSchema]) -> ToolCall | None:
    """Return the call that an answer is; None where it is anything else, or was cut off."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or said.keys() != {_TOOL, _ARGUMENTS}:
        return None
    name, arguments = said[_TOOL], said[_ARGUMENTS]
    if name not in {tool.name for tool in tools} or not isinstance(arguments, dict):
        return None
    return ToolCall(call_id="call_0", name=name, arguments=_json(arguments))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
