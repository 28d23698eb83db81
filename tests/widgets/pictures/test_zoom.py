"""What is seen of a zoomed picture, and which place of the phone a place in it is."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from agent.records import Bounds, FrameSource, FrameStatus, LiveFrame, Point
from widgets.pictures.crop import cropped, whole_px
from widgets.pictures.zoom import (
    FACTORS,
    WHOLE,
    Zoom,
    bounds_in_view,
    in_view,
    on_screen,
    place_words,
)

shares = some.floats(0, 1)
points = some.builds(lambda x, y: Point(x=x, y=y), shares, shares)
cells = some.integers(1, 200)
sizes = some.tuples(cells, cells)


@given(some.sampled_from(FACTORS), points, sizes, some.tuples(cells, cells))
def test_the_part_lies_on_the_screen_and_fills_the_view_undistorted(
    factor: int, center: Point, fitted: tuple[int, int], more: tuple[int, int]
) -> None:
    room = fitted[0] + more[0], fitted[1] + more[1]
    zoom = Zoom(factor, center)
    part, size = zoom.part(fitted, room), zoom.size(fitted, room)
    assert 0 <= part.left < part.right <= 1 + 1e-9
    assert 0 <= part.top < part.bottom <= 1 + 1e-9
    assert size[0] <= room[0]
    assert size[1] <= room[1]
    # A cell shows as much of the phone in the view as it would in the whole picture at this zoom.
    assert abs((part.right - part.left) * factor * fitted[0] - size[0]) < 1e-6
    assert abs((part.bottom - part.top) * factor * fitted[1] - size[1]) < 1e-6


@given(points, some.sampled_from(FACTORS), points, sizes)
def test_a_place_in_the_view_is_one_place_of_the_screen(
    at: Point, factor: int, center: Point, fitted: tuple[int, int]
) -> None:
    part = Zoom(factor, center).part(fitted, fitted)
    place = on_screen(at, part)
    assert part.left - 1e-9 <= place.x <= part.right + 1e-9
    back = in_view(place, part)
    assert abs(back.x - at.x) < 1e-6
    assert abs(back.y - at.y) < 1e-6


@given(points, points)
def test_what_is_under_the_pointer_stays_there_when_the_wheel_zooms(
    at: Point, center: Point
) -> None:
    fitted = (40, 44)
    zoom = Zoom(2, center)
    seen = zoom.part(fitted, fitted)
    under = on_screen(at, seen)
    closer = zoom.closer(1, under, seen)
    now = in_view(under, closer.part(fitted, fitted))
    assert abs(now.x - at.x) < 1e-6
    assert abs(now.y - at.y) < 1e-6


def test_zoom_goes_from_whole_to_the_closest_and_stays_there() -> None:
    zoom = Zoom()
    seen = [zoom.factor]
    for _ in range(5):
        zoom = zoom.closer(1)
        seen.append(zoom.factor)
    assert seen == [1, 2, 4, 8, 8, 8]
    assert zoom.closer(-9) == Zoom()


def test_panning_stops_at_the_edge_of_the_screen() -> None:
    fitted = (40, 44)
    zoom = Zoom(4)
    for _ in range(20):
        zoom = zoom.panned(-1, -1, zoom.part(fitted, fitted))
    part = zoom.part(fitted, fitted)
    assert (part.left, part.top) == (0, 0)
    assert place_words(part) == "top left"
    assert zoom.panned(1, 0, part).part(fitted, fitted).left > 0, "it moves back at once"


def test_places_have_words() -> None:
    def words(left: float, top: float, right: float, bottom: float) -> str:
        return place_words(Bounds(left=left, top=top, right=right, bottom=bottom))

    assert words(0, 0, 1, 1) == ""
    assert words(0, 0, 1, 0.5) == "top"
    assert words(0.25, 0.25, 0.75, 0.75) == "middle"
    assert words(0.5, 0.25, 1, 0.75) == "right"
    assert words(0.5, 0.5, 1, 1) == "bottom right"


def test_bounds_outside_of_the_view_are_not_drawn() -> None:
    part = Bounds(left=0, top=0, right=0.5, bottom=0.5)
    assert bounds_in_view(Bounds(left=0.6, top=0, right=0.9, bottom=0.1), part) is None
    seen = bounds_in_view(Bounds(left=0.4, top=0.1, right=0.9, bottom=0.2), part)
    assert seen is not None
    assert (seen.left, seen.right) == (0.8, 1.0)


def test_a_zoomed_part_is_cut_from_the_whole_at_full_sharpness() -> None:
    wide, high = 80, 160
    rgb = np.zeros((high, wide, 3), np.uint8)
    rgb[:, :, 0] = np.arange(wide)[None, :]
    rgb[:, :, 1] = np.arange(high)[:, None]
    frame = LiveFrame(
        serial="phone",
        width_px=wide,
        height_px=high,
        rgb=rgb.tobytes(),
        captured_ms=0,
        source=FrameSource.SCRCPY,
        status=FrameStatus.LIVE,
    )
    part = Zoom(4, Point(x=1.0, y=0.5)).part((20, 20), (20, 20))
    assert whole_px((20, 40), part) == (wide, high), "each pixel that is drawn is one of the frame"
    cut = cropped(frame, part, (20, 40))
    pixels = np.frombuffer(cut.rgb, np.uint8).reshape(40, 20, 3)
    assert (pixels[:, :, 0] == np.arange(60, 80)[None, :]).all()
    assert (pixels[:, :, 1] == np.arange(60, 100)[:, None]).all()
    assert cropped(frame, WHOLE, (20, 40)) is frame


@given(cells, cells, some.sampled_from(FACTORS))
def test_nobody_is_asked_for_a_larger_frame_than_is_given(
    across: int, down: int, factor: int
) -> None:
    part = Zoom(factor).part((across, down), (across, down))
    wide, high = whole_px((across * 16, down * 32), part)
    assert 0 < max(wide, high) <= 4_096
    assert wide * high <= 4_100_000
