"""Read what a model chose on a screen: which tool, with which arguments, and the deed that it is.

Nothing is carried out here and nothing is judged. Invariant: whatever a model wrote is read without
an error; what cannot be used says why, in words for the model.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from agent.knowledge.library import Library
from agent.models.model import ToolCall
from agent.records import AppInfo, Observation
from agent.safety.words import words
from agent.text import one_line
from agent.tools.actions import Deed, resolve
from agent.tools.arguments import (
    NUMBERS,
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
        tool, arguments = read_call(_numbered(call, screen))
        return Choice(tool, arguments, deed_of(arguments, screen, apps, library))
    except BadArguments as error:
        return Choice(tool, unusable=str(error))


def _numbered(call: ToolCall, screen: Observation) -> ToolCall:
    """Give a click that names a label the number of the one element that is called so.

    Raises:
        BadArguments: none is, or several are.
    """
    if call.name not in {"click_element", "long_press_element"} or '"label"' not in call.arguments:
        return call
    try:
        said = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return call
    label = said.get("label") if isinstance(said, dict) else None
    if not isinstance(label, str) or NUMBERS & said.keys():
        return call
    shown = one_line(label, 60)
    wanted = words(label)
    fitting = [e.number for e in screen.elements if words(e.label) == wanted and e.clickable]
    if len(fitting) != 1 or not wanted:
        several = "several elements are" if fitting else "no element that can be clicked is"
        raise BadArguments(f'{several} called "{shown}": name one by its number in `element`')
    return replace(call, arguments=json.dumps({"element": fitting[0]}))


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
