"""Gliding on after a fast swipe: how far, for how long, and the content's way there.

The curve and its constants are those of Android's OverScroller (SplineOverScroller) and
ViewConfiguration, without the bounce at the ends. Invariant: where a glide ends depends on the
finger's speed and the screen's density alone, never on how busy the machine is.
"""

import math
from collections.abc import Callable

from virtual_phone.timing import LoopTiming, Timer, Timing

MIN_SPEED_DP_S = 50
MAX_SPEED_DP_S = 8000
STEP_S = 1 / 60
HORIZON_S = 0.1
"""How much of a finger's way its speed is taken from (VelocityTracker)."""
STOPPED_S = 0.04
"""A finger that has rested this long before it is lifted throws nothing (VelocityTracker)."""
_SHORTEST_WAY_S = 0.004
_FRICTION = 0.015
_INFLEXION = 0.35
_DECELERATION = math.log(0.78) / math.log(0.9)
_START = 0.5 * _INFLEXION
_END = 1 - (1 - _INFLEXION)
_GRAVITY_IN_S2 = 9.80665 * 39.37
_LOOK_AND_FEEL = 0.84


def _pull(scale: float) -> float:
    """Return what slows content down, in pixels per second squared, at a density / 160."""
    return _FRICTION * _GRAVITY_IN_S2 * scale * 160 * _LOOK_AND_FEEL


def glide_of(speed_px_s: float, scale: float) -> tuple[int, float]:
    """Return how far content glides in pixels, signed, and for how many seconds.

    Args:
        speed_px_s: the finger's speed when it was lifted, signed.
        scale: the display's density / 160.
    """
    speed = min(abs(speed_px_s), MAX_SPEED_DP_S * scale)
    if speed < MIN_SPEED_DP_S * scale:
        return 0, 0.0
    pull = _pull(scale)
    log = math.log(_INFLEXION * speed / pull)
    far = pull * math.exp(_DECELERATION / (_DECELERATION - 1) * log)
    return round(math.copysign(far, speed_px_s)), math.exp(log / (_DECELERATION - 1))


def part_glided(part_of_time: float) -> float:
    """Return which part of the way is behind after a part of the time, both from 0 to 1."""
    wanted = min(max(part_of_time, 0.0), 1.0)
    low, high = 0.0, 1.0
    for _ in range(24):
        x = (low + high) / 2
        at = 3 * x * (1 - x) * ((1 - x) * _START + x * _END) + x**3
        low, high = (x, high) if at < wanted else (low, x)
    x = (low + high) / 2
    return 3 * x * (1 - x) * ((1 - x) * 0.5 + x) + x**3 if wanted < 1 else 1.0


class Trail:
    """The newest part of a finger's way, from which its speed is taken."""

    __slots__ = ("_points", "_timing")

    def __init__(self, y: float, timing: Timing | None = None) -> None:
        self._timing = timing or LoopTiming()
        self._points = [(self._timing.monotonic(), y)]

    def add(self, y: float) -> None:
        """Note where the finger is now."""
        now = self._timing.monotonic()
        self._points = [p for p in self._points if now - p[0] <= HORIZON_S]
        self._points.append((now, y))

    def speed(self) -> float:
        """Return the finger's speed in pixels per second, zero where it has come to rest."""
        (began, first), (ended, last) = self._points[0], self._points[-1]
        if self._timing.monotonic() - ended > STOPPED_S or ended - began < _SHORTEST_WAY_S:
            return 0.0
        return (last - first) / (ended - began)


class Glide:
    """Content on its way after a finger has thrown it."""

    __slots__ = ("_began", "_far_px", "_length_s", "_move", "_over", "_timer", "_timing")

    def __init__(
        self,
        far_px: int,
        length_s: float,
        move: Callable[[int], bool],
        over: Callable[[], None],
        timing: Timing,
    ) -> None:
        """Make a glide; `move` takes the whole way so far and says whether it can go on."""
        self._far_px, self._length_s = far_px, length_s
        self._move, self._over = move, over
        self._timing = timing
        self._timer: Timer | None = None
        self._began = 0.0

    def begin(self) -> None:
        """Glide in the phone's time; where that does not go on, be there at once."""
        self._began = self._timing.monotonic()
        self._plan()
        if self._timer is None:
            self._move(self._far_px)
            self._over()

    def stop(self) -> None:
        """Stay where the content is."""
        if self._timer is not None:
            self._timer.cancel()
        self._over()

    def _plan(self) -> None:
        self._timer = self._timing.later(STEP_S, self._step)

    def _step(self) -> None:
        part = (self._timing.monotonic() - self._began) / self._length_s
        on = self._move(round(self._far_px * part_glided(part)))
        if part < 1 and on:
            self._plan()
        else:
            self._over()
