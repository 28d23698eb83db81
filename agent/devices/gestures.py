"""Gestures as data: what fingers do on a screen, where and when.

Pure: nothing is sent here. Two forms: the gesture as asked for, and the strokes and finger events
it is made of. Invariants: places are normalized to [0, 1] and events are clipped to it; a finger
goes down once, first, and up once, last; what a gesture is said to take, its events take.

Not the primitives that OpenEnv steps through; those are `agent.devices.input.primitives`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias, assert_never

from agent.errors import UsageError
from agent.records import Point

TAP_MS = 16
"""One picture at 60 Hz: what polls the screen once a picture sees the finger as well."""
LONGEST_GESTURE_MS = 60_000
MOVE_EVERY_MS = 8
"""A touch panel reports at about 120 Hz."""
DRAG_HOLD_MS = 600
"""Longer than Android's long press (500 ms), which lifts what is dragged."""
FINGERS_LIMIT = 10
SMALLEST_SCALE, LARGEST_SCALE = 0.05, 20.0
DEFAULT_ASPECT = 20 / 9
"""Height by width, where the display's is not known."""


@dataclass(frozen=True, slots=True)
class Tap:
    """Touch a place briefly."""

    at: Point


@dataclass(frozen=True, slots=True)
class DoubleTap:
    """Touch a place twice, `gap_ms` apart."""

    at: Point
    gap_ms: int = 100


@dataclass(frozen=True, slots=True)
class LongPress:
    """Touch a place and stay."""

    at: Point
    duration_ms: int = 1000


@dataclass(frozen=True, slots=True)
class Swipe:
    """Move a finger in a straight line, at an even pace."""

    start: Point
    end: Point
    duration_ms: int = 300


@dataclass(frozen=True, slots=True)
class Drag:
    """Take hold of what is at a place, and carry it elsewhere."""

    start: Point
    end: Point
    hold_ms: int = DRAG_HOLD_MS
    duration_ms: int = 500


@dataclass(frozen=True, slots=True)
class Path:
    """Move a finger along places, at an even pace over each leg."""

    points: tuple[Point, ...]
    duration_ms: int = 500


@dataclass(frozen=True, slots=True)
class Pinch:
    """Move two fingers apart or together around a place.

    `scale` is the last distance by the first: above 1 zooms in. `reach` is the larger distance of a
    finger from the centre, as a part of the screen's width.
    """

    center: Point
    scale: float
    reach: float = 0.3
    duration_ms: int = 400


@dataclass(frozen=True, slots=True)
class Rotate:
    """Turn two fingers around a place; positive degrees are clockwise."""

    center: Point
    degrees: float
    reach: float = 0.25
    duration_ms: int = 500


@dataclass(frozen=True, slots=True)
class MultiSwipe:
    """Move several fingers side by side; `start` and `end` are of the middle one."""

    start: Point
    end: Point
    fingers: int = 3
    spacing: float = 0.15
    duration_ms: int = 300


Gesture: TypeAlias = Tap | DoubleTap | LongPress | Swipe | Drag | Path | Pinch | Rotate | MultiSwipe


@dataclass(frozen=True, slots=True)
class Moment:
    """Where a finger is at a time after the gesture began."""

    at_ms: float
    point: Point


Stroke: TypeAlias = tuple[Moment, ...]
"""One finger from its going down, at the first moment, to its going up, at the last."""


class FingerAction(IntEnum):
    """What a finger does; the numbers are MotionEvent's."""

    DOWN = 0
    UP = 1
    MOVE = 2


@dataclass(frozen=True, slots=True)
class FingerEvent:
    """One thing that one finger does."""

    at_ms: float
    finger: int
    action: FingerAction
    point: Point


def strokes(gesture: Gesture, *, aspect: float = DEFAULT_ASPECT) -> tuple[Stroke, ...]:
    """Return the fingers' strokes.

    Args:
        aspect: the screen's height by its width, so that what turns keeps its distance.

    Raises:
        UsageError: a duration, a number of fingers or a size that no hand has.
    """
    match gesture:
        case Tap(at):
            return (_still(at, 0, TAP_MS),)
        case DoubleTap(at, gap_ms):
            _check_duration(gap_ms)
            return _still(at, 0, TAP_MS), _still(at, TAP_MS + gap_ms, TAP_MS)
        case LongPress(at, duration_ms):
            return (_still(at, 0, _check_duration(duration_ms)),)
        case Swipe(start, end, duration_ms):
            return (_line((start, end), 0, _check_duration(duration_ms)),)
        case Drag(start, end, hold_ms, duration_ms):
            _check_duration(hold_ms + duration_ms)
            return ((Moment(0, start), *_line((start, end), hold_ms, duration_ms)),)
        case Path(points, duration_ms):
            if len(points) < 2:
                raise UsageError("A path needs two places.", "Give at least two.")
            return (_line(points, 0, _check_duration(duration_ms)),)
        case Pinch():
            return _pinch(gesture, aspect)
        case Rotate():
            return _rotation(gesture, aspect)
        case MultiSwipe():
            return _side_by_side(gesture)
        case _:
            assert_never(gesture)


def events(fingers: Sequence[Stroke]) -> tuple[FingerEvent, ...]:
    """Return what the fingers do in the order of time; places are clipped to the screen.

    A stroke that begins after another one ended may be the same finger's.
    """
    made: list[FingerEvent] = []
    for finger, stroke in enumerate(fingers):
        for index, moment in enumerate(stroke):
            last = index == len(stroke) - 1
            action = FingerAction.UP if last else FingerAction.MOVE if index else FingerAction.DOWN
            made.append(FingerEvent(moment.at_ms, finger, action, clip(moment.point)))
    # Each finger's own order is kept; of one moment, all have arrived before any leaves.
    return tuple(sorted(made, key=lambda event: (event.at_ms, event.action is FingerAction.UP)))


def duration_ms(fingers: Sequence[Stroke]) -> float:
    """Return how long the fingers take from the first touch to the last lift."""
    return max((stroke[-1].at_ms for stroke in fingers), default=0.0)


def clip(point: Point) -> Point:
    """Return the nearest place on the screen. Raises UsageError for what is no number."""
    if math.isnan(point.x) or math.isnan(point.y):
        raise UsageError("A place on a screen is not a number.", "Give x and y in [0, 1].")
    return Point(x=min(max(point.x, 0.0), 1.0), y=min(max(point.y, 0.0), 1.0))


def _still(at: Point, from_ms: float, lasting_ms: float) -> Stroke:
    return Moment(from_ms, at), Moment(from_ms + lasting_ms, at)


def _line(points: Sequence[Point], from_ms: float, lasting_ms: float) -> Stroke:
    legs = len(points) - 1

    def place(part: float) -> Point:
        leg = min(int(part * legs), legs - 1)
        return between(points[leg], points[leg + 1], part * legs - leg)

    return _sampled(place, from_ms, lasting_ms)


def _sampled(place: Callable[[float], Point], from_ms: float, lasting_ms: float) -> Stroke:
    steps = max(int(lasting_ms // MOVE_EVERY_MS), 2)
    moved = [
        Moment(from_ms + lasting_ms * step / steps, place(step / steps))
        for step in range(steps + 1)
    ]
    # The last move arrives where the finger is then lifted, or it would be flung from before.
    return (*moved, Moment(from_ms + lasting_ms, place(1.0)))


def _pinch(gesture: Pinch, aspect: float) -> tuple[Stroke, ...]:
    if not SMALLEST_SCALE <= gesture.scale <= LARGEST_SCALE:
        raise UsageError(
            f"A pinch to {gesture.scale:g} times is not possible.",
            f"Ask for {SMALLEST_SCALE:g} to {LARGEST_SCALE:g}.",
        )
    lasting_ms = _check_duration(gesture.duration_ms)
    reach = _check_reach(gesture.reach)
    first = reach / gesture.scale if gesture.scale > 1 else reach
    last = reach if gesture.scale > 1 else reach * gesture.scale

    def finger(degrees: float) -> Stroke:
        return _sampled(
            lambda part: _around(gesture.center, first + (last - first) * part, degrees, aspect),
            0,
            lasting_ms,
        )

    return finger(-45), finger(135)


def _rotation(gesture: Rotate, aspect: float) -> tuple[Stroke, ...]:
    lasting_ms = _check_duration(gesture.duration_ms)
    reach = _check_reach(gesture.reach)

    def finger(degrees: float) -> Stroke:
        return _sampled(
            lambda part: _around(gesture.center, reach, degrees + gesture.degrees * part, aspect),
            0,
            lasting_ms,
        )

    return finger(0), finger(180)


def _side_by_side(gesture: MultiSwipe) -> tuple[Stroke, ...]:
    if not 1 <= gesture.fingers <= FINGERS_LIMIT:
        raise UsageError(
            f"A swipe of {gesture.fingers} fingers is not possible.",
            f"Ask for 1 to {FINGERS_LIMIT}.",
        )
    lasting_ms = _check_duration(gesture.duration_ms)
    start, end = gesture.start, gesture.end
    # Fingers lie across the way they move.
    is_upright = abs(end.y - start.y) >= abs(end.x - start.x)
    made = []
    for finger in range(gesture.fingers):
        aside = (finger - (gesture.fingers - 1) / 2) * gesture.spacing
        dx, dy = (aside, 0.0) if is_upright else (0.0, aside)
        ends = [Point(x=at.x + dx, y=at.y + dy) for at in (start, end)]
        made.append(_line(ends, 0, lasting_ms))
    return tuple(made)


def between(start: Point, end: Point, part: float) -> Point:
    """Return the place a part of the way from one place to another."""
    return Point(x=start.x + (end.x - start.x) * part, y=start.y + (end.y - start.y) * part)


def _around(center: Point, radius: float, degrees: float, aspect: float) -> Point:
    angle = math.radians(degrees)
    return Point(
        x=center.x + radius * math.cos(angle), y=center.y + radius * math.sin(angle) / aspect
    )


def _check_duration(duration_ms: int) -> int:
    if not 0 < duration_ms <= LONGEST_GESTURE_MS:
        raise UsageError(
            f"A gesture of {duration_ms} ms is not possible.",
            f"Ask for 1 to {LONGEST_GESTURE_MS} ms.",
        )
    return duration_ms


def _check_reach(reach: float) -> float:
    if not 0 < reach <= 0.5:
        raise UsageError(f"A hand's reach of {reach:g} is not possible.", "Ask for up to 0.5.")
    return reach
