"""`switchboard models show`: what is known of a model at its endpoint, and how."""

import click

from agent.errors import ModelError, UsageError
from agent.text import counted
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.options import JSON_OPTION
from console.core.command_settings import settings_for
from console.terminal.signals import StopRequest, run_async


@click.command(
    "show",
    epilog="""\b
Each row says how it is known: asked by a page of the endpoint, an answer or a refusal and its day,
the catalogue, a setting, or never tried. Nothing is tried here: `switchboard models test` does.

\b
Examples:
  switchboard models show
  switchboard models show llamacpp/gemma-3 --json
""",
)
@click.argument("name", default="")
@JSON_OPTION
@click.pass_context
def show_model(ctx: click.Context, name: str, as_json: bool) -> None:
    """Show what is known of a model, and how: window, pictures, tools, schema, limits."""
    from agent.models.choice import PILOT, build_client, notes_of
    from agent.models.session_endpoint import bare, endpoint_of
    from agent.models.traits.known import form_of, form_words, known_of

    settings = settings_for(ctx)
    wanted = name or settings.model.name
    if wanted == PILOT:
        raise UsageError(
            "There is nothing to show: the offline pilot follows rules and calls no service.",
            "Name a model, as in `switchboard models show gpt-5-mini`, or set model.name.",
        )

    async def work(_stop: StopRequest) -> ExitCode:
        from agent.models.catalog import catalog
        from agent.models.wires.offers import Offer

        asked, notice = catalog().current(wanted)
        endpoint = endpoint_of(settings, asked)
        client = build_client(settings, wanted)
        trouble, offer = "", None
        try:
            offer = await client.offer()
            if offer is None:
                # Asked in earnest, it says why.
                await client.known_models()
        except ModelError as error:
            trouble = str(error)
        finally:
            await client.close()
        notes = notes_of(settings).of(bare(endpoint.base_url), endpoint.model)
        offer = offer or Offer()
        rows = known_of(endpoint, settings.model, offer, notes)
        form, why = form_of(endpoint, settings.model, offer)
        if as_json:
            plain.print_json(
                {
                    "model": endpoint.model,
                    "endpoint": bare(endpoint.base_url),
                    "wire": endpoint.wire.value,
                    "notice": notice,
                    "not_asked": trouble,
                    "calls": form.value,
                    "calls_why": why,
                    "known": {
                        row.trait.value: {"value": row.value, "how": row.how, "said": row.said}
                        for row in rows
                    },
                }
            )
            return ExitCode.DONE
        if notice:
            say(notice)
        plain.print_text(f"model     {endpoint.model}")
        plain.print_text(f"endpoint  {bare(endpoint.base_url)} ({endpoint.wire})")
        if trouble:
            plain.print_text(f"asked     no: {trouble}")
        plain.print_text(f"calls     {form_words(form, why)}")
        cells = [(row.trait.value, _words(row.value), row.how) for row in rows]
        plain.print_text(plain.columns(("", "", "known by"), cells))
        for row in rows:
            if row.said:
                plain.print_text(f"{row.trait}: {row.said}")
        return ExitCode.DONE

    end(run_async(work))


def _words(value: bool | int | str | None) -> str:
    match value:
        case None:
            return "?"
        case bool():
            return "yes" if value else "no"
        case int():
            return counted(value, "token")
        case _:
            return str(value)
