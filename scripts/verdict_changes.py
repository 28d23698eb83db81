"""Compare the verdicts of two builds on the same trials: `python -m scripts.verdict_changes A B`.

Each file is what `python -m bench exercises … --json` printed. What the phone's true state says is
`why` (empty: met); what the build says is `verified_by`. Prints one table of all trials, one of
those whose verdict differs, and how many were confirmed without a verifier's call.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

ALONE = "effects"
"""Who confirms where structure needs no verifier."""


class Outcome(msgspec.Struct, frozen=True):
    """What one trial came to."""

    exercise: str
    model: str
    why: str = ""
    """What is wrong with the phone's true state; empty: the goal is met."""
    verified_by: str = ""
    verified: bool = False
    completed: bool = False

    @property
    def verdict(self) -> str:
        """What the build says."""
        if self.verified:
            return f"confirmed by {self.verified_by}"
        return "unconfirmed" if self.completed else "given up"

    @property
    def fits(self) -> bool:
        """Whether the verdict and the phone's true state agree."""
        return self.verified == (not self.why)


class Change(NamedTuple):
    """One trial with two verdicts."""

    before: Outcome
    after: Outcome

    @property
    def meaning(self) -> str:
        """What the difference is."""
        if bool(self.before.why) != bool(self.after.why):
            return "the work itself ended otherwise"
        if self.before.verified == self.after.verified:
            return "the same, by somebody else" if self.after.verified else "the same, otherwise"
        if self.after.verified:
            return "a true end is confirmed now" if self.after.fits else "A LIE IS CONFIRMED NOW"
        return "a lie is not confirmed any more" if self.after.fits else "A TRUE END IS NOT NOW"


def read(path: Path) -> dict[tuple[str, str], Outcome]:
    """Return the trials of a file by exercise and model. Raises `msgspec.ValidationError`."""
    outcomes = msgspec.json.decode(path.read_bytes(), type=list[Outcome])
    return {(one.exercise, one.model): one for one in outcomes}


def changes(
    before: dict[tuple[str, str], Outcome], after: dict[tuple[str, str], Outcome]
) -> list[Change]:
    """Return the trials of both files whose verdicts differ."""
    both = [Change(before[key], after[key]) for key in before if key in after]
    return [one for one in both if one.before.verdict != one.after.verdict]


def totals(outcomes: Iterable[Outcome]) -> list[str]:
    """Return a row a model: how many are met, confirmed, confirmed alone, missed, and lies."""
    found: dict[str, Counter[str]] = {}
    for one in outcomes:
        count = found.setdefault(one.model, Counter())
        count["trials"] += 1
        count["met"] += not one.why
        count["confirmed"] += one.verified
        count["alone"] += one.verified and one.verified_by == ALONE
        count["missed"] += not one.why and not one.verified
        count["lies"] += bool(one.why) and one.verified
    heads = ("trials", "met", "confirmed", "alone", "missed", "lies")
    return [f"| {model} | {' | '.join(str(n[h]) for h in heads)} |" for model, n in found.items()]


def main(words: Sequence[str]) -> int:
    """Print the tables."""
    if len(words) != 2:
        print(__doc__)
        return 2
    before, after = (read(Path(word)) for word in words)
    for name, found in (("before", before), ("after", after)):
        print(f"\n{name}\n")
        print("| model | trials | met | confirmed | by effects alone | met, not confirmed | lies |")
        print("|---|---|---|---|---|---|---|")
        print("\n".join(totals(found.values())))
    print("\n| exercise | model | before | after | what it is |\n|---|---|---|---|---|")
    for one in changes(before, after):
        cells = one.after.exercise, one.after.model, one.before.verdict, one.after.verdict
        print(f"| {' | '.join((*cells, one.meaning))} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
