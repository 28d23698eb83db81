"""Switch each pattern of the loop off against the models that it should help, and compare.

Run as `python -m bench.exercises.ablation`. Invariant: a row compares the same exercises, the same
seeds and the same model, once with everything and once without one pattern; nothing else differs.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agent.loop.patterns import Pattern
from bench.exercises import report
from bench.exercises.fallible.flaws import Flaw
from bench.exercises.fallible.server import PREFIX
from bench.exercises.runner import Plan, run
from bench.exercises.suite import EXERCISES
from bench.exercises.trial import Outcome

SHOULD_HELP: Mapping[Pattern, Flaw] = {
    Pattern.FINISH_CHECK: Flaw.OVEREAGER,
    Pattern.NO_TOOL: Flaw.TALKATIVE,
    Pattern.TRACKER: Flaw.FORGETFUL,
    Pattern.MASKING: Flaw.NARROW,
    Pattern.DUPLICATES: Flaw.LOOPING,
    Pattern.WRONG_APP: Flaw.DISTRACTED,
    Pattern.VERIFICATION: Flaw.MISCLICKING,
    Pattern.APP_CARDS: Flaw.STRANGER,
    Pattern.SETTLE: Flaw.NONE,
    Pattern.CHANGES: Flaw.LOOPING,
    Pattern.STAGNATION: Flaw.LOOPING,
    Pattern.BANS: Flaw.STRANGER,
    Pattern.NAVIGATION_FIRST: Flaw.STRANGER,
    Pattern.FIRST_SCREEN: Flaw.NONE,
    Pattern.OSCILLATION: Flaw.LOOPING,
    Pattern.SCROLL_BUDGET: Flaw.LOOPING,
    Pattern.CONVERSATION: Flaw.NONE,
}
CHOSEN = (
    *("touch-vibration-off", "note-titled", "note-delete", "alarm-new"),
    *("shop-cart", "shop-cancel", "support-where", "browser-links"),
)
"""One of each kind but those that somebody refuses."""
MAX_STEPS = 25
"""Enough for each of them to be done in twice the steps that it takes."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what has not been run yet, and print the table."""
    given = _parser().parse_args(arguments)
    names = given.only or CHOSEN
    chosen = tuple(replace(e, max_steps=MAX_STEPS) for e in EXERCISES if e.name in names)
    patterns = [Pattern(name) for name in given.pattern] or list(SHOULD_HELP)
    with tempfile.TemporaryDirectory(prefix="ablation-") as scratch:
        folder = Path(given.folder or scratch)

        def outcomes(flaw: Flaw, without: tuple[Pattern, ...]) -> list[Outcome]:
            plan = Plan(
                exercises=chosen,
                models=[PREFIX + flaw],
                repeats=given.repeat,
                seed=given.seed,
                phones=given.phones,
                without=tuple(without),
                folder=folder,
            )
            return asyncio.run(run(plan, _tell))

        rows = []
        for pattern in patterns:
            flaw = SHOULD_HELP[pattern]
            rows.append((pattern, flaw, outcomes(flaw, ()), outcomes(flaw, (pattern,))))
    print(table(rows))


def table(rows: Sequence[tuple[Pattern, Flaw, Sequence[Outcome], Sequence[Outcome]]]) -> str:
    """Draw a row for each pattern."""
    lines = [
        "| without | model | passed with it | 95 % | passed without | 95 % "
        "| steps a trial, with / without | s a trial |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for pattern, flaw, whole, part in rows:
        cells = [str(pattern), str(flaw), *_rate(whole), *_rate(part)]
        cells.append(f"{_mean_steps(whole):.1f} / {_mean_steps(part):.1f}")
        cells.append(f"{_mean_seconds(whole):.1f} / {_mean_seconds(part):.1f}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _rate(outcomes: Sequence[Outcome]) -> tuple[str, str]:
    passed = sum(o.ok for o in outcomes)
    low, high = report.wilson(passed, len(outcomes))
    return f"{passed}/{len(outcomes)}", f"{low:.0%}–{high:.0%}"


def _mean_steps(outcomes: Sequence[Outcome]) -> float:
    return sum(o.steps for o in outcomes) / len(outcomes)


def _mean_seconds(outcomes: Sequence[Outcome]) -> float:
    return sum(o.seconds for o in outcomes) / len(outcomes)


def _tell(outcome: Outcome, done: int, total: int) -> None:
    print(report.line(outcome, done, total), file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.exercises.ablation", description=__doc__)
    parser.add_argument("--pattern", action="append", default=[], choices=[str(p) for p in Pattern])
    parser.add_argument("--only", action="append", default=[], help="only this exercise")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="times each")
    parser.add_argument("--seed", type=int, default=1, help="of the models' chances")
    parser.add_argument("--phones", type=int, default=4, metavar="N", help="phones at once")
    parser.add_argument("--folder", metavar="DIR", help="keep results there, and go on from it")
    return parser


if __name__ == "__main__":
    main()
