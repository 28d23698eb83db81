"""Switch each pattern of the loop off against the models that it should help, and compare.

Run as `python -m bench.exercises.ablation`. Invariant: a row compares the same exercises, the same
seeds and the same model, once with everything and once without a pattern; nothing else differs.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.loop_features import Pattern
from bench.exercises import report
from bench.exercises.cases import CASES, Case
from bench.exercises.fallible.server import PREFIX
from bench.exercises.runner import Plan, run
from bench.exercises.trial import Outcome
from console.evaluation.statistics import wilson

MAX_STEPS = 25  # Enough for each exercise to be done in twice the steps that it takes.


@dataclass(frozen=True)
class Row:
    """What a case came to: with everything, and without its patterns."""

    case: Case
    whole: Sequence[Outcome]
    part: Sequence[Outcome]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what has not been run yet, and print the table."""
    given = _parser().parse_args(arguments)
    patterns = {Pattern(name) for name in given.pattern}
    cases = [case for case in CASES if not patterns or patterns & set(case.without)]
    with tempfile.TemporaryDirectory(prefix="ablation-") as scratch:
        folder = Path(given.folder or scratch)

        def outcomes(case: Case, without: tuple[Pattern, ...]) -> list[Outcome]:
            found = []
            for seed in given.seed or [1]:
                plan = Plan(
                    exercises=case.chosen(MAX_STEPS),
                    models=[PREFIX + case.flaw],
                    seed=seed,
                    phones=given.phones,
                    without=tuple(sorted({*without, *case.always_without})),
                    folder=folder,
                )
                found += asyncio.run(run(plan, _tell))
            return found

        rows = [Row(case, outcomes(case, ()), outcomes(case, case.without)) for case in cases]
    print(table(rows))


def table(rows: Sequence[Row]) -> str:
    lines = [
        "| without | model | passed with it | 95 % | passed without | 95 % "
        "| steps a trial, with / without | tokens a step, with / without |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [" + ".join(row.case.without), row.case.model, *_rate(row.whole), *_rate(row.part)]
        cells.append(f"{_steps(row.whole):.1f} / {_steps(row.part):.1f}")
        cells.append(f"{_tokens(row.whole):,.0f} / {_tokens(row.part):,.0f}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _rate(outcomes: Sequence[Outcome]) -> tuple[str, str]:
    passed = sum(o.ok for o in outcomes)
    low, high = wilson(passed, len(outcomes))
    return f"{passed}/{len(outcomes)}", f"{low:.0%}–{high:.0%}"


def _steps(outcomes: Sequence[Outcome]) -> float:
    return sum(o.steps for o in outcomes) / max(1, len(outcomes))


def _tokens(outcomes: Sequence[Outcome]) -> float:
    return sum(o.usage.input_tokens for o in outcomes) / max(1, sum(o.steps for o in outcomes))


def _tell(outcome: Outcome, done: int, total: int) -> None:
    without = f" without {', '.join(outcome.without)}" if outcome.without else ""
    print(report.line(outcome, done, total) + without, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.exercises.ablation", description=__doc__)
    parser.add_argument("--pattern", action="append", default=[], choices=[str(p) for p in Pattern])
    parser.add_argument(
        "--seed",
        action="append",
        type=int,
        metavar="N",
        help="of the models' chances; may be repeated, each seed is a trial of its own",
    )
    parser.add_argument("--phones", type=int, default=4, metavar="N", help="phones at once")
    parser.add_argument("--folder", metavar="DIR", help="keep results there, and go on from it")
    return parser


if __name__ == "__main__":
    main()
