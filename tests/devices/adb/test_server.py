"""Our own adb server: started, found again after a kill, never in anybody's way."""

import asyncio
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from agent.devices.adb import liveness, server
from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.adb.host_load import HostLoad
from agent.devices.adb.server import AdbServer, ServerRecord, find_adb, reach
from agent.devices.health.doctor import examine
from agent.devices.resources.processes import end_process, is_running, start_mark
from agent.errors import AdbError
from agent.unix_sockets import short_address


async def test_a_server_starts_answers_and_is_gone_after_stop(own: AdbServer, folder: Path) -> None:
    address = await own.start()
    assert await AdbClient(address).version() >= 41
    assert address.port not in range(5554, 5586)
    pid, mark = own.pid, start_mark(own.pid)
    await own.stop()
    assert not is_running(pid, mark)
    with pytest.raises(AdbError):
        await AdbClient(address).version()
    assert not (folder / "server.json").exists()


async def test_the_server_of_a_killed_switchboard_is_used_again(
    own: AdbServer, folder: Path
) -> None:
    killed = own
    address = await killed.start()
    heir = AdbServer(folder)
    assert await heir.start() == address
    assert heir.pid == killed.pid
    assert killed.is_child
    assert not heir.is_child


async def test_a_server_that_died_comes_back_on_its_port(own: AdbServer) -> None:
    address = await own.start()
    os.kill(own.pid, signal.SIGKILL)
    await own.revive(address)
    assert own.address == address
    assert await AdbClient(address).version() >= 41


async def test_a_server_that_hangs_is_replaced(
    own: AdbServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.devices.adb.server.STOP_TIMEOUT_S", 0.1)
    monkeypatch.setattr(liveness, "BUSY_PATIENCE_S", liveness.PATIENCE_S)
    address = await own.start()
    first = own.pid
    os.kill(first, signal.SIGSTOP)
    await own.revive(address)
    assert own.pid != first
    assert await AdbClient(own.address).version() >= 41


async def test_a_server_that_is_late_on_a_busy_machine_is_kept(
    own: AdbServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = await own.start()
    first = own.pid

    def still_answers(_self: HostLoad, _allowed_s: float) -> bool:
        os.kill(first, signal.SIGCONT)
        return True

    monkeypatch.setattr(liveness, "PATIENCE_S", 0.05)
    monkeypatch.setattr(HostLoad, "is_felt", still_answers)
    os.kill(first, signal.SIGSTOP)
    await own.revive(address)
    assert own.pid == first


async def test_a_crowd_of_callers_is_served_though_the_server_stood_still(own: AdbServer) -> None:
    client = AdbClient(await own.start())
    os.kill(own.pid, signal.SIGSTOP)
    callers = [asyncio.create_task(client.version(timeout_s=60.0)) for _ in range(64)]
    try:
        # An adb server lets four wait: the others have to come again.
        async with asyncio.timeout(60.0):
            while await asyncio.to_thread(queue_is_open, own.socket_path):
                await asyncio.sleep(0)
        assert not any(caller.done() for caller in callers)
    finally:
        os.kill(own.pid, signal.SIGCONT)
    assert min(await asyncio.gather(*callers)) >= 41


def queue_is_open(path: Path) -> bool:
    """Return whether a listener has room for one more caller."""
    with socket.socket(socket.AF_UNIX) as probe, short_address(path) as address:
        probe.setblocking(False)
        return probe.connect_ex(address) == 0


async def test_a_process_that_took_the_number_of_a_dead_server_is_left_alone(
    own: AdbServer, folder: Path
) -> None:
    record = ServerRecord(pid=os.getpid(), port=20_001, start_mark="another time")
    (folder / "server.json").write_bytes(msgspec.json.encode(record))
    await own.start()
    assert own.pid != os.getpid()


@pytest.mark.parametrize("content", [b"", b"{", b'{"pid": "x"}', b"\xff"])
async def test_a_record_cut_short_does_not_keep_a_server_from_starting(
    own: AdbServer, folder: Path, content: bytes
) -> None:
    (folder / "server.json").write_bytes(content)
    await own.start()


async def test_a_remembered_port_that_is_taken_is_left_to_its_owner(folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        record = ServerRecord(pid=0, port=port, start_mark="")
        (folder / "server.json").write_bytes(msgspec.json.encode(record))
        own = AdbServer(folder, on_port=True)
        try:
            assert (await own.start()).port not in {0, port}
        finally:
            await own.stop()


async def test_a_program_that_is_no_adb_is_reported_with_its_words(
    own: AdbServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "adb"
    program.write_text("#!/bin/sh\necho 'cannot bind: address in use' >&2; exit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("ADBUTILS_ADB_PATH", str(program))
    with pytest.raises(AdbError, match="address in use") as caught:
        await own.start()
    assert caught.value.remedy


async def test_a_file_for_another_machine_is_reported(
    own: AdbServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "adb"
    program.write_bytes(b"\x7fELF not really")
    program.chmod(0o755)
    monkeypatch.setenv("ADBUTILS_ADB_PATH", str(program))
    with pytest.raises(AdbError, match="cannot be started"):
        await own.start()


def test_adb_is_looked_for_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = {name: tmp_path / name / "adb" for name in ("variable", "setting", "path")}
    for program in places.values():
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(places["path"].parent))
    monkeypatch.setenv("ADBUTILS_ADB_PATH", str(places["variable"]))
    assert find_adb(str(places["setting"])) == places["variable"]
    monkeypatch.delenv("ADBUTILS_ADB_PATH")
    assert find_adb(str(places["setting"])) == places["setting"]
    assert find_adb() == places["path"]
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert find_adb().name == "adb"


def test_a_named_adb_that_is_not_there_is_an_error_not_a_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ADBUTILS_ADB_PATH", raising=False)
    with pytest.raises(AdbError, match=r"adb\.path names /nowhere/adb"):
        find_adb("/nowhere/adb")


async def test_a_running_server_is_reached_as_it_is(adb_address: ServerAddress) -> None:
    assert await reach(adb_address) == adb_address


async def test_a_local_server_is_started_where_none_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ADB_MDNS", "0")
    monkeypatch.setenv("ADB_USB", "0")
    monkeypatch.setenv("ADB_LOCAL_TRANSPORT_MAX_PORT", "5553")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = ServerAddress("127.0.0.1", probe.getsockname()[1])
    with pytest.raises(AdbError, match=r"adb -P \d+ start-server"):
        await reach(address)
    monkeypatch.setattr(server, "STARTABLE_PORT", address.port)
    await reach(address)
    client = AdbClient(address)
    assert await client.version() >= 41
    # A daemon has no parent: it is asked to end by its own protocol.
    with suppress(AdbError):
        await client.host("host:kill", 2.0)


async def test_a_server_elsewhere_is_never_started() -> None:
    with pytest.raises(AdbError, match="No adb server answers"):
        await reach(ServerAddress("127.0.0.2", 1))


async def test_a_data_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(AdbError, match="cannot be"):
        await AdbServer(tmp_path / "file" / "adb").start()


async def test_ending_a_process_that_is_another_now_does_nothing() -> None:
    await end_process(os.getpid(), "another time", None, 0.1)


# --- the doctor ----------


async def test_the_doctor_finds_a_working_adb_and_no_phone(
    tmp_path: Path, adb_address: ServerAddress
) -> None:
    findings = {one.name: one for one in await examine(tmp_path / "data", [adb_address])}
    assert findings["python"].ok
    assert findings["adb"].ok
    assert "ersion" in findings["adb"].detail
    assert findings["adb server"].ok
    assert not findings["devices"].ok
    assert "switchboard demo" in findings["devices"].remedy
    assert findings["data directory"].ok
    assert findings["free space"].ok
    assert not any(os.scandir(tmp_path))


async def test_the_doctor_names_what_is_wrong_and_what_to_do(
    tmp_path: Path, nowhere: ServerAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ADBUTILS_ADB_PATH", raising=False)
    file = tmp_path / "file"
    file.write_text("")
    findings = {one.name: one for one in await examine(file, [nowhere], adb_setting="/no/adb")}
    for name in ("adb", "adb server", "data directory"):
        assert not findings[name].ok
        assert findings[name].remedy


async def test_the_doctor_looks_at_every_server_that_is_watched(
    tmp_path: Path, adb_address: ServerAddress, nowhere: ServerAddress
) -> None:
    findings = {one.name: one for one in await examine(tmp_path, [adb_address, nowhere])}
    assert findings[f"adb server {adb_address}"].ok
    silent = findings[f"adb server {nowhere}"]
    assert not silent.ok and silent.detail.endswith("Connection refused.")
    assert f"`adb -P {nowhere.port} start-server`" in silent.remedy


async def test_two_processes_that_start_at_once_get_one_server(folder: Path) -> None:
    script = (
        "import asyncio, pathlib, sys\n"
        "from agent.devices.adb.server import AdbServer\n"
        "server = AdbServer(pathlib.Path(sys.argv[1]))\n"
        "asyncio.run(server.start())\n"
        "print(server.pid, flush=True)\n"
    )
    racers = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", script, str(folder), stdout=asyncio.subprocess.PIPE
        )
        for _ in range(3)
    ]
    said = await asyncio.gather(*(racer.communicate() for racer in racers))
    heir = AdbServer(folder)
    await heir.start()
    try:
        assert {int(output) for output, _ in said} == {heir.pid}
    finally:
        await heir.stop()


async def test_a_server_of_ours_never_takes_a_port_that_was_named(folder: Path) -> None:
    first = AdbServer(folder, on_port=True)
    address = await first.start()
    await first.stop()
    record = ServerRecord(pid=1, port=address.port, start_mark="another time")
    (folder / "server.json").write_bytes(msgspec.json.encode(record))
    careful = AdbServer(folder, named=[address], on_port=True)
    try:
        assert (await careful.start()).port != address.port
    finally:
        await careful.stop()


async def test_a_server_that_nobody_needs_any_more_is_ended(own: AdbServer, folder: Path) -> None:
    await own.start()
    pid, mark = own.pid, start_mark(own.pid)
    heir = AdbServer(folder)
    assert await heir.end_leftover()
    assert not is_running(pid, mark)
    assert not (folder / "server.json").exists()
    assert not await heir.end_leftover()
