"""`switchboard protocol`: the reference pages and the schema, made from the code."""

import click

from console.cli_support import plain
from console.cli_support.sections import CommandGroup


@click.group(cls=CommandGroup)
def protocol() -> None:
    """Print the reference of the protocol, the settings and the command line."""


@protocol.command(epilog="Example: switchboard protocol schema > switchboard.schema.json")
def schema() -> None:
    """Print the JSON Schema of ops, events and replies."""
    from console.cli_support.protocol_page import as_schema

    plain.print_json(as_schema())


@protocol.command(epilog="Example: switchboard protocol openapi > switchboard.openapi.json")
def openapi() -> None:
    """Print the OpenAPI document of 'switchboard serve'."""
    from console.http_api.openapi import document

    plain.print_json(document())


@protocol.command()
def page() -> None:
    """Print docs/protocol.md: every method, op, event and reply."""
    from console.cli_support.protocol_page import as_markdown

    click.echo(as_markdown(), nl=False)


@protocol.command()
def settings() -> None:
    """Print docs/settings.md: every setting, its default and meaning."""
    from console.cli_support.settings_page import as_markdown

    click.echo(as_markdown(), nl=False)


@protocol.command()
def cli() -> None:
    """Print docs/cli.md: every command and its exit codes."""
    from console.cli_page import as_markdown

    click.echo(as_markdown(), nl=False)
