"""`switchboard operators`: who else may use this core, on which phones, and what they sign in by.

It changes the register of the data directory, whose owner needs no right of it. Invariants: a token
is printed once and kept nowhere; neither a token nor a key is ever taken from the command line.
"""

from __future__ import annotations

import os
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from console.cli_support.exits import ExitCode, end, say

if TYPE_CHECKING:
    from agent.operators.operator import Operator, OperatorKey
    from agent.operators.register import Register

_RIGHTS = click.Choice(["watch", "answer", "drive", "approve", "administer"])
_TAG = click.option(
    "--tag", "tags", multiple=True, metavar="TAG", help="On phones with this tag; repeatable."
)
_TOKEN_LIFE = "12h"


@click.group(
    epilog="""\b
Examples:
  switchboard operators keygen ~/.config/switchboard/operator.key
  switchboard operators add ana --may drive --tag lab --key ana.pub
  switchboard operators grant ana approve
  switchboard operators token ana --for 8h

Without operators, whoever runs the core may do everything. Once there is
one, everyone else must sign in.
""",
)
def operators() -> None:
    """Say who else may use this core, and what they may do."""


@operators.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
@click.pass_context
def list_command(ctx: click.Context, as_json: bool) -> None:
    """List the operators with their rights, keys and tokens."""
    from console.cli_support import plain

    found = _register(ctx).operators()
    if as_json:
        plain.print_json([_told(one) for one in found])
    elif not found:
        say("There are no operators: whoever runs the core may do everything.")
    else:
        rows = [
            (one.name, _rights(one), ", ".join(_credentials(one)) or "none: cannot sign in")
            for one in found
        ]
        plain.print_text(plain.columns(("NAME", "MAY", "SIGNS IN BY"), rows))
    end(ExitCode.DONE)


@operators.command()
@click.argument("name")
@click.option("--may", "rights", multiple=True, type=_RIGHTS, default=("watch",), show_default=True)
@_TAG
@click.option("--key", "key_file", type=click.Path(path_type=Path), help="A .pub file.")
@click.pass_context
def add(
    ctx: click.Context,
    name: str,
    rights: tuple[str, ...],
    tags: tuple[str, ...],
    key_file: Path | None,
) -> None:
    """Add an operator. Without --tag the rights are on all phones."""
    from agent.errors import UsageError
    from agent.operators.changes import granted, with_key
    from agent.operators.operator import Operator, checked_name
    from agent.records import Right

    register = _register(ctx)
    key = None if key_file is None else _key(key_file)

    def made(known: Operator | None) -> Operator:
        if known is not None:
            raise UsageError(
                f"There is an operator {name} already.", "Change it: switchboard operators grant"
            )
        fresh = Operator(name=checked_name(name), made_ms=_now_ms())
        fresh = granted(fresh, [Right(one) for one in rights], tags)
        return fresh if key is None else with_key(fresh, key, register.operators())

    register.change(name, made)
    hint = "" if key_file else f" To sign in they need a token: switchboard operators token {name}"
    say(f"{name} was added.{hint}")
    end(ExitCode.DONE)


@operators.command()
@click.argument("name")
@click.argument("rights", nargs=-1, required=True, type=_RIGHTS)
@_TAG
@click.pass_context
def grant(ctx: click.Context, name: str, rights: tuple[str, ...], tags: tuple[str, ...]) -> None:
    """Give rights: on phones with a tag, or on all."""
    from agent.operators.changes import granted
    from agent.records import Right

    _change(ctx, name, lambda one: granted(one, [Right(right) for right in rights], tags))


@operators.command()
@click.argument("name")
@click.argument("rights", nargs=-1, type=_RIGHTS)
@_TAG
@click.option("--credential", metavar="ID", help="A key or token, by its id; 'all' for every one.")
@click.pass_context
def revoke(
    ctx: click.Context,
    name: str,
    rights: tuple[str, ...],
    tags: tuple[str, ...],
    credential: str | None,
) -> None:
    """Take rights away, or a key or token. It counts at once."""
    from agent.errors import UsageError
    from agent.operators.changes import without, without_credential
    from agent.records import Right

    if not rights and not credential:
        raise UsageError("Nothing is named to revoke.", "Name a right, or --credential ID.")

    def less(one: Operator) -> Operator:
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

    register, added = _register(ctx), _key(key_file)
    _change(ctx, name, lambda one: with_key(one, added, register.operators()))


@operators.command(
    epilog="Its line is printed once and kept nowhere; lost, make another and revoke this one.",
)
@click.argument("name")
@click.option("--for", "life", default=_TOKEN_LIFE, show_default=True, help="How long it counts.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Write it to a new file of mode 600 instead of stdout.",
)
@click.pass_context
def token(ctx: click.Context, name: str, life: str, output: Path | None) -> None:
    """Make a token to sign in with."""
    from agent.errors import UsageError
    from agent.operators.changes import with_token
    from agent.operators.operator import made_token
    from console.cli_support.time_parsing import duration_ms

    register, now_ms = _register(ctx), _now_ms()
    if register.find(name) is None:
        raise _nobody(name)
    made, kept = made_token(now_ms, max(duration_ms(life), 1000))
    if output is not None:
        try:
            descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise UsageError(
                f"{output} cannot be made: {error.strerror or error}.", "Name another file."
            ) from error
        with os.fdopen(descriptor, "w") as file:
            file.write(made + "\n")
    register.change(name, lambda one: with_token(_there(name, one), kept, now_ms))
    if output is None:
        click.echo(made)
    say(f"Token {kept.token_id} of {name} counts until {_moment(kept.expires_ms)}.")
    end(ExitCode.DONE)


@operators.command()
@click.argument("name")
@click.pass_context
def remove(ctx: click.Context, name: str) -> None:
    """Remove an operator. It counts at once."""
    register = _register(ctx)

    def gone(one: Operator | None) -> None:
        _there(name, one)

    register.change(name, gone)
    left = "" if register.is_used else " Nobody is left: whoever runs the core may do everything."
    say(f"{name} was removed.{left}")
    end(ExitCode.DONE)


@operators.command()
@click.argument("file", type=click.Path(path_type=Path))
def keygen(file: Path) -> None:
    """Make a key of your own: FILE, and FILE.pub for whoever adds you."""
    from agent.operators.keys import make_key

    line = make_key(file)
    public = file.with_name(f"{file.name}.pub")
    public.write_text(line + "\n")
    click.echo(line)
    say(f"Keep {file} to yourself; give {public} to whoever runs the core.")
    end(ExitCode.DONE)


def _register(ctx: click.Context) -> Register:
    from agent.operators.register import Register
    from agent.private_files import check_unshared
    from console.cli_support.command_settings import settings_for

    settings = settings_for(ctx)
    check_unshared(settings.data_dir)
    return Register(settings.data_dir)


def _change(ctx: click.Context, name: str, changed: object) -> None:
    assert callable(changed)
    _register(ctx).change(name, lambda one: changed(_there(name, one)))
    say(f"{name} was changed.")
    end(ExitCode.DONE)


def _there(name: str, one: Operator | None) -> Operator:
    if one is None:
        raise _nobody(name)
    return one


def _nobody(name: str) -> Exception:
    from agent.errors import UsageError

    return UsageError(f"There is no operator {name[:40]!r}.", "switchboard operators list")


def _key(file: Path) -> OperatorKey:
    from agent.errors import UsageError
    from agent.operators.keys import key_id, public_of
    from agent.operators.operator import OperatorKey

    try:
        line = file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read.", "Name the .pub file.") from error
    public = public_of(line)
    return OperatorKey(key_id=key_id(public), public=public, added_ms=_now_ms())


def _rights(one: Operator) -> str:
    told = [
        str(grant.right) + (f" on {', '.join(grant.tags)}" if grant.tags else "")
        for grant in one.grants
    ]
    return "; ".join(told) or "nothing"


def _credentials(one: Operator) -> list[str]:
    now_ms = _now_ms()
    keys = [f"key {each.key_id}" for each in one.keys]
    tokens = [
        f"token {each.token_id} until {_moment(each.expires_ms)}"
        for each in one.tokens
        if now_ms < each.expires_ms
    ]
    return keys + tokens


def _told(one: Operator) -> dict[str, object]:
    return {
        "name": one.name,
        "grants": [{"right": str(g.right), "tags": list(g.tags)} for g in one.grants],
        "keys": [{"id": each.key_id, "addedMs": each.added_ms} for each in one.keys],
        "tokens": [
            {"id": each.token_id, "madeMs": each.made_ms, "expiresMs": each.expires_ms}
            for each in one.tokens
        ],
    }


def _moment(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M")


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
