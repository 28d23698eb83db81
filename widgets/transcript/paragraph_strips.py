"""Lay a paragraph of the transcript out as lines of so many cells.

Drawing alone; what a paragraph says is `widgets.transcript.transcript_lines`. Invariant: every line
has the width that was asked for and one cell more, so a cursor or a scrollbar moves nothing.
"""

from collections.abc import Iterator
from typing import NamedTuple

from rich.segment import Segment
from textual.content import Content
from textual.strip import Strip
from textual.visual import Visual
from textual.widget import Widget

from widgets.base.rich_parts import to_content
from widgets.transcript.transcript_lines import Paragraph

_LEAST_BESIDE = 16
"""Cells that the text keeps beside its right part; with less, that goes to a line of its own."""


class DrawnLine(NamedTuple):
    """One line as it is drawn, and how its text continues that of the line above."""

    strip: Strip
    indent: int = 0
    """Characters of its beginning that are there for the screen."""
    joint: str | None = None
    """What stood between the line above and this one before it was wrapped; None where the text
    itself has a new line."""
    ends_at: int = 0
    """Where its own text ends, before a right part; 0 without one."""


def lines_of(widget: Widget, paragraph: Paragraph, width: int) -> list[DrawnLine]:
    """Draw a paragraph in the styles of a widget."""
    style = widget.visual_style
    head = to_content(paragraph.head)
    right = to_content(paragraph.right)
    body = to_content(paragraph.body)
    room = max(4, width - head.cell_length)
    beside = right.cell_length + 2 if right else 0
    if beside and room - beside < _LEAST_BESIDE:
        body, right, beside = body + Content("\n") + right, Content(""), 0
    base = style.rich_style
    first = Strip.blank(0)
    if head:
        [first, *_] = Visual.to_strips(widget, head, head.cell_length, 1, style)
    drawn: list[DrawnLine] = []
    for line, joint in _wrapped(widget, body, room - beside):
        lead = Strip([Segment(" " * head.cell_length, base)]) if drawn else first
        indent = len(lead.text) - len(lead.text.lstrip())
        strip = Strip.join([lead, line])
        ends_at = 0
        if beside and not drawn:
            ends_at = len(strip.text.rstrip())
            [end] = Visual.to_strips(widget, right, right.cell_length, 1, style)
            strip = strip.adjust_cell_length(width - right.cell_length, base)
            strip = Strip.join([strip, end])
        drawn.append(DrawnLine(strip.adjust_cell_length(width + 1, base), indent, joint, ends_at))
    return drawn


def _wrapped(widget: Widget, body: Content, room: int) -> Iterator[tuple[Strip, str | None]]:
    """Yield a text as lines of so many cells, each with its joint (see `DrawnLine`)."""
    # Line by line: what begins a new line of the text is then no question.
    for line in body.split("\n", allow_blank=True):
        told = 0
        for at, strip in enumerate(Visual.to_strips(widget, line, room, None, widget.visual_style)):
            shown = strip.text.lstrip()
            indent, shown = len(strip.text) - len(shown), shown.rstrip()
            begins = max(told, line.plain.find(shown, told))
            # Of a word that is longer than a line, the space behind it may begin one.
            joint = line.plain[told : begins - indent] if shown else ""
            yield strip, joint if at else None
            told = begins + len(shown)


def with_cursor(widget: Widget, strip: Strip) -> Strip:
    """Mark a line as under the cursor."""
    style = widget.app.stylesheet.parse_style("$primary on $cursor").rich_style
    paper = widget.app.stylesheet.parse_style("on $cursor").rich_style
    rest = strip.crop(1).apply_style(paper)
    return Strip.join([Strip([Segment("▌", style)], 1), rest])
