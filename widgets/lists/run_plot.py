"""How the runs of one job went, side by side: what each came to, how long it took, what it used.

Pure functions to parts. Invariants: a run has the same column in every line, the newest at the
right; what a run came to is a sign, so that it reads without colour.
"""

from collections.abc import Sequence

from agent.records import RunOutcome, RunRecord
from agent.text import counted
from widgets.base import formatting
from widgets.base.bars import sparkline
from widgets.base.rows import Parts
from widgets.base.status import Mark

SHOWN = 20  # How many runs are drawn: what a narrow pane has room for, with a figure beside it.
_UNDER_WAY = Mark("●", "under way", "$live")
_FINISHED = Mark("✓", "finished", "$good")
_CALLED_OFF = Mark("–", "called off", "$warn")
_FAILED = Mark("×", "failed", "$bad")


def run_mark(run: RunRecord) -> Mark:
    """Return the sign for what a run came to."""
    match run.outcome:
        case None:
            return _UNDER_WAY
        case RunOutcome.FINISHED:
            return _FINISHED
        case RunOutcome.CANCELLED | RunOutcome.DENIED | RunOutcome.EXPIRED:
            return _CALLED_OFF
        case _:
            return _FAILED


def run_plot(newest_first: Sequence[RunRecord]) -> Parts:
    """Draw the newest runs; nothing while there are fewer than two, which their lines tell."""
    runs = tuple(reversed(newest_first[:SHOWN]))
    ended = [run for run in runs if run.outcome is not None]
    if len(ended) < 2:
        return ()
    finished = sum(run.outcome is RunOutcome.FINISHED for run in ended)
    parts: list[tuple[str, str]] = [
        (f"\n{finished} of the last {counted(len(ended), 'run')} finished\n", "$faint"),
        *((mark.glyph, mark.style) for mark in map(run_mark, runs)),
        ("\n", ""),
    ]
    took_ms = [max(0, run.ended_at - run.started_at) if run.ended_at else 0 for run in runs]
    used = [run.usage.input_tokens + run.usage.output_tokens for run in runs]
    for values, style, said in (
        (took_ms, "$act", formatting.duration(max(took_ms))),
        (used, "$model", f"{formatting.tokens(max(used))} tok"),
    ):
        if max(values) > 0:
            parts += [(sparkline(values, len(runs)), style), (f"  at most {said}\n", "$muted")]
    return tuple(parts)
