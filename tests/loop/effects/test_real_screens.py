"""Trees of real phones and apps, and of their shape: each switch has its effect, no page has one.

The pairs are made from the stored screens, so every new shape is tried with every other one.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.devices.trees.tree_parser import parse_tree
from agent.records import Element, FieldFate, SeenEffectKind, UiNode
from tests.loop.effects.played import Played, seen

DATA = Path(__file__).parents[2] / "data"
SCREENS = sorted((DATA / "screens").glob("*.xml"))
_CORNER = re.compile(r"\]\[(\d+),(\d+)\]")
_STATE_TEXT = {"On": "Off", "Off": "On"}
Nodes = tuple[UiNode, ...]


@cache
def nodes_of(path: Path) -> Nodes:
    corners = [(int(x), int(y)) for x, y in _CORNER.findall(path.read_text(encoding="utf-8"))]
    size = max(x for x, _ in corners), max(y for _, y in corners)
    return parse_tree(path.read_bytes(), size)


def checkables() -> Iterator[tuple[str, int]]:
    for path in SCREENS:
        yield from ((path.stem, at) for at, one in enumerate(nodes_of(path)) if one.checkable)


def shown_at(screen: tuple[Element, ...], node: UiNode) -> Element | None:
    """Return the smallest element that is or holds a node."""
    x, y = node.bounds.center_x, node.bounds.center_y
    over = [
        e
        for e in screen
        if not e.scrollable
        and e.bounds.left <= x <= e.bounds.right
        and e.bounds.top <= y <= e.bounds.bottom
    ]
    return min(over, key=lambda e: e.bounds.bottom - e.bounds.top, default=None)


@pytest.mark.parametrize(("name", "at"), list(checkables()))
def test_a_switch_that_is_pressed_has_one_effect_with_a_name_from_the_screen(
    name: str, at: int
) -> None:
    nodes = nodes_of(DATA / "screens" / f"{name}.xml")
    node = nodes[at]
    played = Played()
    played.see(seen(nodes))
    assert played.screen is not None
    element = shown_at(played.screen.elements, node)
    if element is None or element.checked != node.checked:
        pytest.skip("not shown as a switch")
    call = played.press(element)
    text = _STATE_TEXT.get(node.text, node.text)
    flipped = [*nodes]
    flipped[at] = replace(node, checked=not node.checked, text=text)
    [effect] = played.see(seen(flipped))
    words = ("off", "on") if element.checked is False else ("on", "off")
    assert (effect.kind, effect.before, effect.after) == (SeenEffectKind.STATE, *words)
    assert effect.call_id == call
    said = " ".join(f"{one.text} {one.description}" for one in nodes)
    assert effect.object and effect.object in said.replace("\n", " ")
    assert effect.element_step == 2
    shown = played.screen.elements[effect.element - 1]
    assert (shown.key, shown.bounds) == (effect.element_key, element.bounds)


@pytest.mark.parametrize("name", [path.stem for path in SCREENS])
def test_another_page_and_the_way_back_have_no_effect(name: str) -> None:
    nodes = nodes_of(DATA / "screens" / f"{name}.xml")
    for other in SCREENS:
        played = Played()
        played.see(seen(nodes))
        assert played.screen is not None
        pressed = next((e for e in played.screen.elements if e.clickable), None)
        if pressed is None or other.stem == name:
            continue
        played.press(pressed)
        # All are one activity here, which tells the pages of many apps least apart.
        found = played.see(seen(nodes_of(other)))
        played.back()
        found += played.see(seen(nodes))
        told = [one for one in found if one.kind is not SeenEffectKind.NOTIFICATION]
        assert told == [], other.stem


@pytest.mark.parametrize("name", [path.stem for path in SCREENS])
def test_a_screen_that_stays_has_no_effect(name: str) -> None:
    nodes = nodes_of(DATA / "screens" / f"{name}.xml")
    played = Played()
    for _ in range(3):
        assert played.see(seen(nodes)) == ()
        assert played.screen is not None
        pressed = next((e for e in played.screen.elements if e.clickable), None)
        if pressed is not None:
            played.press(pressed)


def test_a_note_of_android_4_is_typed_saved_and_added_to_its_list() -> None:
    editor = nodes_of(DATA / "effects" / "android44-notepad_edit.xml")
    rows = nodes_of(DATA / "screens" / "android44-notepad_list2.xml")
    text = "second note 123"
    before = tuple(one for one in rows if one.text != text)
    empty = tuple(replace(one, text="") if one.text == text else one for one in editor)
    played = Played()
    played.see(seen(before, activity=".NotesList"))
    played.press("New note")
    assert played.see(seen(empty, activity=".NoteEditor")) == ()
    field = next(e for e in played.screen.elements if e.editable)  # type: ignore[union-attr]
    played.act("type_text", field, text=text)
    [typed] = played.see(seen(editor, activity=".NoteEditor"))
    assert (typed.after, typed.saved, typed.page) == (text, FieldFate.TYPED, "New note")
    save = played.press("Save")
    found = played.see(seen(rows, activity=".NotesList"))
    assert [(one.kind, one.saved, one.call_id) for one in found] == [
        (SeenEffectKind.ITEM_ADDED, FieldFate.NONE, save),
        (SeenEffectKind.FIELD, FieldFate.SAVED, save),
    ]
    assert played.ledger.effects[0].settled_by == found[1].number
