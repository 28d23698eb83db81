"""The client of the adb server protocol: against a real server, and at the edges of the wire."""

import asyncio
import re
import struct
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient, ServiceClosedError, refusal, split_marked
from agent.errors import AdbError, ConfigError, DeviceError, DeviceLostError, DeviceTimeoutError
from tests.devices.conftest import block, packet, phone_without, said, scripted_server

NONE = frozenset[str]()
V2 = frozenset({"shell_v2"})


# --- a real server ----------


async def test_a_real_server_tells_its_version_and_lists_nothing(bare_adb: AdbClient) -> None:
    assert await bare_adb.version() >= 41
    assert await bare_adb.devices() == ()


async def test_a_real_server_pushes_its_empty_list_at_once(bare_adb: AdbClient) -> None:
    rows = bare_adb.track_devices()
    async with asyncio.timeout(30):
        assert await anext(rows) == ()
    await rows.aclose()  # type: ignore[attr-defined]


async def test_a_phone_that_is_not_there_is_lost(bare_adb: AdbClient) -> None:
    with pytest.raises(DeviceLostError, match="nosuch"):
        await bare_adb.features("nosuch")
    with pytest.raises(DeviceLostError, match="nosuch"):
        await bare_adb.shell("nosuch", "echo hi", features=NONE, timeout_s=30)


async def test_connecting_where_nothing_listens_says_so(
    bare_adb: AdbClient, nowhere: ServerAddress
) -> None:
    with pytest.raises(DeviceError, match="refused"):
        await bare_adb.connect(str(nowhere), timeout_s=60)


async def test_disconnecting_what_was_never_connected_is_fine(
    bare_adb: AdbClient, nowhere: ServerAddress
) -> None:
    await bare_adb.disconnect(str(nowhere), timeout_s=60)


# --- no server, a strange one, a mute one ----------


async def test_no_server_is_an_adb_error_with_a_remedy(nowhere: ServerAddress) -> None:
    with pytest.raises(AdbError, match="No adb server answers") as caught:
        await AdbClient(nowhere).version()
    assert "start-server" in caught.value.remedy


async def test_a_web_server_on_the_port_is_recognised() -> None:
    async def http(
        _request: str, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async with scripted_server(http) as address:
        with pytest.raises(AdbError, match="not an adb server"):
            await AdbClient(address).version()


async def test_a_server_that_never_answers_ends_in_its_time_out() -> None:
    async def mute(
        _request: str, reader: asyncio.StreamReader, _writer: asyncio.StreamWriter
    ) -> None:
        await reader.read()

    async with scripted_server(mute) as address:
        started = time.monotonic()
        with pytest.raises(AdbError, match="did not answer"):
            await AdbClient(address).version(timeout_s=0.2)
        assert time.monotonic() - started < 30
        # Here the server may well be sound, and the address wrong.
        with pytest.raises(AdbError, match=r"has not reached 10\.255\.255\.1:5555") as caught:
            await AdbClient(address).connect("10.255.255.1:5555", timeout_s=0.2)
        assert caught.value.remedy.startswith("Check the address")


async def test_a_phone_that_never_answers_leaves_the_outcome_unknown() -> None:
    async def wedge(
        _request: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(b"OKAY")
        await said(reader)
        writer.write(b"OKAY")
        await reader.read()

    async with scripted_server(wedge) as address:
        client = AdbClient(address)
        with pytest.raises(DeviceTimeoutError, match="unknown"):
            await client.shell("phone", "input tap 1 1", features=V2, timeout_s=0.2)
        with pytest.raises(DeviceTimeoutError):
            await client.exec("phone", "screencap -p", timeout_s=0.2)


async def test_a_server_that_dies_in_an_answer_is_an_error() -> None:
    async def dies(
        _request: str, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(b"OKAY0004002")

    async with scripted_server(dies) as address:
        with pytest.raises(AdbError, match="stopped answering"):
            await AdbClient(address).version()


async def test_a_server_too_old_for_long_lists_is_asked_for_short_ones() -> None:
    async def old(request: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if request == "host:track-devices-l":
            writer.write(b"FAIL" + block("unknown host service"))
            return
        writer.write(b"OKAY" + block("emulator-5554\tdevice\n"))
        await reader.read()

    async with scripted_server(old) as address:
        rows = AdbClient(address).track_devices()
        async with asyncio.timeout(30):
            (row,) = await anext(rows)
        assert row.serial == "emulator-5554"
        await rows.aclose()  # type: ignore[attr-defined]


# --- the shell ----------


async def test_shell_v2_keeps_outputs_apart_and_gives_the_exit_code() -> None:
    answer = packet(1, b"out\r\n") + packet(2, b"err") + packet(9, b"?") + packet(3, b"\x07")
    async with scripted_server(phone_without("shell_v2", {"shell,v2": answer})) as address:
        result = await AdbClient(address).shell("p", "x", features=V2, timeout_s=30)
    assert (result.stdout, result.stderr, result.exit_code) == (b"out\r\n", b"err", 7)


async def test_a_shell_that_ends_without_an_exit_code_is_a_lost_phone() -> None:
    answer = {"shell,v2": packet(1, b"half")}
    async with scripted_server(phone_without("shell_v2", answer)) as address:
        with pytest.raises(DeviceLostError):
            await AdbClient(address).shell("p", "x", features=V2, timeout_s=30)


async def test_a_packet_that_claims_gigabytes_is_cut_off() -> None:
    answer = {"shell,v2": struct.pack("<BI", 1, 0xFFFFFFFF)}
    async with scripted_server(phone_without("shell_v2", answer)) as address:
        with pytest.raises(DeviceError, match="cut off"):
            await AdbClient(address).shell("p", "x", features=V2, timeout_s=30)


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r\r\n"])
async def test_an_old_shell_gives_binary_output_and_exit_code_exactly(line_end: bytes) -> None:
    body = b"\x89PNG\r\n\x1a\n\n\r\nno newline at the end\r"

    async def old_shell(
        _request: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(b"OKAY")
        service = await said(reader)
        marker = re.search(r"echo (rc-\w+=)", service)
        assert marker is not None
        raw = body + marker[1].encode() + b"7\n"
        writer.write(b"OKAY" + raw.replace(b"\n", line_end))

    async with scripted_server(old_shell) as address:
        result = await AdbClient(address).shell("p", "x", features=NONE, timeout_s=30)
    assert (result.stdout, result.exit_code) == (body, 7)


@given(st.binary(max_size=200), st.integers(0, 3), st.integers(0, 255))
def test_line_ends_are_repaired_whatever_the_output(body: bytes, returns: int, code: int) -> None:
    raw = body + b"rc-1=%d\n" % code
    result = split_marked(raw.replace(b"\n", b"\r" * returns + b"\n"), "rc-1=", "phone")
    assert (result.stdout, result.exit_code) == (body, code)


async def test_a_service_the_phone_does_not_know_is_told_apart() -> None:
    async with scripted_server(phone_without("", {})) as address:
        with pytest.raises(ServiceClosedError):
            await AdbClient(address).exec("p", "screencap -p", timeout_s=30)


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("device 'x' not found", DeviceLostError),
        ("device offline", DeviceLostError),
        ("closed", ServiceClosedError),
        ("device unauthorized.\nThis adb server's $ADB_VENDOR_KEYS is not set", DeviceLostError),
        ("device still authorizing", DeviceLostError),
        ("device still connecting", DeviceLostError),
        ("unknown host service 'x'", AdbError),
        ("", DeviceError),
    ],
)
def test_every_refusal_has_its_error_and_a_remedy(reason: str, kind: type[DeviceError]) -> None:
    error = refusal("x", reason)
    assert type(error) is kind
    assert error.remedy


# --- addresses ----------


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:5037", ServerAddress("127.0.0.1", 5037)),
        ("tcp:host.example:6000", ServerAddress("host.example", 6000)),
        ("tcp:5038", ServerAddress("127.0.0.1", 5038)),
        ("5038", ServerAddress("127.0.0.1", 5038)),
        ("[::1]:5037", ServerAddress("::1", 5037)),
    ],
)
def test_the_address_of_a_server_is_read(text: str, address: ServerAddress) -> None:
    assert ServerAddress.parse(text) == address
    assert ServerAddress.parse(str(address)) == address


@pytest.mark.parametrize(
    "text", ["", "host", "host:", "host:0", "host:65536", "h:٣", "host:-1", "h:" + "9" * 5000]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        ServerAddress.parse(text)
