"""The files to deploy a fleet with start commands that there are, and hold no address."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from console.cli import cli

ROOT = Path(__file__).parents[2]
UNITS = sorted((ROOT / "deploy").glob("*.service"))
COMPOSE = ROOT / "deploy/compose.yaml"


def check(words: list[str]) -> None:
    """Parse a line as the command does, without running it."""
    command: click.Command = cli
    context = click.Context(command)
    while isinstance(command, click.Group):
        parser = command.make_parser(context)
        _, rest, _ = parser.parse_args(list(words))
        _, found, words = command.resolve_command(context, rest)
        assert found is not None, rest
        command, context = found, click.Context(found, parent=context)
    _, rest, _ = command.make_parser(context).parse_args(list(words))
    assert rest == []


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_a_unit_starts_a_command_that_there_is(unit: Path) -> None:
    text = unit.read_text(encoding="utf-8")
    [line] = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)
    program, *words = shlex.split(line)
    assert Path(program).name == "switchboard"
    assert "@/etc/switchboard/dsn" in words
    check(words)


def test_the_compose_file_starts_commands_that_there_are() -> None:
    text = COMPOSE.read_text(encoding="utf-8")
    [line] = re.findall(r"^    command: \[(.*)\]$", text, re.MULTILINE)
    check([word.strip().strip('"') for word in line.split(",")])
    assert re.findall(r"PASSWORD(?!_FILE)\w*:", text) == []


def test_the_control_a_command_that_there_is_not_is_seen() -> None:
    with pytest.raises(click.ClickException):
        check(["--fleet", "@x", "daemon", "fly"])
    with pytest.raises(click.ClickException):
        check(["--fleets", "@x", "daemon", "run"])
