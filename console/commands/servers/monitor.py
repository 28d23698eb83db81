"""`switchboard monitor`: what goes on in the core, as metrics and traces for monitoring tools."""

import asyncio
import socket
import time
from importlib.metadata import version
from importlib.resources import files
from urllib.parse import urlsplit

import click

from agent.core import Core
from agent.errors import ConfigError, UsageError
from agent.extras import install, is_installed, missing
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.sections import CommandGroup
from console.core.command_settings import settings_for
from console.terminal.signals import StopRequest, run_async


@click.group(
    cls=CommandGroup,
    invoke_without_command=True,
    epilog="""\b
Examples:
  switchboard monitor                                  metrics for Prometheus, on port 9464
  switchboard monitor --otlp http://127.0.0.1:4318     and metrics and traces to a collector
  switchboard monitor dashboard > switchboard.json     a dashboard to import into Grafana

It follows the core of the data directory, waits while there is none, and starts none. It
exports counts, times, states and names, but no goals, screens, answers or typed text. Exit codes:
0 ended with ctrl+c, 1 could not be served, 2 invalid option.
""",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=9464,
    show_default=True,
    help="The port for Prometheus; 0 for any free one.",
)
@click.option(
    "--otlp",
    metavar="URL",
    default="",
    envvar="OTEL_EXPORTER_OTLP_ENDPOINT",
    help="An OTLP/HTTP collector; see also OTEL_EXPORTER_OTLP_ENDPOINT and _HEADERS.",
)
@click.option(
    "--instance",
    metavar="NAME",
    default="",
    help="Name of this core in metrics and traces; default: the host name.",
)
@click.pass_context
def monitor(ctx: click.Context, port: int, otlp: str, instance: str) -> None:
    """Serve metrics to Prometheus; send metrics and traces to a collector."""
    if ctx.invoked_subcommand is not None:
        return

    from agent.rpc.remote_core import connect_or_none
    from console.loopback.tokens import METRICS_TOKEN

    if not is_installed("otel"):
        raise ConfigError(missing("otel"), install("otel"))
    if otlp and (urlsplit(otlp).scheme not in ("http", "https") or not urlsplit(otlp).hostname):
        raise UsageError(
            "--otlp is not an address of a collector.", "Give one as http://127.0.0.1:4318."
        )

    from console.monitoring.endpoint import serving_metrics
    from console.monitoring.exporting import complaining, exporting
    from console.monitoring.following import Follower
    from console.monitoring.metrics import Metrics
    from console.monitoring.traces import Traces

    settings = settings_for(ctx)

    async def connect() -> Core | None:
        return await connect_or_none(settings, name="monitor")

    async def work(stop: StopRequest) -> ExitCode:
        token = METRICS_TOKEN.of(settings.data_dir)
        name = instance or socket.gethostname()
        with (
            stop.graceful(),
            complaining(say),
            exporting(version=version("switchboard-console"), instance=name, otlp=otlp) as export,
        ):
            metrics, traces = Metrics(export.meter, time.time), Traces(export.tracer)
            follower = Follower(connect, metrics, traces, say=say)
            async with serving_metrics(export.registry, token, port=port) as address:
                shown = METRICS_TOKEN.shown_as(settings.data_dir)
                say(f"Prometheus sends the token of {shown} (authorization: credentials_file).")
                say("Stop it with ctrl+c.")
                click.echo(address)
                following = asyncio.create_task(follower.run())
                asked = asyncio.create_task(stop.asked.wait())
                await asyncio.wait({following, asked}, return_when=asyncio.FIRST_COMPLETED)
                asked.cancel()
                following.cancel()
                await asyncio.wait({following})
            traces.finish(time.time_ns())
        if not following.cancelled() and (failure := following.exception()) is not None:
            raise failure
        return ExitCode.DONE

    end(run_async(work))


@monitor.command()
def dashboard() -> None:
    """Write a Grafana dashboard of these metrics to stdout."""
    click.echo(files("console.monitoring").joinpath("dashboard.json").read_text("utf-8"), nl=False)
