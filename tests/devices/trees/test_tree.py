"""UI trees: every recording parses, hostile XML is refused, every bound is normalized."""

import time
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.devices.trees.tree_parser import DEPTH_LIMIT, NODE_LIMIT, parse_tree
from agent.errors import TreeUnavailableError

DATA = Path(__file__).parent.parent.parent / "data" / "devices"
RECORDINGS = sorted((DATA / "android-4.4.2").glob("*.xml")) + sorted(
    (DATA / "compose-chat").glob("*.xml")
)
PORTRAIT = (1080, 2400)


def size_of(recording: Path) -> tuple[int, int]:
    return (480, 800) if recording.parent.name == "android-4.4.2" else PORTRAIT


def hierarchy(body: str, rotation: int = 0) -> bytes:
    return f'<?xml version="1.0"?><hierarchy rotation="{rotation}">{body}</hierarchy>'.encode()


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.name)
def test_every_recorded_tree_parses_whole(recording: Path) -> None:
    xml = recording.read_bytes()
    nodes = parse_tree(xml, size_of(recording))
    assert len(nodes) == xml.count(b"<node ")
    for index, node in enumerate(nodes):
        assert -1 <= node.parent < index
        assert node.depth == (nodes[node.parent].depth + 1 if node.parent >= 0 else 0)
        edges = node.bounds
        assert 0 <= edges.left <= edges.right <= 1
        assert 0 <= edges.top <= edges.bottom <= 1


def test_a_turned_screen_swaps_the_sides() -> None:
    nodes = parse_tree((DATA / "android-4.4.2/calculator_landscape.xml").read_bytes(), (480, 800))
    assert nodes[0].bounds.right == pytest.approx(737 / 800)
    assert nodes[0].bounds.bottom == 1.0


def test_attributes_become_fields() -> None:
    xml = hierarchy(
        '<node index="0" text="a&#10;b" resource-id="x:id/y" class="android.widget.EditText" '
        'package="x" content-desc="d" hint="h" checkable="true" checked="true" clickable="true" '
        'enabled="false" focusable="true" focused="true" scrollable="true" long-clickable="true" '
        'password="true" selected="true" bounds="[108,240][540,480]" />'
    )
    (node,) = parse_tree(xml, PORTRAIT)
    assert (node.text, node.description, node.hint) == ("a\nb", "d", "h")
    assert (node.resource_id, node.class_name, node.package) == (
        "x:id/y",
        "android.widget.EditText",
        "x",
    )
    flags = (
        "checkable checked clickable focusable focused scrollable long_clickable password selected"
    )
    assert all(getattr(node, flag) for flag in flags.split())
    assert not node.enabled
    assert node.bounds.left == pytest.approx(0.1)
    assert node.bounds.bottom == pytest.approx(0.2)


@pytest.mark.parametrize(
    "xml",
    [
        b"",
        b"ERROR: null root node returned by UiTestAutomationBridge.",
        b"<hierarchy><node>",
        b"<html></html>",
        b"\xff\xfe\x00",
        hierarchy("<node text='a' text='b'/>"),
    ],
)
def test_broken_xml_is_no_tree(xml: bytes) -> None:
    with pytest.raises(TreeUnavailableError):
        parse_tree(xml, PORTRAIT)


def test_an_entity_bomb_is_refused_before_it_expands() -> None:
    bomb = (
        b'<!DOCTYPE h [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
        b'<hierarchy><node text="&b;"/></hierarchy>'
    )
    with pytest.raises(TreeUnavailableError, match="document type"):
        parse_tree(bomb, PORTRAIT)


def test_an_external_entity_is_refused() -> None:
    xml = b'<!DOCTYPE h [<!ENTITY x SYSTEM "file:///etc/passwd">]><hierarchy>&x;</hierarchy>'
    with pytest.raises(TreeUnavailableError, match="document type"):
        parse_tree(xml, PORTRAIT)


def test_ten_thousand_nodes_are_read_in_one_pass() -> None:
    node = '<node text="row" class="android.view.View" clickable="true" bounds="[0,0][10,10]"/>'
    xml = hierarchy(node * 10_000)
    started_s = time.thread_time()
    assert len(parse_tree(xml, PORTRAIT)) == 10_000
    # Less than a second of work; were every node compared with each it would be minutes.
    assert time.thread_time() - started_s < 15


def test_a_tree_without_end_is_refused() -> None:
    with pytest.raises(TreeUnavailableError, match="more than"):
        parse_tree(hierarchy("<node/>" * (NODE_LIMIT + 1)), PORTRAIT)
    deep = "<node>" * (DEPTH_LIMIT + 1) + "</node>" * (DEPTH_LIMIT + 1)
    with pytest.raises(TreeUnavailableError, match="deeper"):
        parse_tree(hierarchy(deep), PORTRAIT)


def test_emoji_as_two_surrogate_references_are_joined() -> None:
    (node,) = parse_tree(hierarchy('<node text="&#55357;&#56832;!"/>'), PORTRAIT)
    assert node.text == "😀!"


@pytest.mark.parametrize("reference", ["&#0;", "&#27;", "&#x1f;", "&#55357;", "&#99999999;"])
def test_references_that_xml_forbids_become_replacement_characters(reference: str) -> None:
    (node,) = parse_tree(hierarchy(f'<node text="a{reference}b"/>'), PORTRAIT)
    assert node.text == "a\ufffdb"


def test_an_escape_sequence_in_the_raw_bytes_does_not_pass() -> None:
    (node,) = parse_tree(hierarchy('<node text="a\x1b[31mb"/>'), PORTRAIT)
    assert "\x1b" not in node.text


@pytest.mark.parametrize(
    ("written", "drawn"),
    [
        ("&#60055;", ""),
        ("&#60055; Home", "Home"),
        ("5&#xF005;", "5"),
        ("&#xF0241;", ""),
        ("&#x10FFFD;x", "x"),
        ("&#65532;", ""),
    ],
)
def test_the_glyph_of_an_icon_font_is_no_text(written: str, drawn: str) -> None:
    (node,) = parse_tree(
        hierarchy(f'<node text="{written}" content-desc="{written}" hint="{written}"/>'), PORTRAIT
    )
    assert (node.text, node.description, node.hint) == (drawn, drawn, drawn)


def test_what_only_some_dumpers_write_is_read() -> None:
    hinted, tip, state, gone = parse_tree(
        hierarchy(
            '<android.widget.EditText text="Email" showing-hint="true"/>'
            '<android.widget.ImageButton text="" content-desc="" tooltip-text="Archive"/>'
            '<android.view.View text="" content-desc="Volume" state-description="40 percent"/>'
            '<node text="Row 9" visible-to-user="false" bounds="[0,0][10,10]" clickable="true"/>'
        ),
        PORTRAIT,
    )
    assert (hinted.text, hinted.hint, hinted.class_name) == ("", "Email", "android.widget.EditText")
    assert tip.description == "Archive"
    assert (state.text, state.description) == ("40 percent", "Volume")
    assert (gone.text, gone.bounds.right) == ("", 0.0)


@given(
    text=st.text(
        st.characters(exclude_categories=("Cs", "Cc", "Co"), exclude_characters="\ufffc"),
        max_size=40,
    ),
    edges=st.tuples(*[st.integers(-5000, 5000)] * 4),
    rotation=st.integers(0, 3),
)
def test_any_text_and_any_edges_come_back_normalized(
    text: str, edges: tuple[int, int, int, int], rotation: int
) -> None:
    bounds = "[{},{}][{},{}]".format(*edges)
    if "\ufffe" in text or "\uffff" in text:
        return
    xml = hierarchy(f'<node text={quoteattr(text)} bounds="{bounds}"/>', rotation)
    (node,) = parse_tree(xml, PORTRAIT)
    assert node.text == text
    assert 0 <= node.bounds.left <= node.bounds.right <= 1
    assert 0 <= node.bounds.top <= node.bounds.bottom <= 1


@given(st.binary(max_size=300))
def test_random_bytes_never_do_anything_but_raise(xml: bytes) -> None:
    try:
        parse_tree(xml, PORTRAIT)
    except TreeUnavailableError as error:
        assert error.remedy
