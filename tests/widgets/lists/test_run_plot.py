"""The runs of a job side by side: signs, times and tokens in the same columns."""

from agent.records import RunOutcome, RunRecord, Usage
from widgets.lists.run_plot import SHOWN, run_plot

DONE, FAILED, DENIED = RunOutcome.FINISHED, RunOutcome.STEP_LIMIT, RunOutcome.DENIED


def ran(number: int, outcome: RunOutcome | None, *, took_s: int = 10, tokens: int = 0) -> RunRecord:
    return RunRecord(
        run_id=f"r{number}",
        job_id=1,
        due_at=number,
        started_at=number * 1_000_000,
        ended_at=number * 1_000_000 + took_s * 1000 if outcome else 0,
        outcome=outcome,
        usage=Usage(input_tokens=tokens),
    )


def text(*newest_first: RunRecord) -> list[str]:
    return "".join(part for part, _ in run_plot(newest_first)).strip("\n").splitlines()


def test_the_newest_run_is_at_the_right_and_each_has_its_column_in_every_line() -> None:
    assert text(
        ran(5, None, tokens=100),
        ran(4, FAILED, took_s=80, tokens=800),
        ran(3, DENIED, took_s=40),
        ran(2, DONE, took_s=40, tokens=400),
        ran(1, DONE, took_s=20, tokens=400),
    ) == ["2 of the last 4 runs finished", "✓✓–×●", "▃▅▅█▁  at most 1:20", "▅▅▁█▂  at most 800 tok"]


def test_one_run_is_told_by_its_line_alone_and_old_ones_are_left_out() -> None:
    assert text(ran(1, DONE)) == []
    assert text(ran(2, None), ran(1, DONE)) == []
    many = [ran(number, DONE) for number in reversed(range(SHOWN + 5))]
    said, signs, *_ = text(*many)
    assert (said, signs) == (f"{SHOWN} of the last {SHOWN} runs finished", "✓" * SHOWN)
