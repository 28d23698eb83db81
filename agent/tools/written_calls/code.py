"""Read a call that a model wrote as code: `name(argument=value)`. Pure; nothing is evaluated."""

import ast
import json
from collections.abc import Mapping, Sequence

MAX_CODE_CHARS = 4000
_JSON_NAMES = {"true": True, "false": False, "null": None}


def calls_in_code(code: str, tools: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """Return the calls of one expression: one, a list of some, or one inside `print`.

    Args:
        tools: the parameters of each tool that may be called, in order, by its name; arguments
            without a name are the tool's own, in order.
    """
    if len(code) > MAX_CODE_CHARS:
        return []
    try:
        node = ast.parse(code.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    nodes = node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
    calls = [_call(one, tools) for one in nodes]
    return [call for call in calls if call is not None] if all(calls) else []


def _call(node: ast.expr, tools: Mapping[str, Sequence[str]]) -> tuple[str, str] | None:
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Name) and node.func.id == "print" and len(node.args) == 1:
        # Gemini and Gemma print what a call returns.
        return _call(node.args[0], tools)
    name = _name(node.func)
    if name not in tools or len(node.args) > len(tools[name]):
        return None
    try:
        given = dict(zip(tools[name], map(_constant, node.args), strict=False))
        given |= {keyword.arg: _constant(keyword.value) for keyword in node.keywords if keyword.arg}
        only = next(iter(given.values())) if len(node.args) == len(given) == 1 else None
        if isinstance(only, dict):
            # `name({"element": 3})`
            given = only
        return name, json.dumps(given, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        return None


def _name(node: ast.expr) -> str:
    """Return the name that is called: `name`, `default_api.name` or Llama's `name.call`."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=name), attr="call"):
            return name
        case ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _constant(node: ast.expr) -> object:
    if isinstance(node, ast.Name) and node.id in _JSON_NAMES:
        return _JSON_NAMES[node.id]
    return ast.literal_eval(node)
