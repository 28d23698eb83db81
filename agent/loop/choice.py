"""Read what a model chose on a screen: which tool, with which arguments, and the deed that it is.

Nothing is carried out here and nothing is judged. Invariant: whatever a model wrote is read without
an error; what cannot be used says why, in words for the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agent.knowledge.library import Library
from agent.models.model import ToolCall
from agent.records import AppInfo, Observation
from agent.tools.actions import Deed, resolve
from agent.tools.arguments import (
    AskUser,
    BadArguments,
    Finish,
    MoreElements,
    UpdatePlan,
    Wait,
)
from agent.tools.office_calls import OfficeArguments
from agent.tools.registry import Tool, ToolArguments, read_call


class Choice(NamedTuple):
    """One call as it was read."""

    tool: Tool | None = None
    arguments: ToolArguments | None = None
    deed: Deed | None = None
    """What it does on the phone; None when it does nothing there."""
    unusable: str = ""
    """What is wrong with it: without a tool it is no call, else it does not fit the screen."""


def read_choice(
    call: ToolCall, screen: Observation, apps: Sequence[AppInfo], library: Library
) -> Choice:
    """Read a call on the screen that the model saw."""
    tool: Tool | None = None
    try:
        tool, arguments = read_call(call)
        return Choice(tool, arguments, deed_of(arguments, screen, apps, library))
    except BadArguments as error:
        return Choice(tool, unusable=str(error))


def deed_of(
    arguments: ToolArguments, screen: Observation, apps: Sequence[AppInfo], library: Library
) -> Deed | None:
    """Find on a screen what is to be done there; None for what is done elsewhere.

    Raises:
        BadArguments: the screen has no such thing, or it cannot take the action.
    """
    if isinstance(arguments, Wait | UpdatePlan | AskUser | Finish | MoreElements | OfficeArguments):
        return None
    return resolve(arguments, screen, apps, library)
