"""`switchboard bench`: the benchmarks of a checkout.

They are no part of the installed package, so elsewhere this says where they are.
"""

import subprocess
import sys
from pathlib import Path

import click

from agent.errors import UsageError
from console.cli_support.exits import ExitCode, end


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog="""\b
Examples:
  switchboard bench
  switchboard bench phone store
  switchboard bench exercises --model pilot --suite text --repeat 3
  switchboard bench exercises -- --help
""",
)
@click.argument("names", nargs=-1, metavar="[NAME]… [OPTION]…", type=click.UNPROCESSED)
@click.pass_context
def bench(ctx: click.Context, names: tuple[str, ...]) -> None:
    """Run the benchmark NAME, or all, and print tables. Needs a source checkout.

    Options are passed to the benchmark.
    """
    checkout = Path(__file__).resolve().parents[2]
    first = next((at for at, name in enumerate(names) if name.startswith("-")), len(names))
    names, options = names[:first], [name for name in names[first:] if name != "--"]
    if not (checkout / "bench" / "__main__.py").is_file():
        raise UsageError(
            "The benchmarks come with the source, and this is an installed package.",
            "Get a checkout of Switchboard, run 'make setup' there, and then 'make bench'.",
        )
    if options and len(names) != 1:
        raise click.UsageError("Options belong to one benchmark: name it before them.", ctx=ctx)
    # A process of its own: what the command line has loaded is not measured with it.
    done = subprocess.run(
        [sys.executable, "-m", "bench", *names, *options], cwd=checkout, check=False
    )
    # It knows which benchmarks there are, and has said so where a name was wrong.
    known = (ExitCode.DONE, ExitCode.USAGE)
    end(ExitCode(done.returncode) if done.returncode in known else ExitCode.FAILED)
