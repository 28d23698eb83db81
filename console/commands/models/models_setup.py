"""`switchboard models setup`: connect a model, by a key, a server of this machine, or a login.

Invariants: nothing is kept before the model has answered, unless that was asked for; a key is read
from a prompt that does not show it or from stdin, never from an argument.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click
import msgspec

from agent.config import Settings, write_setting
from agent.errors import ConfigError, ModelError, UsageError
from agent.safety.redacting.redaction import find_secrets
from agent.settings import DEFAULT_MODEL, PILOT
from console.cli_support.exits import ExitCode, end, say
from console.core.command_settings import settings_for
from console.terminal.line_input import ask, ask_secret, hidden_input
from console.terminal.signals import StopRequest, run_async

if TYPE_CHECKING:
    from agent.models.catalog import Preset
    from agent.models.local_servers import LocalServer

_SHOWN_MODELS = 12


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be connected."""

    preset: Preset
    model: str
    base_url: str = ""  # Set for a server of this machine that is not where its kind usually is.
    key: str = ""


@click.command(
    "setup",
    epilog="""\b
Without PROVIDER it looks for model servers on this machine and asks. The key is asked for, or read
from stdin; it goes into the system's keyring, or into keys.toml (mode 0600) where there is none.
--login asks for the issuer, the client id and the endpoint where the settings name none.

\b
Examples:
  switchboard models setup
  switchboard models setup anthropic
  pass show groq | switchboard models setup groq --model llama-3.3-70b-versatile
  switchboard models setup ollama --model qwen3:8b
  switchboard models setup --login --url https://models.example.com/v1
""",
)
@click.argument("provider", default="")
@click.option("--model", "model", default="", help="The model, as the provider calls it.")
@click.option("--url", default="", help="Address of a local server; with --login: the endpoint.")
@click.option("--login", "by_login", is_flag=True, help="Sign in with an OAuth issuer.")
@click.option("--no-test", is_flag=True, help="Save it without testing the model.")
@click.option("--in-file", is_flag=True, help="Keep the key in keys.toml, not in the keyring.")
@click.pass_context
def setup(
    ctx: click.Context,
    provider: str,
    model: str,
    url: str,
    by_login: bool,
    no_test: bool,
    in_file: bool,
) -> None:
    """Connect a model: by key, local server, or login."""
    settings = settings_for(ctx)
    if by_login and provider:
        raise click.UsageError("--login takes no PROVIDER.", ctx=ctx)

    async def work(_stop: StopRequest) -> ExitCode:
        # A key may be pasted while servers are looked for, or the keyring is asked.
        with hidden_input():
            choice = None if by_login else await _choose(settings, provider, model, url)
        if choice is None:
            return await _by_login(settings, model, url, no_test=no_test)
        try:
            if not no_test and not await _answers(settings, choice):
                return ExitCode.FAILED
        except ModelError:
            say("Nothing was saved.")
            raise
        _keep(settings, choice, in_file=in_file)
        return ExitCode.DONE

    end(run_async(work))


# --- what to connect ----------


async def _choose(settings: Settings, provider: str, model: str, url: str) -> Choice | None:
    """Return which model is meant, asking where that is not said; None for a login.

    Raises:
        UsageError: what was said names none, or nobody can be asked.
    """
    from agent.models.catalog import catalog
    from agent.models.local_servers import LOOK_S, find_servers, server_at

    presets = catalog().presets
    head, slash, rest = provider.partition("/")
    if slash and head in presets and not model:
        provider, model = head, rest
    if provider and provider not in presets:
        raise UsageError(f"There is no provider {provider!r}.", f"Use one of {', '.join(presets)}.")
    if url and not (provider and presets[provider].local):
        raise UsageError(
            "--url is for local servers.", "Set model.base_url for any other endpoint."
        )
    servers: tuple[LocalServer, ...] = ()
    if provider and presets[provider].local:
        where = url or presets[provider].base_url
        say(f"Asking {where} for its models …")
        try:
            servers = (await server_at(presets[provider], where),)
        except ModelError as error:
            raise UsageError(
                f"{presets[provider].title} was not found: {error.message}",
                "Start it, or name its address with --url.",
            ) from error
    elif not provider:
        say("Looking for model servers on this machine …")
        servers, silent = await find_servers([one for one in presets.values() if one.local])
        for one in silent:
            say(f"{one.title} did not answer at {one.base_url} within {LOOK_S:g} s.")
        provider = await _ask_provider(list(presets.values()), servers)
        if not provider:
            return None
    preset = presets[provider]
    if preset.local:
        server = next(one for one in servers if one.preset.name == provider)
        chosen = model or await _ask_model(preset, server.models)
        elsewhere = server.base_url if server.base_url != preset.base_url else ""
        return Choice(preset=preset, model=chosen, base_url=elsewhere)
    chosen = model or await _ask_model(preset, tuple(preset.models) or (preset.default,))
    return Choice(preset=preset, model=chosen, key=await _ask_key(settings, preset))


async def _ask_provider(presets: list[Preset], servers: tuple[LocalServer, ...]) -> str:
    """Return the name of the provider that is chosen; empty for a login. Raises UsageError."""
    if not sys.stdin.isatty():
        found = f" Found here: {', '.join(s.preset.name for s in servers)}." if servers else ""
        raise UsageError(
            "Name the provider: this is not a terminal.",
            f"As in `switchboard models setup groq`.{found}",
        )
    if not servers:
        local = [preset.title for preset in presets if preset.local]
        say(f"None is running. Start one of {', '.join(local)} to use a model on this machine.")
    running = {server.preset.name: server for server in servers}
    offered = [p for p in presets if not p.local or p.name in running]
    offered.sort(key=lambda preset: not preset.local)
    for number, preset in enumerate(offered, start=1):
        if preset.local:
            about = f"on this machine, {len(running[preset.name].models)} models, no key"
        else:
            about = f"a key from {preset.key_page}"
        say(f"{number:>3}  {preset.title}: {about}")
    login = len(offered) + 1
    say(f"{login:>3}  A login: sign in through your own OAuth issuer in a browser")
    while True:
        typed = await ask("Which", default="1")
        if typed in map(str, range(1, login + 1)):
            break
        say(f"Type a number from 1 to {login}.")
    number = int(typed)
    return "" if number == login else offered[number - 1].name


async def _ask_model(preset: Preset, models: tuple[str, ...]) -> str:
    first = preset.default or (models[0] if models else "")
    if not models and not first:
        raise UsageError(
            f"{preset.title} has no models yet.", "Load one there, and name it with --model."
        )
    if not sys.stdin.isatty():
        return first
    shown = models[:_SHOWN_MODELS]
    for number, name in enumerate(shown, start=1):
        say(f"{number:>3}  {name}")
    if len(models) > _SHOWN_MODELS:
        say(f"     and {len(models) - _SHOWN_MODELS} more, by name")
    while find_secrets(typed := await ask("Model, by number or name", default=first)):
        # It would be kept with the settings, which are no place for a key.
        say("That is a key, which was not saved: you are asked for it next. Name a model first.")
    is_number = typed.isascii() and typed.isdecimal() and typed not in models
    return shown[int(typed) - 1] if is_number and 1 <= int(typed) <= len(shown) else typed


async def _ask_key(settings: Settings, preset: Preset) -> str:
    """Read the key from a prompt or stdin; one that is there already may be kept."""
    from agent.models.choice import key_of
    from agent.models.endpoint import endpoint_for

    known = key_of(settings, endpoint_for(preset.base_url, "-"))
    if sys.stdin.isatty():
        if known.value:
            say(f"There is already a key ({known.source.value} {known.where}); enter keeps it.")
        key = await ask_secret(f"Key for {preset.title}")
    else:
        key = sys.stdin.readline(20_000).strip()
    if not key and not known.value:
        raise UsageError(
            "There is no key.", f"Create one at {preset.key_page}, and pipe it in or type it."
        )
    return key


# --- trying it ----------


def _trial(settings: Settings, choice: Choice) -> Settings:
    """Return the settings that would be in force."""
    name, base_url = _names(choice)
    model = msgspec.structs.replace(settings.model, name=name, base_url=base_url, wire="auto")
    return msgspec.structs.replace(settings, model=model)


def _names(choice: Choice) -> tuple[str, str]:
    """Return model.name and model.base_url for a choice."""
    if os.environ.get("OPENAI_BASE_URL") and not choice.base_url:
        # The environment's address would come before a provider in the name.
        own = f"{choice.preset.name}/{choice.model}" if choice.preset.local else choice.model
        return own, choice.preset.base_url
    return f"{choice.preset.name}/{choice.model}", choice.base_url


async def _answers(settings: Settings, choice: Choice) -> bool:
    """Ask the model one tiny question. Raises ModelError where it cannot be asked."""
    from console.commands.models.model_test import ask_model

    trial = _trial(settings, choice)
    environ = dict(os.environ)
    if choice.key:
        environ[choice.preset.key] = choice.key
    say(f"Asking {trial.model.name} one small question …")
    asked, notice, reply, took_ms = await ask_model(trial, trial.model.name, environ=environ)
    if notice:
        say(notice)
    if not any(call.name == "wait" for call in reply.tool_calls):
        say(
            f"{asked} answered in {took_ms} ms and did not call the tool it was told to call, "
            "so nothing was saved. Choose a model that calls tools, or use --no-test."
        )
        return False
    say(f"{asked} answered in {took_ms} ms and called its tool.")
    return True


# --- keeping it ----------


def _keep(settings: Settings, choice: Choice, *, in_file: bool) -> None:
    """Keep the key, and write the settings. Raises ConfigError."""
    if choice.key:
        _keep_key(settings, choice.preset, choice.key, in_file=in_file)
    name, base_url = _names(choice)
    file = settings.config_file
    write_setting(file, "model.name", name)
    if base_url or settings.model.base_url:
        write_setting(file, "model.base_url", base_url)
    if settings.model.wire != "auto":
        write_setting(file, "model.wire", "auto")
    say(f"The model is {name} (in {file}). Try it: switchboard run 'turn on Bluetooth'")
    for variable in ("SWITCHBOARD_MODEL_NAME", "SWITCHBOARD_MODEL_BASE_URL"):
        if os.environ.get(variable):
            say(f"{variable} is set in the environment, and overrides the settings file.")


def _keep_key(settings: Settings, preset: Preset, key: str, *, in_file: bool) -> None:
    from agent.models.choice import key_file
    from agent.models.keys import keep_in_file, keep_in_keyring

    if not in_file and settings.model.keyring:
        try:
            keep_in_keyring(preset.host, key)
        except ConfigError as error:
            say(f"{error.message} The key goes into a file instead.")
        else:
            say(f"The key for {preset.title} is in the keyring.")
            return
    keep_in_file(key_file(settings), preset.host, key)
    say(f"The key for {preset.title} is in {key_file(settings)}, which only you can read.")


# --- by a login ----------


async def _by_login(settings: Settings, model: str, url: str, *, no_test: bool) -> ExitCode:
    """Sign in, ask the model something, and keep where that was done. Raises UsageError."""
    from console.commands.models.login import sign_in_at_issuer
    from console.commands.models.model_test import ask_model

    wanted = await _login_wanted(settings, model, url)
    await sign_in_at_issuer(wanted, no_browser=False)
    name = wanted.model.name
    if not no_test:
        say(f"Asking {name} one small question …")
        asked, _notice, _reply, took_ms = await ask_model(wanted, name)
        say(f"{asked} answered in {took_ms} ms.")
    before, now = settings.model, wanted.model
    for key in ("login_issuer", "login_client_id", "base_url"):
        if getattr(before, key) != getattr(now, key):
            write_setting(settings.config_file, f"model.{key}", getattr(now, key))
    write_setting(settings.config_file, "model.name", name)
    say(f"The model is {name} (in {settings.config_file}).")
    return ExitCode.DONE


async def _login_wanted(settings: Settings, model: str, url: str) -> Settings:
    """Return the settings to sign in with; on a terminal what they lack is asked for."""
    set_ = settings.model
    name = model or (set_.name if set_.name != PILOT else "")
    issuer, client, base_url = set_.login_issuer, set_.login_client_id, url or set_.base_url
    if sys.stdin.isatty():
        issuer = issuer or await ask("Issuer, such as https://login.example.com")
        client = client or await ask("Client id that the issuer knows this console by")
        if not base_url:
            say("Which endpoint is the login for? Press enter for the model's provider.")
            base_url = await ask(
                "Endpoint, such as https://models.example.com/v1", may_be_blank=True
            )
        name = name or await ask("Model", default=DEFAULT_MODEL)
    return msgspec.structs.replace(
        settings,
        model=msgspec.structs.replace(
            set_,
            name=name or DEFAULT_MODEL,
            login_issuer=issuer,
            login_client_id=client,
            base_url=base_url,
        ),
    )
