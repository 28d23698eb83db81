"""Pictures for models and rehearsals: size, numbers, and what is covered."""

import io

import pytest
from PIL import Image

from agent.loop.images.scaling import LONG_EDGE_PX, SHORT_EDGE_PX, scaled
from agent.loop.images.set_of_marks import intended, marked
from agent.loop.screen.elements import number_elements
from agent.records import Bounds, Element, Point
from agent.safety.redacting.redaction import redact
from agent.safety.redacting.secrets import SECRET
from tests.loop.paper_phone import node
from tests.pictures import claiming


def frame(width: int = 1080, height: int = 2400, colour: str = "white") -> bytes:
    target = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(target, "PNG")
    return target.getvalue()


def element(number: int, top: float, label: str = "Go", **more: object) -> Element:
    fields: dict[str, object] = {"clickable": True, **more}
    bounds = Bounds(left=0.1, top=top, right=0.9, bottom=top + 0.1)
    return Element(number=number, key=label, kind="btn", label=label, bounds=bounds, **fields)  # type: ignore[arg-type]


def numbered(data: bytes, elements: list[Element]) -> bytes | None:
    return marked(scaled(data), elements).data


def opened(data: bytes | None) -> Image.Image:
    assert data is not None
    return Image.open(io.BytesIO(data)).convert("RGB")


def test_a_picture_is_no_larger_than_a_model_can_use() -> None:
    for width, height in ((1080, 2400), (2400, 1080), (320, 640), (1440, 3200)):
        short, long = sorted(opened(numbered(frame(width, height), [])).size)
        assert short <= SHORT_EDGE_PX
        assert long <= LONG_EDGE_PX
        assert abs(long / short - max(width, height) / min(width, height)) < 0.02
    assert opened(numbered(frame(320, 640), [])).size == (320, 640)


def test_what_can_be_used_is_outlined_and_what_cannot_is_not() -> None:
    used = opened(numbered(frame(), [element(1, 0.2)]))
    plain = opened(numbered(frame(), [element(1, 0.2, clickable=False)]))
    assert used.getextrema() != plain.getextrema()
    assert min(least for least, _ in plain.getextrema()) > 250  # type: ignore[misc]


def test_what_the_redactor_took_out_is_covered_in_the_picture() -> None:
    card = element(1, 0.2, "Visa [CARD REDACTED]", clickable=False)
    secret = element(2, 0.4, "Password", editable=True, clickable=False, password=True)
    picture = opened(numbered(frame(), [card, secret]))
    width, height = picture.size
    for middle in (0.25, 0.45):
        red, green, blue = picture.getpixel((width // 2, round(height * middle)))  # type: ignore[misc]
        assert max(abs(red - 128), abs(green - 128), abs(blue - 128)) < 12


PRIVATE = (
    *("Visa 4111 1111 1111 1111", "SSN 123-45-6789", "CVV: 123", "password: hunter2"),
    *("Bearer abcdefghijklmnop", "DE89 3704 0044 0532 0130 00", "+49 30 1234567890"),
    "anna@example.org",
)


@pytest.mark.parametrize("said", PRIVATE)
def test_whatever_the_redactor_takes_out_is_covered_also_at_the_end_of_a_long_label(
    said: str,
) -> None:
    def hide(text: str) -> str:
        return redact(text.replace("typed", SECRET))

    def grey(text: str) -> bool:
        shown = node(text, (0.1, 0.4, 0.9, 0.5))
        [only] = number_elements([shown], redact=hide)
        picture = opened(numbered(frame(360, 800), [only]))
        colour = picture.getpixel((picture.width // 2, round(picture.height * 0.45)))
        return max(abs(channel - 128) for channel in colour) < 12  # type: ignore[union-attr]

    assert redact(said) != said
    assert grey(said)
    assert grey(f"{'a long story ' * 20}: {said}")
    assert not grey("a long story")
    assert grey("The code is typed"), "a secret of the operator"


def test_a_hostile_element_is_drawn_within_the_picture() -> None:
    wild = Bounds(left=3.0, top=-9.0, right=-2.0, bottom=float(10**9))
    hostile = Element(number=999, key="k", kind="btn", label="x", bounds=wild, clickable=True)
    assert numbered(frame(), [hostile]) is not None


def test_what_is_no_picture_gives_none() -> None:
    assert numbered(b"picture of 1", []) is None
    assert numbered(frame()[:60], []) is None


def test_a_frame_that_shows_nothing_is_known() -> None:
    assert marked(scaled(frame(colour="black")), [element(1, 0.2)]).is_black
    assert not marked(scaled(frame()), []).is_black
    assert not marked(scaled(b"picture of 1"), []).is_black
    assert intended(b"", None, None) is None


def test_an_intended_tap_is_ringed() -> None:
    drawn = opened(intended(frame(), None, Point(x=0.5, y=0.5)))
    assert drawn.getextrema()[0][0] < 50


def test_a_picture_that_says_it_is_gigabytes_is_none() -> None:
    assert intended(claiming(20_000, 20_000), None, None) is None
