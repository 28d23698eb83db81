"""One call of a phone's shell says what is in front, with `grep` there or without."""

from pathlib import Path

import pytest

from agent.devices.facts.fact import Known
from agent.devices.facts.foreground import foreground_command, read_window_look
from agent.devices.shell.window_looks import WindowLooks
from tests.devices.facts.said_phone import DumpingPhone
from tests.devices.facts.shapes import (
    CLUSTER,
    COVER,
    NAME,
    Shown,
    displays_text,
    input_method_text,
    on,
    windows_text,
)

ANDROIDS = (7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
SDKS = {7: 24, 8: 26, 9: 28, 10: 29, 11: 30, 12: 31, 13: 33, 14: 34, 15: 35, 16: 36}
MAIN = on(Shown(), keyboard="shown", turned=True)


@pytest.fixture(params=ANDROIDS)
def android(request: pytest.FixtureRequest) -> int:
    found: int = request.param
    return found


@pytest.fixture
def folder(tmp_path: Path, android: int) -> Path:
    """What `dumpsys` prints on this version, with two displays before the main one."""
    shown = (COVER, CLUSTER, MAIN)
    said = {
        "window displays": displays_text(android, shown),
        "window windows": windows_text(android, shown),
        "input_method": input_method_text(android, shown=True, view=True),
    }
    for words, text in said.items():
        (tmp_path / words).write_bytes(text.encode())
    return tmp_path


async def test_one_call_tells_all_that_a_step_needs(android: int, folder: Path) -> None:
    phone = DumpingPhone(folder, sdk=SDKS[android])
    looks = WindowLooks(phone)
    look = await looks.look(timeout_s=5)
    assert len(phone.ran) == 1
    front = looks.foreground_of(look)
    assert (front.package, front.keyboard_shown) == (NAME, True)
    assert isinstance(look.size, Known)
    assert look.size.value == (2400, 1080)


async def test_what_grep_keeps_is_read_as_the_whole_is(android: int, folder: Path) -> None:
    phone = DumpingPhone(folder, sdk=SDKS[android])
    for display in (0, 1, 2):
        kept = await phone.run(foreground_command(SDKS[android]))
        whole = await phone.run(foreground_command(SDKS[android], whole=True))
        assert read_window_look(kept.text, display) == read_window_look(whole.text, display)


async def test_a_phone_without_grep_is_asked_for_the_whole_from_then_on(
    android: int, folder: Path
) -> None:
    phone = DumpingPhone(folder, sdk=SDKS[android], has_grep=False)
    looks = WindowLooks(phone)
    for asked in (2, 3, 4):
        assert (await looks.foreground(timeout_s=5)).package == NAME
        assert len(phone.ran) == asked
    looks.forget()
    assert (await looks.foreground(timeout_s=5)).package == NAME
    assert len(phone.ran) == 6


async def test_a_phone_of_unknown_version_is_asked_for_both(android: int, folder: Path) -> None:
    phone = DumpingPhone(folder, sdk=0)
    assert (await WindowLooks(phone).foreground(timeout_s=5)).package == NAME
    assert len(phone.ran) == 1
