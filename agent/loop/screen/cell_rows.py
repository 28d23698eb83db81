"""Write rows of short cells in one line each: the days of a month, keys, seats, letters.

By structure: neighbours of one kind and size side by side, called by a letter or three, or by
labels that differ in a word or two. Pure. Invariant: every cell keeps its number and its states; a
label is shortened only by what the first of its line, or the last whole one, says too.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from agent.loop.screen.names import names_nothing
from agent.records import Element

_LEAST = 3  # Fewer cells are written like any other elements.
_SHORT = 3  # A label of at most so many letters is short by itself.
_MOSTLY = 0.6
_LONGEST = 14  # Letters of a cell among short ones.
_SAME_HEIGHT = 0.3  # By this share of its height a cell may lie above or below its neighbour.
_SAME_WIDTH = 1.6  # A cell is at most so much wider than its neighbour.
_DIFFERING = 2  # In so many words may the labels of neighbours differ.
_LEAST_SAVED = 4  # Fewer letters in common are not worth an ellipsis.
_WORDS = re.compile(r"\d+[A-Za-z]*|[^\W\d]+|[\W_]+")
ELLIPSIS = "…"

CellRow = tuple[Element, ...]


def cell_rows(elements: Sequence[Element]) -> list[CellRow]:
    """Return the runs of elements that are written in a line each, in their order."""
    rows: list[CellRow] = []
    run: list[Element] = []
    for element in elements:
        if not _is_cell(element):
            rows += [tuple(run)] if len(run) >= _LEAST else []
            run = []
        elif run and not _is_beside(run[-1], element):
            rows += [tuple(run)] if len(run) >= _LEAST else []
            run = [element]
        else:
            run.append(element)
    rows += [tuple(run)] if len(run) >= _LEAST else []
    return [row for row in rows if _says_the_same_kind_of_thing(row)]


def short_labels(labels: Sequence[str]) -> list[str]:
    """Shorten labels by what the last whole one before says too: "27 …" after "26 October"."""
    shown: list[str] = []
    whole = ""
    for label, following in zip(labels, (*labels[1:], ""), strict=True):
        short = _elided(label, whole)
        if _differing(label, whole) > 1 and _differing(following, label) == 1:
            # Where a month begins, its name is said once.
            short = ""
        shown.append(short or label)
        whole = whole if short else label
    return shown


def _differing(label: str, other: str) -> int:
    """Return in how many words two labels differ; many where they are not alike."""
    mine, others = _WORDS.findall(label), _WORDS.findall(other)
    if len(mine) != len(others):
        return len(mine) + len(others)
    return sum(one != two for one, two in zip(mine, others, strict=True))


def _elided(label: str, whole: str) -> str:
    """Return a label without what another says too; empty where it does not pay."""
    mine, other = _WORDS.findall(label), _WORDS.findall(whole)
    if len(mine) != len(other):
        return ""
    if not 0 < _differing(label, whole) <= _DIFFERING:
        return ""
    differs = [one != two for one, two in zip(mine, other, strict=True)]
    common = sum(len(one) for one, new in zip(mine, differs, strict=True) if not new)
    if common < _LEAST_SAVED:
        return ""
    parts: list[str] = []
    for word, new in zip(mine, differs, strict=True):
        if new:
            parts.append(word)
        elif not parts or parts[-1] != ELLIPSIS:
            parts.append(ELLIPSIS)
    return " ".join(parts)


def _is_cell(element: Element) -> bool:
    """Return whether an element is no more than its name and its states."""
    holds = element.value or element.length or element.editable or element.scrollable
    return bool(element.label) and not holds and element.kind != "scrollable"


def _is_beside(left: Element, right: Element) -> bool:
    one, two = left.bounds, right.bounds
    height, other_height = one.bottom - one.top, two.bottom - two.top
    width, other_width = one.right - one.left, two.right - two.left
    return (
        (left.kind, left.parent, left.class_name) == (right.kind, right.parent, right.class_name)
        and abs(one.center_y - two.center_y) <= _SAME_HEIGHT * min(height, other_height)
        and max(width, other_width) <= _SAME_WIDTH * min(width, other_width)
        and one.center_x < two.center_x
    )


def _says_the_same_kind_of_thing(row: CellRow) -> bool:
    """Return whether a row's labels are short, or differ in a word or two."""
    if len({cell.resource_id for cell in row}) > 1 and any(
        _is_count(cell.label) and cell.resource_id and not _is_key(cell) for cell in row
    ):
        # Counts of likes and replies: each is named by its own id.
        return False
    short = sum(len(cell.label.split(" | ")[0]) <= _SHORT for cell in row)
    if short >= _MOSTLY * len(row) and all(len(cell.label) <= _LONGEST for cell in row):
        # Among keys, one may be a word.
        return True
    return all(_elided(two.label, one.label) for one, two in pairwise(row)) or (
        # The end of one month and the beginning of the next stand in one row.
        sum(bool(_elided(two.label, one.label)) for one, two in pairwise(row)) >= len(row) - 2
        and len(row) > _LEAST
    )


def _is_count(label: str) -> bool:
    return names_nothing(label) and any(map(str.isdigit, label))


def _is_key(cell: Element) -> bool:
    """Return whether a cell's id says its label, as digit_7 does of 7."""
    return cell.label.casefold() in cell.resource_id.rsplit("/", 1)[-1].casefold()
