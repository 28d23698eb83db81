"""`switchboard vault`: secrets that only one field of one app gets.

Invariants: only a person may add or remove one; a secret and a passphrase are typed unseen, and
nothing prints them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import click

from agent.errors import UsageError
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.options import JSON_OPTION
from console.cli_support.sections import CommandGroup
from console.core.command_settings import settings_for

if TYPE_CHECKING:
    from agent.config import Settings
    from agent.vault.entries import VaultEntry
    from console.core.host import Host

_DEVICE_OPTION = click.option(
    "--device", "serial", default="", metavar="SERIAL", help="The phone that has the app."
)


@click.group(
    cls=CommandGroup,
    epilog="""\b
Examples:
  switchboard vault add bank --app com.example.bank --field password
  switchboard vault add bank-pin --app com.example.bank --field keypad --sealed
  switchboard vault add bank-code --app com.example.bank --field id:code --kind totp --use allow
  switchboard vault test bank
""",
)
def vault() -> None:
    """Keep secrets that only one field of one app gets, and no model."""


@vault.command()
@click.argument("name")
@click.option("--app", "package", required=True, metavar="PACKAGE", help="The app that it is for.")
@click.option(
    "--field",
    "field_words",
    required=True,
    metavar="FIELD",
    help="The field: password, keypad, id:RESOURCE_ID or hint:TEXT.",
)
@click.option(
    "--kind",
    type=click.Choice(["text", "totp"]),
    default="text",
    help="totp: what makes an authenticator's codes.",
)
@click.option("--site", default="", metavar="HOST", help="In a browser: the site that it is for.")
@click.option(
    "--use",
    type=click.Choice(["ask", "allow"]),
    default="ask",
    help="allow: nobody is asked in a session of yours at trusted_actions.",
)
@click.option("--sealed", is_flag=True, help="Under a passphrase in a file, not in the keyring.")
@_DEVICE_OPTION
@click.pass_context
def add(
    ctx: click.Context,
    *,
    name: str,
    package: str,
    field_words: str,
    kind: str,
    site: str,
    use: str,
    sealed: bool,
    serial: str,
) -> None:
    """Keep a secret as NAME, for an app as it is installed now; a person has to be here."""
    from agent.vault.entries import (
        SecretKind,
        Use,
        VaultEntry,
        checked_name,
        checked_secret,
        checked_site,
        read_field,
    )
    from agent.vault.vault import Vault
    from console.terminal.line_input import ask_secret
    from console.terminal.signals import run_async

    settings = settings_for(ctx)
    chosen = SecretKind(kind)
    entry = VaultEntry(
        name=checked_name(name),
        package=package,
        certificates=(),
        field=read_field(field_words),
        kind=chosen,
        site=checked_site(site),
        use=Use(use),
    )
    if sealed and entry.use is Use.ALLOW:
        raise UsageError(
            "A sealed secret is asked about each time.", "Leave --use or --sealed out."
        )

    _check_person()
    signed = entry

    async def look(_stop: object) -> ExitCode:
        from msgspec.structs import replace

        nonlocal signed
        signed = replace(entry, certificates=await _signers(settings, serial, package))
        return ExitCode.DONE

    async def work(_host: Host) -> ExitCode:
        secret = checked_secret(chosen, await ask_secret(f"Secret to keep as {name}"))
        passphrase = await _new_passphrase() if sealed else ""
        made = Vault(settings.data_dir).add(signed, secret, passphrase)
        say(f"{made.name} is kept. {_for(made)}. Write {{{{vault:{made.name}}}}} in a goal.")
        return ExitCode.DONE

    # Before the core of this command, which has no phones and ends an adb server without any.
    looked = run_async(look)
    if looked is not ExitCode.DONE:
        end(looked)
    _by_person(settings, work)


@vault.command("list")
@JSON_OPTION
@click.pass_context
def list_command(ctx: click.Context, as_json: bool) -> None:
    """List the entries: names and what they are for, never a secret."""
    from agent.vault.vault import Vault

    found = Vault(settings_for(ctx).data_dir).entries()
    if as_json:
        plain.print_json([_as_json(one) for one in found])
    elif not found:
        say("The vault is empty.")
    else:
        rows = [
            (one.name, one.package, one.field.words, one.kind.value, one.use.value) for one in found
        ]
        plain.print_text(plain.columns(("NAME", "APP", "FIELD", "KIND", "USE"), rows))
    end(ExitCode.DONE)


@vault.command()
@click.argument("name")
@JSON_OPTION
@click.pass_context
def show(ctx: click.Context, name: str, as_json: bool) -> None:
    """Show what an entry is for, never its secret."""
    entry = _entry(settings_for(ctx), name)
    if as_json:
        plain.print_json(_as_json(entry))
    else:
        plain.print_text(f"{entry.name}: {_for(entry)}.\n" + "\n".join(entry.certificates))
    end(ExitCode.DONE)


@vault.command()
@click.argument("name")
@click.pass_context
def remove(ctx: click.Context, name: str) -> None:
    """Forget a secret; a person has to be here."""
    from agent.vault.vault import Vault

    settings = settings_for(ctx)
    _entry(settings, name)

    async def work(_host: Host) -> ExitCode:
        Vault(settings.data_dir).remove(name)
        say(f"{name} is forgotten.")
        return ExitCode.DONE

    _by_person(settings, work)


@vault.command()
@click.argument("name")
@_DEVICE_OPTION
@click.pass_context
def test(ctx: click.Context, name: str, serial: str) -> None:
    """Open a secret without printing it, and compare its app on the phone."""
    from agent.vault.vault import Vault
    from console.terminal.line_input import ask_secret, can_ask
    from console.terminal.signals import run_async

    settings = settings_for(ctx)
    entry = _entry(settings, name)

    async def work(_stop: object) -> ExitCode:
        if entry.is_sealed and not can_ask():
            raise UsageError("A sealed secret needs its passphrase.", "Test it at a terminal.")
        passphrase = await ask_secret(f"Passphrase of {name}") if entry.is_sealed else ""
        Vault(settings.data_dir).hand_out(name, entry, passphrase)
        if await _signers(settings, serial, entry.package) != entry.certificates:
            raise UsageError(
                f"{entry.package} is signed with another certificate than when {name} was added.",
                "If you trust it, remove the entry and add it again.",
            )
        say(f"{name} opens, and {entry.package} is the app that it is for.")
        return ExitCode.DONE

    end(run_async(work))


def _by_person(settings: Settings, work: Callable[[Host], Awaitable[ExitCode]]) -> None:
    """Do what only a person may, once the operator's passphrase was given."""
    from console.core.device_setup import NO_DEVICES
    from console.core.host import run_with_host
    from console.runs.unlocking import unlock

    _check_person()

    async def main(host: Host, _stop: object) -> ExitCode:
        await unlock(host)
        return await work(host)

    end(run_with_host(settings, NO_DEVICES, main))


def _check_person() -> None:
    from console.terminal.line_input import can_ask

    if not can_ask():
        raise UsageError("Only a person may change the vault.", "Do it at a terminal.")


async def _signers(settings: Settings, serial: str, package: str) -> tuple[str, ...]:
    from agent.devices.protocols import ProvesApps
    from console.commands.devices.devices_reach import reached

    async with reached(settings, serial, drives=False) as phone:
        assert isinstance(phone.device, ProvesApps), "a phone that adb reaches tells certificates"
        return await phone.device.proof.signers(package)


async def _new_passphrase() -> str:
    from agent.consent.passphrase import SHORTEST
    from console.terminal.line_input import ask_secret

    while True:
        said = await ask_secret(f"Passphrase that seals it, at least {SHORTEST} characters")
        if len(said) < SHORTEST:
            say("That is too short.")
        elif await ask_secret("Once more") != said:
            say("These were two different ones.")
        else:
            return said


def _entry(settings: Settings, name: str) -> VaultEntry:
    from agent.vault.vault import Vault, no_entry

    entry = Vault(settings.data_dir).find(name)
    if entry is None:
        raise no_entry(name)
    return entry


def _for(entry: VaultEntry) -> str:
    site = f" on pages of {entry.site}" if entry.site else ""
    asked = "asked each time" if entry.use.value == "ask" else "allowed"
    where = "a sealed file" if entry.is_sealed else "the keyring"
    return (
        f"For {entry.package}{site}, field {entry.field.words}, {entry.kind.value}, {asked}, "
        f"in {where}"
    )


def _as_json(entry: VaultEntry) -> dict[str, object]:
    return {
        "name": entry.name,
        "app": entry.package,
        "certificates": list(entry.certificates),
        "field": entry.field.words,
        "kind": entry.kind.value,
        "site": entry.site,
        "use": entry.use.value,
        "sealed": entry.is_sealed,
        "madeMs": entry.made_ms,
    }
