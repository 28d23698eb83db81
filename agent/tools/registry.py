"""What a model may call: one table of tools with their kinds, descriptions and argument types.

Not what they do (that is `agent.tools.actions` and the task). Invariant: a tool's kind decides what
the background rule lets it do (CONTRACTS 2.4): an action is never allowed unattended.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from typing import Any, TypeAlias

import msgspec

from agent.models.model import ToolCall, ToolSchema
from agent.text import one_line
from agent.tools.arguments import (
    Arguments,
    AskUser,
    BadArguments,
    ClickElement,
    Finish,
    LaunchApp,
    LongPressElement,
    MoreElements,
    PressButton,
    Scroll,
    TypeText,
    UpdatePlan,
    Wait,
    decode,
    schema,
)
from agent.tools.background_jobs import (
    REQUIRED,
    BackgroundJobCreate,
    BackgroundJobList,
    BackgroundJobStop,
)
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
    ClickElement
    | LongPressElement
    | TypeText
    | Scroll
    | PressButton
    | LaunchApp
    | Wait
    | MoreElements
    | UpdatePlan
    | AskUser
    | Finish
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
    arguments: type[Arguments]
    counted: bool = True
    """Whether its step counts against the limit."""


_TOOLS = (
    Tool(
        name="click_element",
        kind=ToolKind.ACTION,
        description="Tap an element of the current screen by its number.",
        arguments=ClickElement,
    ),
    Tool(
        name="long_press_element",
        kind=ToolKind.ACTION,
        description="Press an element for a second; many lists then offer more to do with it.",
        arguments=LongPressElement,
    ),
    Tool(
        name="type_text",
        kind=ToolKind.ACTION,
        description=(
            "Type into a field. Name the field's number unless it is already focused. What it "
            "holds stays, unless clear is true."
        ),
        arguments=TypeText,
    ),
    Tool(
        name="scroll",
        kind=ToolKind.ACTION,
        description="Show more of a list or page: `down` shows what lies below.",
        arguments=Scroll,
    ),
    Tool(
        name="press_button",
        kind=ToolKind.ACTION,
        description="Press a button of the phone.",
        arguments=PressButton,
    ),
    Tool(
        name="launch_app",
        kind=ToolKind.ACTION,
        description="Open an installed app.",
        arguments=LaunchApp,
    ),
    Tool(
        name="wait",
        kind=ToolKind.CONTROL,
        description="Wait for something that takes time, such as loading or a reply.",
        arguments=Wait,
    ),
    Tool(
        name="more_elements",
        kind=ToolKind.OBSERVE,
        description="List the elements that the screen only counts as `more items`. Costs no step.",
        arguments=MoreElements,
        counted=False,
    ),
    Tool(
        name="update_plan",
        kind=ToolKind.CONTROL,
        description="Write down or update the steps of your plan. Costs no step.",
        arguments=UpdatePlan,
        counted=False,
    ),
    Tool(
        name="ask_user",
        kind=ToolKind.CONTROL,
        description="Ask the operator when the goal does not say which, or only a person can know.",
        arguments=AskUser,
    ),
    Tool(
        name="finish",
        kind=ToolKind.CONTROL,
        description=(
            "End the work. success=true only when the screen shows that the goal is met; "
            "otherwise success=false with the reason."
        ),
        arguments=Finish,
    ),
    Tool(
        name="background_job_create",
        kind=ToolKind.ACTION,
        description=(
            "Have something looked at later or again and again, when the goal asks for that. Each "
            "run may look and tell; it asks the operator before it changes anything."
        ),
        arguments=BackgroundJobCreate,
    ),
    Tool(
        name="background_job_list",
        kind=ToolKind.OBSERVE,
        description="List background jobs, the newest first.",
        arguments=BackgroundJobList,
    ),
    Tool(
        name="background_job_stop",
        kind=ToolKind.ACTION,
        description="Stop a background job for good.",
        arguments=BackgroundJobStop,
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
    ),
    Tool(
        name="watcher_list",
        kind=ToolKind.OBSERVE,
        description="List watchers, the newest first.",
        arguments=ListWatchers,
    ),
    Tool(
        name="watcher_stop",
        kind=ToolKind.ACTION,
        description="Stop watchers for good: one, those that a text finds, or all.",
        arguments=StopWatchers,
    ),
    Tool(
        name="commitment_search",
        kind=ToolKind.OBSERVE,
        description="Find commitments, the newest first.",
        arguments=SearchCommitments,
    ),
    Tool(
        name="commitment_create",
        kind=ToolKind.ACTION,
        description="Write down what was promised, so that the operator is reminded of it.",
        arguments=CreateCommitment,
    ),
    Tool(
        name="notification_commitment_create",
        kind=ToolKind.ACTION,
        description=(
            "Write down what a notification on the phone asks for or promises; what it says is "
            "kept as the evidence."
        ),
        arguments=NotificationCommitment,
    ),
    Tool(
        name="message_commitment_create",
        kind=ToolKind.ACTION,
        description=(
            "Write down what somebody's message asks for or promises, while its notification is "
            "on the phone; what it says is kept as the evidence."
        ),
        arguments=MessageCommitment,
    ),
    Tool(
        name="commitment_update_status",
        kind=ToolKind.ACTION,
        description="Complete, put off or dismiss a commitment.",
        arguments=UpdateCommitment,
    ),
)

TOOLS: dict[str, Tool] = {tool.name: tool for tool in _TOOLS}


@cache
def schemas() -> tuple[ToolSchema, ...]:
    """Give every tool as a model is told of it."""
    return tuple(
        ToolSchema(name=tool.name, description=tool.description, parameters=_parameters(tool))
        for tool in _TOOLS
    )


def _parameters(tool: Tool) -> dict[str, Any]:
    parameters = schema(tool.arguments)
    required = REQUIRED.get(tool.arguments) or WATCH_REQUIRED.get(tool.arguments)
    if required:
        parameters["required"] = list(required)
    return parameters


def read_call(call: ToolCall) -> tuple[Tool, ToolArguments]:
    """Read what a model wants called.

    Raises:
        BadArguments: the tool is unknown or its arguments cannot be used.
    """
    tool = TOOLS.get(call.name)
    if tool is None:
        raise BadArguments(
            f'there is no tool "{one_line(call.name, 60)}"; there are: {", ".join(TOOLS)}'
        )
    arguments = decode(tool.arguments, call.arguments)
    # The table's types are the union's members; msgspec has made one of them.
    return tool, arguments  # type: ignore[return-value]
