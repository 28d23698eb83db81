"""Give the arguments of a call our names where a model wrote others for them.

Models know arguments from other harnesses (`content` for `text`, `target` for `element`). Pure.
Two steps: a name that means the same, by the table; then, where one needed argument is missing and
exactly one strange one could be it by its type, that one. Invariants: an argument that has our name
is never changed; tools that act when nobody looks (`ServiceArguments`) are left alone, because a
wrong guess would change what they do later.
"""

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import NamedTuple

import msgspec

from agent.text import one_line
from agent.tools.arguments import ALIASES, NEAR, NUMBERS, Arguments, ServiceArguments
from agent.tools.registry import TOOLS

_LABEL = "label"
_WORD_CHARS = 40
_MOST_IGNORED = 3
_SAME = {
    "text": ("content", "value", "input", "inputtext", "string", "query", "words", "body"),
    "element": (
        *("target", "targetelement", "elementindex", "elementlabel", "elementtext", "elementname"),
        *("node", "nodeid", "nodeindex", "buttonlabel", "button", "field", "fieldlabel", "item"),
        *("ref", "uid", "selector", "number", "text", "title", "name", "caption"),
    ),
    "direction": ("dir", "scrolldirection", "to", "towards"),
    "app": ("application", "packagename", "appid", "bundleid", "target"),
    "button": ("keycode", "keyname", "buttonname"),
    "seconds": ("duration", "time", "secs", "timeout", "delay"),
    "question": ("prompt", "text", "message", "query"),
}
"""By our name, what others call it; folded: small letters only."""


def with_our_names(tool_name: str, said: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments of a call by our names; those that mean nothing stay as they are."""
    tool = TOOLS.get(tool_name)
    given = {name: value for name, value in said.items() if value is not None}
    if tool is None or issubclass(tool, ServiceArguments):
        return dict(said)
    ours = {*tool.__struct_fields__, _LABEL, *NUMBERS}
    strange = {_folded(name): name for name in given if name not in ours}
    renamed = False
    for field in _wanted(tool, given):
        named = (strange[name] for name in _SAME.get(field, ()) if name in strange)
        same = next((name for name in named if _fits(tool, field, given[name])), None)
        if same is not None:
            _rename(given, same, field)
            del strange[_folded(same)]
            renamed = True
    missing = _missing(tool, given)
    fitting = [
        (name, field)
        for name in strange.values()
        for field in missing
        if _fits(tool, field, given[name])
    ]
    if len(missing) == len(fitting) == 1:
        _rename(given, *fitting[0])
        renamed = True
    return given if renamed else dict(said)


class OwnNames(NamedTuple):
    """The arguments of a call as the tool has them."""

    arguments: str  # A JSON object.
    ignored: tuple[str, ...] = ()
    """Names that mean nothing, of short values: whoever gave them may count on them."""


def in_own_names(tool_name: str, arguments: str) -> OwnNames:
    """Return a call's arguments by the tool's own names, so that a model reads those of its past.

    What cannot be read, and what tools take that act when nobody looks, stays as it is.
    """
    tool = TOOLS.get(tool_name)
    try:
        said = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return OwnNames(arguments)
    if tool is None or issubclass(tool, ServiceArguments) or not isinstance(said, dict):
        return OwnNames(arguments)
    fields = {*tool.__struct_fields__, *tool.gathered[1], *([_LABEL] if tool.labelled else [])}
    given = {name: said[name] for name in said if name in fields and said[name] is not None}
    ignored: list[str] = []
    for name, value in said.items():
        if name in fields or value is None:
            continue
        own = ALIASES.get(name, "")
        if own not in fields:
            own = next(iter(get_close_matches(name, fields, n=1, cutoff=NEAR)), "")
        if own and own not in given:
            given[own] = value
        elif given.get(own) != value and _may_be_counted_on(value):
            ignored.append(name)
    shown = json.dumps(given, ensure_ascii=False)
    return OwnNames(arguments if given == said else shown, tuple(sorted(ignored)[:_MOST_IGNORED]))


def ignored_note(names: Sequence[str]) -> str:
    """Return what a result says of arguments that there are not; empty without one."""
    shown = ", ".join(f"`{one_line(name, 40)}`" for name in names)
    return f" There is no argument {shown}: it was ignored." if names else ""


def _may_be_counted_on(value: object) -> bool:
    """Return whether a value asks for something; a sentence beside a call is a thought."""
    if isinstance(value, str):
        return 0 < len(value) <= _WORD_CHARS and " " not in value.strip()
    return bool(value)


def _rename(given: dict[str, object], name: str, field: str) -> None:
    value = given.pop(name)
    # An element may be named by its label, too.
    labels = field == "element" and isinstance(value, str) and not any(map(str.isdigit, value))
    given[_LABEL if labels else field] = value


def _missing(tool: type[Arguments], given: Mapping[str, object]) -> list[str]:
    """Return the arguments that the tool needs and that no name of ours gives."""
    has_element = not given.keys().isdisjoint({*NUMBERS, _LABEL})
    needed = [*_required(tool), *tool.required]
    return [
        name
        for name in dict.fromkeys(needed)
        if name not in given and not (name == "element" and has_element)
    ]


def _wanted(tool: type[Arguments], given: Mapping[str, object]) -> list[str]:
    """Return what is missing, and the element where the tool may do without one."""
    missing = _missing(tool, given)
    if tool.labelled and given.keys().isdisjoint({*NUMBERS, _LABEL}) and "element" not in missing:
        missing.append("element")
    return missing


@cache
def _required(tool: type[Arguments]) -> tuple[str, ...]:
    return tuple(field.encode_name for field in msgspec.structs.fields(tool) if field.required)


def _fits(tool: type[Arguments], field: str, value: object) -> bool:
    if field == "element" and tool.labelled and isinstance(value, str) and value.strip():
        return True
    kind = next(one.type for one in msgspec.structs.fields(tool) if one.name == field)
    try:
        msgspec.convert(value, kind, strict=False)
    except msgspec.ValidationError:
        return False
    # A number or a truth value is not what is to be typed.
    return not (kind is str and not isinstance(value, str))


def _folded(name: str) -> str:
    return "".join(c for c in name.casefold() if c.isalnum())
