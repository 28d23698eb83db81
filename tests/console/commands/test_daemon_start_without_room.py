"""What `daemon start` says when its process ended and could not say why."""

import subprocess
import sys
from pathlib import Path

import pytest

from agent.errors import SwitchboardError
from agent.settings import Settings
from console.commands.daemon import _ready


def ended() -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", "raise SystemExit(1)"])
    process.wait(30)
    return process


async def test_a_full_disk_is_named_where_the_process_could_say_nothing(tmp_path: Path) -> None:
    output = tmp_path / "daemon.out"
    # The kernel's own full disk: whatever is written to it fails with ENOSPC.
    output.symlink_to("/dev/full")
    with pytest.raises(SwitchboardError, match="No space left on device"):
        await _ready(Settings(data_dir=tmp_path, config_file=tmp_path / "c"), ended(), output)


async def test_what_a_process_said_before_it_ended_is_told_as_it_is(tmp_path: Path) -> None:
    output = tmp_path / "daemon.out"
    output.write_text("switchboard: The port is taken.\n")
    with pytest.raises(SwitchboardError, match="ended at once: The port is taken"):
        await _ready(Settings(data_dir=tmp_path, config_file=tmp_path / "c"), ended(), output)
    assert output.read_text() == "switchboard: The port is taken.\n"
