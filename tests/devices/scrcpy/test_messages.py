"""Control messages byte by byte: the vectors of scrcpy's own unit tests, and what versions change.

The expected bytes are those of `app/tests/test_control_msg_serialize.c` and
`ControlMessageReaderTest.java` of the scrcpy project, version 3 unless the test says otherwise.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.devices.scrcpy import messages
from agent.devices.scrcpy.dialect import NEWEST, OLDEST, Dialect, dialect
from agent.devices.scrcpy.messages import CopyKey, KeyAction, Kind, Place, TouchAction
from agent.errors import DeviceError
from virtual_phone.scrcpy.control import ControlMessage, ControlReader, Scroll, TouchEvent
from virtual_phone.scrcpy.dialect import dialect as phone_dialect

NOW = dialect("3.3.4")
ERAS = ["1.20", "1.21", "1.22", "1.24", "1.25", "2.0", "2.4", "2.7", "3.0", "3.3.4", "4.0", "4.1"]
ERAS += ["5.0", "5.0.1", "4.1-ez2.2.2"]
PLACE = Place(100, 200, 1080, 1920)
WORDS = b"hello, world!"


def test_a_key_is_14_bytes() -> None:
    assert messages.key(KeyAction.UP, 66, repeat=5, meta=0x41) == bytes(
        [0, 1, 0, 0, 0, 0x42, 0, 0, 0, 5, 0, 0, 0, 0x41]
    )


def test_text_has_its_length_before_it() -> None:
    assert messages.text(WORDS.decode()) == bytes([1, 0, 0, 0, 13]) + WORDS
    assert messages.text("a" * 300) == bytes([1, 0, 0, 1, 0x2C]) + b"a" * 300


def test_text_that_is_too_long_is_refused_and_not_cut() -> None:
    with pytest.raises(DeviceError, match="parts"):
        messages.text("a" * 301)
    with pytest.raises(DeviceError, match="parts"):
        messages.set_clipboard(NOW, "é" * (1 << 17), sequence=1, paste=False)


def test_a_touch_is_32_bytes() -> None:
    sent = messages.touch(
        NOW, TouchAction.DOWN, 0x1234567887654321, PLACE, action_button=1, buttons=1
    )
    assert sent == bytes.fromhex(
        "02 00 1234567887654321 00000064 000000c8 0438 0780 ffff 00000001 00000001"
    )


def test_a_touch_before_version_2_has_no_action_button() -> None:
    sent = messages.touch(dialect("1.24"), TouchAction.DOWN, -2, PLACE, buttons=1)
    assert sent == bytes.fromhex("02 00 fffffffffffffffe 00000064 000000c8 0438 0780 ffff 00000001")


@pytest.mark.parametrize(
    ("version", "steps", "tail"),
    [
        ("1.21", (1, -1), "00000001 ffffffff"),
        ("1.24", (1, -1), "00000001 ffffffff 00000001"),
        ("1.25", (1, -1), "7fff 8000 00000001"),
        ("3.3", (1, -1), "7fff 8000 00000001"),
        ("3.3.4", (16, -16), "7fff 8000 00000001"),
        ("4.1", (1, -1), "0800 f800 00000001"),
        ("5.0", (1, -1), "0800 f800 00000001"),
        ("5.0.1", (1, -1), "0800 f800 00000001"),
    ],
)
def test_a_scroll_is_written_as_its_version_does(
    version: str, steps: tuple[float, float], tail: str
) -> None:
    sent = messages.scroll(dialect(version), Place(260, 1026, 1080, 1920), *steps, buttons=1)
    assert sent == bytes.fromhex("03 00000104 00000402 0438 0780" + tail)


def test_messages_that_are_their_kind_alone() -> None:
    kinds = (5, 6, 7, 11)
    assert [messages.plain(Kind(kind)) for kind in kinds] == [bytes([kind]) for kind in kinds]
    assert messages.reset_video(NOW) == bytes([17])
    assert messages.back_or_screen_on(KeyAction.UP) == bytes([4, 1])


def test_the_clipboard_is_asked_for_and_set() -> None:
    assert messages.get_clipboard(NOW, CopyKey.COPY) == bytes([8, 1])
    assert messages.get_clipboard(dialect("1.20")) == bytes([8])
    sent = messages.set_clipboard(NOW, WORDS.decode(), sequence=0x0102030405060708, paste=True)
    assert sent == bytes([9, 1, 2, 3, 4, 5, 6, 7, 8, 1, 0, 0, 0, 13]) + WORDS
    old = messages.set_clipboard(dialect("1.20"), WORDS.decode(), sequence=7, paste=True)
    assert old == bytes([9, 1, 0, 0, 0, 13]) + WORDS


def test_the_longest_clipboard_fills_a_message_of_256_kib() -> None:
    text = "a" * messages.CLIPBOARD_LIMIT_BYTES
    assert len(messages.set_clipboard(NOW, text, sequence=1, paste=True)) == 1 << 18


def test_display_power_was_a_mode_before_version_3() -> None:
    assert messages.display_power(NOW, on=True) == bytes([10, 1])
    assert messages.display_power(dialect("2.7"), on=True) == bytes([10, 2])
    assert messages.display_power(NOW, on=False) == bytes([10, 0])


def test_an_app_is_started_by_name() -> None:
    assert messages.start_app(NOW, "firefox") == bytes([16, 7]) + b"firefox"


@pytest.mark.parametrize("version", ["1.24", "2.7"])
def test_what_came_later_is_refused_to_older_servers(version: str) -> None:
    for wish in (lambda ways: messages.start_app(ways, "x"), messages.reset_video):
        with pytest.raises(DeviceError, match=version):
            wish(dialect(version))


@settings(deadline=None, max_examples=60)
@given(
    version=st.sampled_from(ERAS),
    x=st.integers(0, 8191),
    y=st.integers(0, 8191),
    pointer=st.sampled_from([-3, -2, -1, 0, 9]),
    action=st.sampled_from(list(TouchAction)),
    steps=st.tuples(st.integers(-1, 1), st.integers(-1, 1)),
    words=st.text(max_size=40),
)
async def test_the_phones_reader_reads_what_was_written(
    version: str,
    x: int,
    y: int,
    pointer: int,
    action: TouchAction,
    steps: tuple[int, int],
    words: str,
) -> None:
    ways, place = dialect(version), Place(x, y, 8192, 8192)
    touch, wheel, text = await read_all(
        ways,
        messages.touch(ways, action, pointer, place)
        + messages.scroll(ways, place, *steps)
        + messages.set_clipboard(ways, words, sequence=1, paste=False),
    )
    assert isinstance(touch, TouchEvent)
    assert (touch.action, touch.pointer) == (action, pointer)
    assert (touch.position.x, touch.position.y) == (x, y)
    assert isinstance(wheel, Scroll)
    assert (wheel.horizontal, wheel.vertical) == pytest.approx(steps, abs=1e-3)
    assert getattr(text, "text", None) == words


async def read_all(ways: Dialect, sent: bytes) -> list[ControlMessage]:
    """Read whole messages as the virtual phone does."""
    left = memoryview(sent)

    async def read(count: int) -> bytes:
        nonlocal left
        taken, left = bytes(left[:count]), left[count:]
        return taken

    reader = ControlReader(phone_dialect(str(ways)), read)
    found = []
    while left:
        found.append(await reader.next())
    return found


@pytest.mark.parametrize(
    "version", ["1.19", "", "3", "x" * 100, "3.3.4; reboot", "3.3.4\n", "5.0 1", "٣.٣", "1.2.3.4 "]
)
def test_a_version_that_is_not_spoken_is_refused(version: str) -> None:
    with pytest.raises(DeviceError, match=r"Use a server of version 1\.20 or newer"):
        dialect(version)


@pytest.mark.parametrize("version", ["5.0", "5.0.1"])
def test_version_5_speaks_as_4_1_does(version: str) -> None:
    """The layouts of `control_msg.c` at 4.1, by hand; clients of 5.0.1 send the same bytes."""
    ways = dialect(version)
    assert not ways.caution
    touch = messages.touch(ways, TouchAction.UP, -2, PLACE, pressure=0.0)
    assert touch == bytes.fromhex(
        "02 01 fffffffffffffffe 00000064 000000c8 0438 0780 0000 00000000 00000000"
    )
    assert messages.get_clipboard(ways, CopyKey.CUT) == bytes.fromhex("08 02")
    sent = messages.set_clipboard(ways, "é", sequence=1, paste=False)
    assert sent == bytes.fromhex("09 0000000000000001 00 00000002 c3a9")
    assert messages.display_power(ways, on=True) == bytes.fromhex("0a 01")
    assert messages.start_app(ways, "+a.b") == bytes.fromhex("10 04 2b612e62")
    assert messages.reset_video(ways) == bytes.fromhex("11")


@settings(max_examples=60)
@given(
    st.tuples(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99)),
    st.sampled_from(["", "-ez2.2.2", "rc1", "+build.7", ".1"]),
)
def test_a_version_is_refused_only_where_it_is_older_than_the_sentence_says(
    version: tuple[int, int, int], more: str
) -> None:
    word = ".".join(map(str, version)) + more
    if version < OLDEST:
        with pytest.raises(DeviceError, match=r"1\.20 or newer"):
            dialect(word)
        return
    ways = dialect(word)
    assert str(ways) == word, "the server accepts no client that gives another word"
    assert bool(ways.caution) == (version > NEWEST)
    assert not ways.caution or (word in ways.caution and "5.0.1" in ways.caution)
