"""Every example that the help of a command gives can be typed as it stands."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from console.cli import cli

FILES = ("adbkey.pub", "app.apk", "my-shop.toml")
"""What the examples take for granted beside the command."""


def _commands(command: click.Command, above: click.Context | None) -> Iterator[click.Context]:
    context = click.Context(command, parent=above, info_name=command.name)
    yield context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None, name
            yield from _commands(found, context)


def _examples(context: click.Context) -> Iterator[str]:
    """Give the lines of a command's examples, those that go on in the next line as one."""
    written = context.command.get_help(context).partition("Examples:")[2].replace("\\\n", " ")
    for line in written.splitlines():
        # Without what a shell does with the output.
        first = re.split(r" \| | > ", line.strip())[0]
        if first.startswith("switchboard "):
            # Three spaces stand before words about an example.
            yield first if "{" in first else first.partition("   ")[0]


def _parse(words: list[str]) -> None:
    """Read the words as the command line does, without doing anything. Raises click's errors."""
    command: click.Command = cli
    above: click.Context | None = None
    while isinstance(command, click.Group):
        context = click.Context(command, parent=above)
        _, words, _ = command.make_parser(context).parse_args(words)
        if not words:
            return
        first = words[0]
        _, found, words = command.resolve_command(context, words)
        assert found is not None, first
        command, above = found, context
    command.make_context("switchboard", words, parent=above)


def test_every_example_of_every_command_can_be_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in FILES:
        (tmp_path / name).touch()
    seen = 0
    for context in _commands(cli, None):
        for example in _examples(context):
            seen += 1
            try:
                _parse(shlex.split(example, comments=True)[1:])
            except (click.ClickException, AssertionError) as error:
                pytest.fail(f"{example}: {error}")
    assert seen > 100
