"""`logcat -v`: layouts and the words that change them, as liblog's logprint.cpp writes them."""

import re

import pytest

from support.connected import Connected

TIME = r"\d\d-\d\d \d\d:\d\d:\d\d"
LINES = {
    "threadtime": TIME + r"\.\d{3} +\d+ +\d+ I exam    : hello",
    "threadtime,year": r"\d{4}-" + TIME + r"\.\d{3} +\d+ +\d+ I exam    : hello",
    "year": r"\d{4}-" + TIME + r"\.\d{3} +\d+ +\d+ I exam    : hello",
    "threadtime -v year": r"\d{4}-" + TIME + r"\.\d{3} +\d+ +\d+ I exam    : hello",
    "threadtime,usec,zone": TIME + r"\.\d{6} \+0000 +\d+ +\d+ I exam    : hello",
    "epoch": r" {9}\d{10}\.\d{3} +\d+ +\d+ I exam    : hello",
    "monotonic": r"[ \d]{6}\.\d{3} +\d+ +\d+ I exam    : hello",
    "brief": r"I/exam    \( *\d+\): hello",
    "time,nsec": TIME + r"\.\d{9} I/exam    \( *\d+\): hello",
    "tag": "I/exam    : hello",
    "raw": "hello",
}


@pytest.mark.parametrize("words", LINES)
async def test_a_line_has_the_layout_and_the_changes_that_were_asked(
    connected: Connected, words: str
) -> None:
    await connected.shell("log -t exam hello")
    said = (await connected.shell(f"logcat -d -s exam -v {words}")).text.splitlines()
    assert re.fullmatch(LINES[words], said[-1]), said[-1]


async def test_a_word_that_no_logcat_knows_is_refused(connected: Connected) -> None:
    said = await connected.shell("logcat -d -v threadtime,sideways")
    assert said.status == 1 and b'Invalid parameter "threadtime,sideways" to -v' in said.err
