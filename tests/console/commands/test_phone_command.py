"""`switchboard phone`: the verbs of a program of its own, and what is said where it is not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.devices.adb.server import AdbServer
from agent.devices.pool import virtual_channel, virtual_command
from agent.devices.pool.virtual_command import virtual_phone_command
from agent.devices.pool.virtual_phones import VirtualPhones
from agent.errors import UsageError
from console.commands.phone import VERBS
from virtual_phone.cli.main import cli
from virtual_phone.server.channel import SOCKET_NAME
from virtual_phone.server.faults import FaultKind


def test_the_verbs_are_those_of_the_program() -> None:
    commands = {name: one for name, one in cli.commands.items() if name != "completion"}
    assert set(VERBS) == set(commands)
    for name, (_, does) in VERBS.items():
        assert (commands[name].help or "").split("\n\n")[0].replace("\n", " ") == does


def test_the_channel_is_that_of_the_program() -> None:
    assert virtual_channel.SOCKET_NAME == SOCKET_NAME
    assert set(virtual_channel.FAULTS) == {kind.value for kind in FaultKind}


@pytest.fixture
def without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A system where the program is not installed: neither beside Python nor on the path."""
    monkeypatch.setattr(virtual_command.sysconfig, "get_path", lambda _: str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


async def test_without_the_program_the_phones_say_what_to_install(without: Path) -> None:
    server = AdbServer(without / "adb")
    with pytest.raises(UsageError, match=r"switchboard-console\[demo\]"):
        await VirtualPhones(without / "phones", server).start()
    assert not (without / "adb").exists(), "nothing was started"


def test_the_program_that_the_path_has_is_taken_where_none_is_beside(without: Path) -> None:
    program = without / "bin" / "virtual-phone"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(program.parent))
        assert virtual_phone_command() == str(program)


@pytest.mark.parametrize(
    "words", [("phone", "state"), ("phone", "serve", "--count", "2"), ("demo",), ("drill",)]
)
def test_a_command_without_the_program_ends_as_usage(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    # The command line as it is, but for where scripts are installed.
    probe = (
        "import sys, sysconfig; sysconfig.get_path = lambda _: '/nonexistent'; "
        "from console.cli import main; main(sys.argv[1:])"
    )
    said = subprocess.run(
        [sys.executable, "-c", probe, *words],
        env={**os.environ, "PATH": "/nonexistent", "SWITCHBOARD_DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert said.returncode == 2, said.stderr
    assert "The virtual phone is not installed." in said.stderr
    assert "switchboard-console[demo]" in said.stderr
