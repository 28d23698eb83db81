"""A rig that is killed leaves nothing: at once, or at the latest when the next one starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import orphans
from tests.end_to_end.chaos.network import why_not
from tests.end_to_end.chaos.rack import ROOT
from tests.end_to_end.harness import is_alive, wait_until
from tests.store.postgres_server import binaries

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("chaos")]

_RIG = """
import asyncio, subprocess, sys, tempfile
from pathlib import Path
from tests import orphans
from tests.end_to_end.chaos.network import namespace
from tests.end_to_end.chaos.rack import rack
from tests.store.postgres_server import running_server

async def play(server, net):
    with tempfile.TemporaryDirectory(prefix=orphans.folder_prefix("rig")) as name:
        async with rack(server, Path(name)) as one:
            await one.serve_phones("first", 1)
            sleeper = subprocess.Popen([*net.around(), "sleep", "infinity"], start_new_session=True)
            print(net.name, name, server.directory, orphans.watcher_pid(), flush=True)
            await asyncio.sleep(600)

with namespace() as net, running_server() as server:
    asyncio.run(play(server, net))
"""


@pytest.mark.parametrize("is_swept_later", [False, True], ids=["at once", "by the next"])
def test_a_killed_rig_leaves_nothing(is_swept_later: bool) -> None:
    if binaries() is None and "SWITCHBOARD_NEEDS_ALL" not in os.environ:
        pytest.skip("PostgreSQL is not installed")
    if (why := why_not()) and "SWITCHBOARD_NEEDS_ALL" not in os.environ:
        pytest.skip(why)
    rig = subprocess.Popen(
        [sys.executable, "-c", _RIG],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=ROOT,
    )
    assert rig.stdout is not None
    net, folder, data, watcher = rig.stdout.readline().split()
    started = orphans.owned_by(rig.pid)
    # The postmaster, the phones, the adb server, and what is in the namespace.
    assert len(started) >= 4
    assert net in _namespaces()
    if is_swept_later:
        os.kill(int(watcher), signal.SIGKILL)
    rig.kill()
    rig.wait()
    if is_swept_later:
        assert any(map(is_alive, started))
        orphans.sweep()
    wait_until(lambda: not Path(folder).exists() and not Path(data).exists(), "no folder is left")
    assert not [pid for pid in started if is_alive(pid)]
    assert net not in _namespaces()


def test_what_a_living_process_owns_stays(tmp_path: Path) -> None:
    orphans.own()
    with subprocess.Popen(["sleep", "infinity"]) as sleeper:
        try:
            orphans.sweep()
            assert sleeper.pid in orphans.owned_by(os.getpid())
            assert is_alive(sleeper.pid)
        finally:
            sleeper.kill()


def _namespaces() -> str:
    return subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
