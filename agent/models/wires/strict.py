"""Make a JSON Schema one that endpoints can enforce ("strict" function calling).

OpenAI's rules: every object closed, every property required; what may be left out may be null
instead; no defaults. Invariant: what a strict endpoint writes, a lenient reader of the original
schema reads, once nulls are taken as left out.
"""

from typing import Any

_UNKNOWN = frozenset({"default", "title"})
_NULL = {"type": "null"}


def strict(schema: dict[str, Any]) -> dict[str, Any]:
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
    if not isinstance(kinds, list):
        said = {name: node[name] for name in ("description",) if name in node}
        kinds, node = [{n: value for n, value in node.items() if n not in said}], said
    others: list[dict[str, Any]] = [kind for kind in kinds if kind != _NULL]
    one = others[0] if len(others) == 1 else {}
    if isinstance(one.get("type"), str) and not {"enum", "const"} & one.keys():
        # One type and null: half the tokens of a choice between two schemas.
        rest = {name: value for name, value in node.items() if name != "anyOf"}
        return {**rest, **one, "type": [one["type"], "null"]}
    return {**node, "anyOf": [*others, _NULL]}
