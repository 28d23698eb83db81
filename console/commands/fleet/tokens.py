"""`switchboard tokens`: what scripts may allow, each within limits, for a time.

Invariant: a token is printed once and kept nowhere; only a person may make one.
"""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.errors import UsageError
from agent.records import EffectVerb
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.new_file import write_new
from console.cli_support.options import JSON_OPTION
from console.cli_support.sections import CommandGroup
from console.cli_support.time_parsing import when_ms
from console.core.command_settings import settings_for

if TYPE_CHECKING:
    from agent.consent.script_tokens import ScriptToken

_ALL = "all"
_VERBS = (*(one.value for one in EffectVerb), _ALL)
_LIFE = "12h"


@click.group(
    cls=CommandGroup,
    epilog="""\b
Examples:
  switchboard tokens create night --may approve --verbs send --to "Ana Silva" --until 8h
  switchboard tokens create shop --may approve --verbs spend --to "Corner Cafe" --up-to "20 EUR"
  SWITCHBOARD_OPERATOR_SCRIPT_TOKEN_FILE=night.token switchboard sessions answer 3f2a yes
""",
)
def tokens() -> None:
    """Manage what scripts may approve without a person."""


@tokens.command()
@click.argument("name")
@click.option("--may", type=click.Choice(["approve"]), required=True, help="What it may do.")
@click.option(
    "--verbs", required=True, metavar="LIST", help="Effects, as send,delete; or all, also without."
)
@click.option("--to", multiple=True, metavar="NAME", help="A recipient; '*': anybody. Repeatable.")
@click.option("--up-to", metavar="AMOUNT", help="What its payments may come to, as '20 EUR'.")
@click.option("--until", default=_LIFE, show_default=True, help="A moment, or for how long.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Write it to a new file of mode 600 instead of stdout.",
)
@click.pass_context
def create(
    ctx: click.Context,
    name: str,
    may: str,
    verbs: str,
    to: tuple[str, ...],
    up_to: str | None,
    until: str,
    output: Path | None,
) -> None:
    """Create a token with which a script may approve; a person has to be here."""
    from console.core.device_setup import NO_DEVICES
    from console.core.host import Host, run_with_host
    from console.runs.unlocking import unlock
    from console.terminal.line_input import can_ask
    from console.terminal.signals import StopRequest

    settings = settings_for(ctx)
    wanted = _token(name, verbs, to, up_to, until)

    async def work(host: Host, _stop: StopRequest) -> ExitCode:
        from agent.consent.script_tokens import ScriptTokens

        if not can_ask():
            raise UsageError("Only a person may create a token.", "Do it at a terminal.")
        await unlock(host)
        secret = ScriptTokens(settings.data_dir).create(wanted)
        if output is None:
            click.echo(secret)
        else:
            write_new(output, secret)
        say(f"The token {name} is valid until {_moment(wanted.until_ms)}: {_limits(wanted)}.")
        return ExitCode.DONE

    end(run_with_host(settings, NO_DEVICES, work))


@tokens.command("list")
@JSON_OPTION
@click.pass_context
def list_command(ctx: click.Context, as_json: bool) -> None:
    """List the tokens and their limits."""
    from agent.consent.script_tokens import ScriptTokens

    found = [one for one in ScriptTokens(settings_for(ctx).data_dir).all() if not _is_over(one)]
    if as_json:
        plain.print_json([_token_json(one) for one in found])
    elif not found:
        say("There are no tokens.")
    else:
        rows = [(one.token_id, one.name, _limits(one), _moment(one.until_ms)) for one in found]
        plain.print_text(plain.columns(("ID", "NAME", "MAY APPROVE", "UNTIL"), rows))
    end(ExitCode.DONE)


@tokens.command()
@click.argument("token_id", metavar="ID")
@click.pass_context
def revoke(ctx: click.Context, token_id: str) -> None:
    """Revoke a token, effective at once."""
    from agent.consent.script_tokens import ScriptTokens

    ScriptTokens(settings_for(ctx).data_dir).revoke(token_id)
    say(f"Token {token_id} is revoked.")
    end(ExitCode.DONE)


def _token(
    name: str, verbs: str, to: tuple[str, ...], up_to: str | None, until: str
) -> ScriptToken:
    from agent.consent.script_tokens import ScriptToken
    from agent.safety.allowances.amount_text import read_amount
    from agent.safety.effects.amounts import currency

    said = [one.strip() for one in verbs.split(",") if one.strip()]
    unknown = [one for one in said if one not in _VERBS]
    if unknown or not said:
        raise UsageError(
            f"--verbs does not name effects: {', '.join(unknown)[:60] or 'it is empty'}.",
            f"Use {', '.join(_VERBS)}.",
        )
    if not name.isprintable() or not 0 < len(name) <= 40:
        raise UsageError("A token's name has 1 to 40 characters.", "Choose another.")
    money = None if up_to is None else read_amount(up_to)
    now_ms = time.time_ns() // 1_000_000
    return ScriptToken(
        token_id="",
        name=name,
        sha256="",
        made_ms=now_ms,
        until_ms=when_ms(until, datetime.now().astimezone()),
        verbs=() if _ALL in said else tuple(EffectVerb(one) for one in dict.fromkeys(said)),
        to=to,
        up_to=0 if money is None else money.hundredths,
        currency="" if money is None else currency(f"1 {money.unit}"),
    )


def _is_over(token: ScriptToken) -> bool:
    return token.until_ms <= time.time_ns() // 1_000_000


def _limits(token: ScriptToken) -> str:
    what = "everything" if token.allows_all else ", ".join(one.value for one in token.verbs)
    to = f" to {', '.join(token.to)}" if token.to else ""
    used, most = token.used / 100, token.up_to / 100
    money = f" ({used:.2f} of {most:.2f} {token.currency} used)" if token.up_to else ""
    return f"{what}{to}{money}"


def _token_json(token: ScriptToken) -> dict[str, object]:
    return {
        "id": token.token_id,
        "name": token.name,
        "verbs": [one.value for one in token.verbs] or [_ALL],
        "to": list(token.to),
        "upTo": token.up_to / 100,
        "used": token.used / 100,
        "currency": token.currency,
        "madeMs": token.made_ms,
        "untilMs": token.until_ms,
    }


def _moment(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M")
