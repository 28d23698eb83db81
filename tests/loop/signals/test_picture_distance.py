"""Pictures are compared as a person would: a clock and a caret are nothing, a dot is something."""

from PIL import Image, ImageDraw

from agent.loop.screen.changes import PICTURE_DIFFERS
from agent.loop.signals.picture_distance import distance, shows, thumbnail
from agent.records import Bounds, Element


def screen(*drawn: tuple[int, int, int, int], colour: str = "black") -> Image.Image:
    picture = Image.new("RGB", (720, 1600), "white")
    for box in drawn:
        ImageDraw.Draw(picture).rectangle(box, fill=colour)
    return picture


def differs(one: Image.Image, other: Image.Image, *elements: Element) -> bool:
    return distance(thumbnail(one), thumbnail(other), elements) >= PICTURE_DIFFERS


def test_the_same_picture_and_a_clock_in_the_status_bar_are_no_change() -> None:
    assert not differs(screen(), screen())
    assert not differs(screen(), screen((20, 10, 120, 50)))


def test_a_caret_that_blinks_is_no_change_and_a_dot_of_a_pin_is_one() -> None:
    typed_into = Element(
        number=1,
        key="1",
        kind="INPUT",
        label="To",
        bounds=Bounds(left=0.1, top=0.48, right=0.9, bottom=0.54),
        editable=True,
        focused=True,
    )
    assert not differs(screen(), screen((300, 800, 303, 840)), typed_into)
    dot = screen()
    ImageDraw.Draw(dot).ellipse((300, 800, 320, 820), fill="black")
    assert differs(screen(), dot)


def element(number: int, top: float) -> Element:
    bounds = Bounds(left=0.1, top=top, right=0.9, bottom=top + 0.05)
    return Element(number=number, key=f"{number}", kind="btn", label=f"b{number}", bounds=bounds)


ELEMENTS = [element(n, 0.1 + n / 10) for n in range(6)]


def test_a_flat_splash_screen_is_no_picture_of_a_page_with_texts() -> None:
    splash = screen((310, 750, 410, 850))
    assert not shows(splash, ELEMENTS)
    page = screen(*((100, round((0.12 + n / 10) * 1600), 300, 220 + n * 160) for n in range(6)))
    assert shows(page, ELEMENTS)


def test_a_secure_window_and_a_nearly_empty_page_are_not_waited_for() -> None:
    assert shows(Image.new("RGB", (720, 1600)), ELEMENTS)
    assert shows(screen(), ELEMENTS[:2])
