"""`switchboard operators`: who else may use the core, on which phones, and what they sign in by.

It changes the register of the data directory, or that of the fleet (`--fleet`), whose owner needs
no right of it. Invariants: a token is printed once and kept nowhere; neither a token nor a key is
ever taken from the command line.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import click

from agent.errors import UsageError
from agent.records import Right
from agent.text import counted
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.new_file import write_new
from console.cli_support.options import JSON_OPTION
from console.cli_support.sections import CommandGroup
from console.cli_support.time_parsing import duration_ms
from console.core.command_settings import settings_for, to_run

if TYPE_CHECKING:
    from agent.hosts.fleet_register import FleetRegister
    from agent.operators.operator import Identity, Operator, OperatorKey, OperatorToken
    from agent.operators.register import Register

T = TypeVar("T")

_RIGHTS = click.Choice(["watch", "answer", "drive", "approve", "administer"])
_TAG = click.option(
    "--tag", "tags", multiple=True, metavar="TAG", help="On phones with this tag; repeatable."
)
_TOKEN_LIFE = "12h"
_SUBJECT = click.option(
    "--oidc", "subject", default="", metavar="SUBJECT", help="An account at your OpenID issuer."
)
_EMAIL = click.option(
    "--oidc-email", "email", default="", metavar="ADDRESS", help="The same, by its verified e-mail."
)


@click.group(
    cls=CommandGroup,
    epilog="""\b
Examples:
  switchboard operators keygen ~/.config/switchboard/operator.key
  switchboard operators add ana --may drive --tag lab --key ana.pub
  switchboard operators grant ana approve
  switchboard operators token ana --for 8h
  switchboard operators add ben --may drive --oidc-email ben@example.com
  switchboard --fleet @dsn operators list

Without operators, every client of the core may do everything. Once there is
one, everyone else must sign in. A fleet has one register for all its hosts.
""",
)
def operators() -> None:
    """Manage who may use the core, and their rights."""


@operators.command("list")
@JSON_OPTION
@click.pass_context
def list_command(ctx: click.Context, as_json: bool) -> None:
    """List the operators with their rights, keys, accounts and tokens."""

    async def listed(register: Register) -> tuple[tuple[Operator, ...], int, bool]:
        fleet = _as_fleet(register)
        found = register.operators() if fleet is None else fleet.all_operators()
        return found, register.clock_ms(), fleet is not None and fleet.problem is not None

    found, now_ms, is_closed = _with_register(ctx, listed)
    if as_json:
        plain.print_json([_operator_json(one, now_ms) for one in found])
    elif not found and is_closed:
        say("There are no operators.")
    elif not found:
        say("There are no operators: every client of the core may do everything.")
    else:
        rows = [
            (one.name, _rights(one), ", ".join(_credentials(one, now_ms)) or "none: cannot sign in")
            for one in found
        ]
        plain.print_text(plain.columns(("NAME", "MAY", "SIGNS IN BY"), rows))
    end(ExitCode.DONE)


@operators.command()
@click.argument("name")
@click.option("--may", "rights", multiple=True, type=_RIGHTS, default=("watch",), show_default=True)
@_TAG
@click.option("--key", "key_file", type=click.Path(path_type=Path), help="A .pub file.")
@_SUBJECT
@_EMAIL
@click.pass_context
def add(
    ctx: click.Context,
    name: str,
    rights: tuple[str, ...],
    tags: tuple[str, ...],
    key_file: Path | None,
    subject: str,
    email: str,
) -> None:
    """Add an operator. Without --tag the rights apply to all phones."""
    from agent.operators.changes import granted, with_identity, with_key
    from agent.operators.operator import Operator, checked_name

    async def added(register: Register) -> None:
        now_ms = register.clock_ms()
        key = None if key_file is None else _key(key_file, now_ms)
        account = _identity(ctx, now_ms, subject, email) if subject or email else None

        def with_new(known: Mapping[str, Operator]) -> Operator:
            if name in known:
                raise UsageError(
                    f"There is already an operator {name}.",
                    "Change it: switchboard operators grant",
                )
            fresh = Operator(name=checked_name(name), made_ms=now_ms)
            fresh = granted(fresh, [Right(one) for one in rights], tags)
            if key is not None:
                fresh = with_key(fresh, key, known.values())
            return fresh if account is None else with_identity(fresh, account, known.values())

        await register.change(name, with_new)

    _with_register(ctx, added)
    can_sign_in = key_file or subject or email
    hint = f" To sign in they need a token: {to_run(f'operators token {name}')}"
    say(f"{name} was added.{'' if can_sign_in else hint}")
    end(ExitCode.DONE)


@operators.command()
@click.argument("name")
@click.argument("rights", nargs=-1, required=True, type=_RIGHTS)
@_TAG
@click.pass_context
def grant(ctx: click.Context, name: str, rights: tuple[str, ...], tags: tuple[str, ...]) -> None:
    """Grant rights on phones with a tag, or on all."""
    from agent.operators.changes import granted

    _change(ctx, name, lambda one, _: granted(one, [Right(right) for right in rights], tags))


@operators.command()
@click.argument("name")
@click.argument("rights", nargs=-1, type=_RIGHTS)
@_TAG
@click.option("--credential", metavar="ID", help="A key, account or token by its id, or 'all'.")
@click.pass_context
def revoke(
    ctx: click.Context,
    name: str,
    rights: tuple[str, ...],
    tags: tuple[str, ...],
    credential: str | None,
) -> None:
    """Revoke rights, a key, an account or a token, effective at once."""
    from agent.operators.changes import without, without_credential

    if not rights and not credential:
        raise UsageError("There is nothing to revoke.", "Name a right, or --credential ID.")

    def less(one: Operator, _: Mapping[str, Operator]) -> Operator:
        if rights:
            one = without(one, [Right(right) for right in rights], tags)
        return without_credential(one, credential) if credential else one

    _change(ctx, name, less)


@operators.command()
@click.argument("name")
@click.argument("key_file", type=click.Path(path_type=Path))
@click.pass_context
def key(ctx: click.Context, name: str, key_file: Path) -> None:
    """Add a public Ed25519 key: the .pub file of keygen, or of ssh-keygen."""
    from agent.operators.changes import with_key

    added = _key(key_file, _now_ms())
    _change(ctx, name, lambda one, known: with_key(one, added, known.values()))


@operators.command()
@click.argument("name")
@_SUBJECT
@_EMAIL
@click.pass_context
def account(ctx: click.Context, name: str, subject: str, email: str) -> None:
    """Add an account at your OpenID issuer: its subject, or its verified e-mail."""
    from agent.operators.changes import with_identity

    added = _identity(ctx, _now_ms(), subject, email)
    _change(ctx, name, lambda one, known: with_identity(one, added, known.values()))


@operators.command(
    epilog="The token is printed once and not stored. If it is lost, create another and revoke it."
)
@click.argument("name")
@click.option("--for", "life", default=_TOKEN_LIFE, show_default=True, help="How long it is valid.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Write it to a new file of mode 600 instead of stdout.",
)
@click.pass_context
def token(ctx: click.Context, name: str, life: str, output: Path | None) -> None:
    """Create a sign-in token."""
    from agent.operators.changes import with_token
    from agent.operators.operator import made_token

    life_ms = max(duration_ms(life), 1000)

    async def added(register: Register) -> OperatorToken:
        now_ms = register.clock_ms()
        token, kept = made_token(now_ms, life_ms)
        # Made first: a token that cannot be handed over does not count.
        _existing(name, {one.name: one for one in _all_of(register)}.get(name))
        if output is not None:
            write_new(output, token)

        def changed(known: Mapping[str, Operator]) -> Operator:
            return with_token(_existing(name, known.get(name)), kept, now_ms)

        await register.change(name, changed)
        if output is None:
            click.echo(token)
        return kept

    kept = _with_register(ctx, added)
    say(f"Token {kept.token_id} of {name} is valid until {_moment(kept.expires_ms)}.")
    end(ExitCode.DONE)


@operators.command()
@click.argument("name")
@click.pass_context
def remove(ctx: click.Context, name: str) -> None:
    """Remove an operator, effective at once."""

    async def removed(register: Register) -> bool:
        def check_exists(known: Mapping[str, Operator]) -> None:
            _existing(name, known.get(name))

        await register.change(name, check_exists)
        return bool(_all_of(register))

    are_left = _with_register(ctx, removed)
    left = "" if are_left else " No operators are left: every client of the core may do everything."
    say(f"{name} was removed.{left}")
    end(ExitCode.DONE)


@operators.command(
    "import",
    epilog="An operator who is in the register with the same rights and credentials stays as is. "
    "The data directory's own file is renamed afterwards.",
)
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.pass_context
def import_command(ctx: click.Context, file: Path | None) -> None:
    """Import operators from FILE into the fleet's register; default: this host's own."""
    from agent.operators.changes import merged
    from agent.operators.file_register import FILE_NAME, read_operators

    own = settings_for(ctx).data_dir / FILE_NAME
    path = own if file is None else file
    if not path.exists():
        raise UsageError(
            f"There is no file {path}.",
            "Name one: a host's operators.json, or operators.json.imported after an import.",
        )
    brought = read_operators(path)

    async def imported(register: Register) -> None:
        _need_fleet(register)
        there = {one.name: one for one in _all_of(register)}
        for one in brought.values():
            merged(there, one)
        for one in brought.values():
            await register.change(one.name, partial(merged, brought=one))

    _with_register(ctx, imported)
    if path == own:
        path.rename(path.with_name(f"{FILE_NAME}.imported"))
    say(f"The fleet's register has {counted(len(brought), 'operator')} from the file.")
    end(ExitCode.DONE)


@operators.command()
@click.pass_context
def confirm(ctx: click.Context) -> None:
    """Let the fleet's operators sign in again after its database was restored.

    Check them first: switchboard operators list
    """

    async def confirmed(register: Register) -> int:
        await _need_fleet(register).confirm()
        return len(_all_of(register))

    count = _with_register(ctx, confirmed)
    say(
        f"{counted(count, 'operator', 'operators')} can sign in."
        if count
        else "There are no operators: every client of a core may do everything."
    )
    end(ExitCode.DONE)


@operators.command()
@click.argument("file", type=click.Path(path_type=Path))
def keygen(file: Path) -> None:
    """Create a key pair: FILE, and FILE.pub for the operator who adds you."""
    from agent.operators.keys import make_key

    line = make_key(file)
    public = file.with_name(f"{file.name}.pub")
    public.write_text(line + "\n")
    click.echo(line)
    say(f"Keep {file} to yourself; give {public} to the operator who adds you.")
    end(ExitCode.DONE)


@operators.command(
    epilog="""\b
The first time it asks for a new passphrase. A terminal stays unlocked until it
is closed or the core ends. Choose the passphrase before you connect agents.
"""
)
@click.pass_context
def unlock(ctx: click.Context) -> None:
    """Show that a person is at this terminal, by the operator's passphrase.

    Until then, what allows agents more may be refused here.
    """
    from console.core.device_setup import NO_DEVICES
    from console.core.host import Host, run_with_host
    from console.runs.unlocking import unlock as unlocked
    from console.terminal.line_input import can_ask
    from console.terminal.signals import StopRequest

    async def work(host: Host, _stop: StopRequest) -> ExitCode:
        if not can_ask():
            raise UsageError(
                "A passphrase is typed at a terminal.",
                "Run it there; a script needs a token: switchboard tokens create",
            )
        await unlocked(host)
        here = "" if not host.owned else " No core is running: unlock it again once one is."
        say(f"This terminal is unlocked.{here}")
        return ExitCode.DONE

    end(run_with_host(settings_for(ctx), NO_DEVICES, work))


def _with_register(ctx: click.Context, work: Callable[[Register], Awaitable[T]]) -> T:
    """Work on the register that the settings name; say what keeps its operators out."""
    from console.core.register_choice import open_register

    settings = settings_for(ctx)

    async def worked() -> T:
        async with open_register(settings) as register:
            done = await work(register)
            fleet = _as_fleet(register)
            if fleet is not None and fleet.problem is not None:
                say(f"{fleet.problem.message} {fleet.problem.remedy}")
            return done

    return asyncio.run(worked())


def _as_fleet(register: Register) -> FleetRegister | None:
    from agent.operators.file_register import FileRegister

    return None if isinstance(register, FileRegister) else cast("FleetRegister", register)


def _need_fleet(register: Register) -> FleetRegister:
    fleet = _as_fleet(register)
    if fleet is None:
        raise UsageError(
            "These operators belong to this data directory, not to a fleet.",
            "Name the fleet: switchboard --fleet DSN operators …",
        )
    return fleet


def _all_of(register: Register) -> tuple[Operator, ...]:
    fleet = _as_fleet(register)
    return register.operators() if fleet is None else fleet.all_operators()


def _change(
    ctx: click.Context, name: str, changed: Callable[[Operator, Mapping[str, Operator]], Operator]
) -> None:
    async def work(register: Register) -> None:
        await register.change(name, lambda known: changed(_existing(name, known.get(name)), known))

    _with_register(ctx, work)
    say(f"{name} was changed.")
    end(ExitCode.DONE)


def _existing(name: str, one: Operator | None) -> Operator:
    if one is None:
        raise UsageError(f"There is no operator {name[:40]!r}.", "switchboard operators list")
    return one


def _key(file: Path, now_ms: int) -> OperatorKey:
    from agent.operators.keys import key_id, public_of
    from agent.operators.operator import OperatorKey

    try:
        line = file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read.", "Name the .pub file.") from error
    public = public_of(line)
    return OperatorKey(key_id=key_id(public), public=public, added_ms=now_ms)


def _identity(ctx: click.Context, now_ms: int, subject: str, email: str) -> Identity:
    from agent.operators.operator import identity_at

    issuer = settings_for(ctx).oidc.issuer
    return identity_at(issuer, now_ms, subject=subject, email=email)


def _rights(one: Operator) -> str:
    told = [
        str(grant.right) + (f" on {', '.join(grant.tags)}" if grant.tags else "")
        for grant in one.grants
    ]
    return "; ".join(told) or "nothing"


def _credentials(one: Operator, now_ms: int) -> list[str]:
    keys = [f"key {each.key_id}" for each in one.keys]
    accounts = [f"account {each.text} ({each.identity_id})" for each in one.identities]
    tokens = [
        f"{'sign-in' if each.identity_id else 'token'} {each.token_id} "
        f"until {_moment(each.expires_ms)}"
        for each in one.tokens
        if now_ms < each.expires_ms
    ]
    return keys + accounts + tokens


def _operator_json(one: Operator, now_ms: int) -> dict[str, object]:
    return {
        "name": one.name,
        "grants": [{"right": str(g.right), "tags": list(g.tags)} for g in one.grants],
        "keys": [{"id": each.key_id, "addedMs": each.added_ms} for each in one.keys],
        "accounts": [
            {
                "id": each.identity_id,
                "issuer": each.issuer,
                "subject": each.subject,
                "email": each.email,
                "addedMs": each.added_ms,
            }
            for each in one.identities
        ],
        "tokens": [
            {
                "id": each.token_id,
                "madeMs": each.made_ms,
                "expiresMs": each.expires_ms,
                "account": each.identity_id,
            }
            for each in one.tokens
            if now_ms < each.expires_ms
        ],
    }


def _moment(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M")


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
