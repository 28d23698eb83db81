"""Gestures as data: what fingers do, in which order, where, and for how long."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.devices.gestures import (
    DoubleTap,
    Drag,
    FingerAction,
    Gesture,
    LongPress,
    MultiSwipe,
    Path,
    Pinch,
    Rotate,
    Swipe,
    Tap,
    clip,
    duration_ms,
    events,
    strokes,
)
from agent.errors import UsageError
from agent.records import Point

MIDDLE = Point(x=0.5, y=0.5)
points = st.builds(Point, x=st.floats(-2, 2), y=st.floats(-2, 2))
durations = st.integers(1, 3000)
gestures: st.SearchStrategy[Gesture] = st.one_of(
    st.builds(Tap, points),
    st.builds(DoubleTap, points, durations),
    st.builds(LongPress, points, durations),
    st.builds(Swipe, points, points, durations),
    st.builds(Drag, points, points, durations, durations),
    st.builds(Path, st.lists(points, min_size=2, max_size=6).map(tuple), durations),
    st.builds(Pinch, points, st.floats(0.05, 20), st.floats(0.01, 0.5), durations),
    st.builds(Rotate, points, st.floats(-720, 720), st.floats(0.01, 0.5), durations),
    st.builds(MultiSwipe, points, points, st.integers(1, 10), st.floats(0, 0.3), durations),
)


@settings(deadline=None, max_examples=60)
@given(gesture=gestures)
def test_every_finger_goes_down_once_first_and_up_once_last(gesture: Gesture) -> None:
    made = events(strokes(gesture))
    for finger in {event.finger for event in made}:
        actions = [event.action for event in made if event.finger == finger]
        assert actions[0] is FingerAction.DOWN
        assert actions[-1] is FingerAction.UP
        assert set(actions[1:-1]) <= {FingerAction.MOVE}


@settings(deadline=None, max_examples=60)
@given(gesture=gestures)
def test_time_never_goes_back_and_every_place_is_on_the_screen(gesture: Gesture) -> None:
    made = events(strokes(gesture))
    times = [event.at_ms for event in made]
    assert times == sorted(times)
    assert times[0] == 0
    assert all(0 <= event.point.x <= 1 and 0 <= event.point.y <= 1 for event in made)


@settings(deadline=None, max_examples=60)
@given(start=points, end=points, lasting_ms=durations)
def test_a_swipe_takes_its_time_and_ends_where_it_should(
    start: Point, end: Point, lasting_ms: int
) -> None:
    made = events(strokes(Swipe(start, end, lasting_ms)))
    assert duration_ms(strokes(Swipe(start, end, lasting_ms))) == lasting_ms
    assert made[0].point == clip(start)
    assert made[-1].point == made[-2].point
    assert (made[-1].point.x, made[-1].point.y) == pytest.approx((clip(end).x, clip(end).y))
    assert made[-1].at_ms == pytest.approx(lasting_ms)


def test_a_swipe_moves_at_an_even_pace() -> None:
    moves = events(strokes(Swipe(Point(x=0.2, y=0.8), Point(x=0.8, y=0.2), 400)))
    for event in moves:
        assert event.point.x == pytest.approx(0.2 + 0.6 * event.at_ms / 400)
        assert event.point.y == pytest.approx(0.8 - 0.6 * event.at_ms / 400)


def test_a_long_press_stays_where_it_is_for_its_whole_time() -> None:
    down, up = events(strokes(LongPress(MIDDLE, 1234)))
    assert down.point == up.point == MIDDLE
    assert up.at_ms - down.at_ms == 1234


def test_a_drag_holds_before_it_moves() -> None:
    made = events(strokes(Drag(MIDDLE, Point(x=0.9, y=0.9), hold_ms=600, duration_ms=300)))
    first_move = next(event for event in made if event.point != MIDDLE)
    assert first_move.at_ms > 600
    assert made[-1].at_ms == 900


@settings(deadline=None, max_examples=60)
@given(scale=st.floats(0.1, 10).filter(lambda s: abs(s - 1) > 0.05))
def test_a_pinch_ends_at_its_scale(scale: float) -> None:
    first, second = strokes(Pinch(MIDDLE, scale), aspect=2.0)

    def apart(index: int) -> float:
        a, b = first[index].point, second[index].point
        return math.hypot(a.x - b.x, (a.y - b.y) * 2.0)

    assert apart(-1) / apart(0) == pytest.approx(scale)


def test_turning_fingers_keep_their_distance_on_a_long_screen() -> None:
    first, second = strokes(Rotate(MIDDLE, 90), aspect=20 / 9)
    for a, b in zip(first, second, strict=True):
        apart = math.hypot(a.point.x - b.point.x, (a.point.y - b.point.y) * 20 / 9)
        assert apart == pytest.approx(0.5)
    assert first[0].point.y == pytest.approx(0.5)
    assert first[-1].point.x == pytest.approx(0.5)


def test_three_fingers_move_side_by_side() -> None:
    fingers = strokes(MultiSwipe(Point(x=0.5, y=0.2), Point(x=0.5, y=0.8)))
    assert [stroke[0].point.x for stroke in fingers] == pytest.approx([0.35, 0.5, 0.65])
    assert all(stroke[-1].point.y == pytest.approx(0.8) for stroke in fingers)


@pytest.mark.parametrize(
    "gesture",
    [
        LongPress(MIDDLE, 0),
        Swipe(MIDDLE, MIDDLE, 60_001),
        Path((MIDDLE,)),
        Pinch(MIDDLE, 0),
        Pinch(MIDDLE, 2, reach=0.9),
        MultiSwipe(MIDDLE, MIDDLE, fingers=11),
    ],
)
def test_what_no_hand_can_do_is_refused(gesture: Gesture) -> None:
    with pytest.raises(UsageError):
        strokes(gesture)


def test_a_place_that_is_no_number_is_refused() -> None:
    with pytest.raises(UsageError, match="not a number"):
        events(strokes(Tap(Point(x=float("nan"), y=0.5))))
