"""What heavy extras bring is tested where they are installed: each by a lock of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.slow.test_wheels import ROOT, UV, run

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.xdist_group("extras")]


def environment(folder: Path, *locks: str, beside: tuple[str, ...] = ()) -> Path:
    """Make a virtual environment of some locks; returns its Python.

    Args:
        folder: where.
        locks: names of files in the root; all have hashes.
        beside: what only a test asks for, no part of any lock.
    """
    run(UV, "venv", "--quiet", "--python", sys.executable, folder / "venv", cwd=folder)
    python = folder / "venv/bin/python"
    install = [UV, "pip", "install", "--quiet", "--python", python]
    for lock in locks:
        _from_here_or_the_index(
            [*install, "--no-deps", "--require-hashes", "-r", ROOT / lock], folder
        )
    if beside:
        last = ROOT / locks[-1]
        _from_here_or_the_index([*install, "-c", last, *beside], folder)
    return python


def _from_here_or_the_index(words: list[str | Path], cwd: Path) -> None:
    line = [str(word) for word in words]
    offline = subprocess.run(
        [*line, "--offline"], cwd=cwd, capture_output=True, timeout=600, check=False
    )
    if offline.returncode:
        run(*line, cwd=cwd)


def check_in(python: Path, folder: Path, *tests: str) -> str:
    """Run tests in an environment; none may be left out. Returns what pytest said."""
    database = shutil.which("postgres")
    system = ["/usr/bin", "/bin", *([str(Path(database).parent)] if database else ())]
    paths = os.pathsep.join([str(ROOT), str(ROOT / "virtual_phone/src")])
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", *tests]
    done = run(
        python,
        *words,
        f"--basetemp={folder / 'tests'}",
        cwd=ROOT,
        PYTHONPATH=paths,
        PATH=os.pathsep.join(map(str, (python.parent, Path(sys.executable).parent, *system))),
    )
    last = done.stdout.strip().splitlines()[-1]
    assert " passed" in last and "skipped" not in last, done.stdout[-2000:]
    return last


def test_datasets(tmp_path: Path) -> None:
    python = environment(
        tmp_path, "requirements.lock", "requirements-datasets.lock", beside=("datasets>=5,<6",)
    )
    check_in(python, tmp_path, "tests/datasets")


def test_eval(tmp_path: Path) -> None:
    python = environment(tmp_path, "requirements.lock", "requirements-eval.lock")
    check_in(python, tmp_path, "tests/evaluation/test_inspect.py")


def test_openenv(tmp_path: Path) -> None:
    # Apart from the other locks: it needs an older MCP than ours.
    python = environment(
        tmp_path,
        "requirements-openenv.lock",
        beside=("hypothesis", "pytest", "pytest-asyncio", "pytest-timeout", "pytest-xdist"),
    )
    check_in(python, tmp_path, "tests/openenv")


def test_fleet(tmp_path: Path) -> None:
    python = environment(tmp_path, "requirements.lock", "requirements-fleet.lock")
    chaos = "tests/store/fleet/test_fleet_chaos.py"
    dispatchers = "tests/store/conformance/test_dispatchers.py"
    check_in(python, tmp_path, dispatchers, chaos, "-m", "slow or not slow")
