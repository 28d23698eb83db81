"""Groups of commands: with other names for some, and with sections in the help."""

from collections.abc import Mapping
from types import MappingProxyType

import click


class AliasedGroup(click.Group):
    """A group whose commands may have other names, which work but are not listed."""

    aliases: Mapping[str, str] = MappingProxyType({})
    """The names of commands by their other names."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find a command by its name or by another name for it."""
        return super().get_command(ctx, self.aliases.get(cmd_name, cmd_name))


class SectionedGroup(AliasedGroup):
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
                    [(str(command.name), command.get_short_help_str(200)) for command in commands]
                )
