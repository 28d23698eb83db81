"""Days of this computer's own time zone, as the store counts them and as people name them.

Not a calendar. Invariant: a day begins at its own midnight, also where the clocks change.
"""

from datetime import date, datetime, timedelta

from agent.errors import UsageError

_AGO = {"today": 0, "yesterday": 1}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def day_of(at_ms: int) -> date:
    """Return the day of a moment."""
    return datetime.fromtimestamp(at_ms / 1000).astimezone().date()


def begin_ms(day: date) -> int:
    """Return the moment at which a day begins."""
    return int(datetime(day.year, day.month, day.day).astimezone().timestamp() * 1000)


def day_named(text: str, today: date) -> date:
    """Read a day: today, yesterday, a weekday (the newest, today included), or 2026-01-31.

    Raises:
        UsageError: it is none.
    """
    typed = text.strip().casefold()
    if typed in _AGO:
        return today - timedelta(days=_AGO[typed])
    weekdays = [n for n, name in enumerate(_WEEKDAYS) if len(typed) > 2 and name.startswith(typed)]
    if weekdays:
        return today - timedelta(days=(today.weekday() - weekdays[0]) % 7)
    try:
        return date.fromisoformat(typed)
    except ValueError:
        raise UsageError(
            f"{text!r} is not a day.", "Write one like today, yesterday, monday or 2026-01-31."
        ) from None
