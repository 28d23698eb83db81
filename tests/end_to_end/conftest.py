"""Shared by the end-to-end tests: workshops with real adb servers and served phones."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.devices.adb.server import find_adb
from support.adb import free_port
from tests.end_to_end.harness import (
    Workshop,
    adb_server_of_its_own,
    base_environment,
    end_all_of,
    wait_until,
)


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    """A data directory of its own; the operator's adb server is named and does not run."""
    home = tmp_path / "home"
    home.mkdir()
    environment = base_environment(home)
    environment["ADB_SERVER_SOCKET"] = f"tcp:127.0.0.1:{free_port()}"
    yield Workshop(tmp_path / "data", environment)
    end_all_of(tmp_path / "data")


class Bench(Workshop):
    """A workshop with a phone that is connected to the operator's adb server, as a real one is."""

    serial: str

    def begin(self) -> None:
        """Bring the phone back to its home screen, so that no test stands on another's."""
        self.adb(
            "-s",
            self.serial,
            "shell",
            "for p in messaging notes settings;"
            " do am force-stop com.android.$p; done; input keyevent HOME",
        )

    def adb(self, *words: str) -> str:
        """Call adb on the operator's server."""
        port = self.environment["ADB_SERVER_SOCKET"].rpartition(":")[2]
        done = subprocess.run(
            [find_adb(), "-P", port, *words],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.stdout


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """One phone for a module's tests, so that not each of them starts one."""
    folder = tmp_path_factory.mktemp("bench")
    home = folder / "home"
    home.mkdir()
    environment = base_environment(home)
    with adb_server_of_its_own(environment, free_port()):
        made = Bench(folder / "data", environment)
        try:
            with made.running("phone", "serve") as serving:
                made.serial = serving.wait_for(lambda line: "serial" in line, "a phone")["serial"]

                wait_until(
                    lambda: "connected to" in made.adb("connect", made.serial),
                    "the phone is connected",
                )
                yield made
        finally:
            end_all_of(folder / "data")
