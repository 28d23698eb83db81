"""What the trials came to: a line each, a table by tag and model, and JSON.

Pure. Invariant: every figure is counted from the outcomes that it is shown with.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from agent.exercises.exercise import Exercise, Tag
from bench.exercises.trial import Outcome
from console.evaluation.statistics import wilson


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Outcomes of one model, summed."""

    model: str
    without: tuple[str, ...]
    trials: int
    passed: int
    steps: float  # Mean of the trials that passed.
    seconds: float  # Mean of all trials.
    observe_ms: float
    model_ms: float
    act_ms: float
    settle_ms: float
    tokens: int
    cost_usd: float

    @property
    def rate(self) -> float:
        """The share of trials that passed."""
        return self.passed / self.trials if self.trials else 0.0


def summarize(outcomes: Sequence[Outcome]) -> Summary:
    """Sum outcomes of one model and the same patterns."""
    passed = [o for o in outcomes if o.ok]
    steps = max(1, sum(o.steps for o in outcomes))
    first = outcomes[0]
    return Summary(
        model=first.model,
        without=first.without,
        trials=len(outcomes),
        passed=len(passed),
        steps=sum(o.steps for o in passed) / max(1, len(passed)),
        seconds=sum(o.seconds for o in outcomes) / len(outcomes),
        observe_ms=sum(o.time.observe_ms for o in outcomes) / steps,
        model_ms=sum(o.time.model_ms for o in outcomes) / steps,
        act_ms=sum(o.time.act_ms for o in outcomes) / steps,
        settle_ms=sum(o.time.settle_ms for o in outcomes) / steps,
        tokens=sum(o.usage.input_tokens + o.usage.output_tokens for o in outcomes),
        cost_usd=sum(o.usage.cost_usd for o in outcomes),
    )


def grouped(outcomes: Iterable[Outcome]) -> list[list[Outcome]]:
    """Part outcomes by model and patterns, in the order in which they come."""
    groups: dict[tuple[str, tuple[str, ...]], list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.model, outcome.without), []).append(outcome)
    return list(groups.values())


def table(outcomes: Sequence[Outcome]) -> str:
    """Draw a table: a row for each model."""
    lines = [
        "| model | without | passed | 95 % | steps | s a trial | observe + settle / model / act, "
        "ms a step | tokens | cost |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for group in grouped(outcomes):
        s = summarize(group)
        low, high = wilson(s.passed, s.trials)
        lines.append(
            f"| {s.model} | {', '.join(s.without) or '–'} | {s.passed}/{s.trials} "
            f"({s.rate:.0%}) | {low:.0%}–{high:.0%} | {s.steps:.1f} | {s.seconds:.1f} "
            f"| {s.observe_ms + s.settle_ms:.0f} / {s.model_ms:.0f} / {s.act_ms:.0f} "
            f"| {s.tokens:,} | ${s.cost_usd:.2f} |"
        )
    return "\n".join(lines)


def verified(outcomes: Sequence[Outcome]) -> str:
    """Draw what was confirmed against what each exercise's own checker found."""
    lines = [
        "| model | goal met | confirmed | met, not confirmed | confirmed, not met | "
        "claimed, not met, not confirmed | failed |",
        "|---|---|---|---|---|---|---|",
    ]
    for group in grouped(outcomes):
        met = [o for o in group if o.ok]
        unmet = [o for o in group if not o.ok]
        lines.append(
            f"| {group[0].model} | {len(met)}/{len(group)} | {sum(o.verified for o in group)} "
            f"| {sum(not o.verified for o in met)} | {sum(o.verified for o in unmet)} "
            f"| {sum(o.completed and not o.verified for o in unmet)} "
            f"| {sum(not o.completed for o in unmet)} |"
        )
    return "\n".join(lines)


def by_tag(outcomes: Sequence[Outcome], exercises: Mapping[str, Exercise]) -> str:
    """Draw how each model did with each kind of exercise."""
    groups = grouped(outcomes)
    names = [group[0].model for group in groups]
    lines = ["| kind | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for tag in Tag:
        cells = []
        for group in groups:
            of_tag = [o for o in group if tag in exercises[o.exercise].tags]
            cells.append(f"{sum(o.ok for o in of_tag)}/{len(of_tag)}" if of_tag else "–")
        if any(cell != "–" for cell in cells):
            lines.append(f"| {tag} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def approvals(outcomes: Sequence[Outcome]) -> str:
    """List what was asked to be approved, by exercise; one that no goal implies is a false one."""
    asked = [(o.exercise, text) for o in outcomes for text in o.asked]
    lines = [f"{len(asked)} approvals in {len(outcomes)} trials"]
    return "\n".join([*lines, *(f"{name}: {text}" for name, text in asked)])


def line(outcome: Outcome, done: int, total: int) -> str:
    mark = "passed" if outcome.ok else f"FAILED: {outcome.why[:160]}"
    if outcome.completed:
        by = outcome.verified_by if outcome.verified else "nobody"
        mark += f", verified by {by}" + (" FALSELY" if outcome.is_false_done else "")
    return (
        f"[{done}/{total}] {outcome.model} {outcome.exercise}: {mark} "
        f"({outcome.steps} steps, {outcome.seconds:.1f} s)"
    )
