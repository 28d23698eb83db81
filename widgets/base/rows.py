"""Define what a list displays: styled text, lines and rows.

Independent of Textual, so that commands that print rows do not load it.
"""

from typing import NamedTuple

Parts = tuple[tuple[str, str], ...]
"""Cleaned text with style names; comparable, unlike Content, which compares its text alone."""


class Line(NamedTuple):
    """One line of a row: the left part is cut to fit the right one."""

    left: Parts
    right: Parts = ()


class Row(NamedTuple):
    """One row; equal rows look equal."""

    key: str
    lines: tuple[Line, ...]
    is_heading: bool = False  # Whether the cursor passes over it.
