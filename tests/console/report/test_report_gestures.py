"""Taps, swipes and typed text stand on the frames of films and pages, with legible captions."""

import json
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as some
from PIL import Image, ImageSequence

from agent.protocol import ResultPublished, StepStarted, ToolCallRequested
from agent.records import Bounds, Element, Point
from agent.state.reducer import ActionView, StepItem
from console.report import captions
from console.report.captions import BANNER_PX, Caption
from console.report.gestures import Gesture, gestures_of
from console.report.movie import Film, caption, write_movie
from console.report.overlay import overlay
from console.report.page import write_report
from tests.console.fakes import FakeCore
from tests.console.report.test_report import HOSTILE, filmed, unheard

SAVE = Element(
    number=3,
    key="save",
    kind="btn",
    label="Save",
    bounds=Bounds(left=0.6, top=0.4, right=0.8, bottom=0.6),
    clickable=True,
)
_TOUCH = (214, 51, 92)


def step(tool: str, element: Element | None = None, **arguments: object) -> StepItem:
    path = arguments.pop("path", ())
    action = ActionView(
        call_id="c",
        tool=tool,
        arguments=json.dumps(arguments),
        element=element,
        path=path,  # type: ignore[arg-type]
    )
    return StepItem(key="1", at_ms=23_000, number=1, actions=(action,))


def test_each_kind_of_call_is_drawn_as_what_a_finger_does() -> None:
    assert gestures_of(step("click_element", SAVE)) == (
        Gesture((Point(x=0.7, y=0.5),), SAVE.bounds),
    )
    [typed] = gestures_of(step("type_text", SAVE, text="milk"))
    assert typed.typed == "milk"
    [scroll] = gestures_of(step("scroll", direction="down"))
    assert scroll.is_way
    assert scroll.way[0].y > scroll.way[1].y, "the finger goes up for what is below"
    way = (Point(x=0.1, y=0.1), Point(x=0.9, y=0.9))
    [drag] = gestures_of(step("drag", path=way))
    assert (drag.way, drag.is_way) == (way, True)
    [keys] = gestures_of(step("press_keys", path=way))
    assert not keys.is_way, "each key is a press of its own"
    assert gestures_of(step("update_plan")) == ()
    assert gestures_of(step("scroll", direction="sideways")) == ()


shares = some.floats(allow_nan=True, allow_infinity=True)
places = some.builds(lambda x, y: Point(x=x, y=y), shares, shares)
gestures = some.builds(
    Gesture,
    some.lists(places, min_size=1, max_size=4).map(tuple),
    some.none()
    | some.builds(
        lambda left, top, right, bottom: Bounds(left=left, top=top, right=right, bottom=bottom),
        *[shares] * 4,
    ),
    some.booleans(),
    some.text(max_size=20),
)


@given(some.lists(gestures, max_size=4))
def test_whatever_was_stored_is_drawn_within_the_picture(drawn: list[Gesture]) -> None:
    canvas = Image.new("RGB", (90, 160))
    captions.draw_gestures(canvas, canvas.size, drawn)
    text = overlay(drawn, (90, 160))
    assert "nan" not in text.partition("<defs>")[2].partition("<text")[0]
    assert "<script" not in text


@given(some.text(max_size=400), some.integers(40, 500), some.integers(1, 3))
@example("a\u2028b\u2029c", 40, 1)
def test_lines_of_a_caption_have_room(text: str, room: int, most: int) -> None:
    font = captions._font(17)
    lines = captions._lines(text, font, room, most)
    assert len(lines) <= most
    assert all(font.getlength(line) <= room or len(line) <= 3 for line in lines)


def test_letters_that_a_font_has_not_become_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captions, "_has", lambda _letter: False)
    captions._letter.cache_clear()
    try:
        assert captions._drawable("“Zoë” – naïve …") == '"Zoe" - naive ...'
    finally:
        captions._letter.cache_clear()


def test_a_caption_says_which_step_when_and_what() -> None:
    said = caption(step("type_text", SAVE, text="milk"), began_ms=3_000, last=9)
    assert said == Caption("Step 1 of 9 · 0:20", "Type “milk” into Save")


async def test_a_film_shows_the_tap_and_ends_with_the_result(tmp_path: Path) -> None:
    core = FakeCore()
    filmed(core, "f1", 1)
    call = ToolCallRequested(
        step=1, call_id="c", tool="click_element", arguments="{}", element=SAVE
    )
    core.tell(call, "f1")
    core.tell(ResultPublished(text="The note is saved."), "f1")
    place = tmp_path / "f1.gif"
    done = await write_movie(core, "f1", place, film=Film.GIF, told=unheard)
    assert done.frames == 1
    with Image.open(place) as image:
        each = [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(image)]
    assert len(each) == 2, "the step, and what came of it"
    high = each[0].shape[0] - BANNER_PX
    near = each[0][round(high * 0.5), round(360 * 0.7)].astype(int)
    assert np.abs(near - _TOUCH).max() < 40, "the tap stands where it was"
    banner = each[0][high:]
    assert banner.max() > 200, "there is light text on the dark caption"
    assert not np.array_equal(each[0], each[1])


async def test_a_page_shows_touches_and_runs_nothing_of_what_was_typed(tmp_path: Path) -> None:
    core = FakeCore()
    filmed(core, "f1", 1)
    call = ToolCallRequested(
        step=1, call_id="c", tool="type_text", arguments=json.dumps({"text": HOSTILE}), element=SAVE
    )
    core.tell(call, "f1")
    core.tell(StepStarted(step=2), "f1")
    place = tmp_path / "f1.html"
    await write_report(core, "f1", place, told=unheard)
    page = place.read_text("utf-8")
    assert "<svg class=touch" in page
    assert '<rect x="60.0"' in page
    assert "<script" not in page
    assert "<img src=x" not in page


def test_a_picture_of_a_film_has_its_caption_under_it() -> None:
    out = BytesIO()
    Image.new("RGB", (360, 800), (20, 90, 160)).save(out, "PNG")
    canvas = Image.open(BytesIO(out.getvalue())).convert("RGB")
    captions.draw_caption(canvas, 800 - BANNER_PX, Caption("Step 1 of 2", "Tap Save"))
    above = np.asarray(canvas)[: 800 - BANNER_PX]
    assert (above == (20, 90, 160)).all()
