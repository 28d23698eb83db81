"""Episodes without an event loop: calls that block, phones that end with whoever began them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.episodes.blocking import BlockingPhones
from agent.errors import UsageError, WrongStateError
from agent.exercises.suite import EXERCISES

ROOT = Path(__file__).parents[2]


def processes(mark: str) -> list[str]:
    """List the processes that name something, or work in it."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                told = (entry / "cmdline").read_bytes() + os.fsencode((entry / "cwd").readlink())
            except OSError:
                continue
            if mark.encode() in told:
                found.append(entry.name)
    return found


@pytest.mark.parametrize("over_adb", [False, True])
def test_calls_block_and_everything_ends_with_the_block(tmp_path: Path, over_adb: bool) -> None:
    phones = BlockingPhones(1, EXERCISES, over_adb=over_adb, folder=tmp_path / "phones")
    with pytest.raises(WrongStateError, match="not open"):
        phones.episode()
    with phones, phones.episode(looks="tree") as episode:
        assert episode.reset(task="bluetooth-on").nodes
        assert episode.step("press_button", {"button": "HOME"}).reward == 0.0
        with pytest.raises(UsageError, match="no tool"):
            episode.step("teleport", {})
        assert episode.reset(task="bluetooth-on", snapshot=episode.save()).nodes
        assert bool(processes(str(tmp_path))) is over_adb
    assert processes(str(tmp_path)) == []
    with pytest.raises(WrongStateError, match="not open"):
        episode.reset()
    episode.close()
    phones.close()


@pytest.mark.parametrize("over_adb", [False, True])
def test_a_program_that_closes_nothing_leaves_nothing(tmp_path: Path, over_adb: bool) -> None:
    program = """
import sys
from pathlib import Path
from agent.episodes.blocking import BlockingPhones
phones = BlockingPhones(over_adb=sys.argv[2] == "True", folder=Path(sys.argv[1]))
episode = phones.open().episode(looks="tree")
print(len(episode.reset().nodes))
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, str(tmp_path / "phones"), str(over_adb)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "") and int(done.stdout) > 0
    assert processes(str(tmp_path)) == []
