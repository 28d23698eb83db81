"""Read the name of a tool where a model wrote it, and the calls in a JSON value."""

import json
import re
from collections.abc import Iterator

CALLED_WITH = ("arguments", "parameters", "args", "input", "action_input", "params")
_NAMES = ("name", "tool", "tool_name", "function", "function_name", "action", "action_type")
_NAME = re.compile(
    r"[\s`\"']*(?:(?:functions?|tools?|default_api|assistant)[.:])*([A-Za-z_][\w-]{0,80})"
)
_MOST = 8


def plain_name(name: str) -> str:
    """Return a tool's name without what is written around it.

    Models write `functions.name:0` (Kimi), `name<|channel|>commentary` (gpt-oss) and
    `default_api.name` (Gemini).
    """
    found = _NAME.match(name)
    return found[1] if found else name.strip()


def from_value(value: object) -> Iterator[tuple[str, str]]:
    """Yield the calls in a JSON value: an object with a name and arguments, or several."""
    if isinstance(value, list):
        for one in value[:_MOST]:
            yield from from_value(one)
        return
    if not isinstance(value, dict):
        return
    if isinstance(value.get("tool_calls"), list):
        yield from from_value(value["tool_calls"])
        return
    inner = value.get("function")
    if isinstance(inner, dict):
        yield from from_value(inner)
        return
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), "")
    if not name:
        yield from _by_key(value)
        return
    given = next((value[key] for key in CALLED_WITH if key in value), None)
    if given is None:
        # The arguments beside the name.
        given = {key: one for key, one in value.items() if key not in {*_NAMES, "id", "type"}}
    yield name, given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _by_key(value: dict[str, object]) -> Iterator[tuple[str, str]]:
    """Yield the call of `{"name": {"argument": …}}`."""
    if len(value) != 1:
        return
    [(name, given)] = value.items()
    if isinstance(given, dict) and name not in CALLED_WITH:
        yield name, json.dumps(given, ensure_ascii=False)
