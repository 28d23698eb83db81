"""Pictures for a model are made once, and again only as far as something is new."""

import io

import pytest
from PIL import Image

from agent.loop.images import image_prep
from agent.loop.images.image_prep import Pictures
from agent.records import Bounds, Element


def frame(colour: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (90, 200), colour).save(out, "PNG")
    return out.getvalue()


def button(number: int) -> tuple[Element, ...]:
    bounds = Bounds(left=0.1, top=0.2, right=0.9, bottom=0.4)
    return (
        Element(
            number=number, key=f"k{number}", kind="btn", label="Go", bounds=bounds, clickable=True
        ),
    )


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    frames: list[bytes] = []

    def scaled(data: bytes) -> Image.Image | None:
        frames.append(data)
        return plain(data)

    plain = image_prep.scaled
    monkeypatch.setattr(image_prep, "scaled", scaled)
    return frames


async def test_a_screen_that_is_the_same_as_the_last_is_pictured_once(decoded: list[bytes]) -> None:
    artist, white = Pictures(), frame("white")
    first = artist.begin(white, button(1))
    assert artist.begin(bytes(bytearray(white)), button(1)) is first
    await first
    assert artist.begin(white, button(1)) is first
    assert decoded == [white]


async def test_other_elements_of_the_same_frame_are_numbered_without_decoding_it(
    decoded: list[bytes],
) -> None:
    artist, white = Pictures(), frame("white")
    first = await artist.begin(white, button(1))
    other = await artist.begin(white, button(27))
    assert first.data is not None
    assert other.data is not None
    assert first.data != other.data
    assert decoded == [white]
    assert (await artist.begin(white, button(1))).data == first.data


async def test_a_new_frame_is_a_new_picture_and_what_is_none_gives_none() -> None:
    artist = Pictures()
    white = await artist.begin(frame("white"), button(1))
    black = await artist.begin(frame("black"), button(1))
    assert (white.is_black, black.is_black) == (False, True)
    assert (await artist.begin(b"", button(1))).data is None
