"""What a model may call: every tool, in one order.

Not what they do (that is `agent.tools.actions` and the task). Invariant: a tool's kind decides what
the background rule lets it do (CONTRACTS 2.4): unattended, an action with an effect waits.
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any, TypeAlias, get_args

from agent.models.model import ToolCall, ToolSchema
from agent.text import one_line
from agent.tools import arguments as args
from agent.tools.arguments import ToolKind
from agent.tools.background_jobs import BackgroundJobStop, JobArguments
from agent.tools.gestures.clipboard import Clipboard
from agent.tools.gestures.keypad import PressKeys
from agent.tools.gestures.links import OpenLink
from agent.tools.gestures.pointing import DragTo, TapPoint
from agent.tools.gestures.rotate import RotateScreen
from agent.tools.planned_action import ActionArguments, PhoneTool
from agent.tools.tool_groups import ALL, ToolGroup
from agent.tools.watching import WatchArguments

PHONE_TOOLS: tuple[type[PhoneTool], ...] = (
    TapPoint,
    DragTo,
    PressKeys,
    OpenLink,
    Clipboard,
    RotateScreen,
)
"""The tools that are whole in a class of their own."""

ToolArguments: TypeAlias = (
    ActionArguments
    | args.Wait
    | args.MoreElements
    | args.UpdatePlan
    | args.Remember
    | args.AskUser
    | args.Finish
    | args.MoreTools
    | JobArguments
    | WatchArguments
)
"""All tools, in the order in which a model is told of them."""

Tool: TypeAlias = type[args.Arguments]
_TOOLS: tuple[Tool, ...] = tuple(
    one
    for kind in get_args(ToolArguments)
    for one in (PHONE_TOOLS if kind is PhoneTool else (kind,))
)
TOOLS: dict[str, Tool] = {tool.tool_name: tool for tool in _TOOLS}


@cache
def schemas(groups: frozenset[ToolGroup] = ALL, *, sees: bool = True) -> tuple[ToolSchema, ...]:
    """Return the tools as a model is told of them: those for the phone, then those of the groups.

    Args:
        sees: whether the model is sent pictures.

    In this order, so that what a request begins with stays the same where a group is added.
    """
    return tuple(
        ToolSchema(
            name=tool.tool_name,
            description=" ".join((tool.__doc__ or "").split()),
            parameters=_parameters(tool),
        )
        for tool in sorted(_TOOLS, key=lambda tool: tool.tool_group is not None)
        if tool.tool_group in {None, *groups} and (sees or not tool.needs_picture)
    )


def names_of(group: ToolGroup) -> tuple[str, ...]:
    """Return the names of a group's tools."""
    return tuple(tool.tool_name for tool in _TOOLS if tool.tool_group is group)


def moves_view(name: str) -> bool:
    """Return whether a tool changes what the screen shows and nothing that lasts."""
    tool = TOOLS.get(name)
    return tool is not None and tool.moves_view


def may_change_screen(name: str, arguments: str) -> bool:
    """Return whether a call does something that the phone's screen may show.

    Args:
        arguments: of the call, as JSON.
    """
    tool = TOOLS.get(name)
    if tool is None or tool.tool_kind is not ToolKind.ACTION:
        return False
    if issubclass(tool, args.ServiceArguments):
        return False
    # A clipboard that is filled or read shows nothing.
    return tool is not Clipboard or '"paste"' in arguments.lower()


def _parameters(tool: Tool) -> dict[str, Any]:
    parameters = args.schema(tool)
    if tool is args.Finish:
        # Told only where the session has a schema for it.
        del parameters["properties"]["result"]
    if tool.required:
        parameters["required"] = list(tool.required)
    if tool.labelled:
        # Read before the struct is made: a label means a number only on a screen.
        said = {"type": "string", "description": "Or its exact label."}
        parameters["properties"] = {**parameters["properties"], "label": said}
        needed = [name for name in parameters.pop("required", ()) if name != "element"]
        if needed:
            parameters["required"] = needed
    return parameters


def read_call(call: ToolCall, offered: Sequence[str] = ()) -> ToolArguments:
    """Read what a model wants called.

    Args:
        offered: the tools that may be named where this one is unknown; empty: all. A tool that
            was not offered can be called all the same.

    Raises:
        BadArguments: the tool is unknown or its arguments cannot be used.
    """
    tool = TOOLS.get(call.name)
    if tool is None:
        told = offered or [one.tool_name for one in _TOOLS if one.tool_group is None]
        raise args.BadArguments(unknown_tool(call.name, told))
    try:
        # The tools are the union's members; msgspec has made one of them.
        return args.decode(tool, call.arguments)  # type: ignore[return-value]
    except args.BadArguments:
        if tool is not BackgroundJobStop:
            raise
        # A call that names no job has a reply of its own (CONTRACTS 2.5).
        return BackgroundJobStop()


def unknown_tool(name: str, known: Iterable[str]) -> str:
    """Return the refusal of an unknown tool; it names the nearest one, or all."""
    names = tuple(known)
    shown = one_line(name, 60)
    near = get_close_matches(_plain(name), [_plain(one) for one in names], n=1, cutoff=0.6)
    if near:
        meant = next(one for one in names if _plain(one) == near[0])
        return f'there is no tool "{shown}"; did you mean "{meant}"?'
    return f'there is no tool "{shown}"; there are: {", ".join(names)}'


def _plain(name: str) -> str:
    """Fold a name so that clickElement and click-element are near click_element."""
    return "".join(c for c in name[:60].casefold() if c.isalnum())
