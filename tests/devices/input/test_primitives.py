"""The gesture vectors of the OpenEnv contract: counts, sequences, interpolation, clipping."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.devices.gestures import events
from agent.devices.input import primitives
from agent.devices.input.primitives import Primitive, PrimitiveAction, performed

TOUCH, LIFT, REPEAT = PrimitiveAction.TOUCH, PrimitiveAction.LIFT, PrimitiveAction.REPEAT


@pytest.mark.parametrize(
    ("made", "count"),
    [
        (primitives.tap(0.5, 0.5), 2),
        (primitives.swipe(0, 0, 1, 1), 11),
        (primitives.long_press(0.5, 0.5), 2),
        (primitives.double_tap(0.5, 0.5), 5),
        (primitives.scroll_down(), 11),
        (primitives.scroll_up(), 11),
        (primitives.swipe_left(), 11),
        (primitives.swipe_right(), 11),
    ],
)
def test_gestures_counts_of_the_contract(made: tuple[Primitive, ...], count: int) -> None:
    assert len(made) == count


def test_gestures_a_tap_is_touch_100_ms_and_lift_50_ms() -> None:
    assert primitives.tap(0.25, 0.75) == (
        Primitive(TOUCH, 0.25, 0.75, 100),
        Primitive(LIFT, 0.25, 0.75, 50),
    )


def test_gestures_a_swipe_starts_with_touch_repeats_nine_times_and_lifts_at_its_end() -> None:
    made = primitives.swipe(0.1, 0.9, 0.9, 0.1, 300)
    assert [one.action for one in made] == [TOUCH, *[REPEAT] * 9, LIFT]
    assert {one.duration_ms for one in made} == {30}
    assert (made[-1].x, made[-1].y) == (0.9, 0.1)


def test_gestures_swipe_point_5_is_the_midpoint() -> None:
    middle = primitives.swipe(0.2, 0.8, 0.6, 0.4)[5]
    assert (middle.x, middle.y) == pytest.approx((0.4, 0.6))


def test_gestures_scroll_down_by_1_ends_at_y_0_2() -> None:
    made = primitives.scroll_down(distance=1)
    assert (made[0].y, made[-1].y) == (0.7, 0.2)


def test_gestures_the_other_directions_stop_at_their_bounds() -> None:
    assert primitives.scroll_up(distance=1)[-1].y == 0.8
    assert primitives.swipe_left(distance=1)[-1].x == 0.2
    assert primitives.swipe_right(distance=1)[-1].x == 0.8


def test_gestures_clip_1_5_and_minus_0_5_to_1_and_0() -> None:
    (touch, _) = primitives.tap(1.5, -0.5)
    assert (touch.x, touch.y) == (1.5, -0.5), "builders pass values through"
    clipped = primitives.clip(touch)
    assert (clipped.x, clipped.y) == (1.0, 0.0)


def test_gestures_a_double_tap_waits_between() -> None:
    made = primitives.double_tap(0.5, 0.5)
    assert [one.action for one in made] == [TOUCH, LIFT, REPEAT, TOUCH, LIFT]
    assert made[2].duration_ms == 100
    strokes = performed(made)
    assert len(strokes) == 2
    assert strokes[1][0].at_ms - strokes[0][-1].at_ms == 150


def test_a_long_press_is_performed_as_long_as_it_says() -> None:
    (stroke,) = performed(primitives.long_press(0.5, 0.5, 1000))
    assert stroke[-1].at_ms == 1000


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.builds(
            Primitive,
            st.sampled_from(PrimitiveAction),
            st.floats(-2, 2),
            st.floats(-2, 2),
            st.integers(0, 500),
        ),
        max_size=30,
    )
)
def test_any_sequence_is_performed_with_every_finger_lifted(made: list[Primitive]) -> None:
    strokes = performed(made)
    assert all(stroke[-1].at_ms <= sum(one.duration_ms for one in made) for stroke in strokes)
    times = [event.at_ms for event in events(strokes)]
    assert times == sorted(times)
    assert len(strokes) <= sum(one.action is TOUCH for one in made)
