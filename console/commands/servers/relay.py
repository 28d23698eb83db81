"""`switchboard relay`: be the relay of computers that nobody can reach.

Invariant: it knows no core, no phone and no key, and stores nothing.
"""

from pathlib import Path

import click

from agent.errors import ConfigError, UsageError
from agent.extras import install, is_installed, missing
from console.cli_support.exits import ExitCode, end
from console.cli_support.sections import CommandGroup
from console.terminal.signals import StopRequest, run_async

DEFAULT_PORT = 8432


@click.group(cls=CommandGroup)
def relay() -> None:
    """Be a relay between paired phones and their computers."""


@relay.command(
    epilog="""\b
Examples:
  switchboard relay serve                                   behind a proxy that speaks TLS
  switchboard relay serve --host 0.0.0.0 --port 443 --cert relay.pem --key relay.key

It sees who sends how much when, and nothing of what. Exit codes: 0 ended with ctrl+c, 2 invalid
option.
"""
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=DEFAULT_PORT,
    show_default=True,
    help="The port; 0 for any free one.",
)
@click.option("--cert", type=click.Path(path_type=Path), help="A certificate in PEM, for TLS.")
@click.option("--key", type=click.Path(path_type=Path), help="Its key.")
def serve(host: str, port: int, cert: Path | None, key: Path | None) -> None:
    """Serve the page and its boxes until ctrl+c."""
    if not is_installed("web"):
        raise ConfigError(missing("web"), install("web"))
    if (cert is None) != (key is None):
        raise UsageError("A certificate needs its key.", "Name both: --cert and --key.")
    from agent.tls.contexts import server_context
    from console.paired.page_server import serving
    from console.paired.relay_server import Boxes, relay_app

    tls = None if cert is None or key is None else server_context(cert, key, None)

    async def work(stop: StopRequest) -> ExitCode:
        boxes = Boxes()
        with stop.graceful():
            async with serving(
                lambda _port: relay_app(boxes), host=host, port=port, tls=tls
            ) as bound:
                click.echo(f"{'http' if tls is None else 'https'}://{host}:{bound}")
                await stop.asked.wait()
        return ExitCode.DONE

    end(run_async(work))
