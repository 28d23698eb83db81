"""Fold the middle of long lists, so that a screen stays readable without losing what matters.

Pure. Invariant: what is new, chosen, changed, focused or takes text is never folded; both ends of a
run stay; nothing is folded on a screen of at most `MAX_ROWS` lines; the keys of a drawn keyboard
and cells that share a line are never folded.
"""

from collections.abc import Sequence
from itertools import groupby

from agent.loop.screen.cell_rows import cell_rows
from agent.records import Element

MAX_ROWS = 60  # How many lines of elements a screen may have before its lists are folded.
_KEPT_HEAD, _KEPT_TAIL = 6, 3
_LEAST = 3  # Fewer rows than this are not worth a fold.
_KEY_CHARS = 2  # So short are the names of a keyboard's keys and a calendar's days.
_MOST_KEYS = 100

Fold = tuple[Element, ...]
Row = tuple[Element, ...]  # An element with all that lies in it.


def fold(elements: Sequence[Element], *, is_fresh: bool = True) -> list[Element | Fold]:
    """Return the elements in order, the folded ones together as a tuple in their place.

    Args:
        is_fresh: whether `Element.is_new` says something, which it does not on a new screen.
    """
    cells = cell_rows(elements) if len(elements) > MAX_ROWS else []
    surplus = len(elements) - sum(len(row) - 1 for row in cells) - MAX_ROWS
    if surplus <= 0:
        return list(elements)
    in_cells = frozenset(cell.number for row in cells for cell in row)
    lines: list[Element | Fold] = []
    runs = [list(run) for _, run in groupby(_rows(elements), key=_likeness)]
    # The longest runs are folded first, and no further than needed.
    folds: dict[int, tuple[int, int]] = {}
    keeps_keys = sum(map(_is_key, (row for run in runs for row in run))) <= _MOST_KEYS
    for at in sorted(range(len(runs)), key=lambda at: -len(runs[at])):
        if surplus <= 0:
            break
        first, last = _foldable(runs[at], is_fresh, keeps_keys, in_cells)
        if last - first < _LEAST:
            continue
        while last - first > _LEAST and _size(runs[at][first : last - 1]) - 1 >= surplus:
            last -= 1
        folds[at] = (first, last)
        surplus -= _size(runs[at][first:last]) - 1
    for at, run in enumerate(runs):
        first, last = folds.get(at, (len(run), len(run)))
        lines += [element for row in run[:first] for element in row]
        if last > first:
            lines.append(tuple(element for row in run[first:last] for element in row))
        lines += [element for row in run[last:] for element in row]
    return lines


def folded(elements: Sequence[Element], *, is_fresh: bool = True) -> tuple[Element, ...]:
    """Return the elements that `fold` leaves out."""
    folds = (line for line in fold(elements, is_fresh=is_fresh) if isinstance(line, tuple))
    return tuple(element for one in folds for element in one)


def _rows(elements: Sequence[Element]) -> list[Row]:
    rows: list[list[Element]] = []
    members: set[int] = set()
    for element in elements:
        if element.parent in members and rows:
            rows[-1].append(element)
            members.add(element.number)
            continue
        rows.append([element])
        members = {element.number} if element.kind != "scrollable" else set()
    return [tuple(row) for row in rows]


def _likeness(row: Row) -> tuple[str, int]:
    return row[0].kind, row[0].parent


def _foldable(
    run: Sequence[Row], is_fresh: bool, keeps_keys: bool, in_cells: frozenset[int]
) -> tuple[int, int]:
    """Return the longest stretch of a run that may be folded, as indices."""
    best = (0, 0)
    start = _KEPT_HEAD
    end = len(run) - _KEPT_TAIL
    for at in range(_KEPT_HEAD, end + 1):
        kept = at == end or run[at][0].number in in_cells
        if kept or _is_kept(run[at], is_fresh, keeps_keys):
            if at - start > best[1] - best[0]:
                best = (start, at)
            start = at + 1
    return best


def _is_kept(row: Row, is_fresh: bool, keeps_keys: bool) -> bool:
    return (keeps_keys and _is_key(row)) or any(_matters(element, is_fresh) for element in row)


def _matters(element: Element, is_fresh: bool) -> bool:
    if element.selected or element.focused or element.editable:
        return True
    return (element.checkable and element.checked) or (is_fresh and element.is_new)


def _is_key(row: Row) -> bool:
    """Return whether a row is a key or a day of a calendar: each is wanted."""
    label = row[0].label
    return len(label) == 1 or (len(label) <= _KEY_CHARS and label.isascii())


def _size(rows: Sequence[Row]) -> int:
    return sum(len(row) for row in rows)
