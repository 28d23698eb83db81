"""Run a benchmark of two builds in turn, and print what changed as ratios.

`make bench-compare BASE=REV ARGS="loop"` makes a checkout of REV with an environment of its own in
a temporary folder, runs `python -m bench loop` there and here by turns, and prints each figure of
its lines: the base's median, this build's, and the median of their ratios pair by pair with the
least and the greatest. What a machine does meanwhile meets both builds of a pair.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parents[1]
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]*\d)")
Figures = dict[tuple[str, int], list[float]]
"""The numbers of each line, by the line without them and by how often such a line came before."""


class Pair(NamedTuple):
    """What a figure was in the base and here, run by run."""

    line: str
    base: list[float]
    here: list[float]

    def ratios(self) -> list[float]:
        """Return here by base of each pair; none where one of them is 0."""
        both = zip(self.base, self.here, strict=True)
        return [here / base for base, here in both if base > 0 and here > 0]


def figures(printed: str) -> Figures:
    """Read the numbers of what a benchmark printed, line by line."""
    found: Figures = {}
    seen: Counter[str] = Counter()
    for line in printed.splitlines():
        words = _NUMBER.sub("#", line).strip()
        if "#" not in words:
            continue
        found[words, seen[words]] = [float(one) for one in _NUMBER.findall(line)]
        seen[words] += 1
    return found


def pairs(base: list[str], here: list[str]) -> Iterator[Pair]:
    """Return the figures that stand in every run of both builds, in the order of the first run."""
    runs = [figures(one) for one in chain(base, here)]
    for key, numbers in runs[0].items():
        if any(len(run.get(key, ())) != len(numbers) for run in runs):
            continue
        for place in range(len(numbers)):
            before, after = key[0].split("#")[place : place + 2]
            # Which of the line's numbers it is, is told by what stands around it.
            named = key[0] if len(numbers) == 1 else f"{key[0]} [{before[-20:]}#{after[:20]}]"
            all_runs = [run[key][place] for run in runs]
            yield Pair(named, all_runs[: len(base)], all_runs[len(base) :])


def rows(base: list[str], here: list[str]) -> list[str]:
    """Return the table; a figure that is the same number in every run is left out."""
    made = ["| figure | base | here | here / base | least to greatest |", "|---|---|---|---|---|"]
    for pair in pairs(base, here):
        ratios = pair.ratios()
        if not ratios or len({*pair.base, *pair.here}) == 1:
            continue
        was, now, ratio = (statistics.median(x) for x in (pair.base, pair.here, ratios))
        name = pair.line.strip("| ").replace("|", "·")
        spread = f"{min(ratios):.2f}–{max(ratios):.2f}"
        made.append(f"| {name} | {was:g} | {now:g} | {ratio:.2f} | {spread} |")
    return made


def _run(command: list[str], where: Path) -> str:
    done = subprocess.run(command, cwd=where, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(
            f"{' '.join(command)} ended with {done.returncode} in {where}:\n{done.stderr[-2000:]}"
        )
    return done.stdout


def main() -> None:
    """Compare this checkout with a revision."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", help="the revision to compare with")
    parser.add_argument("bench", nargs="+", help="the benchmark and its options")
    parser.add_argument("--pairs", type=int, default=3, help="how often each runs (default: 3)")
    # What follows the benchmark's name is its own.
    given = parser.parse_known_args()
    chosen, options = given[0], given[1]
    if chosen.pairs < 1:
        parser.error("--pairs must be at least 1")
    revision = _run(["git", "rev-parse", "--verify", f"{chosen.base}^{{commit}}"], HERE).strip()
    with tempfile.TemporaryDirectory(prefix="switchboard-base-") as folder:
        base = Path(folder) / "base"
        _run(["git", "worktree", "add", "--quiet", "--detach", str(base), revision], HERE)
        try:
            print(f"Making the environment of {revision[:12]}", file=sys.stderr)
            _run(["sh", "scripts/bootstrap.sh", ".venv"], base)
            told: dict[Path, list[str]] = {base: [], HERE: []}
            for number in range(chosen.pairs):
                # Who begins changes: the second finds warm caches.
                for where in (base, HERE) if number % 2 == 0 else (HERE, base):
                    python = str(where / ".venv/bin/python")
                    told[where].append(
                        _run([python, "-m", "bench", *chosen.bench, *options], where)
                    )
                    print(f"{number + 1} of {chosen.pairs}: {where.name}", file=sys.stderr)
        finally:
            _run(["git", "worktree", "remove", "--force", str(base)], HERE)
    load = os.getloadavg()[0]
    print(f"{chosen.pairs} pairs, base {revision[:12]}, load {load:.1f}\n")
    print("\n".join(rows(told[base], told[HERE])))


if __name__ == "__main__":
    main()
