"""What a list shows, without how it is drawn: styled text, lines and rows.

Knows nothing of Textual, so that a command that prints rows loads none of it.
"""

from __future__ import annotations

from typing import NamedTuple

Parts = tuple[tuple[str, str], ...]
"""Cleaned text with style names; comparable, unlike Content, which compares its text alone."""


class Line(NamedTuple):
    """One line of a row: the left part gives way to the right one."""

    left: Parts
    right: Parts = ()


class Row(NamedTuple):
    """One row; equal rows look equal."""

    key: str
    lines: tuple[Line, ...]
    is_heading: bool = False
    """Whether the cursor passes over it."""
