"""The channel to phones that another process serves, also when adb to them is cut."""

import asyncio
import json
import os
import socket
import stat
from pathlib import Path

import pytest

from support.adb import RealAdb
from support.command import NAME, virtual_phone
from virtual_phone.errors import PhoneError
from virtual_phone.server.channel import (
    LONGEST_REQUEST_BYTES,
    MOST_CLIENTS,
    AskState,
    BeginFault,
    ClearFaults,
    ListFaults,
    Reset,
    channel_path,
)
from virtual_phone.server.remote import NotServedError, ask
from virtual_phone.server.serve import PhoneHost


async def test_a_phone_that_is_cut_off_is_mended_by_the_command(
    serial: str, adb_server: RealAdb
) -> None:
    await adb_server.connect(serial)
    said = await asyncio.to_thread(virtual_phone, "fault", NAME, "disconnect")
    assert said.returncode == 0, said.stderr
    assert (await adb_server("shell", "echo x", serial=serial)).status == 1
    listed = await asyncio.to_thread(virtual_phone, "fault", NAME, "--list")
    assert json.loads(listed.stdout) == {"fault": "disconnect", "value": 0.0, "left_s": None}
    said = await asyncio.to_thread(virtual_phone, "fault", NAME, "--clear")
    assert said.returncode == 0
    await adb_server("disconnect", serial)
    await adb_server.connect(serial)
    assert (await adb_server("shell", "echo x", serial=serial)).text == "x\n"
    await adb_server("disconnect", serial)


async def test_a_timed_fault_of_another_process_ends_by_itself(serial: str, homes: Path) -> None:
    begun = ask(homes, BeginFault(phone=serial, kind="slow-shell", value=0.5, duration_s=0.3))
    (fault,) = begun.faults
    assert fault.kind == "slow-shell" and fault.left_s is not None and 0 < fault.left_s <= 0.3
    async with asyncio.timeout(30):
        while ask(homes, ListFaults(phone=NAME)).faults:
            await asyncio.sleep(0.02)


async def test_state_and_reset_go_to_the_process_that_serves(
    serial: str, adb_server: RealAdb
) -> None:
    await adb_server.connect(serial)
    await adb_server(
        "shell", "settings put global bluetooth_on 1; echo x >/sdcard/f", serial=serial
    )
    state = await asyncio.to_thread(virtual_phone, "state", NAME, "--json")
    assert json.loads(state.stdout)["bluetooth"] is True
    assert (await asyncio.to_thread(virtual_phone, "reset", NAME)).returncode == 0
    state = await asyncio.to_thread(virtual_phone, "state", NAME, "--json")
    assert json.loads(state.stdout)["bluetooth"] is False
    gone = await adb_server("shell", "cat /sdcard/f", serial=serial)
    assert gone.status == 1
    await adb_server("disconnect", serial)


def test_a_reset_of_a_phone_that_nobody_serves_wipes_its_files(homes: Path) -> None:
    async def serve() -> None:
        async with PhoneHost(homes) as host:
            served = host.served(host.serials[0])
            served.userland.files.mkdir("/sdcard/mine")
            served.phone.settings.put("global", "bluetooth_on", "1")

    asyncio.run(serve())
    assert virtual_phone("reset", NAME).returncode == 0
    assert json.loads(virtual_phone("state", NAME, "--json").stdout)["bluetooth"] is False
    # The files of a new phone may be there again; what was made is not.
    assert not (homes / NAME / "files" / "sdcard" / "mine").exists()


def test_a_fault_needs_a_phone_that_is_served(homes: Path) -> None:
    said = virtual_phone("fault", NAME, "disconnect")
    assert said.returncode == 1
    assert "no process serves" in said.stderr and "virtual-phone serve" in said.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["gremlins"],
        [],
        ["disconnect", "--list"],
        ["--clear", "--for", "3"],
        ["disconnect", "--for", "0"],
    ],
)
def test_what_makes_no_sense_is_refused_as_usage(homes: Path, words: list[str]) -> None:
    assert virtual_phone("fault", NAME, *words).returncode == 2


async def test_the_socket_is_its_owners_alone_and_goes_with_the_host(tmp_path: Path) -> None:
    path = channel_path(tmp_path)
    async with PhoneHost(tmp_path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not path.exists()
    with pytest.raises(NotServedError):
        ask(tmp_path, ListFaults(phone=NAME))


async def test_a_home_is_served_by_one_process_and_taken_over_from_a_dead_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("virtual_phone.state.home_lock.PATIENCE_S", 0.1)
    async with PhoneHost(tmp_path):
        with pytest.raises(PhoneError, match="in use by"):
            await PhoneHost(tmp_path).start()
    # A socket that a killed host left behind.
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(channel_path(tmp_path)))
    async with PhoneHost(tmp_path):
        assert not (await ask_in_thread(tmp_path)).faults


async def ask_in_thread(home: Path) -> object:
    return await asyncio.to_thread(ask, home, ListFaults(phone=NAME))


@pytest.mark.parametrize(
    "request_",
    [
        BeginFault(phone=NAME, kind="gremlins"),
        BeginFault(phone=NAME, kind="disconnect", duration_s=-1),
        BeginFault(phone=NAME, kind="disconnect", value=3),
        BeginFault(phone=NAME, kind="clock-jump", value=1e300),
        BeginFault(phone="virtual-9", kind="disconnect"),
        ClearFaults(phone=NAME, kind="disconnect"),
    ],
)
async def test_what_cannot_be_done_is_refused_in_words(
    tmp_path: Path, request_: BeginFault | ClearFaults
) -> None:
    async with PhoneHost(tmp_path):
        with pytest.raises(PhoneError) as refused:
            await asyncio.to_thread(ask, tmp_path, request_)
        assert refused.value.remedy


async def test_hostile_clients_lose_their_connection_and_nothing_else(tmp_path: Path) -> None:
    async with PhoneHost(tmp_path):
        path = str(channel_path(tmp_path))
        for garbage in (b"\xff\xfe\n", b"[]\n", b'{"do":"burn","phone":"x"}\n', b"{}\n"):
            reader, writer = await asyncio.open_unix_connection(path)
            writer.write(garbage)
            assert json.loads(await reader.readline())["error"]
            writer.close()
        reader, writer = await asyncio.open_unix_connection(path)
        writer.write(b"x" * (LONGEST_REQUEST_BYTES * 2))
        assert await reader.read() == b""
        writer.close()
        crowd = [await asyncio.open_unix_connection(path) for _ in range(MOST_CLIENTS + 1)]
        # The one too many is refused.
        ended = [asyncio.ensure_future(reader.read()) for reader, _ in crowd]
        await asyncio.wait(ended, timeout=30, return_when=asyncio.FIRST_COMPLETED)
        assert sum(task.done() for task in ended) == 1
        for _, writer in crowd:
            writer.close()
        await asyncio.gather(*ended)
        said = await asyncio.to_thread(ask, tmp_path, AskState(phone=NAME))
        assert said.state is not None and said.state["bluetooth"] is False
        await asyncio.to_thread(ask, tmp_path, Reset(phone=NAME))


async def test_a_home_with_a_long_path_is_reached_too(tmp_path: Path) -> None:
    home = tmp_path / ("long" * 30)
    assert len(os.fsencode(channel_path(home))) > 108
    async with PhoneHost(home):
        await asyncio.to_thread(ask, home, ListFaults(phone=NAME))
