"""Questions of commands on a real terminal: secrets stay unseen, ctrl+c ends, and no other way."""

import os
import re
import subprocess
import sys
import termios
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.console.terminal.test_pty import BOUND_S, Terminal

KEY = "gsk-typed-too-early"
COMMAND = "tests.console.seats.command_seat"


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[list[Terminal]]:
    terminals: list[Terminal] = []
    yield terminals
    for one in terminals:
        one.close()


def command(opened: list[Terminal], home: Path, line: str) -> Terminal:
    """Run a command line of `switchboard` on a terminal of its own."""
    at = Terminal(
        300,
        40,
        controls=True,
        seat=COMMAND,
        argument=line,
        home=str(home),
        SWITCHBOARD_DATA_DIR=str(home),
    )
    opened.append(at)
    return at


def ended(at: Terminal) -> int:
    """Read to the end; return the exit status."""
    until = time.monotonic() + BOUND_S
    while at.process.poll() is None:
        assert time.monotonic() < until, at.written
        at.read_for(0.05)
    at.read_for(0.05)
    return at.process.returncode


def echoes(at: Terminal) -> bool:
    return bool(termios.tcgetattr(at.master)[3] & termios.ECHO)


def test_a_key_that_is_typed_before_its_question_stands_is_not_shown(
    opened: list[Terminal], tmp_path: Path
) -> None:
    at = command(opened, tmp_path, "models setup --no-test --in-file")
    # Nothing is shown from the first line on, though it is questions later that the key is wanted.
    at.see("Looking for")
    assert not echoes(at)
    os.write(at.master, f"{KEY}\n".encode())
    at.see("Which [1]:")
    at.press(b"99\r")
    at.see("Type a number from 1 to")
    at.press(b"5\r")
    at.see("Model, by number or name")
    at.press(b"\r")
    at.see("Key for Groq:")
    assert not echoes(at)
    at.press(b"the-real-key\r")
    assert ended(at) == 0, at.written
    assert KEY.encode() not in at.written
    assert b"the-real-key" not in at.written
    assert tomllib.loads((tmp_path / "keys.toml").read_text()) == {"api.groq.com": "the-real-key"}
    assert echoes(at)


@pytest.mark.parametrize(
    ("line", "question"),
    [
        ("models setup --no-test", "Which [1]:"),
        ("models setup groq --model one --no-test", "Key for Groq:"),
        ("models setup --login", "Issuer, such as"),
        ("login --key", "Key for api.openai.com:"),
        ("devices unlock nowhere --pin", "PIN:"),
        ("mcp install vscode --file servers.json", "Write it into servers.json?"),
    ],
)
def test_ctrl_c_at_a_question_ends_the_command_and_the_terminal_shows_again_what_is_typed(
    opened: list[Terminal], tmp_path: Path, line: str, question: str
) -> None:
    at = command(opened, tmp_path, line)
    at.see(question)
    os.write(at.master, b"\x03")
    assert ended(at) == 130, at.written
    assert echoes(at)
    assert at.written.endswith(b"\n")


@pytest.mark.parametrize(("said", "status"), [("y", 0), ("YES", 0), ("", 130), ("n", 130)])
def test_only_yes_is_yes(opened: list[Terminal], tmp_path: Path, said: str, status: int) -> None:
    file = tmp_path / "servers.json"
    at = command(opened, tmp_path, f"mcp install vscode --file {file}")
    at.see("[y/N]:")
    os.write(at.master, b"perhaps\r")
    until = time.monotonic() + BOUND_S
    while at.written.count(b"[y/N]:") < 2:
        assert time.monotonic() < until, at.written
        at.read_for(0.1)
    os.write(at.master, said.encode() + b"\r")
    assert ended(at) == status, at.written
    assert file.exists() is (status == 0)


def test_an_option_for_all_commands_is_said_to_go_before_the_command() -> None:
    asked = [sys.executable, "-m", COMMAND, "jobs list --data-dir /tmp"]
    ended = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=BOUND_S)
    assert ended.returncode == 2
    assert "before the command: switchboard --data-dir DIR jobs list" in ended.stderr


def test_no_command_asks_in_another_way() -> None:
    # `click.prompt` and `getpass` block the loop that takes ctrl+c, and leave the echo on before.
    root = Path(__file__).parent.parent.parent.parent
    asks = re.compile(r"click\.(prompt|confirm)\(|\bgetpass\b|\binput\(")
    found = [
        str(file.relative_to(root))
        for room in ("console", "agent", "virtual_phone")
        for file in (root / room).rglob("*.py")
        if asks.search(file.read_text())
    ]
    assert found == []
