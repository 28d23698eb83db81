"""Both wheels as their users meet them: from a folder, in clean environments, far from the source.

`SWITCHBOARD_WHEELS` names a folder with wheels that were built already, as a release has it.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.xdist_group("wheels")]

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")
MOST_MB = 200  # What the console alone may take on a disk, as it is installed.


def run(
    *words: str | Path, cwd: Path, code: int = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command that must end with a status; nothing of the checkout is in its environment."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SWITCHBOARD_", "VIRTUAL_", "PYTHON", "PYTEST_"))
    }
    said = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env={**clean, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert said.returncode == code, (words, said.stdout[-2000:], said.stderr[-2000:])
    return said


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    given = os.environ.get("SWITCHBOARD_WHEELS")
    if given:
        return Path(given)
    folder = tmp_path_factory.mktemp("wheels")
    for project in (ROOT, ROOT / "virtual_phone"):
        run(
            *(UV, "build", "--quiet", "--wheel", "--no-build-isolation"),
            *("--python", sys.executable, "--out-dir", folder, project),
            cwd=folder,
        )
    return folder


def with_uv(words: Sequence[str | Path], wheels: Path, cwd: Path, **environment: str) -> None:
    """Run uv on the folder of wheels: from what this machine has, else from the index too."""
    line = [str(UV), *map(str, words), "--find-links", str(wheels)]
    offline = subprocess.run(
        [*line, "--offline"],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        timeout=600,
        check=False,
    )
    if offline.returncode:
        run(*line, cwd=cwd, **environment)


def environment_with(requirement: str, wheels: Path, folder: Path) -> Path:
    """Make a virtual environment that holds a requirement and return its programs."""
    run(UV, "venv", "--quiet", "--python", sys.executable, folder / "venv", cwd=folder)
    python = folder / "venv/bin/python"
    with_uv(
        [
            "pip",
            "install",
            "--quiet",
            "--python",
            python,
            "-c",
            ROOT / "requirements.lock",
            requirement,
        ],
        wheels,
        folder,
    )
    return folder / "venv/bin"


def size_mb(folder: Path) -> float:
    """Return what a folder takes, as du counts."""
    return sum(
        path.lstat().st_blocks * 512 for path in folder.rglob("*") if not path.is_symlink()
    ) / (1 << 20)


def test_the_console_alone_is_small_and_says_what_it_lacks(wheels: Path, tmp_path: Path) -> None:
    programs = environment_with("switchboard-console", wheels, tmp_path)
    took_mb = size_mb(tmp_path / "venv")
    assert took_mb <= MOST_MB, f"{took_mb:.0f} MB"
    switchboard, data = programs / "switchboard", str(tmp_path / "data")
    nothing = {"SWITCHBOARD_DATA_DIR": data, "PATH": "/usr/bin:/bin"}
    assert "0." in run(switchboard, "--version", cwd=tmp_path, **nothing).stdout
    assert "Commands:" in run(switchboard, "--help", cwd=tmp_path, **nothing).stdout
    script = run(switchboard, "completion", "bash", cwd=tmp_path, **nothing).stdout
    assert "_SWITCHBOARD_COMPLETE" in script
    for words, extra in (("demo", "demo"), ("phone state", "demo"), ("web", "web"), ("mcp", "mcp")):
        said = run(switchboard, *words.split(), cwd=tmp_path, code=2, **nothing)
        assert f"switchboard-console[{extra}]" in said.stderr, said.stderr
    listed = run(switchboard, "sessions", "list", "--json", cwd=tmp_path, **nothing).stdout
    assert json.loads(listed) == {"data": []}
    assert (tmp_path / "venv/share/man/man1/switchboard.1").is_file()


def test_the_console_with_its_phones_does_a_session(wheels: Path, tmp_path: Path) -> None:
    programs = environment_with("switchboard-console[demo]", wheels, tmp_path)
    owned = {"SWITCHBOARD_DATA_DIR": str(tmp_path / "data"), "PATH": f"{programs}:/usr/bin:/bin"}
    goal = "open Settings and turn on Bluetooth"
    run(
        programs / "switchboard",
        "run",
        goal,
        "--virtual",
        "--model",
        "pilot",
        cwd=tmp_path,
        **owned,
    )
    state = run(programs / "switchboard", "phone", "state", "--json", cwd=tmp_path, **owned)
    assert json.loads(state.stdout)["bluetooth"] is True


def test_the_phone_is_a_tool_of_its_own(wheels: Path, tmp_path: Path) -> None:
    places = {
        "UV_TOOL_DIR": str(tmp_path / "tools"),
        "UV_TOOL_BIN_DIR": str(tmp_path / "bin"),
        "VIRTUAL_PHONE_HOME": str(tmp_path / "phones"),
    }
    lock = ROOT / "virtual_phone/requirements.lock"
    with_uv(
        ["tool", "install", "--quiet", "--python", sys.executable, "-c", lock, "switchboard-phone"],
        wheels,
        tmp_path,
        **places,
    )
    program = tmp_path / "bin/virtual-phone"
    assert "0." in run(program, "--version", cwd=tmp_path, **places).stdout
    serving = subprocess.Popen(
        [program, "serve", "--until-eof"],
        cwd=tmp_path,
        env={**os.environ, **places},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert serving.stdout is not None
    try:
        assert json.loads(serving.stdout.readline())["name"] == "virtual-1"
        state = run(program, "state", "--json", cwd=tmp_path, **places).stdout
        assert json.loads(state)["name"] == "virtual-1"
    finally:
        serving.communicate(timeout=60)
    assert serving.returncode == 0
    assert not list((tmp_path / "tools").rglob("agent/runtime")), "it brings nothing of Switchboard"
