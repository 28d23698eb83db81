"""What a model may call: one table of tools with their kinds, descriptions and argument types.

Not what they do (that is `agent.tools.actions` and the task). Invariant: a tool's kind decides what
the background rule lets it do (CONTRACTS 2.4): an action is never allowed unattended.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from enum import StrEnum
from functools import cache
from typing import Any, TypeAlias

import msgspec

from agent.models.model import ToolCall, ToolSchema
from agent.text import one_line
from agent.tools import arguments as args
from agent.tools.background_jobs import (
    REQUIRED,
    BackgroundJobCreate,
    BackgroundJobList,
    BackgroundJobStop,
)
from agent.tools.gestures.clipboard import Clipboard
from agent.tools.gestures.keypad import PressKeys
from agent.tools.gestures.links import OpenLink
from agent.tools.gestures.pointing import DragTo, TapPoint
from agent.tools.gestures.rotate import RotateScreen
from agent.tools.planned_action import PhoneTool
from agent.tools.tool_groups import ALL, ToolGroup
from agent.tools.watching import REQUIRED as WATCH_REQUIRED
from agent.tools.watching import (
    CreateCommitment,
    CreateWatcher,
    ListWatchers,
    MessageCommitment,
    NotificationCommitment,
    SearchCommitments,
    StopWatchers,
    UpdateCommitment,
)

ToolArguments: TypeAlias = (
    args.ClickElement
    | args.LongPressElement
    | args.TypeText
    | args.Scroll
    | args.PressButton
    | args.LaunchApp
    | PhoneTool
    | args.Wait
    | args.MoreElements
    | args.UpdatePlan
    | args.Remember
    | args.MoreTools
    | args.AskUser
    | args.Finish
    | BackgroundJobCreate
    | BackgroundJobList
    | BackgroundJobStop
    | CreateWatcher
    | ListWatchers
    | StopWatchers
    | SearchCommitments
    | CreateCommitment
    | NotificationCommitment
    | MessageCommitment
    | UpdateCommitment
)


class ToolKind(StrEnum):
    """What a tool may do to a phone."""

    OBSERVE = "observe"
    ACTION = "action"
    CONTROL = "control"


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool as the registry knows it."""

    name: str
    kind: ToolKind
    description: str
    arguments: type[args.Arguments]
    counted: bool = True
    """Whether its step counts against the limit."""
    group: ToolGroup | None = None
    """Which goals need it; None: every goal."""
    needs_picture: bool = False
    """Whether it is of use only to a model that is sent pictures."""
    moves_view: bool = False
    """It changes what the screen shows and nothing that lasts."""


def _tool_of(kind: type[PhoneTool]) -> Tool:
    return Tool(
        name=kind.tool_name,
        kind=ToolKind.ACTION,
        description=kind.description,
        arguments=kind,
        needs_picture=kind.needs_picture,
        moves_view=kind.moves_view,
    )


_TABLE = (
    Tool(
        name="click_element",
        kind=ToolKind.ACTION,
        description="Tap an element of the current screen by its number.",
        arguments=args.ClickElement,
    ),
    Tool(
        name="long_press_element",
        kind=ToolKind.ACTION,
        description="Press an element for a second; many lists then offer more to do with it.",
        arguments=args.LongPressElement,
    ),
    Tool(
        name="type_text",
        kind=ToolKind.ACTION,
        description=(
            "Type into a field. Name the field's number unless it is already focused. What it "
            "holds stays, unless clear is true."
        ),
        arguments=args.TypeText,
    ),
    Tool(
        name="scroll",
        kind=ToolKind.ACTION,
        description="Show more of a list or page: `down` shows what lies below.",
        arguments=args.Scroll,
        moves_view=True,
    ),
    Tool(
        name="press_button",
        kind=ToolKind.ACTION,
        description="Press a button of the phone.",
        arguments=args.PressButton,
    ),
    Tool(
        name="launch_app",
        kind=ToolKind.ACTION,
        description="Open an installed app.",
        arguments=args.LaunchApp,
        moves_view=True,
    ),
    Tool(
        name="wait",
        kind=ToolKind.CONTROL,
        description=(
            "Wait for something that takes time: loading, a reply, what the operator does by hand."
        ),
        arguments=args.Wait,
    ),
    Tool(
        name="more_elements",
        kind=ToolKind.OBSERVE,
        description="List the elements that the screen folds as `… rows like …`. Costs no step.",
        arguments=args.MoreElements,
        counted=False,
    ),
    Tool(
        name="update_plan",
        kind=ToolKind.CONTROL,
        description="Write down or update the steps of your plan. Costs no step.",
        arguments=args.UpdatePlan,
        counted=False,
    ),
    Tool(
        name="remember",
        kind=ToolKind.CONTROL,
        description=(
            "Keep a fact that you will need after its screen is gone. It is shown with every "
            "screen from then on. Costs no step."
        ),
        arguments=args.Remember,
        counted=False,
    ),
    Tool(
        name="ask_user",
        kind=ToolKind.CONTROL,
        description=(
            "Ask the operator when the goal does not say which, only a person can know, or the "
            "operator has to do something on the phone (option: Done). Waits for the answer."
        ),
        arguments=args.AskUser,
        counted=False,
    ),
    Tool(
        name="finish",
        kind=ToolKind.CONTROL,
        description=(
            "End the work. success=true only when the screen shows that the goal is met; "
            "otherwise success=false with the reason."
        ),
        arguments=args.Finish,
    ),
    Tool(
        name="more_tools",
        kind=ToolKind.CONTROL,
        description=(
            "Get tools for what goes on after this session: jobs (later or repeatedly), watchers "
            "(when something happens), commitments (promises, reminders). Costs no step."
        ),
        arguments=args.MoreTools,
        counted=False,
    ),
    Tool(
        name="background_job_create",
        kind=ToolKind.ACTION,
        description=(
            "Have something looked at later or again and again, when the goal asks for that. Each "
            "run may look and tell; it asks the operator before it changes anything."
        ),
        arguments=BackgroundJobCreate,
        group=ToolGroup.JOBS,
    ),
    Tool(
        name="background_job_list",
        kind=ToolKind.OBSERVE,
        description="List background jobs, the newest first.",
        arguments=BackgroundJobList,
        group=ToolGroup.JOBS,
    ),
    Tool(
        name="background_job_stop",
        kind=ToolKind.ACTION,
        description="Stop a background job for good.",
        arguments=BackgroundJobStop,
        group=ToolGroup.JOBS,
    ),
    Tool(
        name="watcher_create",
        kind=ToolKind.ACTION,
        description=(
            "Look out for a notification, somebody's message or call, a change of a page, a text "
            "on a screen or a time, when the goal asks for that; then tell the operator or start a "
            "job."
        ),
        arguments=CreateWatcher,
        group=ToolGroup.WATCHERS,
    ),
    Tool(
        name="watcher_list",
        kind=ToolKind.OBSERVE,
        description="List watchers, the newest first.",
        arguments=ListWatchers,
        group=ToolGroup.WATCHERS,
    ),
    Tool(
        name="watcher_stop",
        kind=ToolKind.ACTION,
        description="Stop watchers for good: one, those that a text finds, or all.",
        arguments=StopWatchers,
        group=ToolGroup.WATCHERS,
    ),
    Tool(
        name="commitment_search",
        kind=ToolKind.OBSERVE,
        description="Find commitments, the newest first.",
        arguments=SearchCommitments,
        group=ToolGroup.COMMITMENTS,
    ),
    Tool(
        name="commitment_create",
        kind=ToolKind.ACTION,
        description="Write down what was promised, so that the operator is reminded of it.",
        arguments=CreateCommitment,
        group=ToolGroup.COMMITMENTS,
    ),
    Tool(
        name="notification_commitment_create",
        kind=ToolKind.ACTION,
        description=(
            "Write down what a notification on the phone asks for or promises; what it says is "
            "kept as the evidence."
        ),
        arguments=NotificationCommitment,
        group=ToolGroup.COMMITMENTS,
    ),
    Tool(
        name="message_commitment_create",
        kind=ToolKind.ACTION,
        description=(
            "Write down what somebody's message asks for or promises, while its notification is "
            "on the phone; what it says is kept as the evidence."
        ),
        arguments=MessageCommitment,
        group=ToolGroup.COMMITMENTS,
    ),
    Tool(
        name="commitment_update_status",
        kind=ToolKind.ACTION,
        description="Complete, put off or dismiss a commitment.",
        arguments=UpdateCommitment,
        group=ToolGroup.COMMITMENTS,
    ),
)

PHONE_TOOLS: tuple[type[PhoneTool], ...] = (
    TapPoint,
    DragTo,
    PressKeys,
    OpenLink,
    Clipboard,
    RotateScreen,
)
"""The tools that are whole in a class of their own."""
_TOOLS = tuple(
    one
    for tool in _TABLE
    for one in (
        (tool, *map(_tool_of, PHONE_TOOLS)) if tool.arguments is args.LaunchApp else (tool,)
    )
)

TOOLS: dict[str, Tool] = {tool.name: tool for tool in _TOOLS}


@cache
def schemas(groups: frozenset[ToolGroup] = ALL, *, sees: bool = True) -> tuple[ToolSchema, ...]:
    """Return the tools as a model is told of them: those for the phone, then those of the groups.

    Args:
        sees: whether the model is sent pictures.

    In this order, so that what a request begins with stays the same where a group is added.
    """
    return tuple(
        ToolSchema(name=tool.name, description=tool.description, parameters=_parameters(tool))
        for tool in sorted(_TOOLS, key=lambda tool: tool.group is not None)
        if (tool.group is None or tool.group in groups) and (sees or not tool.needs_picture)
    )


def names_of(group: ToolGroup) -> tuple[str, ...]:
    """Return the names of a group's tools."""
    return tuple(tool.name for tool in _TOOLS if tool.group is group)


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
    if tool is None or tool.kind is not ToolKind.ACTION or tool.group is not None:
        return False
    # A clipboard that is filled or read shows nothing.
    return tool.arguments is not Clipboard or '"paste"' in arguments.lower()


def _parameters(tool: Tool) -> dict[str, Any]:
    parameters = args.schema(tool.arguments)
    if tool.arguments is args.Finish:
        # Told only where the session has a schema for it.
        del parameters["properties"]["result"]
    required = REQUIRED.get(tool.arguments) or WATCH_REQUIRED.get(tool.arguments)
    if required:
        parameters["required"] = list(required)
    if tool.arguments.labelled:
        # Read before the struct is made: a label means a number only on a screen.
        said = {"type": "string", "description": "Instead of the number: the exact label."}
        parameters["properties"] = {**parameters["properties"], "label": said}
        parameters["required"] = [n for n in parameters.get("required", ()) if n != "element"]
    return parameters


def read_call(call: ToolCall, offered: Sequence[str] = ()) -> tuple[Tool, ToolArguments]:
    """Read what a model wants called.

    Args:
        offered: the tools that may be named where this one is unknown; empty: all. A tool that
            was not offered can be called all the same.

    Raises:
        BadArguments: the tool is unknown or its arguments cannot be used.
    """
    tool = TOOLS.get(call.name)
    if tool is None:
        told = offered or [one.name for one in _TOOLS if one.group is None]
        raise args.BadArguments(unknown_tool(call.name, told))
    try:
        arguments = args.decode(tool.arguments, call.arguments)
    except args.BadArguments:
        if tool.arguments is not BackgroundJobStop:
            raise
        # A call that names no job has a reply of its own (CONTRACTS 2.5).
        arguments = BackgroundJobStop()
    # The table's types are the union's members; msgspec has made one of them.
    return tool, arguments  # type: ignore[return-value]


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
