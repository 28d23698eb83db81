"""A fork of the imported command is to its user what the command is."""

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.end_to_end.harness import SWITCHBOARD, Workshop
from tests.end_to_end.warm import CAN_FORK, WarmProcess

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="needs pidfd_open, which Linux has")


def _both(words: Sequence[str], workshop: Workshop, folder: Path) -> list[tuple[int, str, str]]:
    found = []
    for maker, line in ((subprocess.Popen, [*SWITCHBOARD, *words]), (WarmProcess, words)):
        with maker(
            line,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={**workshop.environment, "PYTHONPATH": str(Path.cwd())},
        ) as process:
            out, err = process.communicate("a hint", timeout=60)
        found.append((process.returncode, out, err))
    return found


@pytest.mark.parametrize(
    "words",
    [
        ("--version",),
        ("sessions", "--help"),
        ("sessions", "list", "--json"),
        ("sessions", "show", "nothing"),
        ("sessions", "hint", "nothing", "-"),
        ("replay", "no-such-file"),
        ("no-such-command",),
    ],
    ids=" ".join,
)
def test_a_fork_says_and_returns_what_the_command_does(
    words: tuple[str, ...], workshop: Workshop, tmp_path: Path
) -> None:
    cold, warm = _both(words, workshop, tmp_path)
    assert warm == cold


def test_a_fork_is_killed_by_its_pid(workshop: Workshop) -> None:
    with workshop.running("daemon", "run", "--virtual-only") as running:
        os.kill(running.process.pid, signal.SIGKILL)
        assert running.wait() == -signal.SIGKILL
