"""Files to and from a virtual phone over a real adb server."""

import random

import pytest

from agent.devices.adb.client import AdbClient
from agent.devices.adb.sync import pull, push, stat
from agent.errors import DeviceError
from tests.devices.conftest import Home

PATH = "/data/local/tmp/switchboard-test.bin"


@pytest.mark.parametrize("size_bytes", [0, 1, 65_536, 65_537, 3_000_000])
async def test_a_file_comes_back_byte_for_byte(home: Home, size_bytes: int) -> None:
    client, serial = AdbClient(home.server.address), home.phones.serials[0]
    data = random.Random(size_bytes).randbytes(size_bytes)
    await push(client, serial, data, PATH, permissions=0o600)
    found = await stat(client, serial, PATH)
    assert (found.size_bytes, found.mode & 0o777) == (size_bytes, 0o600)
    assert await pull(client, serial, PATH) == data


async def test_a_missing_file_is_an_error_with_the_phones_reason(home: Home) -> None:
    client, serial = AdbClient(home.server.address), home.phones.serials[0]
    assert not (await stat(client, serial, "/no/such/file")).exists
    with pytest.raises(DeviceError, match="No such file"):
        await pull(client, serial, "/no/such/file")


async def test_a_file_larger_than_allowed_is_cut_off(home: Home) -> None:
    client, serial = AdbClient(home.server.address), home.phones.serials[0]
    await push(client, serial, b"x" * 100_000, PATH)
    with pytest.raises(DeviceError, match="cut off"):
        await pull(client, serial, PATH, limit=50_000)


async def test_a_place_that_cannot_be_written_is_an_error(home: Home) -> None:
    client, serial = AdbClient(home.server.address), home.phones.serials[0]
    with pytest.raises(DeviceError):
        await push(client, serial, b"x", "/proc/nothing/here")
    with pytest.raises(DeviceError, match="not a path"):
        await push(client, serial, b"x", "relative")
