"""`switchboard eval`: judge models by exercises on virtual phones; compare and show the runs."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from agent.config import Settings
from agent.errors import UsageError
from agent.extras import install, is_installed, missing
from agent.text import counted, one_line
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, progress, say
from console.cli_support.options import JSON_OPTION
from console.cli_support.sections import CommandGroup
from console.core.command_settings import settings_for
from console.terminal.signals import StopRequest, run_async

if TYPE_CHECKING:
    from console.evaluation.run_folder import Run
    from console.evaluation.trial import Outcome

FOLDER = "evaluations"


class SuiteFirst(CommandGroup):
    """A group whose first word may be a suite: then `run` is meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; what is none is the suite of a run."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["run", *args]
        return super().resolve_command(ctx, args)


@click.group(
    "eval",
    cls=SuiteFirst,
    epilog="""\b
SUITE is 'everyday', 'everyday:TAG', or a .toml or .py file (docs/evaluation.md).
Examples:
  switchboard eval everyday --model pilot --phones 4
  switchboard eval everyday:text --model qwen3 --base-url http://127.0.0.1:8000/v1 --repeat 3
  switchboard eval my-app.toml --model gpt-5 --ablate changes --ablate masking
  switchboard eval compare RUN-A RUN-B
""",
)
def evaluate() -> None:
    """Evaluate models on virtual phones, and compare runs."""


@evaluate.command(
    epilog="""\b
After ctrl+c, the same command with the same --folder resumes.
Exit codes: 0 every trial ended, whatever its result; 1 some broke, not because of the model.
"""
)
@click.argument("suite")
@click.option(
    "--model", "models", multiple=True, metavar="NAME", help="A model to evaluate; repeatable."
)
@click.option("--base-url", metavar="URL", help="Address of an OpenAI-compatible endpoint.")
@click.option(
    "--phones",
    type=click.IntRange(1, 64),
    default=2,
    show_default=True,
    help="Virtual phones at once.",
)
@click.option("--only", multiple=True, metavar="NAME", help="Only this exercise; repeatable.")
@click.option(
    "--repeat",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="Trials per exercise.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the trials' order.")
@click.option(
    "--retries",
    type=click.IntRange(0, 10),
    default=1,
    show_default=True,
    help="Retries after failures of the endpoint or the phone.",
)
@click.option(
    "--ablate",
    multiple=True,
    metavar="PATTERN",
    help="Also run without this loop pattern; repeatable, or 'all'.",
)
@click.option(
    "--verifier",
    default="same",
    show_default=True,
    metavar="WHO",
    help="Which model checks claims of success: same, pilot (rules), a model's name, or off.",
)
@click.option(
    "--bound",
    "bound_s",
    type=click.FloatRange(5, 36_000),
    default=240.0,
    show_default=True,
    metavar="SECONDS",
    help="Time limit per trial.",
)
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder of the run; resumes an interrupted one.",
)
@click.option(
    "--films",
    type=click.IntRange(0, 1000),
    default=20,
    show_default=True,
    metavar="N",
    help="At most this many films of failures in the report.",
)
@JSON_OPTION
@click.pass_context
def run(
    ctx: click.Context,
    *,
    suite: str,
    models: tuple[str, ...],
    base_url: str | None,
    phones: int,
    only: tuple[str, ...],
    repeat: int,
    seed: int,
    retries: int,
    ablate: tuple[str, ...],
    verifier: str,
    bound_s: float,
    folder: Path | None,
    films: int,
    as_json: bool,
) -> None:
    """Run models on the exercises of SUITE, judged by the phones' true state."""
    from agent.devices.pool.virtual_command import virtual_phone_command
    from agent.loop.ocr.reader import shared_reader
    from console.evaluation import suites
    from console.evaluation.run_folder import RunPlan, begin, read_run
    from console.evaluation.running import Limits, carry_out

    virtual_phone_command()
    chosen = suites.only(suites.read_suite(suite, has_ocr=shared_reader() is not None), only)
    settings = settings_for(ctx, {"model.base_url": base_url})
    plan = RunPlan(
        suite=chosen.name,
        digest=chosen.digest,
        exercises=tuple(one.name for one in chosen.exercises),
        models=tuple(dict.fromkeys(models)) or ("pilot",),
        arms=((), *((name,) for name in _patterns(ablate))),
        repeats=repeat,
        seed=seed,
        verifier=verifier,
    )
    place = folder.absolute() if folder else _new_folder(settings, plan.suite, plan.models)
    begun = begin(place, plan)
    say(f"{counted(plan.total, 'trial')}, of which {len(begun.outcomes)} ended; in {place}")
    limits = Limits(phones=phones, retries=retries, bound_s=bound_s)

    async def work(_stop: StopRequest) -> ExitCode:
        try:
            await carry_out(begun, chosen.exercises, settings, limits, _tell)
        finally:
            if not (now := read_run(place)).is_whole:
                say(
                    f"{len(now.outcomes)} of {counted(plan.total, 'trial')} ended. "
                    f"Resume: --folder {place}"
                )
        done = read_run(place)
        await _report(done, films)
        _show(done, as_json=as_json)
        return ExitCode.FAILED if any(o.trouble for o in done.outcomes) else ExitCode.DONE

    end(run_async(work))


def _patterns(names: tuple[str, ...]) -> tuple[str, ...]:
    from agent.loop_features import Pattern

    known = [str(pattern) for pattern in Pattern]
    unknown = sorted(set(names) - {*known, "all"})
    if unknown:
        raise click.BadParameter(
            f"There is no pattern {', '.join(unknown)}; there are {', '.join(known)}.",
            param_hint="--ablate",
        )
    return tuple(known if "all" in names else dict.fromkeys(names))


def _new_folder(settings: Settings, suite: str, models: tuple[str, ...]) -> Path:
    at = time.strftime("%Y-%m-%dT%H-%M-%S")
    named = "-".join((suite, *models))[:80]
    safe = "".join(c if c.isalnum() or c in "._" else "-" for c in named)
    return settings.data_dir / FOLDER / f"{at}-{safe}"


def _tell(outcome: Outcome, done: int, total: int) -> None:
    from console.evaluation.summary import line

    say(one_line(line(outcome, done, total), 400))


async def _report(done: Run, films: int) -> None:
    from agent.store.embedded.sqlite_store import SqliteStore
    from console.core.stored_core import StoredRecords
    from console.evaluation.run_page import write_page

    async with SqliteStore.open(done.data_dir, may_only_read=True) as store:
        paged = await write_page(
            done, StoredRecords(store), most_films=films, told=progress("films")
        )
    left = f", {paged.missing} failures without a film" if paged.missing else ""
    say(f"{paged.path} ({paged.films} films{left})")


def _show(done: Run, *, as_json: bool) -> None:
    from console.evaluation.summary import HEADS, arms, comparison_lines, row, within

    found = arms(done.outcomes)
    if as_json:
        plain.print_json(
            {
                "folder": str(done.folder),
                "whole": done.is_whole,
                "arms": [msgspec.to_builtins(arm) for arm in found],
                "outcomes": [msgspec.to_builtins(one) for one in done.outcomes],
            }
        )
        return
    plain.print_text(plain.columns(HEADS, [row(arm) for arm in found]))
    for one in within(done):
        plain.print_text("\n".join(["", *comparison_lines(one)]))


@evaluate.command("exercises")
@click.argument("suite", default="everyday")
def list_exercises(suite: str) -> None:
    """List the exercises of SUITE."""
    from agent.loop.ocr.reader import shared_reader
    from console.evaluation.suites import read_suite

    found = read_suite(suite, has_ocr=shared_reader() is not None)
    rows = [(one.name, ", ".join(one.tags), one.goal) for one in found.exercises]
    plain.print_text(plain.columns(("EXERCISE", "TAGS", "GOAL"), rows))


@evaluate.command("list")
@click.pass_context
def list_runs(ctx: click.Context) -> None:
    """List the runs in the data directory, newest first."""
    from console.evaluation.run_folder import read_run

    base = settings_for(ctx).data_dir / FOLDER
    rows = []
    for folder in sorted(base.glob("*/"), reverse=True) if base.is_dir() else ():
        try:
            found = read_run(folder)
        except UsageError:
            continue
        passed = sum(one.ok for one in found.outcomes)
        state = f"{passed} of {len(found.outcomes)}"
        left = "" if found.is_whole else f"{found.plan.total - len(found.outcomes)} to go"
        rows.append((found.folder.name, found.plan.suite, state, left))
    if not rows:
        say("No runs yet. Start one: switchboard eval everyday --model pilot")
        return
    plain.print_text(plain.columns(("RUN", "SUITE", "PASSED", ""), rows))


@evaluate.command("show")
@click.argument("run_name", metavar="RUN")
@JSON_OPTION
@click.pass_context
def show(ctx: click.Context, run_name: str, as_json: bool) -> None:
    """Show the results of the run in RUN."""
    _show(_read(ctx, run_name), as_json=as_json)


@evaluate.command("report")
@click.argument("run_name", metavar="RUN")
@click.option(
    "--films",
    type=click.IntRange(0, 1000),
    default=20,
    show_default=True,
    metavar="N",
    help="At most this many films of failures.",
)
@click.pass_context
def report(ctx: click.Context, run_name: str, films: int) -> None:
    """Write the report of the run in RUN, with films of its failures."""
    asyncio.run(_report(_read(ctx, run_name), films))


@evaluate.command(
    epilog="""\b
The difference is paired, trial by trial, with a 95 % interval and McNemar's exact test.
Example:
  switchboard eval compare 2026-11-23T08-00-00-everyday-pilot ./with-my-change
"""
)
@click.argument("run_a", metavar="A")
@click.argument("run_b", metavar="B")
@JSON_OPTION
@click.pass_context
def compare(ctx: click.Context, run_a: str, run_b: str, as_json: bool) -> None:
    """Compare the runs A and B: difference in pass rate, and changed exercises."""
    from console.evaluation import summary

    a, b = _read(ctx, run_a), _read(ctx, run_b)
    if (a.plan.suite, a.plan.digest) != (b.plan.suite, b.plan.digest):
        say("The runs are of different suites, or of two versions of one: goals may differ.")
    found = summary.compare(a, b)
    if as_json:
        plain.print_json([msgspec.to_builtins(one) for one in found])
        return
    plain.print_text("\n\n".join("\n".join(summary.comparison_lines(one)) for one in found))


@evaluate.command(
    epilog="""\b
Look at them with Inspect's own viewer, which is served from this machine:
  switchboard eval inspect RUN ./logs && inspect view --log-dir ./logs
"""
)
@click.argument("run_name", metavar="RUN")
@click.argument("out", type=click.Path(file_okay=False, path_type=Path))
@click.pass_context
def inspect(ctx: click.Context, run_name: str, out: Path) -> None:
    """Write the run in RUN to OUT as Inspect logs (extra 'eval')."""
    if not is_installed("eval"):
        raise UsageError(missing("eval"), install("eval"))
    found, place = _read(ctx, run_name), out.absolute()

    async def work() -> tuple[Path, ...]:
        from agent.store.embedded.sqlite_store import SqliteStore
        from console.core.stored_core import StoredRecords
        from console.evaluation.inspect_log import write_logs

        async with SqliteStore.open(found.data_dir, may_only_read=True) as store:
            return await write_logs(found, StoredRecords(store), place)

    for path in asyncio.run(work()):
        plain.print_text(str(path))


def _read(ctx: click.Context, name: str) -> Run:
    from console.evaluation.run_folder import read_run

    path = Path(name)
    kept = settings_for(ctx).data_dir / FOLDER / name
    return read_run(kept if not path.is_dir() and kept.is_dir() else path.absolute())
