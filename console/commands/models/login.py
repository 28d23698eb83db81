"""`switchboard login` and `logout`: sign in with a browser, or keep a key, and forget either.

Invariants: a key is read from a prompt that does not show it or from stdin, never from an argument,
where other processes could read it; neither key nor token is printed.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import click

from agent.config import Settings
from agent.errors import ConfigError, ModelError, UsageError
from agent.settings import DEFAULT_MODEL
from console.cli_support.exits import ExitCode, end, say
from console.core.command_settings import settings_for
from console.terminal.line_input import ask_secret_at_once
from console.terminal.signals import StopRequest, run_async

if TYPE_CHECKING:
    from agent.models.endpoint import Endpoint


@click.command(
    epilog="""\b
Without --key it opens the browser at model.login_issuer (OAuth with PKCE) and waits for the
redirect to this machine. With --key it stores a key for the endpoint in keys.toml (mode 0600), or
in the system's keyring.

\b
Examples:
  switchboard login
  switchboard login --no-browser
  switchboard login --key
  pass show openai | switchboard login --key --keyring
"""
)
@click.option(
    "--key", "keep_key", is_flag=True, help="Store an API key instead, from a prompt or stdin."
)
@click.option("--keyring", "in_keyring", is_flag=True, help="With --key: in the system's keyring.")
@click.option("--no-browser", is_flag=True, help="Print the address instead of opening it.")
@click.pass_context
def login(ctx: click.Context, keep_key: bool, in_keyring: bool, no_browser: bool) -> None:
    """Sign in to the model's provider, or store a key for it."""
    settings = settings_for(ctx)
    if keep_key:
        _keep_key(_endpoint(settings), settings, in_keyring=in_keyring)
        return
    if in_keyring:
        raise click.UsageError("--keyring needs --key.", ctx=ctx)
    _sign_in(settings, no_browser=no_browser)


@click.command(
    epilog="""\b
Examples:
  switchboard logout
  switchboard logout --key
"""
)
@click.option("--key", "forget_key", is_flag=True, help="Forget the endpoint's stored key.")
@click.pass_context
def logout(ctx: click.Context, forget_key: bool) -> None:
    """Forget the login, here and at the issuer, or a stored key."""
    from agent.models.choice import key_file, login_file
    from agent.models.keys import keep_in_file, keep_in_keyring
    from agent.models.login import TokenFile, sign_out

    settings = settings_for(ctx)
    if forget_key:
        name = _endpoint(settings).key_name
        keep_in_file(key_file(settings), name, "")
        if settings.model.keyring:
            try:
                keep_in_keyring(name, "")
            except ConfigError as error:
                say(f"switchboard: {error}")
        say(f"No key is stored for {name}.")
        return
    kept = TokenFile(login_file(settings))
    found = kept.read()
    if found is None:
        say("Not signed in.")
        return
    try:
        sign_out(found)
    except ModelError as error:
        # Forgotten here in any case; it ends by itself there.
        say(f"switchboard: the issuer could not be informed: {error}")
    kept.keep(None)
    say(f"Signed out of {found.issuer}.")


def _endpoint(settings: Settings) -> Endpoint:
    from agent.models.choice import PILOT
    from agent.models.session_endpoint import endpoint_of

    name = settings.model.name
    return endpoint_of(settings, DEFAULT_MODEL if name == PILOT else name)


def _keep_key(endpoint: Endpoint, settings: Settings, *, in_keyring: bool) -> None:
    from agent.models.choice import key_file
    from agent.models.keys import keep_in_file, keep_in_keyring

    if sys.stdin.isatty():
        key = ask_secret_at_once(f"Key for {endpoint.key_name}")
    else:
        key = sys.stdin.readline(20_000).strip()
    if not key:
        raise UsageError("There is no key on stdin.", "Pipe it in, or run it in a terminal.")
    if in_keyring:
        keep_in_keyring(endpoint.key_name, key)
        say(f"The key for {endpoint.key_name} is in the keyring.")
        return
    keep_in_file(key_file(settings), endpoint.key_name, key)
    say(f"The key for {endpoint.key_name} is in {key_file(settings)}.")


def _sign_in(settings: Settings, *, no_browser: bool) -> None:
    async def work(_stop: StopRequest) -> ExitCode:
        await sign_in_at_issuer(settings, no_browser=no_browser)
        return ExitCode.DONE

    end(run_async(work))


async def sign_in_at_issuer(settings: Settings, *, no_browser: bool) -> None:
    """Sign in at `model.login_issuer`, and keep the token.

    Raises:
        UsageError: no issuer is set. ModelError: it refused, or could not be reached.
        ConfigError: the issuer or the endpoint is reached without encryption.
    """
    from agent.models.choice import login_file
    from agent.models.login import TokenFile, discover, sign_in

    wanted = settings.model
    if not wanted.login_issuer or not wanted.login_client_id:
        raise UsageError(
            "No login issuer is set.",
            "Run `switchboard models setup --login` on a terminal, set model.login_issuer and "
            "model.login_client_id, or keep a key: switchboard login --key",
        )

    def show(url: str) -> None:
        say(f"Sign in here: {url}")
        if not no_browser:
            click.launch(url)

    endpoint = _endpoint(settings)
    issuer = await asyncio.to_thread(discover, wanted.login_issuer)
    found = await sign_in(
        issuer,
        client_id=wanted.login_client_id,
        endpoint=endpoint.base_url,
        scope=wanted.login_scope,
        port=wanted.login_port,
        open_browser=show,
    )
    TokenFile(login_file(settings)).keep(found)
    say(f"Signed in with {found.issuer} for {found.origin}.")
