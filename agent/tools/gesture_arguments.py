"""What the gesture tools take."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

from agent.tools.arguments import Arguments

MAX_KEYS = 64
SCALE = 1000
"""Points of a picture are counted from 0 to this, from its left top corner."""


class TapPoint(Arguments, frozen=True, kw_only=True):
    x: Annotated[int, msgspec.Meta(ge=0, le=SCALE, description="0 left, 1000 right.")]
    y: Annotated[int, msgspec.Meta(ge=0, le=SCALE, description="0 top, 1000 bottom.")]
    press: Literal["tap", "double", "long"] = "tap"


class DragTo(Arguments, frozen=True, kw_only=True):
    element: Annotated[int, msgspec.Meta(ge=0, description="What to drag.")] = 0
    to_element: Annotated[int, msgspec.Meta(ge=0, description="Where to.")] = 0
    start: Annotated[str, msgspec.Meta(description='Or a point: "x,y" of the picture, 0-1000.')] = (
        ""
    )
    end: str = ""
    hold: Annotated[bool, msgspec.Meta(description="Long-press first: icons, not sliders.")] = False


class PressKeys(Arguments, frozen=True, kw_only=True):
    keys: Annotated[str, msgspec.Meta(description="One character a key: 12+3=. Or [SECRET].")] = ""
    elements: Annotated[tuple[int, ...], msgspec.Meta(description="Or their numbers.")] = ()


class OpenLink(Arguments, frozen=True, kw_only=True):
    link: Annotated[
        str, msgspec.Meta(description="https://… or a page such as android.settings.WIFI_SETTINGS.")
    ]


class Clipboard(Arguments, frozen=True, kw_only=True):
    do: Literal["copy", "paste", "read"]
    text: Annotated[str, msgspec.Meta(description="What to copy, or to paste in.")] = ""


GestureArguments: TypeAlias = TapPoint | DragTo | PressKeys | OpenLink | Clipboard
