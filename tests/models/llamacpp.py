"""A server that answers as llama.cpp's does: what it ignores, refuses, and enforces by a grammar.

Written after its sources of October 2026 (tools/server/server-common.cpp: pictures, templates;
server-context.cpp: length, /props, /v1/models; common/json-schema-to-grammar.cpp: schemas) and the
answers of the server itself, which `tests/end_to_end/local_models/test_llamacpp.py` asks.
"""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import jsonschema

from tests.models.asking import reply_with_status
from tests.openai_server import OpenAIServer, Reply, openai_server

Body = dict[str, Any]
MODEL = "gemma.gguf"
_TRANSLATED = frozenset(
    {
        *("type", "properties", "required", "items", "enum", "const", "anyOf", "oneOf", "$ref"),
        *("additionalProperties", "minimum", "maximum", "minItems", "maxItems", "$defs"),
        *("minLength", "maxLength", "description", "default", "title"),
    }
)


def props(*, n_ctx: int = 4096, tools: bool = False, vision: bool = False) -> bytes:
    """Return GET /props of a model whose template knows tools, or does not."""
    caps = {
        "supports_parallel_tool_calls": tools,
        "supports_system_role": True,
        "supports_tool_calls": tools,
        "supports_tools": tools,
    }
    said = {
        "default_generation_settings": {"n_ctx": n_ctx, "params": {"max_tokens": -1}},
        "total_slots": 1,
        "modalities": {"vision": vision, "audio": False},
        "chat_template": "{%- for message in messages -%}…",
        "chat_template_caps": caps,
        "build_info": "b11549",
    }
    return json.dumps(said).encode()


def listing(n_ctx: int = 4096) -> bytes:
    row = {
        "id": MODEL,
        "object": "model",
        "owned_by": "llamacpp",
        "architecture": {"input_modalities": ["text"], "output_modalities": ["text"]},
        "meta": {"n_ctx": n_ctx, "n_ctx_train": 32768},
    }
    return json.dumps({"object": "list", "data": [row]}).encode()


def untranslated(schema: object) -> list[str]:
    """Return the keywords of a schema that no grammar is made of."""
    found: list[str] = []
    if isinstance(schema, list):
        return [name for one in schema for name in untranslated(one)]
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key in {"properties", "$defs"}:
                found += [name for one in value.values() for name in untranslated(one)]
            elif key not in _TRANSLATED:
                found.append(key)
            elif key not in {"enum", "const", "required", "default"}:
                found += untranslated(value)
    return found


def refused(status: int, message: str, kind: str, **more: object) -> Reply:
    error = {"code": status, "message": message, "type": kind, **more}
    return reply_with_status({"error": error}, f"{status} Refused")


def answer(body: Body, write: Callable[[Body], object], *, n_ctx: int, tools: bool) -> Reply:
    """Answer one request.

    Args:
        write: what the model writes: text, or a value that has to follow the schema.
        tools: whether its template knows tools.
    """
    messages: list[Body] = body["messages"]
    if any(isinstance(message.get("content"), list) for message in messages):
        return refused(
            500,
            "image input is not supported - hint: if this is unexpected, you may need to provide "
            "the mmproj",
            "server_error",
        )
    tokens = len(json.dumps(messages)) // 4
    if tokens >= n_ctx:
        return refused(
            400,
            f"request ({tokens} tokens) exceeds the available context size ({n_ctx} tokens), try "
            "increasing it",
            "exceed_context_size_error",
            n_prompt_tokens=tokens,
            n_ctx=n_ctx,
        )
    wanted = body.get("response_format")
    if wanted is None:
        said = write(body)
        # Tools and `tool_choice` are ignored, and nothing says so.
        assert not tools
        text = said if isinstance(said, str) else json.dumps(said)
        return Reply(text=text, finish="length" if len(text) > 400 else "stop")
    schema = wanted["json_schema"]["schema"]
    if names := untranslated(schema):
        return refused(400, f"JSON schema conversion failed: {names}", "invalid_request_error")
    said = write(body)
    jsonschema.validate(said, schema)
    return Reply(text=json.dumps(said, indent=2))


@asynccontextmanager
async def llamacpp_server(
    write: Callable[[Body], object], *, n_ctx: int = 4096, tells: bool = True
) -> AsyncIterator[OpenAIServer]:
    """Run a server of one model whose template knows no tools.

    Args:
        tells: whether it has /props, as one behind a proxy has not.
    """
    script: Callable[[Body], Reply] = lambda body: answer(body, write, n_ctx=n_ctx, tools=False)  # noqa: E731
    async with openai_server(script) as server:
        server.models_page = listing(n_ctx)
        if tells:
            server.pages["/props"] = props(n_ctx=n_ctx)
        yield server
