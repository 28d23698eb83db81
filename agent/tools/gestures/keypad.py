"""Press keys of a keypad one after another."""

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

import msgspec

from agent.devices.protocols import Device
from agent.errors import TreeUnavailableError
from agent.records import Element, Observation, Session, UiNode
from agent.safety.effects.acts import Act, ActKind
from agent.safety.redacting.redaction import redact_secrets
from agent.safety.redacting.secrets import (
    SECRET,
    is_placeholder,
    mentions_vault,
    vault_name,
    vault_reference,
)
from agent.text import one_line
from agent.tools.arguments import BadArguments
from agent.tools.planned_action import PhoneTool, ResolvedAction, clip, element_at, name_of

MAX_KEYS = 64
_NEAR = 0.01  # How far, in shares of the display, a key may lie from where it was and be the same.
# Signs that keypads write in several ways, and the words that they say for them.
_SAME_KEYS = {
    "*": ("×", "x", "✕", "∗", "multiply", "times", "star", "asterisk"),
    "×": ("*", "x", "multiply", "times"),
    "/": ("÷", "divide", "divided by", "slash"),
    "÷": ("/", "divide", "divided by"),
    "-": ("−", "–", "minus", "subtract"),
    "−": ("-", "minus", "subtract"),
    "+": ("＋", "plus", "add"),
    "=": ("＝", "equals", "equal", "enter"),
    ".": (",", "point", "dot", "decimal", "decimal point"),
    ",": (".", "point", "comma", "decimal point"),
    "%": ("percent",),
    "#": ("pound", "hash", "number sign"),
    "(": ("left parenthesis", "open parenthesis"),
    ")": ("right parenthesis", "close parenthesis"),
}


class PressKeys(PhoneTool, frozen=True, kw_only=True):
    """Press several keys of a keypad or calculator in a row."""

    tool_name = "press_keys"
    verbs: ClassVar[Mapping[str, str]] = {"Pressed": "Press"}

    keys: Annotated[str, msgspec.Meta(description="One character a key: 12+3=. Or [SECRET].")] = ""
    elements: Annotated[tuple[int, ...], msgspec.Meta(description="Or their numbers.")] = ()

    def resolve(self, screen: Observation) -> ResolvedAction:
        if bool(self.keys) == bool(self.elements):
            raise BadArguments("name what to press: `keys`, or the numbers of `elements`")
        kept = vault_name(self.keys)
        if mentions_vault(self.keys) and not kept:
            raise BadArguments(
                f"{vault_reference('NAME')} stands alone in `keys`, with the name of one entry"
            )
        if kept or is_placeholder(self.keys):
            pad = a_digit_of(screen.elements)
            if pad is None:
                raise BadArguments("the screen has no keypad: type a secret into its field")
            said = f"Pressed {vault_reference(kept) if kept else SECRET} on the keypad"
            return ResolvedAction(action=self, said=said, pad=pad, is_secret=True, vault=kept)
        if len(self.elements) > MAX_KEYS:
            raise BadArguments(f"`elements` names more than {MAX_KEYS}")
        if self.elements:
            pressed = tuple(element_at(screen, number) for number in self.elements)
            off = next((key for key in pressed if not key.enabled), None)
            if off is not None:
                raise BadArguments(f"element [{off.number}] {name_of(off)} is disabled")
        else:
            text = "".join(self.keys.split())
            if len(text) > MAX_KEYS:
                raise BadArguments(f"`keys` has more than {MAX_KEYS} characters")
            pressed = keys_for(text, screen.elements)
        labels = " ".join(one_line(key.label, 20) for key in pressed)
        return ResolvedAction(
            action=self, said=f"Pressed {redact_secrets(labels)[:200]}", keys=pressed
        )

    async def perform(self, resolved: ResolvedAction, device: Device, session: Session) -> str:
        # Stops where the next key is not where it was.
        if not resolved.keys:
            raise BadArguments("there is no key to press")
        for done, key in enumerate(resolved.keys):
            if done and not await _is_there(key, device):
                left = len(resolved.keys) - done
                return (
                    f"Only the first {done} were pressed: then the screen changed, and {left} are "
                    "left."
                )
            await device.tap(clip(key.bounds.center))
        return ""

    def acts(self, resolved: ResolvedAction) -> tuple[Act, ...]:
        # Of a secret only the pad is known here, and no key of it.
        keys = (resolved.pad,) if resolved.pad is not None else resolved.keys
        return tuple(
            Act(kind=ActKind.PRESS, element=key, point=clip(key.bounds.center)) for key in keys
        )


def keys_for(text: str, screen: Sequence[Element]) -> tuple[Element, ...]:
    """Return the keys of a keypad that write a text, one a character.

    Raises:
        BadArguments: a character has no key on the screen, or several; it is not named.
    """
    keys: dict[str, list[Element]] = {}
    for element in screen:
        label = element.label.split(" | ", 1)[0].strip()
        if element.clickable and element.enabled:
            keys.setdefault(label.casefold(), []).append(element)
    found = []
    for at, character in enumerate(text, start=1):
        names = (character, *_SAME_KEYS.get(character, ()))
        fitting = next((keys[n.casefold()] for n in names if n.casefold() in keys), [])
        if len(fitting) != 1:
            several = "several keys" if fitting else "no key"
            there = " ".join(sorted(name for name in keys if len(name) == 1)) or "none"
            raise BadArguments(
                f"the screen has {several} for character {at} of `keys`; its keys: {there}"
            )
        found.append(fitting[0])
    return tuple(found)


def a_digit_of(screen: Sequence[Element]) -> Element | None:
    """Return a digit of the keypad on a screen, whichever; None where there is none."""
    return next((e for e in screen if e.clickable and _is_digit(e)), None)


def _is_digit(element: Element) -> bool:
    label = element.label.split(" | ", 1)[0].strip()
    return len(label) == 1 and label.isdigit()


async def _is_there(key: Element, device: Device) -> bool:
    try:
        nodes = (await device.tree()).nodes
    except TreeUnavailableError:
        return False
    return any(_is_same(key, node) for node in nodes)


def _is_same(key: Element, node: UiNode) -> bool:
    was, now = key.bounds, node.bounds
    in_place = all(
        abs(a - b) <= _NEAR
        for a, b in (
            (was.left, now.left),
            (was.top, now.top),
            (was.right, now.right),
            (was.bottom, now.bottom),
        )
    )
    named = node.package == key.package and node.resource_id == key.resource_id
    return in_place and named and node.enabled
