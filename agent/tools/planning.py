"""What a planner may call: look at phones, propose targets, ask, or do it alone.

A table of its own beside `agent.tools.registry`: a planner drives no phone. Invariant: none
of these tools touches a phone.
"""

from functools import cache
from typing import Annotated, Literal, TypeAlias

import msgspec

from agent.models.model import ToolCall, ToolSchema
from agent.protocol import Target
from agent.records import TargetPresentation
from agent.tools.arguments import (
    Arguments,
    AskUser,
    BadArguments,
    Finish,
    UpdatePlan,
    decode,
    schema,
)
from agent.tools.registry import unknown_tool


class ProposedTarget(Arguments, frozen=True, kw_only=True):
    """One part of the work."""

    objective: Annotated[
        str, msgspec.Meta(description="What is to be achieved there, complete in itself.")
    ]
    device: Annotated[str, msgspec.Meta(description="Serial of the phone; empty: any.")] = ""
    package: Annotated[str, msgspec.Meta(description="The one app it needs; empty: any.")] = ""
    final_presentation: Annotated[
        Literal["", "ATTACHED", "DETACHED_HIDDEN", "DETACHED_SHOWN", "AGENT_CHOICE"],
        msgspec.Meta(
            description="Where the app must be in the end, if the goal says so; empty: hidden, "
            "where its phone can."
        ),
    ] = ""
    reason: str = ""

    def as_target(self) -> Target:
        """Return the record as it is stored."""
        return Target(
            objective=self.objective,
            serial=self.device.strip(),
            package=self.package.strip(),
            presentation=TargetPresentation(self.final_presentation or "AGENT_CHOICE"),
        )


class ProposeTargets(Arguments, frozen=True, kw_only=True):
    targets: tuple[ProposedTarget, ...]
    phones: Annotated[
        Literal["", "all", "named", "count"],
        msgspec.Meta(description="The phones that the goal means: all, those it names, so many."),
    ] = ""
    count: Annotated[int, msgspec.Meta(description="How many, where it is a number.")] = 0
    without: Annotated[
        tuple[str, ...], msgspec.Meta(description="Serials of phones that the goal leaves out.")
    ] = ()
    reason: Annotated[str, msgspec.Meta(description="Why the work is divided like this.")] = ""


class WorkAlone(Arguments, frozen=True, kw_only=True):
    reason: Annotated[str, msgspec.Meta(description="Why one phone is enough.")] = ""


class ListDevices(Arguments, frozen=True, kw_only=True):
    pass


class ListApps(Arguments, frozen=True, kw_only=True):
    device: Annotated[str, msgspec.Meta(description="Serial of the phone.")]


class ReadPart(Arguments, frozen=True, kw_only=True):
    """What a goal asks for, and where."""

    words: Annotated[str, msgspec.Meta(description="The goal's own words.")]
    phones: Annotated[
        tuple[str, ...], msgspec.Meta(description="Serials of the phones that it is for.")
    ] = ()
    how_many: Annotated[
        int, msgspec.Meta(description="So many phones, where the goal does not say which.")
    ] = 0


class ReadGoal(Arguments, frozen=True, kw_only=True):
    """What a goal asks of which phone, as who does not know the plan reads it."""

    parts: tuple[ReadPart, ...]


PlanningArguments: TypeAlias = (
    ProposeTargets | WorkAlone | ListDevices | ListApps | AskUser | UpdatePlan | Finish
)

_TOOLS: tuple[tuple[str, str, type[Arguments]], ...] = (
    (
        "propose_targets",
        "Divide the goal: one target for each phone or app, all worked on at the same time.",
        ProposeTargets,
    ),
    ("work_alone", "Say that one phone is enough, and begin there at once.", WorkAlone),
    ("list_devices", "List the phones as they are now.", ListDevices),
    ("list_apps", "List the apps of one phone.", ListApps),
    ("ask_user", "Ask the operator what the goal leaves open and only a person can say.", AskUser),
    ("update_plan", "Write the plan down.", UpdatePlan),
    ("finish", "Give up with success=false and the reason, when nothing can be started.", Finish),
)
NAMES = tuple(name for name, _, _ in _TOOLS)


@cache
def planning_schemas() -> tuple[ToolSchema, ...]:
    """Return every tool as a planner is told of it."""
    return tuple(
        ToolSchema(name=name, description=description, parameters=schema(arguments))
        for name, description, arguments in _TOOLS
    )


READ_GOAL = "read_goal"


@cache
def reading_schema() -> ToolSchema:
    """Return the tool of who reads a goal for several phones."""
    said = "Say what the goal asks of which phones."
    return ToolSchema(name=READ_GOAL, description=said, parameters=schema(ReadGoal))


def read_reading(call: ToolCall) -> ReadGoal:
    """Read how a goal was read.

    Raises:
        BadArguments: another tool, or arguments that cannot be used.
    """
    if call.name != READ_GOAL:
        raise BadArguments(unknown_tool(call.name, (READ_GOAL,)))
    return decode(ReadGoal, call.arguments)


def read_planning_call(call: ToolCall) -> PlanningArguments:
    """Read what a planner wants called.

    Raises:
        BadArguments: the tool is unknown or its arguments cannot be used.
    """
    for name, _, arguments in _TOOLS:
        if name == call.name:
            # The table's types are the union's members; msgspec has made one of them.
            return decode(arguments, call.arguments)  # type: ignore[return-value]
    raise BadArguments(unknown_tool(call.name, NAMES))
