"""Read what a model chose on a screen: which tool, with which arguments, and the action that it is.

Nothing is carried out here and nothing is judged. Invariant: whatever a model wrote is read without
an error; what cannot be used says why, in words for the model.
"""

import json
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from msgspec.structs import replace

from agent.knowledge.library import Library
from agent.loop.screen.elements import UNLABELED
from agent.models.model import ToolCall
from agent.records import AppInfo, Element, Observation
from agent.safety.words import words
from agent.text import one_line
from agent.tools import arguments as args
from agent.tools.actions import ResolvedAction, resolve
from agent.tools.registry import TOOLS, Tool, ToolArguments, read_call
from agent.tools.service_tool_args import ServiceCall

LABELLED = frozenset(name for name, tool in TOOLS.items() if tool.labelled)
"""Tools that may name an element by its label."""
_SHOWN = 8
_ROW_TEXTS = 2
"""How many texts before an element tell it from others that are called the same."""


class Choice(NamedTuple):
    """One call as it was read."""

    tool: Tool | None = None
    arguments: ToolArguments | None = None
    resolved: ResolvedAction | None = None
    """What it does on the phone; None when it does nothing there."""
    unusable: str = ""
    """What is wrong with it: without a tool it is no call, else it does not fit the screen."""


def read_choice(
    call: ToolCall,
    screen: Observation,
    apps: Sequence[AppInfo],
    library: Library,
    *,
    before: Observation | None = None,
    offered: Sequence[str] = (),
) -> Choice:
    """Read a call on the screen that the model saw.

    Args:
        before: the screen of the step before; None where there was none.
        offered: names of the tools of this step; empty: all that there are.
    """
    tool: Tool | None = None
    try:
        arguments = read_call(_numbered(call, screen, before), offered)
        tool = type(arguments)
        return Choice(tool, arguments, resolved_action(arguments, screen, apps, library))
    except args.BadArguments as error:
        return Choice(tool, unusable=str(error))


def _numbered(call: ToolCall, screen: Observation, before: Observation | None) -> ToolCall:
    """Return a call that names a label the number of the one element that is called so.

    Raises:
        BadArguments: none is, or several are.
    """
    if call.name not in LABELLED:
        return call
    try:
        said = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return call
    if not isinstance(said, dict):
        return call
    label, name = _label_of(said)
    if not label:
        return call
    shown = one_line(label, 60)
    usable = [
        e for e in screen.elements if (e.editable if call.name == "type_text" else e.clickable)
    ]
    wanted = words(label)
    fitting = [e for e in usable if wanted and words(e.label) == wanted]
    titled = [e for e in usable if wanted and words(e.label.split(" | ", 1)[0]) == wanted]
    if not fitting or (len(fitting) == 1 and fitting[0].checkable):
        # A row's title stands for the row; a switch beside a row of its name may not be meant.
        fitting = titled
    if len(fitting) > 1:
        listed = _listed(fitting, screen.elements)
        raise args.BadArguments(f'several elements are called "{shown}": name one of {listed}')
    if not fitting:
        kind = "field" if call.name == "type_text" else "element that can be clicked"
        hint = _unusable(call.name, label, screen.elements) or _where(wanted, screen, before)
        raise args.BadArguments(f'no {kind} is called "{shown}"{hint}')
    rest = {key: value for key, value in said.items() if key != name and value is not None}
    return replace(call, arguments=json.dumps({**rest, "element": fitting[0].number}))


def _listed(elements: Sequence[Element], screen: Sequence[Element]) -> str:
    """Name elements that are called the same, with what tells them apart."""
    shown = ", ".join(_told_apart(element, screen) for element in elements[:_SHOWN])
    return f"{shown} and {len(elements) - _SHOWN} more" if len(elements) > _SHOWN else shown


def _told_apart(element: Element, screen: Sequence[Element]) -> str:
    before = [e for e in reversed(screen[: element.number - 1]) if e.label != UNLABELED]
    others = [e for e in before if words(e.label) != words(element.label)]
    # A row begins with what tells it from the others, and may end with what does not.
    of_row = takewhile(lambda e: words(e.label) != words(element.label), before)
    texts = [e for e in of_row if e.kind == "text"][:_ROW_TEXTS] or others[:1]
    state = "" if not element.checkable else " CHECKED" if element.checked else " UNCHECKED"
    shown = ", ".join(f'"{one_line(e.label, 40)}"' for e in reversed(texts))
    place = f" after {shown}" if shown else ""
    return f'[{element.number}] {element.kind} "{one_line(element.label, 40)}"{state}{place}'


def _label_of(said: dict[str, object]) -> tuple[str, str]:
    """Return the label that a call names, and the argument it stands in; empty without one.

    Models that read a screen by its words also write a label where the number belongs.
    """
    numbers = [name for name in args.NUMBERS if said.get(name) is not None]
    for name in numbers or ["label"]:
        value = said.get(name)
        if isinstance(value, str) and value.strip() and not any(map(str.isdigit, value)):
            return value, name
        if name == "label" and isinstance(value, str) and value.strip():
            return value, name
    return "", ""


def _unusable(tool: str, label: str, screen: Sequence[Element]) -> str:
    """Return a hint that names elements with this label which the tool cannot use; else empty."""
    wanted = words(label)
    named = [e for e in screen if wanted and words(e.label.split(" | ", 1)[0]) == wanted]
    if not named:
        return ""
    anyway = "" if tool == "type_text" else "; to tap it anyway, give its number in `element`"
    return f", only {_listed(named, screen)}{anyway}"


def _where(wanted: Sequence[str], screen: Observation, before: Observation | None) -> str:
    """Return a hint at where an element is that the screen does not show.

    It never names another element: a label that looks alike may be another person's or thing's.
    """
    was_there = before is not None and any(
        words(e.label.split(" | ", 1)[0]) == wanted for e in before.elements
    )
    if was_there and screen.foreground.keyboard_shown and not _had_keyboard(before):
        return "; it was on the screen before: scroll, for the keyboard covers it now"
    if was_there:
        return "; it was on the screen before: scroll or go back to where it is"
    if any(e.scrollable for e in screen.elements):
        return "; scroll if it may be further on, or name one by its number in `element`"
    return ": name one by its number in `element`"


def _had_keyboard(screen: Observation | None) -> bool:
    return screen is not None and bool(screen.foreground.keyboard_shown)


def resolved_action(
    arguments: ToolArguments, screen: Observation, apps: Sequence[AppInfo], library: Library
) -> ResolvedAction | None:
    """Find on a screen what is to be done there; None for what is done elsewhere.

    Raises:
        BadArguments: the screen has no such thing, or it cannot take the action.
    """
    if isinstance(
        arguments, args.Wait | args.AskUser | args.Finish | args.MoreElements | ServiceCall
    ):
        return None
    if isinstance(arguments, args.UpdatePlan | args.Remember | args.MoreTools):
        return None
    return resolve(arguments, screen, apps, library)
