"""Durations and moments as people type them in a shell: 90s, 10m, 1h30m, 18:30, 2026-01-31T08:00.

Not a cron. Invariant: what cannot be understood is refused with an example, never guessed.
"""

import re
from datetime import datetime, time, timedelta

from agent.errors import UsageError

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|w)")
_UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_LONGEST_MS = 10 * 365 * 86_400_000


def duration_ms(text: str) -> int:
    """Read a duration. Raises UsageError when it is none, or longer than ten years."""
    typed = text.strip().lower().replace(" ", "")
    parts = _PART.findall(typed)
    if not parts or "".join(number + unit for number, unit in parts) != typed:
        raise UsageError(f"{text!r} is not a duration.", "Write one like 90s, 10m, 1h30m or 2d.")
    total = sum(float(number) * _UNITS_MS[unit] for number, unit in parts)
    if total > _LONGEST_MS:
        raise UsageError(f"{text!r} is longer than ten years.", "Write a shorter one, like 30d.")
    return round(total)


def when_ms(text: str, now: datetime) -> int:
    """Read a time ahead, as 10m, or a moment; 0 for an empty text. Raises UsageError."""
    if text and text[0].isdigit() and text[-1].isalpha() and "T" not in text:
        return round(now.timestamp() * 1000) + duration_ms(text)
    return moment_ms(text, now) if text else 0


def moment_ms(text: str, now: datetime) -> int:
    """Read a moment in local time, as milliseconds since the epoch; a bare time is the next one.

    Args:
        text: `18:30`, `2026-01-31 08:00` or any ISO 8601 form, with a zone or without.
        now: the present, with its zone.

    Raises:
        UsageError: it is no moment, or it has passed.
    """
    typed = text.strip()
    try:
        if re.fullmatch(r"\d{1,2}:\d{2}(:\d{2})?", typed):
            clock = time.fromisoformat(typed.zfill(len("00:00") if len(typed) < 6 else 8))
            moment = datetime.combine(now.date(), clock, now.tzinfo)
            if moment <= now:
                moment += timedelta(days=1)
        else:
            moment = datetime.fromisoformat(typed)
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=now.tzinfo)
    except ValueError as error:
        raise UsageError(
            f"{text!r} is not a time.", "Write one like 18:30 or 2026-01-31T08:00."
        ) from error
    if moment <= now:
        raise UsageError(f"{text!r} has passed.", "Give a future time.")
    return round(moment.timestamp() * 1000)
