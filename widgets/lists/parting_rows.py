"""Rows of two sessions side by side: what each did in the same place of its order.

Pure functions from what was done to rows. Invariants: a row says in a sign whether both are alike,
so that it reads without colour; where two columns have no room, one stands under the other.
"""

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

from agent.records import Frame
from agent.state.reducer import ActionView
from agent.text import clean
from widgets.base import formatting
from widgets.base.rich_parts import steady
from widgets.base.rows import Line, Parts, Row

BESIDE_FROM = 64  # Columns from which two stand beside each other.
_NO_MORE = "– no more actions"


class Done(NamedTuple):
    """What one session did in a place of its order."""

    step: int
    action: ActionView
    app: str  # Its name, with the package.
    thought: str
    frame: Frame | None


class Place(NamedTuple):
    """One place in the order of both; None where one of them did nothing more."""

    left: Done | None
    right: Done | None
    is_alike: bool


def parting_rows(places: Sequence[Place], *, parts_at: int, width: int) -> list[Row]:
    """List the places; the first where the two part is marked.

    That one of them did nothing more is said once.
    """
    rows: list[Row] = []
    has_ended: set[str] = set()
    for at, place in enumerate(places):
        sides = {"left": place.left, "right": place.right}
        told = {
            side: "" if side in has_ended else _action_line(done) for side, done in sides.items()
        }
        has_ended |= {side for side, done in sides.items() if done is None}
        sign, style = ("=", "$faint") if place.is_alike else ("≠", "$ask")
        if at == parts_at:
            sign, style = "▶", "bold $ask"
        tone = "$muted" if place.is_alike else "$foreground"
        if width >= BESIDE_FROM:
            column = (width - 3) // 2
            line: Parts = (
                (_sized(told["left"], column), _tone(place.left, tone)),
                (f" {sign} ", style),
                (_sized(told["right"], column), _tone(place.right, tone)),
            )
            rows.append(Row(str(at), (Line(line),)))
        elif place.is_alike:
            rows.append(
                Row(str(at), (Line(((f"{sign} ", style), (_action_line(place.left), tone))),))
            )
        else:
            lines = [
                Line(((f"{number} ", style), (told[side], _tone(sides[side], tone))))
                for number, side in ((1, "left"), (2, "right"))
                if told[side]
            ]
            first = Line(((sign, style), *lines[0].left))
            rest = (Line(((" ", style), *line.left)) for line in lines[1:])
            rows.append(Row(str(at), (first, *rest)))
    return rows


def done_detail(done: Done | None) -> Parts:
    """Return in words all that one session did in a place."""
    if done is None:
        return (("No more actions.", "$muted"),)
    parts: list[tuple[str, str]] = [
        (f"step {done.step}  ", "$faint"),
        (f"{formatting.action_verb(done.action)} ", "bold $foreground"),
        (f"{formatting.action_object(done.action)}\n", "$foreground"),
    ]
    if done.app:
        parts.append((f"in {clean(done.app, 120)}\n", "$muted"))
    if done.thought:
        parts.append((clean(done.thought, 1_000), "$muted"))
    return tuple(parts)


def _tone(done: Done | None, tone: str) -> str:
    return tone if done is not None else "$faint"


def _action_line(done: Done | None) -> str:
    if done is None:
        return _NO_MORE
    words = f"{formatting.action_verb(done.action)} {formatting.action_object(done.action)}".strip()
    return f"{done.step:>3}  {words}"


def _sized(text: str, cells: int) -> str:
    """Fill a column, or shorten what is too long for it."""
    text = steady(text)
    if cell_len(text) > cells:
        return set_cell_size(text, max(0, cells - 1)) + "…"
    return set_cell_size(text, cells)
