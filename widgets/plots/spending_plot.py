"""What was spent, as bars: a line a day, and the sessions that cost most. Pure functions to parts.

Not the adding up (the store does it). Invariants: every bar has its figure beside it, so that it
reads without colour; no line is wider than it may be; a day without either is a line too.
"""

from collections.abc import Sequence
from datetime import date, timedelta
from enum import StrEnum

from agent.records import DaySpent, SessionSpent, Spending, Usage
from agent.text import counted
from widgets.base import formatting
from widgets.base.bars import bar
from widgets.base.rows import Parts
from widgets.lists.session_rows import session_title

NOTHING = "No sessions in these days. Press 1, then n, to start one."
_OUTCOMES_FROM = 56  # Columns from which the sessions of a day are told apart by how they ended.
_LEAST_BAR = 6


class Measure(StrEnum):
    """What the bars measure."""

    TOKENS = "tokens"
    MONEY = "money"
    SESSIONS = "sessions"

    @property
    def next(self) -> "Measure":
        """The one after it, round and round."""
        every = list(Measure)
        return every[(every.index(self) + 1) % len(every)]


def telling(spending: Spending) -> Measure:
    """Return the first measure by which anything is to be seen."""
    if any(_measured(day, Measure.TOKENS) for day in spending.days):
        return Measure.TOKENS
    return Measure.SESSIONS


def spending_parts(
    spending: Spending, *, today: date, days: int, measure: Measure, width: int
) -> Parts:
    """Draw so many days up to today, the newest first, and the dearest sessions.

    Args:
        width: of the widest line, in cells.
    """
    if not spending.days:
        return ((NOTHING, "$muted"),)
    by_day = {day.day: day for day in spending.days}
    shown = [today - timedelta(days=at) for at in range(days)]
    listed = [by_day.get(one.isoformat(), DaySpent(day=one.isoformat())) for one in shown]
    parts = [*_sums(listed), *_heading(measure, width)]
    most = max(_measured(day, measure) for day in listed)
    for one, day in zip(shown, listed, strict=True):
        word = "today" if one == today else f"{_MONTHS[one.month - 1]} {one.day:2}"
        parts += _day_line(word, day, most, measure, width)
    return (*parts, *_most_expensive(spending.dearest, measure, width))


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens


def _measured(day: DaySpent, measure: Measure) -> float:
    match measure:
        case Measure.TOKENS:
            return _tokens(day.usage)
        case Measure.MONEY:
            return day.usage.cost_usd
        case Measure.SESSIONS:
            return day.sessions


def _money(usage: Usage) -> str:
    return formatting.money(usage.cost_usd) if usage.cost_usd else "–"


def _sums(days: Sequence[DaySpent]) -> Parts:
    usage = Usage()
    for day in days:
        usage = usage.plus(day.usage)
    count = sum(day.sessions for day in days)
    facts = [
        f"{count} session{'' if count == 1 else 's'}",
        f"{formatting.tokens(_tokens(usage))} tok",
    ]
    if usage.cost_usd:
        facts.append(formatting.money(usage.cost_usd))
        facts.append(f"{formatting.money(usage.cost_usd / len(days))} a day")
    else:
        facts.append("no prices known" if _tokens(usage) else "nothing paid")
    watching = sum(_tokens(day.watchers) for day in days)
    if watching:
        facts.append(f"{formatting.tokens(watching)} tok of it for watchers")
    return (
        (f"{counted(len(days), 'day')}  ", "bold $foreground"),
        (f"{' · '.join(facts)}\n", "$foreground"),
    )


def _figures(width: int) -> int:
    """Count the cells at the right of a day's bar."""
    return 17 + (14 if width >= _OUTCOMES_FROM else 0)


def _bar_cells(width: int) -> int:
    return max(_LEAST_BAR, width - 7 - _figures(width))


def _heading(measure: Measure, width: int) -> Parts:
    cells = _bar_cells(width)
    text = f"{'':7}{measure.value:<{cells}}{'tokens':>8}{'money':>9}"
    if width >= _OUTCOMES_FROM:
        text += f"{'all':>6}{'✓':>4}{'×':>4}"
    return ((f"{text}\n", "$faint"),)


def _day_line(word: str, day: DaySpent, most: float, measure: Measure, width: int) -> Parts:
    cells = _bar_cells(width)
    if not day.sessions and not day.usage.calls:
        return ((f"{word:<7}", "$faint"), ("·\n", "$faint"))
    figures = f"{formatting.tokens(_tokens(day.usage)):>8}{_money(day.usage):>9}"
    parts = [
        (f"{word:<7}", "$muted"),
        (bar(_measured(day, measure), most, cells), "$model"),
        (figures, "$foreground"),
    ]
    if width >= _OUTCOMES_FROM:
        parts += [
            (f"{day.sessions or '·':>6}", "$foreground" if day.sessions else "$faint"),
            (f"{day.completed or '·':>4}", "$good" if day.completed else "$faint"),
            (f"{day.failed or '·':>4}", "$bad" if day.failed else "$faint"),
        ]
    return (*parts, ("\n", ""))


def _most_expensive(dearest: Sequence[SessionSpent], measure: Measure, width: int) -> Parts:
    """List the sessions that cost most, each under a bar of its own."""
    if not dearest:
        return ()
    by_money = measure is Measure.MONEY and any(one.usage.cost_usd for one in dearest)
    values = [one.usage.cost_usd if by_money else _tokens(one.usage) for one in dearest]
    parts = [("\nmost expensive\n", "$faint")]
    cells = max(_LEAST_BAR, width - 17)
    for one, value in zip(dearest, values, strict=True):
        title = session_title(one.session)
        parts += [
            (f"{bar(value, max(values), cells)}", "$model"),
            (f"{formatting.tokens(_tokens(one.usage)):>8}{_money(one.usage):>9}\n", "$foreground"),
            (f"{_shortened(title, width)}\n", "$muted"),
        ]
    return tuple(parts)


def _shortened(title: str, width: int) -> str:
    from rich.cells import cell_len, set_cell_size

    return title if cell_len(title) <= width else set_cell_size(title, width - 1) + "…"
