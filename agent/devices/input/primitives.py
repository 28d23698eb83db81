"""The primitives that OpenEnv's Android environment steps through: touch, lift, repeat.

Counts and timings after `android_env/server/gestures.py` of meta-pytorch/OpenEnv. Pure. Builders
pass values through as they are; whoever performs them clips each primitive first. Invariant: a
primitive's duration is kept when it is performed, so that a long press is no tap.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from agent.devices.gestures import Moment, Stroke, between
from agent.devices.gestures import clip as clip_point
from agent.records import Point

TOUCH_MS = 100
LIFT_MS = 50
GAP_MS = 100
SWIPE_STEPS = 10
_NEAR, _FAR = 0.3, 0.7
_NEAREST, _FARTHEST = 0.2, 0.8


class PrimitiveAction(IntEnum):
    """What one primitive does; the numbers are android_env's ActionType."""

    TOUCH = 0
    LIFT = 1
    REPEAT = 2


@dataclass(frozen=True, slots=True)
class Primitive:
    """One step of a gesture: what, where in [0, 1], and for how long."""

    action: PrimitiveAction
    x: float
    y: float
    duration_ms: int


def clip(primitive: Primitive) -> Primitive:
    """Move a primitive onto the screen: (1.5, −0.5) becomes (1, 0)."""
    at = clip_point(Point(x=primitive.x, y=primitive.y))
    return Primitive(primitive.action, at.x, at.y, primitive.duration_ms)


def tap(x: float, y: float) -> tuple[Primitive, ...]:
    """Touch and lift."""
    return (
        Primitive(PrimitiveAction.TOUCH, x, y, TOUCH_MS),
        Primitive(PrimitiveAction.LIFT, x, y, LIFT_MS),
    )


def long_press(x: float, y: float, duration_ms: int = 1000) -> tuple[Primitive, ...]:
    """Touch for long, and lift."""
    return (
        Primitive(PrimitiveAction.TOUCH, x, y, duration_ms),
        Primitive(PrimitiveAction.LIFT, x, y, LIFT_MS),
    )


def double_tap(x: float, y: float) -> tuple[Primitive, ...]:
    """Tap, wait, tap."""
    return (*tap(x, y), Primitive(PrimitiveAction.REPEAT, x, y, GAP_MS), *tap(x, y))


def swipe(
    x1: float, y1: float, x2: float, y2: float, duration_ms: int = 300
) -> tuple[Primitive, ...]:
    """Touch, repeat at nine places between, lift at the end; each lasts a tenth."""
    start, end = Point(x=x1, y=y1), Point(x=x2, y=y2)
    step_ms = duration_ms // SWIPE_STEPS
    made = []
    for step in range(SWIPE_STEPS + 1):
        at = between(start, end, step / SWIPE_STEPS) if step < SWIPE_STEPS else end
        kind = PrimitiveAction.REPEAT
        if step == 0:
            kind = PrimitiveAction.TOUCH
        elif step == SWIPE_STEPS:
            kind = PrimitiveAction.LIFT
        made.append(Primitive(kind, at.x, at.y, step_ms))
    return tuple(made)


def scroll_down(x: float = 0.5, distance: float = 0.5) -> tuple[Primitive, ...]:
    """Swipe up, so that what is below comes into view."""
    return swipe(x, _FAR, x, max(_NEAREST, _FAR - distance))


def scroll_up(x: float = 0.5, distance: float = 0.5) -> tuple[Primitive, ...]:
    """Swipe down, so that what is above comes into view."""
    return swipe(x, _NEAR, x, min(_FARTHEST, _NEAR + distance))


def swipe_left(y: float = 0.5, distance: float = 0.5) -> tuple[Primitive, ...]:
    """Swipe towards the left edge."""
    return swipe(_FAR, y, max(_NEAREST, _FAR - distance), y)


def swipe_right(y: float = 0.5, distance: float = 0.5) -> tuple[Primitive, ...]:
    """Swipe towards the right edge."""
    return swipe(_NEAR, y, min(_FARTHEST, _NEAR + distance), y)


def performed(primitives: Sequence[Primitive]) -> tuple[Stroke, ...]:
    """Return the strokes of a finger that takes each primitive's true time.

    A REPEAT while the finger is up waits. A finger that is never lifted is lifted at the end.
    """
    made: list[Stroke] = []
    stroke: list[Moment] = []
    now_ms = 0.0
    for one in map(clip, primitives):
        at = Point(x=one.x, y=one.y)
        lasting_ms = max(one.duration_ms, 0) if math.isfinite(one.duration_ms) else 0
        if one.action is PrimitiveAction.LIFT:
            if stroke:
                # The finger arrives before it leaves, so that it is not flung.
                stroke += [Moment(now_ms, at), Moment(now_ms, at)]
                made.append(tuple(stroke))
                stroke = []
        elif one.action is PrimitiveAction.TOUCH or stroke:
            stroke.append(Moment(now_ms, at))
        now_ms += lasting_ms
    if stroke:
        made.append((*stroke, Moment(now_ms, stroke[-1].point)))
    return tuple(made)
