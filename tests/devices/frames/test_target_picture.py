"""Small pictures of detached targets: bounded in length and in bytes, whatever is shown."""

import io
import random

import pytest
from PIL import Image

from agent.devices.frames.target_capture import LONG_EDGE_PX, MAX_BYTES, small_picture
from agent.errors import DeviceError
from tests.pictures import claiming


def png(width: int, height: int, *, noisy: bool = False) -> bytes:
    if noisy:
        data = random.Random(1).randbytes(width * height * 3)
        picture = Image.frombytes("RGB", (width, height), data)
    else:
        picture = Image.new("RGBA", (width, height), (10, 200, 30, 255))
    target = io.BytesIO()
    picture.save(target, "PNG")
    return target.getvalue()


@pytest.mark.parametrize(
    ("size", "expected"),
    [((1080, 2400), (216, 480)), ((2400, 1080), (480, 216)), ((90, 160), (90, 160))],
)
def test_a_picture_keeps_its_shape_and_is_never_enlarged(
    size: tuple[int, int], expected: tuple[int, int]
) -> None:
    small = Image.open(io.BytesIO(small_picture(png(*size))))
    assert (small.format, small.size) == ("JPEG", expected)


def test_the_worst_picture_fits_by_losing_quality_and_then_size() -> None:
    data = small_picture(png(480, 480, noisy=True))
    assert len(data) <= MAX_BYTES
    assert max(Image.open(io.BytesIO(data)).size) < LONG_EDGE_PX


@pytest.mark.parametrize("data", [b"", b"picture", png(20, 20)[:60], claiming(20_000, 20_000)])
def test_what_is_no_picture_is_an_error(data: bytes) -> None:
    with pytest.raises(DeviceError, match="no picture"):
        small_picture(data)
