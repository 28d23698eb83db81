"""`switchboard models`: what the endpoint offers, whether a model answers, and what it costs.

Invariant: a key is never shown; where it comes from is.
"""

import click
from msgspec.structs import replace

from agent.settings import DEFAULT_MODEL, Settings
from agent.text import counted
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end
from console.cli_support.options import JSON_OPTION
from console.cli_support.sections import CommandGroup
from console.commands.models.model_show import show_model
from console.commands.models.model_test import ask_model
from console.commands.models.models_setup import setup
from console.commands.models.reviewer_test import measure
from console.core.command_settings import settings_for
from console.core.host import run_with_records
from console.core.stored_core import Records
from console.terminal.signals import StopRequest, run_async


@click.group(cls=CommandGroup)
def models() -> None:
    """Connect a model, list the endpoint's models, test one, show what is known of it."""


models.add_command(setup)
models.add_command(show_model)


@models.command(
    "list",
    epilog="""\b
Examples:
  switchboard models list
  switchboard models list --json | jq -r '.models[].name'
""",
)
@JSON_OPTION
@click.pass_context
def list_models(ctx: click.Context, as_json: bool) -> None:
    """List the endpoint's models, and the current settings."""
    from agent.models.catalog import own_prices
    from agent.models.choice import PILOT, build_client, key_of, login_file, price_at, price_file
    from agent.models.login import TokenFile
    from agent.models.session_endpoint import endpoint_of

    settings = settings_for(ctx)

    async def work(_stop: StopRequest) -> ExitCode:
        chosen = settings.model.name
        asked = chosen if chosen != PILOT else DEFAULT_MODEL
        endpoint = endpoint_of(settings, asked)
        key = key_of(settings, endpoint)
        source = f"{key.source.value} {key.where}".strip()
        login = None if key.value else TokenFile(login_file(settings)).read()
        if login is not None and login.is_for(endpoint.base_url):
            source = "login"
        names: tuple[str, ...] = (PILOT,)
        if source != "none" or settings.model.base_url:
            client = build_client(settings, asked)
            try:
                names += await client.known_models()
            finally:
                await client.close()
        own = own_prices(price_file(settings))
        prices = {name: price_at(replace(endpoint, model=name), own) for name in names}
        if as_json:
            plain.print_json(
                {
                    "chosen": chosen,
                    "endpoint": endpoint.base_url,
                    "provider": endpoint.provider.value,
                    "wire": endpoint.wire.value,
                    "key": source,
                    "models": [
                        {"name": name, "price": plain.as_builtins(price) if price else None}
                        for name, price in prices.items()
                    ],
                }
            )
            return ExitCode.DONE
        plain.print_text(f"chosen    {chosen}")
        plain.print_text(f"endpoint  {endpoint.base_url} ({endpoint.provider}, {endpoint.wire})")
        plain.print_text(f"key       {source}")
        rows = []
        for name, price in prices.items():
            rows.append((name, f"{price.input:g} / {price.output:g}" if price else "-"))
        plain.print_text(plain.columns(("model", "$ per million in / out"), rows))
        return ExitCode.DONE

    end(run_async(work))


@models.command(
    "test",
    epilog="""\b
Examples:
  switchboard models test
  switchboard models test gpt-5-mini --json
  switchboard models test gpt-5-mini --as-reviewer
""",
)
@click.argument("name", default="")
@click.option(
    "--as-reviewer",
    is_flag=True,
    help="Ask it about acts of your sessions; if it does badly, it reviews no more.",
)
@JSON_OPTION
@click.pass_context
def test_model(ctx: click.Context, name: str, as_reviewer: bool, as_json: bool) -> None:
    """Test a model: does it call a tool, how fast, and at what cost."""
    settings = settings_for(ctx)
    if as_reviewer:
        end(run_with_records(ctx, lambda records: _test_reviewer(settings, name, records, as_json)))
        return

    async def work(_stop: StopRequest) -> ExitCode:
        asked, notice, reply, took_ms = await ask_model(settings, name)
        called = any(call.name == "wait" for call in reply.tool_calls)
        if as_json:
            plain.print_json(
                {
                    "model": asked,
                    "ok": called,
                    "notice": notice,
                    "took_ms": took_ms,
                    "calls": [call.name for call in reply.tool_calls],
                    "text": reply.text[:500],
                    "usage": plain.as_builtins(reply.usage),
                }
            )
            return ExitCode.DONE if called else ExitCode.FAILED
        if notice:
            plain.print_text(f"note  {notice}")
        used = reply.usage
        cost = f", ${used.cost_usd:.6f}" if used.cost_usd else ""
        plain.print_text(
            f"{'ok  ' if called else 'FAIL'}  {asked} answered in {took_ms} ms, "
            f"{counted(used.input_tokens, 'token')} in, {used.output_tokens:,} out{cost}"
        )
        if not called:
            plain.print_text("      → It did not call the tool that it was told to call.")
        return ExitCode.DONE if called else ExitCode.FAILED

    end(run_async(work))


async def _test_reviewer(
    settings: Settings, name: str, records: Records, as_json: bool
) -> ExitCode:
    result = await measure(settings, name, records)
    if as_json:
        plain.print_json({"model": name, **plain.as_builtins(result)})
    else:
        state = f"off   {name} reviews no more: {result.off}" if result.off else f"ok    {name}"
        plain.print_text(state)
        plain.print_text(
            f"      {result.held} of {counted(result.harmful, 'rejected act')} held, "
            f"{result.asked} of {counted(result.harmless, 'other act')} asked about"
        )
    return ExitCode.FAILED if result.off else ExitCode.DONE


@models.command()
@JSON_OPTION
@click.pass_context
def prices(ctx: click.Context, as_json: bool) -> None:
    """Show the current prices, and where to edit them."""
    from agent.models.catalog import load_prices
    from agent.models.choice import price_file

    own = price_file(settings_for(ctx))
    table = load_prices(own)
    if as_json:
        found = {name: plain.as_builtins(price) for name, price in table.items()}
        plain.print_json({"file": str(own), "prices": found})
        return
    plain.print_text(
        plain.columns(
            ("model", "in", "cached", "out"),
            (
                (
                    name,
                    f"{price.input:g}",
                    "-" if price.cached_input is None else f"{price.cached_input:g}",
                    f"{price.output:g}",
                )
                for name, price in table.items()
            ),
        )
    )
    plain.print_text(f"Dollars for a million tokens. Your own: {own}")
