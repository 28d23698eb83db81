"""One thing about to be done to a phone, and what a tool is that makes and does it.

A `PhoneTool` is one class with all that the loop asks of a tool; its fields are what the model
writes. It is in use once it is a member of `PHONE_TOOLS` (`agent.tools.registry`).

Not the doing (`agent.tools.actions`, `agent.tools.gestures`). Invariant: an action points at the
bounds of the very node that the model's number meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar, TypeAlias

import msgspec

from agent.devices.protocols import Device
from agent.records import Element, Observation, Point, Session
from agent.safety.effects.acts import Act
from agent.safety.redacting.redaction import hidden_as_written, redact_secrets
from agent.text import on_one_line, one_line
from agent.tools.arguments import (
    Arguments,
    BadArguments,
    ClickElement,
    LaunchApp,
    LongPressElement,
    PressButton,
    Scroll,
    TypeText,
)

_MAX_SAID = 2000


def secret_text(resolved: ResolvedAction) -> str:
    """Return the secret that an action types; empty: none, or one that the vault keeps."""
    is_typed = resolved.is_secret and not resolved.vault
    return resolved.action.text if is_typed and isinstance(resolved.action, TypeText) else ""


def said_text(text: str, limit: int) -> str:
    """Quote a text that is typed or copied as results do: on one line, without secrets."""
    return f'"{on_one_line(hidden_as_written(text, redact_secrets, _MAX_SAID), limit)}"'


class Anchor(StrEnum):
    """What has to be as it was when an act is carried out on a newer screen than it was meant for;
    the keys and the element that it names have to in any case.
    """

    NOTHING = "nothing"
    POINTS = "points"  # What lies under its points.
    FOCUS = "focus"  # What has the focus.


class PhoneTool(Arguments, frozen=True, kw_only=True):
    """Base of a tool that touches the phone."""

    anchor: ClassVar[Anchor] = Anchor.NOTHING
    verbs: ClassVar[Mapping[str, str]] = {}
    """What its actions say first, by how an approval says it: "Turned" is asked as "Turn"."""

    def resolve(self, screen: Observation) -> ResolvedAction:
        """Find on the screen what the call is about; touches nothing.

        Raises:
            BadArguments: what it names does not exist, or makes no act.
        """
        raise NotImplementedError

    async def perform(self, resolved: ResolvedAction, device: Device, session: Session) -> str:
        """Do it, and return what is to be added to what it came to.

        Raises what the device raises; a time-out leaves the outcome unknown.
        """
        raise NotImplementedError

    def acts(self, resolved: ResolvedAction) -> tuple[Act, ...]:
        """Return the acts that it is made of, at least one, as the judge takes them.

        Each element that it may press, and each text or link that it hands over, is one.
        """
        raise NotImplementedError

    @property
    def typed(self) -> str | None:
        """The text that a field holds afterwards; None where it types nothing."""
        return None

    def verify(self, resolved: ResolvedAction, before: Observation, after: Observation) -> str:
        """Return what it came to; empty: as any touch is judged, by whether the screen changed."""
        return ""

    def intent(self, resolved: ResolvedAction) -> str:
        """Return what it would do, for whoever is asked: "Dragged …" becomes "Drag …"."""
        verb, _, rest = resolved.said.partition(" ")
        return f"{self.verbs.get(verb, verb)} {rest}."


ActionArguments: TypeAlias = (
    ClickElement | LongPressElement | TypeText | Scroll | PressButton | LaunchApp | PhoneTool
)


class ResolvedAction(msgspec.Struct, frozen=True, kw_only=True):
    """One thing about to be done; `said` is how results speak of it in the past tense."""

    action: ActionArguments
    said: str
    element: Element | None = None
    point: Point | None = None
    end: Point | None = None
    """Where a drag ends."""
    keys: tuple[Element, ...] = ()
    """What is pressed one after another."""
    pad: Element | None = None
    """A key of the keypad that a secret is pressed on, whichever: what pressing there does is
    judged by it."""
    package: str = ""
    is_secret: bool = False
    """What it types or presses is a secret: the phone gets it and nobody else keeps it."""
    vault: str = ""
    """The entry of the vault whose secret it types or presses; empty: of none."""

    @property
    def path(self) -> tuple[Point, ...]:
        """The places that are touched, in order, for the record; none of a secret's."""
        if self.is_secret and self.keys:
            return ()
        if self.keys:
            return tuple(clip(key.bounds.center) for key in self.keys)
        if self.point is not None and self.end is not None:
            return self.point, self.end
        return ()


def element_at(screen: Observation, number: int) -> Element:
    """Return the element with a number. Raises BadArguments where there is none."""
    if 1 <= number <= len(screen.elements):
        return screen.elements[number - 1]
    if not screen.elements:
        raise BadArguments(f"there is no element [{number}]: the screen shows no elements")
    raise BadArguments(
        f"there is no element [{number}]: the screen has 1 to {len(screen.elements)}"
    )


def name_of(element: Element) -> str:
    """Return an element's label in quotes, bounded."""
    return f'"{one_line(element.label, 60)}"'


def clip(point: Point) -> Point:
    """Move a point onto the screen."""
    return Point(x=min(max(point.x, 0.0), 1.0), y=min(max(point.y, 0.0), 1.0))
