"""Groups of commands, as their help lists them: each in a whole sentence, some in sections."""

from collections.abc import Mapping
from types import MappingProxyType

import click

_WHOLE = 200  # Longer than any sentence; click cuts those that do not fit on one line.


class CommandGroup(click.Group):
    """A group whose help cuts no sentence.

    Its commands may have other names, which work but are not listed.
    """

    aliases: Mapping[str, str] = MappingProxyType({})
    """The names of commands by their other names."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find a command by its name or by another name for it."""
        return super().get_command(ctx, self.aliases.get(cmd_name, cmd_name))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, none of their sentences cut."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, command.get_short_help_str(_WHOLE))
                    for name in self.list_commands(ctx)
                    if (command := self.get_command(ctx, name)) and not command.hidden
                ]
            )


class SectionedGroup(CommandGroup):
    """A group whose commands stand in sections."""

    sections: tuple[tuple[str, tuple[click.Command, ...]], ...] = ()

    def add_sections(self, sections: tuple[tuple[str, tuple[click.Command, ...]], ...]) -> None:
        """Add the commands of each section."""
        self.sections = sections
        for _, commands in sections:
            for command in commands:
                self.add_command(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under the heads of their sections."""
        for title, commands in self.sections:
            with formatter.section(title):
                formatter.write_dl(
                    [
                        (str(command.name), command.get_short_help_str(_WHOLE))
                        for command in commands
                    ]
                )
