"""Layout, hit testing, text and editing: rules that hold for any tree and any text."""

import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from virtual_phone.display import fonts
from virtual_phone.input import editing
from virtual_phone.state.records import FieldState
from virtual_phone.ui import vocabulary as ui
from virtual_phone.ui.bind import path_at, walk
from virtual_phone.ui.canvas import Canvas
from virtual_phone.ui.draw import paint
from virtual_phone.ui.dump import dump
from virtual_phone.ui.icons import DRAWINGS, mask
from virtual_phone.ui.layout import Metrics, lay_out
from virtual_phone.ui.theme import DARK, LIGHT, parse
from virtual_phone.ui.views import MATCH, Align, Kind, Rect, View

FRAME = Rect(0, 0, 1080, 2400)
METRICS = Metrics(2.625)

anything = st.text(
    alphabet=st.characters(exclude_categories=())
    | st.sampled_from("👨‍👩‍👧🇩🇪👍🏽a \n\t\x00\x1b\u202e"),
    max_size=60,
)


def leaf(words: str) -> st.SearchStrategy[View]:
    return st.sampled_from([0, 1, 2, 3, 4]).map(
        lambda i: [
            ui.text(words),
            ui.button(words, lambda: None),
            ui.icon("add"),
            ui.switch(True),
            ui.field("f", hint="h"),
        ][i]
    )


trees = st.recursive(
    anything.flatmap(leaf),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(lambda c: ui.column(*c, gap=4, pad=ui.edges(8, 8))),
        st.lists(inner, max_size=4).map(lambda c: ui.row(*c, ui.space(weight=1), width=MATCH)),
        st.lists(inner, max_size=3).map(lambda c: ui.stack(*c, width=MATCH)),
        st.lists(inner, min_size=1, max_size=5).map(lambda c: ui.grid(3, *c)),
        st.lists(inner, max_size=4).map(lambda c: ui.scroll("s", *c)),
    ),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(trees)
def test_any_tree_is_laid_out_drawn_and_dumped(tree: View) -> None:
    lay_out(tree, FRAME, METRICS)
    for view in walk(tree):
        assert view.rect.width >= 0 and view.rect.height >= 0
        assert FRAME.intersect(view.clip) == view.clip or view.clip.empty
    image = Image.new("RGB", (270, 600))
    paint(tree, Canvas(image, DARK, 0.25), METRICS)
    ElementTree.fromstring(dump(tree, "com.example", 0))
    ElementTree.fromstring(dump(tree, "com.example", 0, compressed=True))


@given(anything)
@settings(max_examples=150, deadline=None)
def test_any_text_can_be_measured_broken_and_fitted(words: str) -> None:
    assert fonts.width_of(words, 40, 400) >= 0
    lines, _ = fonts.break_lines(words, 40, 400, 200)
    assert [a for a, _ in lines] == sorted(a for a, _ in lines)
    assert lines[0][0] == 0 and lines[-1][1] == len(words)
    assert "".join(fonts.clusters(words)) == words
    assert fonts.width_of(fonts.fit(words, 40, 400, 300), 40, 400) <= 340


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["insert", "back", "del", "left", "right", "up", "down", "home", "all"]
            ),
            anything,
        ),
        max_size=25,
    ),
    st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_editing_keeps_the_cursor_in_the_text(steps: list[tuple[str, str]], lines: bool) -> None:
    state = FieldState()
    for name, words in steps:
        match name:
            case "insert":
                editing.insert(state, words, multiline=lines)
            case "back":
                editing.backspace(state)
            case "del":
                editing.delete_forward(state)
            case "left" | "right":
                editing.move(state, -1 if name == "left" else 1)
            case "up" | "down":
                editing.move_line(state, -1 if name == "up" else 1)
            case "home":
                editing.move_to_line_end(state, start=True)
            case _:
                editing.select_all(state)
        assert 0 <= state.start <= state.end <= len(state.text)
        assert lines or "\n" not in state.text
        state.text.encode()


def test_backspace_deletes_a_family_at_once() -> None:
    state = FieldState("ok 👨‍👩‍👧", 8, 8)
    editing.backspace(state)
    assert state.text == "ok "


@pytest.mark.parametrize(
    ("words", "faces"),
    [
        ("Hello", ["latin"]),
        ("世界", ["cjk"]),
        ("かな 한국어", ["cjk"]),
        ("مرحبا", ["Arabic"]),
        ("שלום", ["Hebrew"]),
        ("👍🏽🇩🇪👨‍👩‍👧", ["emoji"]),
        ("नमस्ते", ["Devanagari"]),
        ("สวัสดี", ["Thai"]),
    ],
)
def test_every_script_has_a_face_so_no_box_is_drawn(words: str, faces: list[str]) -> None:
    assert [r.face.name if r.face else None for r in fonts.runs(words)] == faces


def test_a_code_point_without_a_font_is_drawn_as_its_number_not_as_nothing() -> None:
    image = Image.new("RGB", (200, 100), (255, 255, 255))
    Canvas(image, LIGHT).text(10, 70, "\U000e1234", 48, 400, (0, 0, 0, 255))
    assert image.convert("L").getextrema() != (255, 255)


def test_an_emoji_is_drawn_in_color() -> None:
    image = Image.new("RGB", (120, 100), (255, 255, 255))
    Canvas(image, LIGHT).text(10, 70, "🍎", 60, 400, (0, 0, 0, 255))
    colors = image.getcolors(1 << 16) or []
    assert any(isinstance(c, tuple) and c[0] > c[2] + 80 for _, c in colors)


def test_weights_share_what_is_left() -> None:
    left, right = ui.space(weight=1), ui.space(weight=3)
    lay_out(ui.row(left, right, width=MATCH, height=10), FRAME, Metrics(1))
    assert (left.rect.width, right.rect.width) == (270, 810)


def test_a_view_over_another_takes_the_touch() -> None:
    below = ui.button("below", lambda: None, width=MATCH, height=100)
    above = ui.button("above", lambda: None, width=50, height=50, halign=Align.END)
    root = ui.stack(below, above, width=MATCH)
    lay_out(root, FRAME, Metrics(1))
    assert path_at(root, 1060, 20)[-1] is above
    assert path_at(root, 500, 20)[-1] is below


def test_what_is_scrolled_away_is_neither_dumped_nor_touched() -> None:
    rows = [ui.button(f"row {i}", lambda: None, height=100) for i in range(50)]
    root = ui.scroll("list", *rows)
    root.scroll_y = 1000
    lay_out(root, Rect(0, 0, 1080, 500), Metrics(1))
    assert root.scroll_range == 4500
    xml = dump(root, "p", 0)
    assert 'text="row 9"' not in xml and 'text="row 10"' in xml and 'text="row 15"' not in xml
    assert path_at(root, 10, 10)[-1] is rows[10]


def test_a_named_button_is_fine_and_a_nameless_one_is_marked() -> None:
    root = ui.column(
        ui.icon("add", on_click=lambda: None), ui.icon("add", on_click=lambda: None, desc="Add")
    )
    lay_out(root, FRAME, METRICS)
    assert dump(root, "p", 0).count('NAF="true"') == 1


def test_controls_become_dots_and_markup_is_escaped_in_a_dump() -> None:
    root = ui.text('a<b>&"\n\x00\ud800')
    lay_out(root, FRAME, METRICS)
    assert 'text="a&lt;b&gt;&amp;&quot;&#10;.."' in dump(root, "p", 0)


def test_huge_text_is_laid_out_in_reasonable_time() -> None:
    import time

    start = time.thread_time()
    made = ui.text("word " * 40_000 + "x" * 100_000)
    lay_out(made, FRAME, METRICS)
    assert time.thread_time() - start < 60


def test_both_themes_know_the_same_roles() -> None:
    assert [r for r, _ in LIGHT.roles] == [r for r, _ in DARK.roles]
    assert parse("#10203040") == (16, 32, 48, 64)


@pytest.mark.parametrize("name", sorted(DRAWINGS))
def test_every_icon_draws_something_and_not_everything(name: str) -> None:
    drawn = mask(name, 32)
    low, high = drawn.getextrema()
    assert (low, high) == (0, 255)


def test_a_field_shows_dots_for_a_password_and_its_hint_when_empty() -> None:
    secret = ui.field("p", value="abc", password=True)
    empty = ui.field("q", hint="Name")
    root = ui.column(secret, empty)
    lay_out(root, FRAME, METRICS)
    xml = dump(root, "p", 0)
    assert 'text="•••"' in xml and 'password="true"' in xml and 'text="Name"' in xml
    assert secret.kind is Kind.FIELD
