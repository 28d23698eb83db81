"""Write moments for a model: with date and zone, never as a number of milliseconds. Pure."""

from datetime import datetime


def iso_time(at_ms: int) -> str | None:
    """Return a moment in ISO-8601 with this computer's zone; None for none.

    Args:
        at_ms: milliseconds since the epoch; 0 and what no clock can show are no moment.
    """
    moment = _moment(at_ms)
    return None if moment is None else moment.isoformat(timespec="seconds")


def day_and_time(at_ms: int) -> str:
    """Return a moment with the name of its day and this computer's zone; empty for none."""
    moment = _moment(at_ms)
    return "" if moment is None else moment.strftime("%A %Y-%m-%d %H:%M %z (%Z)")


def _moment(at_ms: int) -> datetime | None:
    if at_ms <= 0:
        return None
    try:
        return datetime.fromtimestamp(at_ms / 1000).astimezone()
    except (OverflowError, OSError, ValueError):
        return None
