"""What comes from a server, in every version's layout, from honest and from hostile peers."""

import asyncio
import hashlib
import struct
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.devices.scrcpy import server_file
from agent.devices.scrcpy.arguments import SessionOptions, server_command, socket_name
from agent.devices.scrcpy.dialect import dialect
from agent.devices.scrcpy.packets import VideoItem, VideoPacket, VideoSize, read_video
from agent.devices.scrcpy.replies import Acknowledged, Clipboard, UhidOutput, read_reply
from agent.devices.scrcpy.server_file import NoServerError, find_server_file, read_server_file
from agent.errors import DeviceError
from virtual_phone.scrcpy import stream
from virtual_phone.scrcpy.dialect import dialect as phone_dialect
from virtual_phone.scrcpy.options import parse_options

ERAS = ["1.20", "1.22", "1.23", "1.24", "2.0", "2.7", "3.3.4", "4.0", "4.1"]


def reader(data: bytes) -> asyncio.StreamReader:
    """Return a stream that holds these bytes and ends."""
    made = asyncio.StreamReader()
    made.feed_data(data)
    made.feed_eof()
    return made


async def items(version: str, data: bytes) -> list[VideoItem]:
    """Read everything up to the end of the stream."""
    found: list[VideoItem] = []
    try:
        async for item in read_video(dialect(version), reader(data).readexactly):
            found.append(item)
    except asyncio.IncompleteReadError:
        return found
    raise AssertionError("a stream that ends says so")


@pytest.mark.parametrize("version", ERAS)
async def test_sizes_and_packets_are_read_in_every_layout(version: str) -> None:
    ways = phone_dialect(version)
    start = struct.pack(">HH", 328, 720) if ways.meta_has_size else stream.header(ways, 328, 720)
    sent = (
        start
        + stream.configuration_packet(ways, b"\0\0\0\1gSPS", with_meta=True)
        + stream.frame_packet(ways, 1_000_001, b"IDR", is_key=True, with_meta=True)
        + stream.frame_packet(ways, 1_033_334, b"P", is_key=False, with_meta=True)
    )
    has_key_flag = bool(ways.key_flag)
    assert await items(version, sent) == [
        VideoSize(328, 720),
        VideoPacket(0, b"\0\0\0\1gSPS", is_config=True, is_key=False),
        VideoPacket(1_000_001, b"IDR", is_config=False, is_key=has_key_flag),
        VideoPacket(1_033_334, b"P", is_config=False, is_key=False),
    ]


async def test_version_4_says_every_new_size() -> None:
    ways = phone_dialect("4.1")
    sent = stream.header(ways, 328, 720) + stream.session_packet(720, 328)
    assert await items("4.1", sent) == [VideoSize(328, 720), VideoSize(720, 328)]


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (struct.pack(">I", 0), "no video"),
        (struct.pack(">I", 1), "refused to start"),
        (struct.pack(">I", 0x68323635), "codec"),
        (struct.pack(">III", 0x68323634, 0, 720), "0×720"),
        (struct.pack(">III", 0x68323634, 1 << 31, 720), "pixels"),
        (struct.pack(">IIIQI", 0x68323634, 328, 720, 0, 1 << 30), "packet of"),
        (struct.pack(">IIIQI", 0x68323634, 328, 720, 0, 0), "packet of 0"),
    ],
)
async def test_what_makes_no_sense_ends_the_stream_with_why(sent: bytes, why: str) -> None:
    with pytest.raises(DeviceError, match=why):
        await items("3.3.4", sent)


async def test_messages_of_the_phone_are_read() -> None:
    """The vectors of scrcpy's `app/tests/test_device_msg_deserialize.c`."""
    sent = reader(
        bytes([0, 0, 0, 0, 3, 0x41, 0x42, 0x43])
        + bytes([1, 1, 2, 3, 4, 5, 6, 7, 8])
        + bytes([2, 0, 42, 0, 5, 1, 2, 3, 4, 5])
    )
    assert await read_reply(sent.readexactly) == Clipboard("ABC")
    assert await read_reply(sent.readexactly) == Acknowledged(0x0102030405060708)
    assert await read_reply(sent.readexactly) == UhidOutput(42, bytes([1, 2, 3, 4, 5]))


@pytest.mark.parametrize(
    "sent", [bytes([3]), bytes([255]), bytes([0, 0xFF, 0, 0, 0]), bytes([2, 0, 1, 0xFF, 0xFF])]
)
async def test_a_message_that_is_none_is_an_error(sent: bytes) -> None:
    with pytest.raises(DeviceError):
        await read_reply(reader(sent).readexactly)


@settings(deadline=None, max_examples=60)
@given(data=st.binary(max_size=200), version=st.sampled_from(ERAS))
async def test_random_bytes_end_in_an_error_and_nothing_else(data: bytes, version: str) -> None:
    for read in (read_video(dialect(version), reader(data).readexactly),):
        with pytest.raises((DeviceError, asyncio.IncompleteReadError)):
            async for _ in read:
                pass
    replies = reader(data)
    with pytest.raises((DeviceError, asyncio.IncompleteReadError)):
        while True:
            await read_reply(replies.readexactly)


# --- starting ----------


@pytest.mark.parametrize("version", ["1.20", "1.21", "1.24", "2.0", "3.3.4", "4.1"])
def test_the_phone_reads_the_command_line_of_every_version(version: str) -> None:
    wanted = SessionOptions(scid=0x1234567, max_size_px=720, max_fps=30, bit_rate=2_000_000)
    command = server_command(dialect(version), "/data/local/tmp/s.jar", wanted)
    head, _, tail = command.partition(f" {version} ")
    assert head.endswith("app_process / com.genymobile.scrcpy.Server")
    read = parse_options(phone_dialect(version), tail.split(" "))
    assert (read.max_size, read.max_fps, read.bit_rate) == (720, 30, 2_000_000)
    assert read.tunnel_forward
    assert read.control
    assert not read.audio or not phone_dialect(version).has_audio
    if phone_dialect(version).has_scid:
        assert read.scid == 0x1234567
        assert socket_name(dialect(version), read.scid) == "scrcpy_01234567"


def test_a_display_is_asked_for_by_those_who_can_make_one() -> None:
    wanted = SessionOptions(scid=1, new_display=(1080, 1920, 320))
    command = server_command(dialect("3.3.4"), "/x", wanted)
    assert "new_display=1080x1920/320" in command
    with pytest.raises(DeviceError, match=r"3\.0 or newer"):
        server_command(dialect("2.7"), "/x", wanted)


# --- the server file ----------


def make_server(path: Path, version: str, *, utf16: bool = True) -> Path:
    """Write a file like a release's, whose manifest names a version."""
    text = version.encode("utf-16-le" if utf16 else "utf-8")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("AndroidManifest.xml", b"\x03\0\x08\0" + b"\0\0" + text + b"\0\0")
        archive.writestr("classes.dex", b"dex")
    return path


@pytest.mark.parametrize("utf16", [True, False])
def test_a_server_file_names_its_own_version(tmp_path: Path, utf16: bool) -> None:
    found = read_server_file(make_server(tmp_path / "s", "2.7", utf16=utf16))
    assert str(found.ways) == "2.7"
    assert found.sha256 == hashlib.sha256(found.data).hexdigest()
    assert found.sha256[:16] in found.remote_path


def test_what_is_no_server_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    no_manifest = BytesIO()
    with zipfile.ZipFile(no_manifest, "w") as archive:
        archive.writestr("classes.dex", b"")
    (tmp_path / "zip").write_bytes(no_manifest.getvalue())
    for name in ("text", "zip", "absent"):
        with pytest.raises(DeviceError, match="is not a scrcpy server"):
            read_server_file(tmp_path / name)


def test_a_packaged_server_must_be_the_official_one(tmp_path: Path) -> None:
    forged = make_server(tmp_path / "s", "3.3.4")
    with pytest.raises(DeviceError, match="checksum differs"):
        read_server_file(forged, must_be_official=True)


def test_a_setting_wins_and_nothing_found_says_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("SCRCPY_SERVER_PATH", "")
    monkeypatch.setattr(server_file, "_packaged", lambda: None)
    with pytest.raises(NoServerError, match="pip install mysc-core"):
        find_server_file()
    named = make_server(tmp_path / "mine", "3.1")
    assert str(find_server_file(str(named)).ways) == "3.1"


def test_an_installed_scrcpy_lends_its_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "share" / "scrcpy").mkdir(parents=True)
    program = tmp_path / "bin" / "scrcpy"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    make_server(tmp_path / "share" / "scrcpy" / "scrcpy-server", "4.1")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("SCRCPY_SERVER_PATH", "")
    assert str(find_server_file().ways) == "4.1"
