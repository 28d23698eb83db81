"""The phone's own PNG writer against Pillow's reader."""

import io

from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from virtual_phone.display.png import encode


@given(width=st.integers(1, 40), height=st.integers(1, 40), data=st.data())
def test_every_picture_is_read_back_as_it_was(width: int, height: int, data: st.DataObject) -> None:
    pixels = data.draw(st.binary(min_size=width * height * 3, max_size=width * height * 3))
    image = Image.frombytes("RGB", (width, height), pixels)
    read = Image.open(io.BytesIO(encode(image)))
    read.load()
    assert (read.format, read.mode, read.size) == ("PNG", "RGB", (width, height))
    assert read.tobytes() == pixels


def test_a_screen_sized_picture_is_read_back_and_small() -> None:
    image = Image.linear_gradient("L").resize((1080, 2400)).convert("RGB")
    data = encode(image)
    assert Image.open(io.BytesIO(data)).tobytes() == image.tobytes()
    assert len(data) < 1080 * 2400 // 4
