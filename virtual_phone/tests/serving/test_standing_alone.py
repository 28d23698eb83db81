"""The virtual phone is a program of its own: it needs nothing but what its package names."""

import importlib.metadata
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import virtual_phone
from support.command import virtual_phone as command

SOURCES = Path(virtual_phone.__file__).parent
STRANGERS = {"agent", "bench", "console", "rich", "scripts", "tests", "textual", "widgets"}


def test_every_module_is_imported_without_a_stranger() -> None:
    names = [
        one.name
        for one in pkgutil.walk_packages([str(SOURCES)], "virtual_phone.")
        if not one.name.endswith("__main__")
    ]
    assert len(names) > 200
    probe = f"import sys, {', '.join(names)}; print(chr(10).join(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True, timeout=120
    ).stdout.split()
    assert STRANGERS.isdisjoint(loaded)


def test_no_source_speaks_of_a_program_that_uses_it() -> None:
    guilty = [
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        if re.search("switchboard(?!-phone)", path.read_text(encoding="utf-8"), re.IGNORECASE)
    ]
    assert guilty == []


def test_help_and_completion_load_nothing_of_the_phone() -> None:
    probe = "import sys, virtual_phone.cli.main; print(chr(10).join(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True, timeout=60
    ).stdout.split()
    assert {"PIL", "av", "cryptography", "msgspec", "virtual_phone.phone"}.isdisjoint(loaded)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_learns_to_complete_the_command(shell: str) -> None:
    said = command("completion", shell)
    assert said.returncode == 0, said.stderr
    assert "_VIRTUAL_PHONE_COMPLETE" in said.stdout and "virtual-phone" in said.stdout


def test_it_says_its_own_version() -> None:
    assert importlib.metadata.version("switchboard-phone") in command("--version").stdout


def test_another_program_that_offers_it_is_named_in_what_it_advises(
    homes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRTUAL_PHONE_PROGRAM", "my phones")
    said = command("state")
    assert said.returncode == 2
    assert (
        said.stderr.startswith("my phones: ") and "Start one with: my phones serve" in said.stderr
    )
