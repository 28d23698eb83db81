"""`switchboard cards`: what agents are told of an app; check it, and draft it from a session.

It writes no card: a draft goes to stdout, for a person to read, correct and keep.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.errors import ConfigError, UsageError
from agent.protocol import Event
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.options import JSON_OPTION
from console.cli_support.sections import CommandGroup
from console.core.command_settings import settings_for
from console.core.host import run_with_records

if TYPE_CHECKING:
    from agent.knowledge.library import Library
    from console.core.stored_core import Records

_PAGE_EVENTS = 10_000


@click.group(cls=CommandGroup)
def cards() -> None:
    """Manage app cards: what agents know about apps."""


@cards.command("list")
@JSON_OPTION
@click.pass_context
def list_cards(ctx: click.Context, as_json: bool) -> None:
    """List the cards in use."""
    library, own = _library(ctx)
    if as_json:
        plain.print_json([plain.as_builtins(card) for card in library.all()])
        return
    rows = [(card.app_name, card.package, ", ".join(card.names)) for card in library.all()]
    plain.print_text(plain.columns(("app", "package", "also called"), rows))
    plain.print_text(f"Your own go to {own}, one TOML file each.")


@cards.command(
    epilog="""\b
Examples:
  switchboard cards show larkspur
  switchboard cards show com.android.settings > settings.toml
"""
)
@click.argument("app")
@click.pass_context
def show(ctx: click.Context, app: str) -> None:
    """Print the card of APP, a package or a name."""
    from agent.knowledge.draft import as_toml

    library, _ = _library(ctx)
    card = library.of(app) or library.named(app)
    if card is None:
        raise UsageError(f"There is no card for {app!r}.", "switchboard cards list shows all.")
    plain.print_text(as_toml(card).rstrip())


@cards.command(
    epilog="""\b
Examples:
  switchboard cards check
  switchboard cards check my-shop.toml
"""
)
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.pass_context
def check(ctx: click.Context, files: tuple[Path, ...]) -> None:
    """Check cards: FILES, or your own."""
    from agent.knowledge.card import read_card_file

    _, own = _library(ctx)
    chosen = files or tuple(sorted(own.glob("*.toml")) if own.is_dir() else ())
    wrong = 0
    for path in chosen:
        try:
            card = read_card_file(path)
        except ConfigError as error:
            wrong += 1
            plain.print_text(f"FAIL  {error.message}")
        else:
            plain.print_text(f"ok    {path}: {card.app_name} ({card.package})")
    if not chosen:
        plain.print_text(f"There is no card in {own}.")
    end(ExitCode.FAILED if wrong else ExitCode.DONE)


@cards.command(
    epilog="""\b
Examples:
  switchboard cards draft 3f9a12 > cards/my-shop.toml
  switchboard cards draft 3f9a12 --package com.shop --name "My shop"
"""
)
@click.argument("session")
@click.option("--package", default="", metavar="NAME", help="The app; default: the most used one.")
@click.option("--name", "app_name", default="", metavar="TEXT", help="What people call it.")
@click.pass_context
def draft(ctx: click.Context, session: str, package: str, app_name: str) -> None:
    """Draft a card from SESSION on stdout."""
    from agent.knowledge.draft import as_toml, draft_card

    async def work(records: "Records") -> ExitCode:
        found = await records.session(session)
        events: list[Event] = []
        while page := await records.history(
            found.session_id, after_seq=events[-1].seq if events else 0, limit=_PAGE_EVENTS
        ):
            events += page
        card = draft_card(events, package=package, app_name=app_name)
        note = f"Drafted from session {found.session_id}; read and correct it: {found.goal}"
        plain.print_text(as_toml(card, note=note).rstrip())
        return ExitCode.DONE

    end(run_with_records(ctx, work))


def _library(ctx: click.Context) -> "tuple[Library, Path]":
    from agent.knowledge.library import DIRECTORY, load

    own = settings_for(ctx).config_file.parent / DIRECTORY
    library = load(own)
    for error in library.broken:
        say(f"switchboard: {error}")
    return library, own
