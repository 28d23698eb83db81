"""What a run came to, and how two runs differ; pure.

Invariants: a figure is counted from the outcomes that it stands beside; two runs are compared by
the trials that both have, each with its own twin.
"""

from collections.abc import Iterable, Sequence

import msgspec

from agent.errors import UsageError
from agent.text import counted
from console.evaluation.run_folder import Run
from console.evaluation.statistics import Difference, paired, wilson
from console.evaluation.trial import Outcome


class Arm(msgspec.Struct, frozen=True, kw_only=True):
    """The outcomes of one model under the same patterns, summed."""

    model: str
    without: tuple[str, ...]
    trials: int
    passed: int
    low: float
    high: float
    """The 95 % interval of the share that passed."""
    verified: int
    """Completed and confirmed, by the verifier or by rules, before the checker looked."""
    false_done: int
    """Confirmed so, though the phone's state says otherwise."""
    trouble: int
    """Failed through no fault of the model."""
    steps: float
    """Mean of the trials that passed."""
    seconds: float
    """Mean of all trials."""
    tokens: int
    cost_usd: float

    @property
    def rate(self) -> float:
        """The share of trials that passed."""
        return self.passed / self.trials if self.trials else 0.0

    @property
    def name(self) -> str:
        """The model, and what it had to do without."""
        return f"{self.model} without {', '.join(self.without)}" if self.without else self.model


def arms(outcomes: Iterable[Outcome]) -> tuple[Arm, ...]:
    """Sum outcomes by model and patterns, in the order in which they come."""
    groups: dict[tuple[str, tuple[str, ...]], list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.model, outcome.without), []).append(outcome)
    return tuple(_arm(group) for group in groups.values())


def _arm(group: Sequence[Outcome]) -> Arm:
    passed = [one for one in group if one.ok]
    low, high = wilson(len(passed), len(group))
    return Arm(
        model=group[0].model,
        without=group[0].without,
        trials=len(group),
        passed=len(passed),
        low=low,
        high=high,
        verified=sum(one.verified for one in group),
        false_done=sum(one.is_false_done for one in group),
        trouble=sum(bool(one.trouble) for one in group),
        steps=sum(one.steps for one in passed) / max(1, len(passed)),
        seconds=sum(one.seconds for one in group) / len(group),
        tokens=sum(one.usage.input_tokens + one.usage.output_tokens for one in group),
        cost_usd=sum(one.usage.cost_usd for one in group),
    )


HEADS = ("MODEL", "PASSED", "95 %", "VERIFIED", "FALSELY", "STEPS", "S/TRIAL", "TOKENS", "COST")


def row(arm: Arm) -> tuple[str, ...]:
    """Write an arm as a row under `HEADS`."""
    return (
        arm.name,
        f"{arm.passed}/{arm.trials}",
        interval(arm.low, arm.high),
        str(arm.verified),
        str(arm.false_done),
        f"{arm.steps:.1f}",
        f"{arm.seconds:.1f}",
        f"{arm.tokens:,}",
        f"${arm.cost_usd:.2f}",
    )


def interval(low: float, high: float) -> str:
    return f"{low:.0%} to {high:.0%}"


def line(outcome: Outcome, done: int, total: int) -> str:
    said = "passed" if outcome.ok else f"FAILED: {outcome.why[:160]}"
    again = f", try {outcome.tries}" if outcome.tries > 1 else ""
    without = f" without {', '.join(outcome.without)}" if outcome.without else ""
    return (
        f"[{done}/{total}] {outcome.model}{without} {outcome.exercise}: {said} "
        f"({counted(outcome.steps, 'step')}, {outcome.seconds:.1f} s{again})"
    )


# --- two runs ----------


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """An exercise that one run passed more often than the other."""

    exercise: str
    passed_a: int
    passed_b: int
    trials: int


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """How two arms differ, by the trials that both have."""

    a: Arm
    b: Arm
    difference: float  # How much larger the share is that B passed.
    low: float
    high: float  # Its 95 % interval, paired.
    p: float  # McNemar's exact test.
    better: tuple[Change, ...]
    worse: tuple[Change, ...]
    only_a: int  # Trials of A that B has no twin of.
    only_b: int

    @property
    def is_distinguishable(self) -> bool:
        """Whether the interval leaves out that there is no difference."""
        return self.low > 0 or self.high < 0


def compare(a: Run, b: Run) -> tuple[Compared, ...]:
    """Compare two runs, arm by arm: where both have one arm it is these two, whatever the model.

    Raises UsageError where they have no trials in common.
    """
    left, right = _by_arm(a.outcomes), _by_arm(b.outcomes)
    if len(left) == len(right) == 1:
        pairs = [(next(iter(left)), next(iter(right)))]
    else:
        pairs = [(name, name) for name in left if name in right]
    found = [_compared(left[one], right[other]) for one, other in pairs]
    kept = tuple(one for one in found if one is not None)
    if not kept:
        raise UsageError(
            f"{a.folder} and {b.folder} have no trials in common.",
            "Compare runs of the same suite; see what they hold: switchboard eval list",
        )
    return kept


def within(run: Run) -> tuple[Compared, ...]:
    """Compare each arm of a run that leaves patterns out with the same model's baseline."""
    by_arm = _by_arm(run.outcomes)
    found = [
        _compared(by_arm[(model, ())], outcomes)
        for (model, without), outcomes in by_arm.items()
        if without and (model, ()) in by_arm
    ]
    return tuple(one for one in found if one is not None)


_Twins = dict[tuple[str, int], Outcome]


def _by_arm(outcomes: Iterable[Outcome]) -> dict[tuple[str, tuple[str, ...]], _Twins]:
    found: dict[tuple[str, tuple[str, ...]], _Twins] = {}
    for one in outcomes:
        found.setdefault((one.model, one.without), {})[(one.exercise, one.repeat)] = one
    return found


def _compared(a: _Twins, b: _Twins) -> Compared | None:
    common = [key for key in a if key in b]
    if not common:
        return None
    counts = {(x, y): 0 for x in (True, False) for y in (True, False)}
    for key in common:
        counts[(a[key].ok, b[key].ok)] += 1
    estimate: Difference = paired(
        counts[(True, True)], counts[(True, False)], counts[(False, True)], counts[(False, False)]
    )
    changes = _changes(a, b, common)
    return Compared(
        a=_arm([a[key] for key in common]),
        b=_arm([b[key] for key in common]),
        difference=estimate.share,
        low=estimate.low,
        high=estimate.high,
        p=estimate.p,
        better=tuple(one for one in changes if one.passed_b > one.passed_a),
        worse=tuple(one for one in changes if one.passed_b < one.passed_a),
        only_a=len(a) - len(common),
        only_b=len(b) - len(common),
    )


def _changes(a: _Twins, b: _Twins, common: Sequence[tuple[str, int]]) -> list[Change]:
    names = dict.fromkeys(exercise for exercise, _ in common)
    found = []
    for name in names:
        keys = [key for key in common if key[0] == name]
        found.append(
            Change(
                exercise=name,
                passed_a=sum(a[key].ok for key in keys),
                passed_b=sum(b[key].ok for key in keys),
                trials=len(keys),
            )
        )
    return found


def comparison_lines(one: Compared) -> list[str]:
    """Write a comparison for a terminal."""
    verdict = "a difference" if one.is_distinguishable else "these trials show no difference"
    lines = [
        f"A  {one.a.name}: {one.a.passed}/{one.a.trials}",
        f"B  {one.b.name}: {one.b.passed}/{one.b.trials}",
        f"B passed {one.difference:+.1%} ({one.low:+.1%} to {one.high:+.1%}, p = {one.p:.3f}): "
        f"{verdict}.",
        f"steps {one.a.steps:.1f} → {one.b.steps:.1f}, seconds a trial {one.a.seconds:.1f} → "
        f"{one.b.seconds:.1f}, tokens {one.a.tokens:,} → {one.b.tokens:,}, cost "
        f"${one.a.cost_usd:.2f} → ${one.b.cost_usd:.2f}",
    ]
    for what, changes in (("better", one.better), ("worse", one.worse)):
        lines += [
            f"{what}: {c.exercise} {c.passed_a}/{c.trials} → {c.passed_b}/{c.trials}"
            for c in changes
        ]
    if one.only_a or one.only_b:
        lines.append(f"Unpaired: {counted(one.only_a, 'trial')} of A, {one.only_b} of B.")
    return lines
