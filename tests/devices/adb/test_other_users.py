"""Another user of the same computer, who knows every port and path, reaches no phone of ours."""

import asyncio
import os
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from agent.child_environment import child_environment
from agent.devices.adb.client import AdbClient
from agent.devices.adb.server import AdbServer, find_adb
from agent.devices.pool.virtual_phones import VirtualPhones
from agent.errors import ConfigError
from agent.unix_sockets import short_address
from support.adb import RealAdb, free_port, real_adb_server
from virtual_phone.server.channel import SOCKET_NAME

NOBODY = 65534  # The uid of `nobody` on Linux and the BSDs: it owns nothing.
IS_ROOT = os.geteuid() == 0
BOUND_S = 60.0


@pytest.fixture
def shared_place() -> Iterator[Path]:
    """A data directory whose path every user may walk down to, as one in /srv or /home is."""
    # The folders of tmp_path are closed to others, and would hide what is left open inside.
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        place = Path(name)
        place.chmod(0o755)
        yield place


@pytest.fixture
async def running(shared_place: Path) -> AsyncIterator[VirtualPhones]:
    """Two virtual phones as the core starts them."""
    server = AdbServer(shared_place / "adb")
    phones = VirtualPhones(shared_place / "phones", server, count=2)
    await phones.start()
    yield phones
    await phones.stop()
    await server.stop()


def _become_nobody() -> None:
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


async def _as_another_user(*words: str, home: Path) -> tuple[int, str]:
    """Run a program as the stranger; without root, as this user but with none of its files."""
    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd="/",
        env={"PATH": "/usr/bin:/bin", "HOME": str(home), "ADB_MDNS": "0", "ADB_USB": "0"},
        preexec_fn=_become_nobody if IS_ROOT else None,
    )
    async with asyncio.timeout(BOUND_S):
        said, _ = await process.communicate()
    return process.returncode or 0, said.decode("utf-8", "replace")


@pytest.fixture
def strangers_adb(tmp_path: Path) -> Iterator[RealAdb]:
    """An adb server with a key that no phone of ours knows."""
    home = tmp_path / "stranger"
    home.mkdir()
    with real_adb_server(home) as adb:
        yield adb


async def test_with_the_port_of_a_phone_nobody_else_gets_in(
    running: VirtualPhones, strangers_adb: RealAdb
) -> None:
    for serial in running.serials:
        await strangers_adb("connect", serial)
        said = await strangers_adb("shell", "echo in", serial=serial)
        assert said.status != 0 and b"in\n" not in said.out
        assert b"unauthorized" in said.err
        for service in ("localabstract:virtual-phone-state", "localabstract:virtual-phone-control"):
            port = free_port()
            forwarded = await strangers_adb("forward", f"tcp:{port}", service, serial=serial)
            assert forwarded.status != 0
    # Ours goes on meanwhile.
    client = AdbClient(running.server.address)
    for serial in running.serials:
        features = await client.features(serial)
        assert (await client.shell(serial, "echo in", features=features, timeout_s=30)).text == (
            "in\n"
        )


async def test_our_adb_server_has_no_port_at_all(running: VirtualPhones) -> None:
    address = running.server.address
    assert address.path and not address.port
    assert _ports_of(running.server.pid) == set()
    assert len(_ports_of(running.pid)) == len(running.serials)


def _ports_of(pid: int) -> set[str]:
    """Return the TCP sockets on which a process listens (proc(5), /proc/net/tcp)."""
    opened = [str(entry.readlink()) for entry in Path(f"/proc/{pid}/fd").iterdir()]
    inodes = {one.removeprefix("socket:[").removesuffix("]") for one in opened}
    rows: list[list[str]] = []
    for table in ("tcp", "tcp6"):
        text = Path(f"/proc/net/{table}").read_text()
        rows += [row.split() for row in text.splitlines()[1:]]
    return {row[9] for row in rows if row[3] == "0A"} & inodes


def _environment_of(pid: int) -> bytes:
    return Path(f"/proc/{pid}/environ").read_bytes()


@pytest.mark.skipif(not IS_ROOT, reason="only root becomes another user")
async def test_another_user_opens_no_socket_and_no_file_of_ours(
    running: VirtualPhones, shared_place: Path
) -> None:
    probe = (
        "import os, socket, sys\n"
        "assert os.geteuid() != 0\n"
        "for path in sys.argv[1:]:\n"
        "    try:\n"
        "        if path.endswith('.sock'):\n"
        "            socket.socket(socket.AF_UNIX).connect(path)\n"
        "        else:\n"
        "            open(path).read(1)\n"
        "        print('opened', path)\n"
        "    except OSError:\n"
        "        print('refused', path)\n"
    )
    adb, phones = shared_place / "adb", shared_place / "phones"
    places = [
        running.server.socket_path,
        adb / "server.json",
        adb / "server.log",
        adb / ".android" / "adbkey",
        phones / SOCKET_NAME,
        phones / "phones.log",
    ]
    assert all(place.exists() for place in places)
    # Open to walk through, as a directory that somebody made by hand may be.
    adb.chmod(0o755)
    phones.chmod(0o755)
    code, said = await _as_another_user(
        "/usr/bin/python3", "-c", probe, *map(str, places), home=Path("/tmp")
    )
    assert code == 0, said
    assert said.split("\n")[:-1] == [f"refused {place}" for place in places]


async def test_a_phone_and_adb_get_no_keys_of_the_operator(
    shared_place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN")
    for name in names:
        monkeypatch.setenv(name, "a-secret-of-the-operator")
    server = AdbServer(shared_place / "adb")
    phones = VirtualPhones(shared_place / "phones", server)
    try:
        await phones.start()
        for pid in (server.pid, phones.pid):
            known = _environment_of(pid)
            assert b"PATH=" in known
            assert b"a-secret-of-the-operator" not in known
    finally:
        await phones.stop()
        await server.stop()
    kept = child_environment({"PATH": "/bin", "MY_TOKEN": "x", "ADB_TRACE": "1"})
    assert kept == {"PATH": "/bin"}


async def test_a_server_with_a_port_that_was_left_gives_way_to_one_without(
    shared_place: Path,
) -> None:
    old = AdbServer(shared_place / "adb", on_port=True)
    with_port = await old.start()
    assert with_port.port and not with_port.path
    heir = AdbServer(shared_place / "adb")
    try:
        assert (await heir.start()).path
        assert heir.pid != old.pid
    finally:
        await heir.stop()


async def test_an_adb_that_knows_no_unix_sockets_gets_a_port(
    shared_place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = shared_place / "old-adb"
    program.write_text(
        "#!/bin/sh\n"
        'case "$2" in localfilesystem:*) echo "error: unknown socket specification" >&2; exit 1;;'
        f' esac\nexec "{find_adb()}" "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("ADBUTILS_ADB_PATH", str(program))
    server = AdbServer(shared_place / "adb")
    try:
        address = await server.start()
        assert address.port and not address.path
        assert await AdbClient(address).version() >= 41
    finally:
        await server.stop()


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o1777])
async def test_a_folder_that_others_may_write_is_refused(shared_place: Path, mode: int) -> None:
    folder = shared_place / "adb"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(ConfigError, match="may write it") as caught:
        await AdbServer(folder).start()
    assert "chmod go-w" in caught.value.remedy


def test_a_socket_with_a_long_path_is_reached_where_it_is(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["ä" * 60] * 4)
    deep.mkdir(parents=True)
    path = deep / "a.sock"
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as client:
        with short_address(path) as address:
            listener.bind(address)
        listener.listen()
        with short_address(path) as address:
            client.connect(address)
        client.sendall(b"x")
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.recv(1) == b"x"
    assert path.is_socket()
