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

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.scrcpy import link as link_module
from agent.devices.scrcpy import server_file
from agent.devices.scrcpy.arguments import SessionOptions, server_command, socket_name
from agent.devices.scrcpy.dialect import dialect
from agent.devices.scrcpy.link import ScrcpyLink, ScrcpySettings
from agent.devices.scrcpy.manifest import version_name
from agent.devices.scrcpy.packets import VideoItem, VideoPacket, VideoSize, read_video
from agent.devices.scrcpy.replies import Acknowledged, Clipboard, UhidOutput, read_reply
from agent.devices.scrcpy.server_file import (
    NoServerError,
    PhoneServer,
    UnusableServerError,
    find_server_file,
    read_server_file,
)
from agent.devices.shell.phone_shell import PhoneShell
from agent.errors import DeviceError
from virtual_phone.scrcpy import stream
from virtual_phone.scrcpy.dialect import dialect as phone_dialect
from virtual_phone.scrcpy.options import parse_options

ERAS = ["1.20", "1.22", "1.23", "1.24", "2.0", "2.7", "3.3.4", "4.0", "4.1", "5.0", "5.0.1"]


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


@pytest.mark.parametrize("version", ["1.20", "1.21", "1.24", "2.0", "3.3.4", "4.1", "5.0.1"])
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


def a_manifest(version: str, *, utf16: bool, keeps_names: bool = True) -> bytes:
    """Return a manifest in the layout of AOSP's `ResourceTypes.h`, as the releases' are.

    Before the version stand the strings in which a search would find another one: what the file
    was compiled against (`platformBuildVersionName`).
    """
    words = ["versionCode" if keeps_names else "", "versionName" if keeps_names else ""]
    words += ["manifest", "8.1.0", version]
    if utf16:
        made = [struct.pack("<H", len(one)) + one.encode("utf-16-le") + b"\0\0" for one in words]
    else:
        sizes = [len(one).to_bytes(1) for one in words]
        made = [size * 2 + one.encode() + b"\0" for size, one in zip(sizes, words, strict=True)]
    offsets = [sum(map(len, made[:place])) for place in range(len(made))]
    strings = b"".join(made)
    strings += bytes(-len(strings) % 4)
    numbers = (len(words), 0, 0 if utf16 else 1 << 8, 28 + 4 * len(words), 0)
    pool = struct.pack("<5I", *numbers) + struct.pack(f"<{len(words)}I", *offsets) + strings
    attributes = struct.pack("<IIIHBBI", 0, 0, 0xFFFFFFFF, 8, 0, 0x10, 50001)
    attributes += struct.pack("<IIIHBBI", 0, 1, 4, 8, 0, 0x03, 4)
    element = struct.pack("<IIHHHHHH", 0xFFFFFFFF, 2, 20, 20, 2, 0, 0, 0) + attributes
    body = struct.pack("<HHI", 1, 28, 8 + len(pool)) + pool
    body += struct.pack("<HHI", 0x0180, 8, 16) + struct.pack("<II", 0x0101021B, 0x0101021C)
    body += struct.pack("<HHI", 0x0102, 16, 16 + len(element)) + struct.pack("<Ii", 1, -1) + element
    return struct.pack("<HHI", 3, 8, 8 + len(body)) + body


def make_server(path: Path, version: str, *, utf16: bool = True, keeps_names: bool = True) -> Path:
    """Write a file like a release's, whose manifest names a version."""
    with zipfile.ZipFile(path, "w") as archive:
        manifest = a_manifest(version, utf16=utf16, keeps_names=keeps_names)
        archive.writestr("AndroidManifest.xml", manifest)
        archive.writestr("classes.dex", b"dex")
    return path


@pytest.mark.parametrize("utf16", [True, False])
@pytest.mark.parametrize("keeps_names", [True, False])
@pytest.mark.parametrize("version", ["2.7", "3.3.4", "5.0", "5.0.1", "4.1-ez2.2.2", "6.0-beta1"])
def test_a_server_file_names_its_own_version(
    tmp_path: Path, version: str, keeps_names: bool, utf16: bool
) -> None:
    made = make_server(tmp_path / "s", version, utf16=utf16, keeps_names=keeps_names)
    found = read_server_file(made)
    assert str(found.ways) == version
    assert found.sha256 == hashlib.sha256(found.data).hexdigest()
    assert found.sha256[:16] in found.remote_path
    command = server_command(found.ways, found.remote_path, SessionOptions(scid=1))
    assert f" com.genymobile.scrcpy.Server {version} " in command


@settings(max_examples=100)
@given(st.data())
def test_a_damaged_manifest_is_an_error_and_nothing_else(data: st.DataObject) -> None:
    whole = a_manifest("5.0.1", utf16=data.draw(st.booleans()))
    at = data.draw(st.integers(0, len(whole) - 1))
    damaged = whole[:at] + data.draw(st.binary(max_size=8)) + whole[at + 4 :]
    try:
        version_name(damaged)
    except ValueError:
        return


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


def test_a_package_of_a_version_whose_checksum_is_not_known_is_not_called_forged(
    tmp_path: Path,
) -> None:
    with pytest.raises(DeviceError, match=r"7\.3, whose official checksum is not known"):
        read_server_file(make_server(tmp_path / "s", "7.3"), must_be_official=True)


@pytest.fixture
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A computer on which no server is found."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("SCRCPY_SERVER_PATH", "")
    monkeypatch.setattr(server_file, "_packaged", lambda: None)
    return tmp_path


def test_a_setting_wins_and_nothing_found_says_how_to_get_one(nothing_installed: Path) -> None:
    with pytest.raises(NoServerError, match="pip install mysc-core"):
        find_server_file()
    named = make_server(nothing_installed / "mine", "3.1")
    assert str(find_server_file(str(named)).ways) == "3.1"


def install(folder: Path, version: str) -> Path:
    """Install scrcpy below a folder, as its packages do; return where its server lies."""
    (folder / "bin").mkdir(parents=True)
    (folder / "share" / "scrcpy").mkdir(parents=True)
    program = folder / "bin" / "scrcpy"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return make_server(folder / "share" / "scrcpy" / "scrcpy-server", version)


@pytest.mark.parametrize("version", ["4.1", "5.0", "5.0.1", "5.2", "6.0"])
def test_an_installed_scrcpy_lends_its_server(
    nothing_installed: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    install(nothing_installed, version)
    monkeypatch.setenv("PATH", str(nothing_installed / "bin"))
    assert str(find_server_file().ways) == version


def test_a_file_that_is_not_spoken_is_passed_over_and_named(
    nothing_installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = nothing_installed / "old", nothing_installed / "new"
    old_server = install(old, "1.17")
    monkeypatch.setenv("PATH", f"{old / 'bin'}")
    with pytest.raises(NoServerError) as caught:
        find_server_file()
    assert str(old_server) in caught.value.message and "1.17" in caught.value.message
    assert "1.20 or newer" in caught.value.remedy and "Install scrcpy" not in caught.value.remedy
    install(new, "5.0.1")
    monkeypatch.setenv("PATH", f"{old / 'bin'}:{new / 'bin'}")
    found = find_server_file()
    assert str(found.ways) == "5.0.1"
    assert "1.17" in " ".join(found.passed_over)


def test_a_file_that_the_operator_named_is_not_passed_over(nothing_installed: Path) -> None:
    named = make_server(nothing_installed / "mine", "1.12")
    with pytest.raises(UnusableServerError, match=r"mine.*1\.12") as caught:
        find_server_file(str(named))
    assert "scrcpy.server" in caught.value.remedy


@pytest.mark.parametrize("setting", ["", "mine"])
async def test_a_refusal_is_remembered_until_the_phone_comes_back(
    nothing_installed: Path, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    make_server(nothing_installed / "mine", "1.12")
    looked: list[str] = []

    async def look(shell: object, setting: str, *, timeout_s: float) -> PhoneServer:
        looked.append(setting)
        return PhoneServer(find_server_file(setting).ways, "/x")

    monkeypatch.setattr(link_module, "prepare_server", look)
    path = str(nothing_installed / setting) if setting else ""
    link = ScrcpyLink(PhoneShell(AdbClient(ServerAddress()), "a"), ScrcpySettings(server=path))
    for _ in range(3):
        with pytest.raises((NoServerError, UnusableServerError)):
            await link.server()
    assert len(looked) == 1
    link.forget()
    with pytest.raises((NoServerError, UnusableServerError)):
        await link.server()
    assert len(looked) == 2
