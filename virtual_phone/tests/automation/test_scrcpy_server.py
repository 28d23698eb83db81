"""The scrcpy server of the virtual phone, as clients of every protocol era meet it."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import av
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.patience import until
from virtual_phone.errors import PhoneError
from virtual_phone.phone import Phone
from virtual_phone.scrcpy.control import ControlReader
from virtual_phone.scrcpy.dialect import dialect
from virtual_phone.scrcpy.keyboard import HidKeyboard
from virtual_phone.scrcpy.options import parse_options
from virtual_phone.scrcpy.server import ServerRun
from virtual_phone.scrcpy.stream import video_size
from virtual_phone.server.pipes import Socket
from virtual_phone.userland.userland import Userland

ERAS = ["1.20", "1.22", "1.24", "2.0", "2.7", "3.3.4", "4.0", "4.1", "5.0", "5.0.1"]
POSITIONAL = (
    *("info", "360", "2000000", "60", "-1", "true", "-", "true", "true", "0"),
    *("false", "false", "-", "-", "false"),
)


def arguments(version: str, **options: object) -> list[str]:
    """Return what a client of a version puts on the command line, tunnel_forward=true."""
    if version == "1.20":
        return list(POSITIONAL)
    named = {"tunnel_forward": "true", "max_size": 360, "audio": "false", **options}
    return [f"{key}={value}" for key, value in named.items()]


@dataclass
class Client:
    phone: Phone
    userland: Userland
    version: str
    video: Socket
    control: Socket
    size: tuple[int, int] = (0, 0)
    decoder: av.VideoCodecContext | None = None
    config: bytes = b""
    log: list[str] = field(default_factory=list)

    async def read_start(self) -> str:
        """Read dummy byte, name and size; return the name."""
        assert await self.video.read_exactly(1) == b"\0"
        name = (await self.video.read_exactly(64)).rstrip(b"\0").decode()
        major = int(self.version.split(".")[0])
        if major < 2:
            self.size = struct.unpack(">HH", await self.video.read_exactly(4))
        else:
            assert await self.video.read_exactly(4) == b"h264"
            if major < 4:
                self.size = struct.unpack(">II", await self.video.read_exactly(8))
        return name

    async def read_picture(self) -> av.VideoFrame:
        """Read packets until one of them is a picture; decode it."""
        ways = dialect(self.version)
        while True:
            stamp, size = struct.unpack(">QI", await self.video.read_exactly(12))
            if ways.has_session_packets and stamp >> 63:
                self.size = (stamp & 0xFFFFFFFF, size)
                continue
            data = await self.video.read_exactly(size)
            is_config = stamp & ways.config_flag if ways.config_flag else stamp == (1 << 64) - 1
            if is_config:
                self.config = data
                self.decoder = av.CodecContext.create("h264", "r")
                continue
            assert self.decoder is not None
            packet, self.config = av.Packet(self.config + data), b""
            if frames := self.decoder.decode(packet):
                return frames[0]

    async def handled(self) -> None:
        """Wait until the server has handled what was sent: it answers in order.

        A clipboard that is set to what it holds changes nothing and is acknowledged all the same.
        """
        await self.control.write(struct.pack(">BQBI", 9, 99, 0, 0))
        assert struct.unpack(">BQ", await self.control.read_exactly(9)) == (1, 99)

    async def touch(self, action: int, x: int, y: int, pointer: int = -2) -> None:
        """Send a touch in video pixels."""
        position = struct.pack(">iiHH", x, y, *self.size)
        button = b"\0\0\0\0" if dialect(self.version).touch_has_action_button else b""
        await self.control.write(
            struct.pack(">BBq", 2, action, pointer) + position + b"\xff\xff" + button + b"\0" * 4
        )


@asynccontextmanager
async def connected(home: Path, version: str, **options: object) -> AsyncIterator[Client]:
    """Start the server on a phone of its own and connect video and control."""
    phone = Phone(home)
    userland = Userland(phone, home, "virtual-1")
    ways = dialect(version)
    log: list[str] = []

    async def complain(line: str) -> None:
        log.append(line)

    wanted = parse_options(ways, arguments(version, **options))
    run = asyncio.create_task(ServerRun(userland, ways, wanted, complain=complain).serve())
    name = "localabstract:scrcpy"
    await until(lambda: name in userland.sockets.names() or run.done())
    try:
        video, control = userland.sockets.connect(name), userland.sockets.connect(name)
        yield Client(phone, userland, version, video, control, log=log)
    finally:
        video.close()
        control.close()
        async with asyncio.timeout(30):
            await asyncio.gather(run, return_exceptions=True)
        await userland.sockets.shut_down()
        assert name not in userland.sockets.names()
        phone.close()


@pytest.mark.parametrize("version", ERAS)
async def test_a_client_of_every_era_sees_the_screen(tmp_path: Path, version: str) -> None:
    async with connected(tmp_path, version) as client:
        assert await client.read_start() == client.phone.properties["ro.product.model"]
        picture = await client.read_picture()
        assert (picture.width, picture.height) == client.size
        is_4 = dialect(version).has_session_packets
        assert client.size == ((162, 360) if is_4 else (160, 360))
        pixels = picture.to_ndarray(format="rgb24")
        assert pixels.std() > 10, "the launcher is not one colour"


@pytest.mark.parametrize("version", ["1.24", "3.3.4", "4.1"])
async def test_a_touch_arrives_and_the_new_screen_comes_back(tmp_path: Path, version: str) -> None:
    async with connected(tmp_path, version) as client:
        await client.read_start()
        before = (await client.read_picture()).to_ndarray(format="rgb24").astype(int)
        client.phone.activities.launch("com.android.settings")
        after = (await client.read_picture()).to_ndarray(format="rgb24").astype(int)
        assert abs(after - before).mean() > 5
        await client.control.write(struct.pack(">BB", 4, 0))
        await until(lambda: "settings" not in client.phone.windows.focused_app)


async def test_a_drag_scrolls_by_as_much_as_the_finger_moved(tmp_path: Path) -> None:
    async with connected(tmp_path, "3.3.4") as client:
        await client.read_start()
        client.phone.activities.launch("com.android.settings")
        await client.read_picture()
        before = client.phone.windows.dump
        await client.phone.animations.wait_idle()
        shown = before()
        width, height = client.size
        await client.touch(0, width // 2, height * 3 // 4)
        for part in range(1, 6):
            await client.touch(2, width // 2, height * 3 // 4 - part * height // 12)
        await client.touch(1, width // 2, height * 3 // 4 - 5 * height // 12)
        await until(lambda: client.phone.animations.idle and before() != shown)


async def test_a_touch_meant_for_another_size_is_dropped(tmp_path: Path) -> None:
    async with connected(tmp_path, "3.3.4") as client:
        await client.read_start()
        await client.read_picture()
        version = client.phone.compositor.version
        right = client.size
        client.size = (right[1], right[0])
        await client.touch(0, 100, 80)
        client.size = right
        await client.handled()
        assert client.phone.compositor.version == version


async def test_the_clipboard_is_set_acknowledged_and_read(tmp_path: Path) -> None:
    async with connected(tmp_path, "3.3.4", clipboard_autosync="false") as client:
        await client.read_start()
        text = "世界 🌍".encode()
        await client.control.write(struct.pack(">BQBI", 9, 77, 0, len(text)) + text)
        assert struct.unpack(">BQ", await client.control.read_exactly(9)) == (1, 77)
        assert client.phone.clipboard.text == "世界 🌍"
        await client.control.write(struct.pack(">BB", 8, 0))
        kind, size = struct.unpack(">BI", await client.control.read_exactly(5))
        assert (kind, await client.control.read_exactly(size)) == (0, text)


async def test_a_still_screen_sends_nothing_until_it_is_asked_to(tmp_path: Path) -> None:
    async with connected(tmp_path, "3.3.4") as client:
        await client.read_start()
        await client.read_picture()
        waiting = asyncio.create_task(client.read_picture())
        # The answer to a later message proves that time has passed for the video too.
        await client.handled()
        assert not waiting.done()
        await client.control.write(b"\x11")
        picture = await asyncio.wait_for(waiting, 30)
        assert picture.key_frame


async def test_rotation_brings_a_new_size(tmp_path: Path) -> None:
    async with connected(tmp_path, "4.1") as client:
        await client.read_start()
        first = await client.read_picture()
        await client.control.write(b"\x0b")
        async with asyncio.timeout(30):
            while (picture := await client.read_picture()).width == first.width:
                pass
        assert (picture.width, picture.height) == (first.height, first.width) == client.size


async def test_a_new_display_lives_as_long_as_its_client(tmp_path: Path) -> None:
    async with connected(tmp_path, "3.3.4", new_display="600x800/240", max_size=0) as client:
        await client.read_start()
        assert client.size == (600, 800)
        await client.read_picture()
        assert [d.id for d in client.phone.displays.all()] == [0, 1]
        name = b"com.android.settings"
        await client.control.write(struct.pack(">BB", 16, len(name)) + name)
        await client.read_picture()
        phone = client.phone
    assert [d.id for d in phone.displays.all()] == [0]


async def test_an_unknown_message_ends_the_server(tmp_path: Path) -> None:
    async with connected(tmp_path, "2.0") as client:
        await client.read_start()
        await client.control.write(b"\xfe")
        async with asyncio.timeout(30):
            while await client.control.read():
                pass


def test_versions_that_are_not_spoken_are_refused() -> None:
    for version in ("1.19", "6.0", "", "three", "3", "9" * 80):
        with pytest.raises(PhoneError, match="does not speak"):
            dialect(version)


def test_a_forks_word_names_the_version_that_it_was_made_from() -> None:
    assert dialect("4.1-ez2.2.2") == dialect("4.1")


async def test_an_empty_clipboard_is_answered_by_silence(tmp_path: Path) -> None:
    """`Controller.getClipboard` of every version sends nothing where there is no text."""
    async with connected(tmp_path, "3.3.4", clipboard_autosync="false") as client:
        await client.read_start()
        await client.control.write(struct.pack(">BB", 8, 0))
        await client.handled()


async def test_with_autosync_a_clipboard_that_is_asked_for_is_not_sent_twice(
    tmp_path: Path,
) -> None:
    async with connected(tmp_path, "3.3.4") as client:
        await client.read_start()
        client.phone.clipboard.set("milk")
        assert await client.control.read_exactly(9) == b"\0\0\0\0\x04milk"
        await client.control.write(struct.pack(">BB", 8, 0))
        await client.control.write(struct.pack(">BQBI", 9, 99, 0, 4) + b"milk")
        assert struct.unpack(">BQ", await client.control.read_exactly(9)) == (1, 99)


@pytest.mark.parametrize(("version", "lines"), [("2.7", 18), ("3.3.4", 2), ("5.0.1", 2)])
async def test_a_phone_that_refuses_injection_has_it_logged_as_the_version_does(
    tmp_path: Path, version: str, lines: int
) -> None:
    """`wrappers/InputManager.java`: since 3.3 two lines in three seconds, before it the stack."""
    async with connected(tmp_path, version) as client:
        await client.read_start()
        await client.read_picture()
        before = client.phone.compositor.version
        client.phone.refuses_injection = True
        await client.touch(0, 100, 100)
        await client.touch(1, 100, 100)
        await client.control.write(struct.pack(">BH", 14, 4242))
        await client.handled()
        assert client.phone.compositor.version == before
        assert len(client.log) == lines + 1
        assert "INJECT_EVENTS permission" in "".join(client.log[:-1])
        assert client.log[-1] == "[server] WARN: Closing unknown UHID device: 4242"


@pytest.mark.parametrize(
    ("option", "named"),
    [
        ("max_size=big", "max_size"),
        ("scid=xyz", "scid"),
        ("scid=ffffffff", "scid"),
        ("new_display=10by10", "new_display"),
        ("video_codec=h265", "h265"),
        ("max_fps=fast", "max_fps"),
    ],
)
def test_a_value_that_cannot_be_read_is_named(option: str, named: str) -> None:
    with pytest.raises(PhoneError, match=named):
        parse_options(dialect("3.3.4"), [option])


def test_options_of_newer_clients_are_ignored() -> None:
    options = parse_options(dialect("3.3.4"), ["list_teapots=true", "nonsense", "max_size=720"])
    assert options.max_size == 720


@pytest.mark.parametrize(
    ("display", "max_size", "multiple", "expected"),
    [
        ((1080, 2400), 0, 8, (1080, 2400)),
        ((1080, 2400), 1080, 8, (488, 1080)),
        ((1080, 2400), 720, 8, (328, 720)),
        ((1080, 2400), 360, 8, (160, 360)),
        ((2400, 1080), 720, 8, (720, 328)),
        ((1081, 2403), 0, 8, (1080, 2400)),
        ((1080, 2400), 720, 1, (324, 720)),
        ((200, 4000), 100, 8, (8, 96)),
    ],
)
def test_video_sizes(
    display: tuple[int, int], max_size: int, multiple: int, expected: tuple[int, int]
) -> None:
    assert video_size(*display, max_size, multiple) == expected


@given(st.binary(max_size=400), st.sampled_from(ERAS))
async def test_random_bytes_never_break_the_reader(data: bytes, version: str) -> None:
    at = 0

    async def read_exactly(count: int) -> bytes:
        nonlocal at
        if at + count > len(data):
            raise EOFError
        at += count
        return data[at - count : at]

    reader = ControlReader(dialect(version), read_exactly)
    with pytest.raises((EOFError, PhoneError)):
        while True:
            await reader.next()


def test_a_hid_key_acts_once_however_long_it_is_held() -> None:
    keyboard = HidKeyboard()
    assert keyboard.presses(bytes([2, 0, 4, 0, 0, 0, 0, 0])) == [(29, 1)]
    assert keyboard.presses(bytes([2, 0, 4, 5, 0, 0, 0, 0])) == [(30, 1)]
    assert keyboard.presses(bytes(8)) == []
    assert keyboard.presses(bytes([0, 0, 4, 0, 0, 0, 0, 0])) == [(29, 0)]
    assert keyboard.presses(b"short") == []
