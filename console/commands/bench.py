"""`switchboard bench`: the benchmarks of a checkout.

They are no part of the installed package, so elsewhere this says where they are.
"""

from __future__ import annotations

import click

from console.exits import ExitCode, end


@click.command(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  switchboard bench
  switchboard bench phone store
""",
)
@click.argument("names", nargs=-1, metavar="[NAME]…")
@click.pass_context
def bench(ctx: click.Context, names: tuple[str, ...]) -> None:
    """Measure NAME, or all there is, and print tables. Runs in a checkout of the source."""
    import subprocess
    import sys
    from pathlib import Path

    from agent.errors import UsageError

    checkout = Path(__file__).resolve().parents[2]
    known = sorted(path.stem for path in (checkout / "bench").glob("[a-z]*.py"))
    if not (checkout / "bench" / "__main__.py").is_file():
        raise UsageError(
            "The benchmarks come with the source, and this is an installed package.",
            "Get a checkout of Switchboard, run 'make setup' there, and then 'make bench'.",
        )
    for name in names:
        if name not in known:
            raise click.BadParameter(
                f"There is no benchmark {name!r}; there are {', '.join(known)}.",
                ctx=ctx,
                param_hint="NAME",
            )
    # A process of its own: what the command line has loaded is not measured with it.
    done = subprocess.run([sys.executable, "-m", "bench", *names], cwd=checkout, check=False)
    end(ExitCode.DONE if done.returncode == 0 else ExitCode.FAILED)
