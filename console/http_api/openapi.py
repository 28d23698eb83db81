"""The OpenAPI document (3.1), made from the types of the protocol.

Not the routes. Invariant: a path stands in it because its op or look-up can be asked.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from agent.protocol import PROTOCOL_VERSION, Reply
from agent.rpc.connection import METHODS
from console.cli_support.protocol_page import METHOD_REPLIES
from console.http_api.operations import LOOK_UPS, PREFIX, STREAMS, ops
from console.http_api.problems import MEDIA_TYPE, ProblemDetails

_REF = "#/components/schemas/{name}"
_CLIENT = {
    "name": "Switchboard-Client",
    "in": "header",
    "description": "A name for people. What a client drives, and its drafts, are its own.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 60, "pattern": "^[!-~]+$"},
}
_LAST_EVENT = {
    "name": "Last-Event-ID",
    "in": "header",
    "description": "As `after`, and before it: a reconnecting client sends it automatically.",
    "schema": {"type": "string", "pattern": "^[0-9]{1,18}$"},
}


def document(server: str = "") -> dict[str, Any]:
    """Return the document.

    Args:
        server: the address that it is served at, where it is served.
    """
    kinds: list[Any] = [*ops().values(), Reply, ProblemDetails]
    kinds += [METHODS[name] for name in LOOK_UPS]
    kinds += [one.query for one in STREAMS.values()] + [one.item for one in STREAMS.values()]
    shown = [kind for kind in LOOK_UPS.values() if kind is not bytes]
    schemas, components = msgspec.json.schema_components([*kinds, *shown], ref_template=_REF)
    by_kind = dict(zip([*kinds, *shown], schemas, strict=True))
    for kind in ops().values():
        # The path says which op it is.
        schema = components[_name(by_kind[kind])]
        schema["required"] = [name for name in schema.get("required", []) if name != "type"]
    for kind in ops().values():
        _close(components, _name(by_kind[kind]), set())
    paths: dict[str, Any] = {}
    for tag, kind in ops().items():
        paths[f"{PREFIX}/ops/{tag}"] = {"post": _op(tag, by_kind[kind], kind)}
    for name, result in LOOK_UPS.items():
        parameters = _parameters(components[_name(by_kind[METHODS[name]])])
        paths[f"{PREFIX}/{name}"] = {"get": _look_up(name, parameters, by_kind.get(result))}
    for name, stream in STREAMS.items():
        parameters = _parameters(components[_name(by_kind[stream.query])])
        if name == "events":
            parameters.append(_LAST_EVENT)
        paths[f"{PREFIX}/{name}"] = {
            "get": _stream(name, stream.said, parameters, by_kind[stream.item])
        }
    paths[f"{PREFIX}/client"] = {
        "delete": {
            "operationId": "leave",
            "summary": "Release everything that this client holds.",
            "parameters": [_CLIENT],
            "responses": {"204": {"description": "Released."}, "default": _problem()},
        }
    }
    queries = [METHODS[name] for name in LOOK_UPS] + [one.query for one in STREAMS.values()]
    used = {_name(by_kind[kind]) for kind in queries}
    found: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "Switchboard",
            "version": str(PROTOCOL_VERSION),
            "description": "Agents on Android phones, under their operator's command.",
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": {name: one for name, one in components.items() if name not in used},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
    return found | ({"servers": [{"url": server}]} if server else {})


def _close(components: dict[str, Any], name: str, done: set[str]) -> None:
    """Say of all objects in an op, however deep, that they have no fields but their own."""
    if name in done:
        return
    done.add(name)
    schema = components[name]
    if schema.get("type") == "object" and "properties" in schema:
        schema["additionalProperties"] = False
    for inner in _named_in(schema):
        _close(components, inner, done)


def _named_in(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if "$ref" in node:
            yield _name(node)
        for name, one in node.items():
            if name != "discriminator":
                yield from _named_in(one)
    elif isinstance(node, list):
        for one in node:
            yield from _named_in(one)


def _op(tag: str, schema: dict[str, Any], op: type[Any]) -> dict[str, Any]:
    return {
        "operationId": tag,
        "summary": op.brief or _doc(op),
        **({"description": _doc(op)} if op.brief else {}),
        "tags": ["ops"],
        "parameters": [_CLIENT],
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": {
            "200": {
                "description": f"Carried out; the reply contains {op.returns}.",
                "content": {"application/json": {"schema": {"$ref": _REF.format(name="Reply")}}},
            },
            "default": _problem(),
        },
    }


def _look_up(
    name: str, parameters: list[dict[str, Any]], schema: dict[str, Any] | None
) -> dict[str, Any]:
    if schema is None:
        content: dict[str, Any] = {"application/octet-stream": {}}
    else:
        content = {"application/json": {"schema": schema}}
    return {
        "operationId": name,
        "summary": "Look up: " + ("the bytes" if schema is None else METHOD_REPLIES[name]),
        "tags": ["look-ups"],
        "parameters": [*parameters, _CLIENT],
        "responses": {"200": {"description": "Found.", "content": content}, "default": _problem()},
    }


def _stream(
    name: str, said: str, parameters: list[dict[str, Any]], item: dict[str, Any]
) -> dict[str, Any]:
    data = {"type": "string", "contentMediaType": "application/json", "contentSchema": item}
    return {
        "operationId": name,
        "summary": said,
        "tags": ["streams"],
        "parameters": [*parameters, _CLIENT],
        "responses": {
            "200": {
                "description": "Server-sent events; the data of each is JSON.",
                "content": {"text/event-stream": {"schema": data}},
            },
            "default": _problem(),
        },
    }


def _parameters(schema: dict[str, Any]) -> list[dict[str, Any]]:
    required = schema.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": _plain(one)}
        for name, one in schema.get("properties", {}).items()
    ]


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a parameter's schema without null, which a query cannot say."""
    choices = [one for one in schema.get("anyOf", []) if one != {"type": "null"}]
    return choices[0] if len(choices) == 1 else schema


def _problem() -> dict[str, Any]:
    schema = {"$ref": _REF.format(name="ProblemDetails")}
    return {
        "description": "Refused; `detail` says why, `remedy` what to do.",
        "content": {MEDIA_TYPE: {"schema": schema}},
    }


def _name(schema: dict[str, Any]) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def _doc(kind: type[Any]) -> str:
    return " ".join((kind.__doc__ or "").strip().split("\n\n")[0].split())
