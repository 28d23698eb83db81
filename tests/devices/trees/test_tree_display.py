"""The tree of one display, cut out of a dump of all windows."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.devices.trees.display_tree import hierarchy_of
from agent.devices.trees.tree_parser import parse_tree

HEAD = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"


def window(text: str, *, kind: str = "TYPE_APPLICATION", focused: bool = False) -> str:
    return (
        f'<window index="0" title="w" focused="{str(focused).lower()}" type="{kind}">'
        f'<hierarchy rotation="0"><node text="{text}" bounds="[0,0][9,9]"></node></hierarchy>'
        "</window>"
    )


def dump(*displays: tuple[int, str]) -> bytes:
    inside = "".join(f'<display id="{number}">{said}</display>' for number, said in displays)
    return f"{HEAD}<displays>{inside}</displays>".encode()


def text_of(xml: bytes | None) -> str | None:
    return None if xml is None else parse_tree(xml, (9, 9))[0].text


def test_each_display_has_its_own_tree() -> None:
    both = dump((0, window("main ä 世")), (7, window("other 🌍")))
    assert text_of(hierarchy_of(both, 0)) == "main ä 世"
    assert text_of(hierarchy_of(both, 7)) == "other 🌍"
    assert hierarchy_of(both, 3) is None


def test_the_focused_window_of_an_app_comes_before_bars_and_what_is_behind() -> None:
    bars = window("bars", kind="TYPE_SYSTEM", focused=True)
    said = bars + window("behind") + window("front", focused=True)
    assert text_of(hierarchy_of(dump((2, said)), 2)) == "front"
    assert text_of(hierarchy_of(dump((2, bars)), 2)) == "bars"


def test_a_window_inside_a_window_keeps_its_own_tree() -> None:
    inner = window("inner", kind="TYPE_SYSTEM")
    outer = window("outer").replace("<hierarchy", inner + "<hierarchy", 1)
    assert text_of(hierarchy_of(dump((2, outer)), 2)) == "outer"


@pytest.mark.parametrize(
    "xml",
    [
        b"",
        b"<displays>",
        b'<hierarchy rotation="0"><node/></hierarchy>',
        b'<!DOCTYPE x [<!ENTITY a "b">]><displays/>',
        dump((2, "<window>" * 600 + "</window>" * 600)),
    ],
)
def test_what_is_no_dump_of_windows_has_no_tree(xml: bytes) -> None:
    assert hierarchy_of(xml, 2) is None


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=120), st.integers(0, 400), st.integers(0, 60))
def test_a_damaged_dump_of_windows_gives_bytes_or_nothing(
    junk: bytes, start: int, length: int
) -> None:
    xml = bytearray(dump((0, window("main")), (7, window("other"))))
    xml[start : start + length] = junk
    found = hierarchy_of(bytes(xml), 7)
    assert found is None or found.startswith(b"<hierarchy")
