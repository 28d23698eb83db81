"""A group of commands whose help shows them by what they are for."""

import click


class SectionedGroup(click.Group):
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
