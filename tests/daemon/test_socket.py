"""The daemon's socket: private, told from a dead one, and never in the way of another."""

import asyncio
import os
import socket
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from agent.config import load_settings
from agent.errors import ConfigError, RuntimeDiedError, StoreError
from agent.rpc.remote_core import Client, connect_or_none
from agent.rpc.rpc_messages import socket_path
from agent.rpc.rpc_server import serve
from agent.store.embedded.sqlite_store import SqliteStore
from tests.daemon.bench import Bench, serving


async def test_the_socket_is_private_and_goes_with_its_core(tmp_path: Path) -> None:
    async with serving(tmp_path / "data") as bench:
        mode = bench.daemon.path.lstat().st_mode
        assert stat.S_ISSOCK(mode)
        assert stat.S_IMODE(mode) == 0o600
        assert stat.S_IMODE(bench.daemon.path.parent.stat().st_mode) == 0o700
    assert not bench.daemon.path.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
async def test_another_user_is_turned_away() -> None:
    program = (
        "import os, socket, sys\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "s = socket.socket(socket.AF_UNIX); s.settimeout(30); s.connect(sys.argv[1])\n"
        "try:\n"
        '    s.sendall(b\'{"id":1,"method":"ping"}\\n\')\n'
        "    print(len(s.recv(100)))\n"
        "except ConnectionError: print(0)\n"
    )
    # Short, as a socket's path must be, and in a place that everybody may enter.
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        os.chmod(directory, 0o755)  # noqa: PTH101
        async with serving(Path(directory)) as bench:
            bench.daemon.path.chmod(0o666)
            ran = await asyncio.to_thread(
                subprocess.run,
                [sys.executable, "-c", program, str(bench.daemon.path)],
                capture_output=True,
                text=True,
                timeout=30,
            )
            assert ran.stdout.strip() == "0", ran.stderr
            await bench.client.sessions()


async def test_a_socket_that_a_dead_core_left_behind_is_nobody(tmp_path: Path) -> None:
    environ = {"SWITCHBOARD_DATA_DIR": str(tmp_path)}
    configured = load_settings(environ=environ)
    path = socket_path(tmp_path)
    assert await connect_or_none(configured) is None
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    assert path.exists()
    assert await connect_or_none(configured) is None
    with pytest.raises(RuntimeDiedError, match="No core listens"):
        await Client.connect(path)
    async with serving(tmp_path) as bench:
        found = await connect_or_none(configured)
        assert found is not None
        assert found.pid == os.getpid()
        await found.close()
        assert bench.daemon.path == path


async def test_a_second_daemon_and_a_file_in_the_way_are_refused(
    bench: Bench, tmp_path: Path
) -> None:
    with pytest.raises(StoreError, match="already listens"):
        async with serve(bench.core, bench.daemon.path):
            pytest.fail("it listens")
    in_the_way = tmp_path / "file"
    in_the_way.write_text("mine")
    with pytest.raises(StoreError, match="not a socket"):
        async with serve(bench.core, in_the_way):
            pytest.fail("it listens")
    assert in_the_way.read_text() == "mine"
    with pytest.raises(StoreError, match="could not be created"):
        async with serve(bench.core, in_the_way / "deeper" / "core.sock"):
            pytest.fail("it listens")


async def test_a_long_data_directory_has_its_socket_inside(tmp_path: Path) -> None:
    deep = tmp_path / ("ä" * 60)
    assert len(os.fsencode(socket_path(deep))) > 108
    async with serving(deep) as bench:
        assert bench.daemon.path == socket_path(deep)
        found = await connect_or_none(load_settings(environ={"SWITCHBOARD_DATA_DIR": str(deep)}))
        assert found is not None
        await found.close()


async def test_a_data_directory_that_others_may_write_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "shared"
    data.mkdir()
    data.chmod(0o777)
    settings = load_settings(environ={"SWITCHBOARD_DATA_DIR": str(data)})
    with pytest.raises(ConfigError, match="every user of this computer may write it") as caught:
        await connect_or_none(settings)
    assert f"chmod go-w '{data}'" in caught.value.remedy
    with pytest.raises(ConfigError):
        async with SqliteStore.open(data):
            pytest.fail("it opens")
    data.chmod(0o755)
    async with SqliteStore.open(data):
        assert await connect_or_none(settings) is None
