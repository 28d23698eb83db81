"""Make a JSON Schema one that endpoints can enforce ("strict" function calling).

OpenAI's rules: every object closed, every property required; what may be left out may be null
instead; no defaults. Invariant: what a strict endpoint writes, a lenient reader of the original
schema reads, once nulls are taken as left out.
"""

from __future__ import annotations

from typing import Any

_UNKNOWN = frozenset({"default", "title"})


def strict(schema: dict[str, Any]) -> dict[str, Any]:
    """Give the strict form of a schema."""
    made = _strict(schema)
    assert isinstance(made, dict)
    return made


def _strict(node: object) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    made = {name: _strict(value) for name, value in node.items() if name not in _UNKNOWN}
    properties = made.get("properties")
    if node.get("type") == "object" and isinstance(properties, dict):
        required = set(node.get("required", ()))
        made["properties"] = {
            name: value if name in required else _nullable(value)
            for name, value in properties.items()
        }
        made["required"] = list(properties)
        made["additionalProperties"] = False
    return made


def _nullable(node: dict[str, Any]) -> dict[str, Any]:
    kinds = node.get("anyOf")
    if isinstance(kinds, list):
        has_null = any(isinstance(k, dict) and k.get("type") == "null" for k in kinds)
        return node if has_null else {**node, "anyOf": [*kinds, {"type": "null"}]}
    said = {name: node[name] for name in ("description",) if name in node}
    rest = {name: value for name, value in node.items() if name not in said}
    return {**said, "anyOf": [rest, {"type": "null"}]}
