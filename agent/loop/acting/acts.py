"""Read an action as the acts that the judge takes: one about to be done, or one that was stored.

Invariant: a stored action becomes the same acts again, so that a resumed session is judged as if it
had not stopped. What is not stored stays out: the digits of a secret, the package of a launch.
"""

import json
from typing import assert_never

from agent.loop.acting.tool_call_parsing import LABELLED
from agent.models.model import ToolCall
from agent.protocol import ToolCallRequested
from agent.records import Observation
from agent.safety.effects.acts import Act, ActKind
from agent.safety.redacting.secrets import is_placeholder, is_secret_field, vault_name
from agent.tools.actions import ResolvedAction
from agent.tools.arguments import (
    BadArguments,
    ClickElement,
    LaunchApp,
    LongPressElement,
    PressButton,
    Scroll,
    TypeText,
)
from agent.tools.gestures.keypad import PressKeys, a_digit_of
from agent.tools.planned_action import ActionArguments, PhoneTool, clip
from agent.tools.registry import read_call

_PLAIN = ClickElement | LongPressElement | TypeText | Scroll | PressButton | LaunchApp


def acts_of(resolved: ResolvedAction) -> tuple[Act, ...]:
    """Return all that an action does as the judge takes it."""
    action = resolved.action
    match action:
        case ClickElement():
            return (Act(kind=ActKind.PRESS, element=resolved.element, point=resolved.point),)
        case LongPressElement():
            return (Act(kind=ActKind.LONG_PRESS, element=resolved.element, point=resolved.point),)
        case TypeText(text=text, clear=clear):
            typing = Act(
                kind=ActKind.TYPE,
                element=resolved.element,
                point=resolved.point,
                text=text,
                clear=clear,
                is_secret=resolved.is_secret,
            )
            return (typing,)
        case Scroll(direction=direction):
            return (Act(kind=ActKind.SWIPE, element=resolved.element, direction=direction),)
        case PressButton(button=button):
            return (Act(kind=ActKind.KEY, key=button),)
        case LaunchApp():
            return (Act(kind=ActKind.LAUNCH, package=resolved.package),)
        case PhoneTool():
            return action.acts(resolved)
        case _:
            assert_never(action)


def stored_acts(call: ToolCallRequested, screen: Observation | None) -> tuple[Act, ...]:
    """Return the acts of a stored call; none where it touches no phone or cannot be read.

    Args:
        screen: the screen that it was meant for, if that is stored.
    """
    try:
        action = read_call(
            ToolCall(call_id=call.call_id, name=call.tool, arguments=with_number(call))
        )
    except BadArguments:
        return ()
    if not isinstance(action, _PLAIN | PhoneTool):
        return ()
    elements = screen.elements if screen is not None else ()
    kept = vault_name(action.keys if isinstance(action, PressKeys) else _typed(action))
    secret_keys = isinstance(action, PressKeys) and (bool(kept) or is_placeholder(action.keys))
    keys = (
        next((e for e in elements if e.clickable and clip(e.bounds.center) == point), None)
        for point in call.path
    )
    stored = ResolvedAction(
        action=action,
        said="",
        element=call.element,
        point=call.point,
        end=call.path[-1] if call.path else None,
        keys=tuple(key for key in keys if key is not None),
        pad=a_digit_of(elements) if secret_keys else None,
        is_secret=bool(kept)
        or secret_keys
        or (call.element is not None and is_secret_field(call.element)),
        vault=kept,
    )
    return acts_of(stored)


def _typed(action: ActionArguments) -> str:
    return action.text if isinstance(action, TypeText) else ""


def with_number(call: ToolCallRequested) -> str:
    """Return a stored call's arguments with its element's number: a label may have named it."""
    if call.element is None or call.tool not in LABELLED:
        return call.arguments
    try:
        said = json.loads(call.arguments)
    except ValueError:
        said = {}
    given = said if isinstance(said, dict) else {}
    return json.dumps({**given, "element": call.element.number})
