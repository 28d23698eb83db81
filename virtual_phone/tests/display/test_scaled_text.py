"""Text in a picture that is smaller than the display: as much narrower as all around it."""

import pytest
from PIL import Image

from virtual_phone.display import fonts
from virtual_phone.ui.canvas import Canvas
from virtual_phone.ui.theme import LIGHT

SIZE, WIDTH, HEIGHT = 38, 1080, 80


def ink(text: str, scale: float) -> tuple[int, int]:
    """Return the first and the last column that a line of text is seen in."""
    image = Image.new("RGB", (round(WIDTH * scale), round(HEIGHT * scale)), (255, 255, 255))
    Canvas(image, LIGHT, scale).text(40, 60, text, SIZE, 400, (0, 0, 0, 255))
    box = image.convert("L").point(lambda value: 255 * (value < 200)).getbbox()
    assert box is not None
    return box[0], box[2]


@pytest.mark.parametrize("scale", [0.2, 0.26, 0.41, 0.5, 0.7])
@pytest.mark.parametrize(
    "text", ["Call me when you have a minute", "Tuesday, November 24", "わかりました", "Thanks 👍"]
)
def test_a_line_is_no_wider_than_its_place_in_a_smaller_picture(text: str, scale: float) -> None:
    left, right = ink(text, 1.0)
    small_left, small_right = ink(text, scale)
    assert abs(small_left - left * scale) <= 2
    assert abs(small_right - right * scale) <= 2, "its last letter would be cut, or it ends early"


def test_the_phones_own_size_is_the_same_whatever_was_drawn_smaller_before() -> None:
    fonts.font.cache_clear()
    first = [ink(text, 1.0) for text in ("Thanks 👍", "わかりました")]
    fonts.font.cache_clear()
    # Half of twice the size is a fraction that equals the whole one.
    image = Image.new("RGB", (WIDTH, HEIGHT), (255, 255, 255))
    for text in ("Thanks 👍", "わかりました"):
        Canvas(image, LIGHT, 0.5).text(40, 60, text, 2 * SIZE, 400, (0, 0, 0, 255))
    assert [ink(text, 1.0) for text in ("Thanks 👍", "わかりました")] == first
