"""A picture is read only where the tree says nothing of a large part of it."""

from agent.loop.ocr.region import WHOLE, covers, silent_region
from agent.loop.screen.elements import number_elements
from agent.records import Bounds, UiNode
from tests.loop.paper_phone import button, node


def region(*nodes: UiNode) -> Bounds | None:
    return silent_region(nodes, number_elements(nodes, redact=str))


def test_a_game_of_one_surface_is_silent_whole() -> None:
    surface = node(at=(0.0, 0.0, 1.0, 1.0), class_name="android.view.SurfaceView")
    assert region(surface) == surface.bounds


def test_a_canvas_below_a_bar_is_silent_and_the_bar_is_not() -> None:
    page = node(at=(0.0, 0.1, 1.0, 1.0), class_name="android.webkit.WebView", description="Tides")
    bar = [node(name, (n / 4, 0.04, (n + 1) / 4, 0.09)) for n, name in enumerate("abcd")]
    root = node(at=(0.0, 0.0, 1.0, 1.0), class_name="a.FrameLayout")
    assert region(root, *bar, page) == page.bounds


def test_a_page_whose_tree_names_what_it_shows_is_not_silent() -> None:
    root = node(at=(0.0, 0.0, 1.0, 1.0), class_name="a.FrameLayout")
    assert region(root, button("A", 0.3), button("B", 0.5)) is None


def test_a_small_picture_is_not_worth_a_reading() -> None:
    assert region(node(at=(0.0, 0.1, 1.0, 0.3), class_name="a.ImageView")) is None


def test_a_phone_without_a_tree_is_silent_whole() -> None:
    assert region() == WHOLE


def test_the_name_of_the_page_itself_covers_it_and_a_button_on_it_does_not() -> None:
    box = Bounds(left=0.0, top=0.1, right=1.0, bottom=1.0)
    title = node("Tides", (0.0, 0.08, 1.0, 1.0))
    [page, button_on_it] = number_elements([title, button("Go", 0.5)], redact=str)
    assert covers(page, box)
    assert not covers(button_on_it, box)
