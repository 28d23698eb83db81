"""A newcomer connects a model on a real terminal: from the console, and by the command's menu."""

import json
import sys
import tomllib
from pathlib import Path

from tests.console.terminal.test_pty import Terminal

COLUMNS, ROWS = 140, 44


def test_sessions_begun_here_use_the_model_that_was_connected(tmp_path: Path) -> None:
    ops = tmp_path / "ops.json"
    terminal = Terminal(
        COLUMNS,
        ROWS,
        controls=True,
        home=str(tmp_path),
        seat="tests.console.seats.fifty_seat",
        argument=str(ops),
        TEXTUAL_ANIMATIONS="none",
        XDG_CONFIG_HOME=str(tmp_path / "config"),
        XDG_DATA_HOME=str(tmp_path / "data"),
    )
    try:
        terminal.see("Sessions 50")
        terminal.press(b":")
        terminal.see("Palette")
        terminal.press(b"models setup groq --model fast --no-test --in-file\r")
        terminal.see("Key for Groq")
        terminal.press(b"gsk-123\r")
        terminal.see("Press enter to go back")
        assert b"gsk-123" not in terminal.written
        terminal.press(b"\r")
        terminal.see("Sessions that you start here use groq/fast.")
        terminal.press(b"nbuy milk\r")
        while not ops.exists():
            terminal.read_for(0.1)
        [created] = [json.loads(line) for line in ops.read_text().splitlines()]
        assert (created["goal"], created["model"]) == ("buy milk", "groq/fast")
    finally:
        terminal.close()


def test_the_menu_offers_a_key_a_server_of_this_machine_and_a_login(tmp_path: Path) -> None:
    terminal = Terminal(
        COLUMNS,
        ROWS,
        controls=True,
        home=str(tmp_path),
        seat="tests.console.seats.shell_seat",
        SWITCHBOARD_DATA_DIR=str(tmp_path),
    )
    try:
        terminal.press(f"{sys.executable} -m console models setup\r".encode())
        terminal.see("a key from https://platform.openai.com")
        terminal.see("A login")
        shown = next(line for line in terminal.lines if "A login" in line)
        terminal.press(f"{shown.split()[0]}\r".encode())
        terminal.see("Issuer, such as")
        terminal.press(b"http://127.0.0.1:9\r")
        terminal.see("Client id")
        terminal.press(b"console\r")
        terminal.see("Endpoint, such as")
        terminal.press(b"\r")
        terminal.see("Model [")
        terminal.press(b"\r")
        terminal.see("cannot be reached")
        terminal.press(
            f"{sys.executable} -m console models setup groq --no-test --in-file\r".encode()
        )
        terminal.see("Model, by number or name")
        second = [line for line in terminal.lines if line.startswith("  2  ")][-1]
        # Pasted too early, a key becomes no name.
        terminal.press(b"sk-proj-abcdefghijklmnopqrstuvwx1234567890\r")
        terminal.see("Name a model first")
        terminal.press(b"2\r")
        terminal.see("Key for Groq")
        terminal.press(b"gsk-123\r")
        terminal.see("The model is groq/")
        kept = tomllib.loads((tmp_path / "config.toml").read_text())
        assert kept["model"]["name"] == f"groq/{second.split()[1]}"
    finally:
        terminal.close()
