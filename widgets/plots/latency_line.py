"""How long a phone takes to be looked at, as a line of small columns and figures. Pure text.

Invariant: the newest time is said in a figure, and so is the worst of those that are drawn.
"""

from collections.abc import Sequence
from statistics import median_low

from widgets.base import formatting
from widgets.base.bars import sparkline
from widgets.base.rows import Parts

NONE_YET = "screen reads: none yet"
_LEAST_CELLS, _MOST_CELLS = 4, 30
_SMALL_CELLS = 8
_SLOW = 3  # So many times the usual, and the newest look stands out.


def latency_line(took_ms: Sequence[int], width: int) -> Parts:
    """Return how the newest looks went: columns, the newest, the usual and the worst.

    Args:
        took_ms: times in milliseconds, the newest last.
        width: cells of the whole line; the columns give way to the figures.
    """
    if not took_ms:
        return ((NONE_YET, "$faint"),)
    figure, style = _newest(took_ms)
    left = width - len("screen read  ") - len(figure)
    usual = ""
    if len(took_ms) > 1:
        told = (formatting.duration(median_low(took_ms)), formatting.duration(max(took_ms)))
        usual = f"  usually {told[0]}, {told[1]} at most"
    if left - len(usual) < _LEAST_CELLS:
        usual = ""
    cells = max(0, min(len(took_ms), _MOST_CELLS, left - len(usual)))
    return (
        ("screen read ", "$faint"),
        (sparkline(took_ms, cells), "$observe"),
        (f" {figure}", style),
        (usual, "$muted"),
    )


def small_latency_line(took_ms: Sequence[int]) -> Parts:
    """Return the same for the few cells of a tile: columns and the newest; nothing before."""
    if not took_ms:
        return ()
    figure, style = _newest(took_ms)
    cells = min(len(took_ms), _SMALL_CELLS)
    return ((sparkline(took_ms, cells), "$observe"), (f" {figure}", style))


def _newest(took_ms: Sequence[int]) -> tuple[str, str]:
    newest = took_ms[-1]
    is_slow = len(took_ms) > 2 and newest > _SLOW * median_low(took_ms)
    return formatting.duration(newest), "$warn" if is_slow else "$foreground"
