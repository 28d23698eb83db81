"""Actions by name, with their parameters and defaults, carried out on a device.

Ten are those of `android_env/server/gestures.py` of meta-pytorch/OpenEnv (docs/contracts.md, 3.1),
three are of several fingers, which it does not have. Invariants: places are clipped to the screen
and durations are real; what is wrong with the parameters is said before the phone is touched.
"""

import math
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple, Protocol

from agent.devices.gestures import (
    FINGERS_LIMIT,
    LARGEST_SCALE,
    LONGEST_GESTURE_MS,
    SMALLEST_SCALE,
    DoubleTap,
    Gesture,
    LongPress,
    MultiSwipe,
    Pinch,
    Rotate,
    Swipe,
)
from agent.devices.gestures import clip as clipped
from agent.devices.input.primitives import (
    GAP_MS,
    TOUCH_MS,
    Primitive,
    PrimitiveAction,
    scroll_down,
    scroll_up,
    swipe_left,
    swipe_right,
)
from agent.devices.protocols import Button
from agent.errors import UsageError
from agent.records import Point

LONGEST_TEXT_CHARS = 10_000


class Parameter(NamedTuple):
    """One parameter: a number unless it is named otherwise."""

    name: str
    default: float | str | None = None  # None: it must be given.
    is_text: bool = False


Given = Mapping[str, float | str]
"""Every parameter of a tool by name, defaults filled in."""


class PhoneActor(Protocol):
    """What acts on a phone; every `Device` does."""

    async def perform(self, gesture: Gesture) -> None: ...

    async def type_text(self, text: str) -> object:
        """Type into the focused field."""

    async def press(self, button: Button) -> None:
        """Press a button once."""


class Tool(NamedTuple):
    """One action."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    act: Callable[[PhoneActor, Given], Awaitable[object]]

    @property
    def schema(self) -> dict[str, object]:
        """Its parameters as JSON Schema."""
        rows = {
            one.name: {
                "type": "string" if one.is_text else "number",
                **_range(one.name),
                **({} if one.default is None else {"default": one.default}),
            }
            for one in self.parameters
        }
        return {
            "type": "object",
            "properties": rows,
            "required": [one.name for one in self.parameters if one.default is None],
            "additionalProperties": False,
        }


def _range(name: str) -> dict[str, object]:
    if name not in RANGES:
        return {}
    least, most = RANGES[name]
    return {"minimum": least, "maximum": most}


def _point(given: Given, x: str = "x", y: str = "y") -> Point:
    return clipped(Point(x=float(given[x]), y=float(given[y])))


def _ends(given: Given) -> tuple[Point, Point]:
    return _point(given, "x1", "y1"), _point(given, "x2", "y2")


def _ms(given: Given) -> int:
    return int(given["duration_ms"])


def _fling(
    name: str, description: str, toward: Callable[[float, float], tuple[Primitive, ...]], side: str
) -> Tool:
    """Return a swipe of a named direction; `side` is the place across it, the middle by default."""
    return Tool(
        name,
        description,
        (Parameter(side, 0.5), Parameter("distance", 0.5)),
        lambda phone, given: phone.perform(
            _line(toward(float(given[side]), float(given["distance"])))
        ),
    )


def _line(primitives: tuple[Primitive, ...]) -> Swipe:
    """Return the swipe that a row of primitives is, at the pace that its durations say."""
    assert primitives[0].action is PrimitiveAction.TOUCH
    first, last = primitives[0], primitives[-1]
    lasting = sum(one.duration_ms for one in primitives[:-1])
    return Swipe(
        clipped(Point(x=first.x, y=first.y)), clipped(Point(x=last.x, y=last.y)), max(1, lasting)
    )


X, Y = Parameter("x"), Parameter("y")
MIDDLE_X, MIDDLE_Y = Parameter("x", 0.5), Parameter("y", 0.5)
FROM_TO = tuple(Parameter(name) for name in ("x1", "y1", "x2", "y2"))
MOST_DEGREES = 360.0
RANGES: dict[str, tuple[float, float]] = {
    "duration_ms": (1, LONGEST_GESTURE_MS),
    "scale": (SMALLEST_SCALE, LARGEST_SCALE),
    "degrees": (-MOST_DEGREES, MOST_DEGREES),
    "fingers": (2, FINGERS_LIMIT),
}
"""The least and the most of what is refused outside of it; places are clipped instead."""

TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "tap",
            "Touch a place for 100 ms; places are shares of the screen, from 0 to 1.",
            (X, Y),
            lambda phone, given: phone.perform(LongPress(_point(given), TOUCH_MS)),
        ),
        Tool(
            "swipe",
            "Move a finger in a straight line.",
            (*FROM_TO, Parameter("duration_ms", 300)),
            lambda phone, given: phone.perform(Swipe(*_ends(given), _ms(given))),
        ),
        Tool(
            "long_press",
            "Touch a place and stay.",
            (X, Y, Parameter("duration_ms", 1000)),
            lambda phone, given: phone.perform(LongPress(_point(given), _ms(given))),
        ),
        Tool(
            "double_tap",
            "Touch a place twice.",
            (X, Y),
            lambda phone, given: phone.perform(DoubleTap(_point(given), GAP_MS)),
        ),
        _fling("scroll_down", "Swipe up, so that what is below comes into view.", scroll_down, "x"),
        _fling("scroll_up", "Swipe down, so that what is above comes into view.", scroll_up, "x"),
        _fling("swipe_left", "Swipe towards the left edge.", swipe_left, "y"),
        _fling("swipe_right", "Swipe towards the right edge.", swipe_right, "y"),
        Tool(
            "type_text",
            "Type into the focused field, any script.",
            (Parameter("text", is_text=True),),
            lambda phone, given: phone.type_text(str(given["text"])),
        ),
        Tool(
            "press_button",
            f"Press a button: {', '.join(Button)}.",
            (Parameter("button", is_text=True),),
            lambda phone, given: phone.press(Button(str(given["button"]).upper())),
        ),
        Tool(
            "pinch",
            "Move two fingers apart (scale above 1: zoom in) or together (below 1) around a place.",
            (Parameter("scale"), MIDDLE_X, MIDDLE_Y, Parameter("duration_ms", 400)),
            lambda phone, given: phone.perform(
                Pinch(_point(given), float(given["scale"]), duration_ms=_ms(given))
            ),
        ),
        Tool(
            "rotate",
            "Turn two fingers around a place; positive degrees are clockwise.",
            (Parameter("degrees"), MIDDLE_X, MIDDLE_Y, Parameter("duration_ms", 500)),
            lambda phone, given: phone.perform(
                Rotate(_point(given), float(given["degrees"]), duration_ms=_ms(given))
            ),
        ),
        Tool(
            "multi_swipe",
            "Move several fingers side by side; the places are those of the middle one.",
            (*FROM_TO, Parameter("fingers", 3), Parameter("duration_ms", 300)),
            lambda phone, given: phone.perform(
                MultiSwipe(*_ends(given), int(given["fingers"]), duration_ms=_ms(given))
            ),
        ),
    )
}
"""The actions by name: android_env's ten, then those of several fingers."""


def checked(tool: str, parameters: Mapping[str, object]) -> Given:
    """Return an action's parameters with its defaults.

    Raises UsageError for an unknown tool, and for a parameter that is missing, unknown or of
    another kind.
    """
    known = TOOLS.get(tool)
    if known is None:
        raise UsageError(f"There is no tool {tool[:80]!r}.", f"There are {', '.join(TOOLS)}.")
    names = [one.name for one in known.parameters]
    unknown = sorted(set(parameters) - set(names))
    if unknown:
        raise UsageError(
            f"{tool} has no parameter {', '.join(repr(one)[:80] for one in unknown)}.",
            f"It takes {', '.join(names)}.",
        )
    return {one.name: _value(tool, one, parameters.get(one.name)) for one in known.parameters}


def _value(tool: str, wanted: Parameter, value: object) -> float | str:
    if value is None:
        if wanted.default is None:
            raise UsageError(f"{tool} needs the parameter {wanted.name!r}.", "Give it.")
        return wanted.default
    if wanted.is_text:
        if not isinstance(value, str) or len(value) > LONGEST_TEXT_CHARS:
            raise UsageError(
                f"{wanted.name!r} of {tool} is not a text of at most {LONGEST_TEXT_CHARS:,} "
                "characters.",
                "Give a string.",
            )
        if any("\ud800" <= one <= "\udfff" for one in value):
            raise UsageError(
                f"{wanted.name!r} of {tool} has half of a surrogate pair, which no text has.",
                "Give whole characters.",
            )
        if wanted.name == "button" and value.upper() not in set(Button):
            raise UsageError(
                f"There is no button {value[:80]!r}.", f"There are {', '.join(Button)}."
            )
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
        raise UsageError(f"{wanted.name!r} of {tool} is not a number.", "Give a number.")
    least, most = RANGES.get(wanted.name, (-math.inf, math.inf))
    if not least <= value <= most:
        raise UsageError(
            f"{wanted.name!r} of {tool} is {value:g}.", f"Give {least:g} to {most:g} {wanted.name}."
        )
    return float(value)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond all numbers with a point
        return False


async def carry_out(phone: PhoneActor, tool: str, given: Given) -> None:
    """Carry an action out; `given` is what `checked` returned. Raises DeviceError, UsageError."""
    await TOOLS[tool].act(phone, given)
