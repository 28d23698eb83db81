"""A picture wears the numbers of a look only while it looks as it did then."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.records import Bounds, Element, FrameSource, FrameStatus, LiveFrame
from widgets.pictures.mark_age import NEAR_MS, LookRef, MarkAge

SEEN = LookRef(step=3, ended_ms=10_000)
LATER_MS = SEEN.ended_ms + NEAR_MS + 1


def frame(grey: int, captured_ms: int, *, top: int | None = None) -> LiveFrame:
    pixels = np.full((120, 60, 3), grey, np.uint8)
    if top is not None:
        pixels[:4] = top
    return LiveFrame(
        serial="p",
        width_px=60,
        height_px=120,
        rgb=pixels.tobytes(),
        captured_ms=captured_ms,
        source=FrameSource.CAPTURE,
        status=FrameStatus.LIVE,
    )


def element(**bounds: float) -> Element:
    at = {"left": 0.1, "top": 0.2, "right": 0.9, "bottom": 0.8} | bounds
    return Element(number=1, key="k", kind="button", label="Send", bounds=Bounds(**at))


def test_a_newer_picture_that_looks_the_same_keeps_its_numbers() -> None:
    age = MarkAge()
    assert not age.is_stale(SEEN, [element()], frame(90, SEEN.ended_ms))
    assert not age.is_stale(SEEN, [element()], frame(95, LATER_MS))


def test_a_newer_picture_that_is_another_where_elements_are_does_not() -> None:
    age = MarkAge()
    age.is_stale(SEEN, [element()], frame(90, SEEN.ended_ms))
    assert age.is_stale(SEEN, [element()], frame(200, LATER_MS))
    assert not age.is_stale(SEEN, [element()], frame(90, LATER_MS)), "back again"
    assert not age.is_stale(LookRef(4, LATER_MS), [element()], frame(200, LATER_MS)), "another look"


def test_a_change_where_no_element_is_changes_nothing() -> None:
    age = MarkAge()
    age.is_stale(SEEN, [element()], frame(90, SEEN.ended_ms))
    assert not age.is_stale(SEEN, [element()], frame(90, LATER_MS, top=255))


def test_what_a_look_was_of_is_learned_from_its_stored_frame() -> None:
    age = MarkAge()
    assert age.is_stale(SEEN, [element()], frame(90, LATER_MS)), "nothing is known of that moment"
    assert not age.knows(SEEN)
    age.learn(SEEN, frame(90, 0))
    assert age.knows(SEEN)
    assert not age.is_stale(SEEN, [element()], frame(90, LATER_MS))


def test_numbers_are_not_put_on_a_picture_that_stopped_before_the_look() -> None:
    age = MarkAge()
    old = replace(frame(90, SEEN.ended_ms - 5_000), status=FrameStatus.STALE)
    assert age.is_stale(SEEN, [element()], old)
    age.learn(SEEN, frame(90, SEEN.ended_ms))
    assert not age.is_stale(SEEN, [element()], old), "the screen is still the same"
    still = replace(frame(90, SEEN.ended_ms - 5_000), status=FrameStatus.STATIC)
    assert not MarkAge().is_stale(SEEN, [element()], still), "nothing moved since"


@given(
    st.floats(allow_nan=True, allow_infinity=True), st.floats(allow_nan=True, allow_infinity=True)
)
def test_foreign_bounds_break_nothing(top: float, bottom: float) -> None:
    age = MarkAge()
    listed = [element(top=top, bottom=bottom)]
    age.is_stale(SEEN, listed, frame(90, SEEN.ended_ms))
    assert isinstance(age.is_stale(SEEN, listed, frame(200, LATER_MS)), bool)


def test_a_stored_picture_and_a_video_of_the_same_small_text_are_the_same() -> None:
    fine = np.full((1200, 540), 250, np.uint8)
    # Strokes of small text: rows of thin lines that single points hit or miss.
    fine[300:900, 60:480:7] = 20
    fine[300:900:40] = 250

    def drawn(down: int, across: int, captured_ms: int) -> LiveFrame:
        means = fine.reshape(1200 // down, down, 540 // across, across).mean(axis=(1, 3))
        pixels = np.repeat(means.astype(np.uint8)[:, :, None], 3, axis=2)
        return replace(
            frame(0, captured_ms),
            width_px=540 // across,
            height_px=1200 // down,
            rgb=pixels.tobytes(),
        )

    age = MarkAge()
    age.is_stale(SEEN, [element()], drawn(1, 1, 0))
    age.learn(SEEN, drawn(12, 9, 0))
    assert not age.is_stale(SEEN, [element()], drawn(12, 12, LATER_MS))
    assert not age.is_stale(SEEN, [element()], drawn(5, 5, LATER_MS))
    assert age.is_stale(SEEN, [element()], frame(250, LATER_MS)), "the text is gone"
