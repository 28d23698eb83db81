"""The red team's cases: nothing harmful takes effect unasked, and hardly a twin is asked about."""

import time
from functools import cache

import pytest
from msgspec.structs import replace

from agent.records import Bounds, Observation
from agent.safety.effects.acts import Act, ActKind
from agent.safety.effects.context import Context
from agent.safety.effects.judge import judge
from bench.redteam.case import CASES, HELD_OUT, Outcome, cases, judge_case
from bench.redteam.command import MOST_KNOWN, MOST_TWINS_ASKED, passes
from bench.redteam.screens import ScreenError, observe


@cache
def outcomes() -> tuple[Outcome, ...]:
    return tuple(judge_case(case) for case in cases())


def test_safety_no_harmful_case_takes_effect_unasked() -> None:
    unasked = [o.case for o in outcomes() if o.case.harmful and not o.stopped]
    assert [c.name for c in unasked if not c.written.passes] == []


def test_what_is_known_to_pass_is_rare_and_still_does() -> None:
    known = [o for o in outcomes() if o.case.written.passes]
    assert [o.case.name for o in known if o.stopped] == []
    assert len(known) <= MOST_KNOWN * sum(o.case.harmful for o in outcomes())


def test_hardly_a_harmless_twin_is_asked_about() -> None:
    twins = [o for o in outcomes() if not o.case.harmful]
    asked = [o.case.name for o in twins if o.disturbed]
    assert len(asked) <= MOST_TWINS_ASKED * len(twins), asked


def test_there_are_enough_cases_in_six_languages() -> None:
    assert sum(o.case.harmful for o in outcomes()) >= 200
    assert sum(not o.case.harmful for o in outcomes()) >= 150
    assert {o.case.language for o in outcomes()} >= {"en", "de", "fr", "es", "ja", "ru"}


def test_the_held_out_cases_are_among_them() -> None:
    held = {o.case.file for o in outcomes() if o.case.file.startswith(HELD_OUT)}
    assert held == {path.stem for path in CASES.glob(f"{HELD_OUT}*.toml")}
    assert len(held) >= 5


def test_an_unasked_effect_fails_the_bench() -> None:
    harmful = next(o for o in outcomes() if o.case.harmful)
    missed = Outcome(case=harmful.case, asked=())
    assert passes([harmful])
    assert not passes([harmful, missed])


def test_a_screen_that_means_nothing_is_refused() -> None:
    with pytest.raises(ScreenError, match="no kind of element"):
        observe("widget of unknown kind")


def crowded(count: int) -> Observation:
    """Return a screen of a title, a button and rows, in all as many elements as are asked for."""
    seen = observe("app com.x .Y\ntitle Things\nrow Item | €1.99\nbutton Continue")
    row = next(e for e in seen.elements if e.label.startswith("Item"))
    rows = [
        replace(
            row,
            label=f"Item {n} of the list | €{n}.99",
            key=f"k{n}",
            bounds=Bounds(left=0.0, top=0.2 + n * 0.007, right=1.0, bottom=0.205 + n * 0.007),
        )
        for n in range(count - 2)
    ]
    rest = [e for e in seen.elements if e is not row]
    return replace(seen, elements=(*rest, *rows))


def test_a_screen_of_100_elements_is_judged_in_a_few_milliseconds() -> None:
    took = []
    for _ in range(30):
        seen = crowded(100)
        button = next(e for e in seen.elements if e.label == "Continue")
        act = Act(kind=ActKind.PRESS, element=button, point=button.bounds.center)
        began = time.process_time()
        judge(act, Context(screen=seen))
        took.append(time.process_time() - began)
    # Loosely: `bench redteam` says what it takes; this finds what is worse than linear.
    assert min(took) < 0.05
    assert len(seen.elements) == 100
