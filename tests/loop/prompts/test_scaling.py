"""Pictures scaled for models: what they come from, and what is no picture."""

import io
import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageChops, ImageDraw, ImageStat

from agent.loop.images.scaling import fitted, scaled
from tests.pictures import claiming


def drawn(width: int = 1080, height: int = 2400, *, mode: str = "RGB") -> Image.Image:
    """Draw rows of coloured blocks, as text and icons are."""
    chance = random.Random(1)
    image = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(image)
    for _ in range(400):
        x, y = chance.randrange(width), chance.randrange(height)
        colour = chance.choice(("black", "navy", "teal", "orange"))
        draw.rectangle((x, y, x + 80, y + 24), fill=colour)
    return image.convert(mode)


def encoded(image: Image.Image, form: str = "PNG") -> bytes:
    out = io.BytesIO()
    image.save(out, form)
    return out.getvalue()


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "LA", "P", "1"])
@pytest.mark.parametrize("size", [(1080, 2400), (719, 1281), (33, 51)])
def test_a_png_of_any_kind_looks_as_the_picture_that_it_is_of(
    mode: str, size: tuple[int, int]
) -> None:
    image = drawn(*size, mode=mode)
    seen = scaled(encoded(image))
    assert seen is not None
    assert seen.size == fitted(*size)
    meant = image.convert("RGB").resize(seen.size, Image.Resampling.BOX)
    assert max(ImageStat.Stat(ImageChops.difference(seen.convert("RGB"), meant)).mean) < 8


def test_transparency_hides_nothing() -> None:
    clear = Image.new("RGBA", (1080, 2400), (200, 10, 20, 0))
    seen = scaled(encoded(clear))
    assert seen is not None
    red, green, blue = seen.convert("RGB").resize((1, 1)).getpixel((0, 0))  # type: ignore[misc]
    assert red > 190
    assert max(green, blue) < 35


def test_a_jpeg_is_a_picture_too() -> None:
    seen = scaled(encoded(drawn(), "JPEG"))
    assert seen is not None
    assert seen.size == (706, 1568)


def test_a_picture_that_was_cut_short_is_none_and_not_a_part_of_it() -> None:
    data = encoded(drawn())
    assert scaled(data[: len(data) // 2]) is None
    # The end is there, and what lies before it is not.
    assert scaled(data[: len(data) // 2] + data[-12:]) is None
    assert scaled(b"") is None


def test_what_claims_to_be_gigabytes_is_refused_before_it_is_decoded() -> None:
    assert scaled(claiming(20_000, 20_000)) is None
    assert scaled(claiming(0, 7)) is None


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), min_size=1, max_size=6))
def test_a_damaged_picture_is_a_picture_or_none(changes: list[tuple[int, int]]) -> None:
    data = bytearray(encoded(drawn(90, 200)))
    for at, value in changes:
        data[at % len(data)] = value
    seen = scaled(bytes(data))
    assert seen is None or max(seen.size) <= 1568


def test_no_picture_library_is_loaded_before_a_picture_comes() -> None:
    code = "import sys, agent.tasks.regular; print({'av', 'PIL'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "set()"
