"""The command line of the exercises."""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from agent.exercises.exercise import Exercise, Tag
from agent.exercises.suite import EXERCISES
from agent.loop.ocr.reader import INSTALL, shared_reader
from agent.loop_features import Pattern
from bench.exercises import report
from bench.exercises.fallible.flaws import Flaw
from bench.exercises.fallible.server import PREFIX
from bench.exercises.runner import Plan, run
from bench.exercises.trial import Outcome


def command(arguments: Sequence[str]) -> None:
    """Run what the arguments ask for; print a table, or JSON."""
    given = _parser().parse_args(arguments)
    chosen = choose(given.suite, given.only)
    if given.list:
        for exercise in chosen:
            print(f"{exercise.name:28} {', '.join(exercise.tags):40} {exercise.goal}")
        return
    if not chosen:
        sys.exit("No exercise fits. See: switchboard bench exercises --list")
    with tempfile.TemporaryDirectory(prefix="exercises-") as scratch:
        plan = Plan(
            exercises=chosen,
            models=given.model or ["pilot"],
            repeats=given.repeat,
            seed=given.seed,
            phones=given.phones,
            profile=given.profile,
            verifier=given.verifier,
            without=tuple(dict.fromkeys(given.without)),
            folder=Path(given.folder or scratch),
        )
        outcomes = asyncio.run(run(plan, _tell))
    if given.json:
        print(msgspec.json.format(msgspec.json.encode(outcomes)).decode())
        return
    print()
    print(report.table(outcomes))
    print()
    print(report.verified(outcomes))
    print()
    print(report.by_tag(outcomes, {e.name: e for e in chosen}))
    if given.approvals:
        print()
        print(report.approvals(outcomes))


def choose(suites: Sequence[str], names: Sequence[str]) -> tuple[Exercise, ...]:
    """Return the exercises of any of the suites, or with any of the names; all without either.

    Of all, those that need the extra `ocr` are left out where it is not installed.
    """
    if not suites and not names and shared_reader() is None:
        print(f"Left out: exercises that need {INSTALL}", file=sys.stderr)
        return tuple(e for e in EXERCISES if Tag.PICTURE not in e.tags)
    return tuple(
        e
        for e in EXERCISES
        if (not suites or any(tag in suites for tag in e.tags)) and (not names or e.name in names)
    )


def _tell(outcome: Outcome, done: int, total: int) -> None:
    print(report.line(outcome, done, total), file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="switchboard bench exercises",
        description="Let models do exercises on virtual phones, and judge the phones' true state.",
    )
    parser.add_argument(
        "--model",
        action="append",
        metavar="NAME",
        help="pilot (the default), a model of the endpoint that is set, or "
        + ", ".join(f"{PREFIX}{flaw}" for flaw in Flaw)
        + "; may be repeated",
    )
    parser.add_argument(
        "--suite",
        action="append",
        default=[],
        choices=[str(tag) for tag in Tag],
        metavar="KIND",
        help="only exercises of this kind: " + ", ".join(Tag) + "; may be repeated",
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="only this exercise"
    )
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        choices=[str(p) for p in Pattern],
        metavar="PATTERN",
        help="switch a pattern of the loop off: " + ", ".join(Pattern),
    )
    parser.add_argument(
        "--verifier",
        default="same",
        metavar="WHO",
        help="who checks claims of success: same, pilot (rules), a model's name, or off",
    )
    parser.add_argument("--repeat", type=_count, default=1, metavar="N", help="times each")
    parser.add_argument("--seed", type=int, default=1, help="of the fallible models' chances")
    parser.add_argument("--phones", type=_count, default=4, metavar="N", help="phones at once")
    parser.add_argument(
        "--profile", default="", metavar="NAME", help="what kind of phones they are"
    )
    parser.add_argument(
        "--folder", metavar="DIR", help="keep results there, and go on with what it holds"
    )
    parser.add_argument("--json", action="store_true", help="every outcome as JSON")
    parser.add_argument(
        "--approvals", action="store_true", help="name every approval that was asked for"
    )
    parser.add_argument("--list", action="store_true", help="only say which there are")
    return parser


def _count(text: str) -> int:
    count = int(text)
    if not 1 <= count <= 1000:
        raise argparse.ArgumentTypeError("give a number from 1 to 1000")
    return count
