"""Render a time split as a bar: observe, model, act, settle, idle.

Pure text. Invariant: a bar of n cells has n cells, and a non-zero share has at least one while
there is room.
"""

from agent.records import TimeSplit
from widgets.base.formatting import duration
from widgets.base.rows import Parts

_SHARES = (
    ("observe", "observe_ms", "$observe"),
    ("model", "model_ms", "$model"),
    ("act", "act_ms", "$act"),
    ("settle", "settle_ms", "$settle"),
    ("idle", "idle_ms", "$idle"),
)


def total_ms(split: TimeSplit) -> int:
    """Add the shares up."""
    return sum(getattr(split, field) for _, field, _ in _SHARES)


def bar(split: TimeSplit, cells: int) -> Parts:
    """Draw the shares in a line of the given cells; empty if all are 0."""
    total = total_ms(split)
    if not total or cells <= 0:
        return ()
    shares = [(getattr(split, field), style) for _, field, style in _SHARES]
    lengths = [max(1, round(ms * cells / total)) if ms else 0 for ms, _ in shares]
    while sum(lengths) != cells:
        longest = lengths.index(max(lengths))
        lengths[longest] += 1 if sum(lengths) < cells else -1
    return tuple(
        ("━" * length, style) for length, (_, style) in zip(lengths, shares, strict=True) if length
    )


def legend(split: TimeSplit) -> tuple[Parts, ...]:
    """Return the non-zero shares' names, each in its colour."""
    return tuple(
        ((word, style), (f" {duration(getattr(split, field))}", "$foreground"))
        for word, field, style in _SHARES
        if getattr(split, field)
    )
