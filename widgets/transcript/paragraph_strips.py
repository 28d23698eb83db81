"""Lay a paragraph of the transcript out as lines of so many cells.

Drawing alone; what a paragraph says is `widgets.transcript.transcript_lines`. Invariant: every line
has the width that was asked for and one cell more, so a cursor or a scrollbar moves nothing.
"""

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
    strips = Visual.to_strips(widget, body, room - beside, None, style)
    base = style.rich_style
    first = Strip.blank(0)
    if head:
        [first, *_] = Visual.to_strips(widget, head, head.cell_length, 1, style)
    plain, told = body.plain, 0
    drawn: list[DrawnLine] = []
    for at, strip in enumerate(strips):
        lead = first if at == 0 else Strip([Segment(" " * head.cell_length, base)])
        line = Strip.join([lead, strip])
        text = strip.text.strip()
        begins = max(told, plain.find(text, told))
        gap, told = plain[told:begins], begins + len(text)
        joint = None if at == 0 or not text or "\n" in gap else gap
        indent = len(lead.text) - len(lead.text.lstrip())
        ends_at = 0
        if at == 0 and beside:
            ends_at = len(line.text.rstrip())
            [end] = Visual.to_strips(widget, right, right.cell_length, 1, style)
            line = line.adjust_cell_length(width - right.cell_length, base)
            line = Strip.join([line, end])
        line = line.adjust_cell_length(width + 1, base)
        drawn.append(DrawnLine(line, indent, joint, ends_at))
    return drawn


def with_cursor(widget: Widget, strip: Strip) -> Strip:
    """Mark a line as under the cursor."""
    style = widget.app.stylesheet.parse_style("$primary on $cursor").rich_style
    paper = widget.app.stylesheet.parse_style("on $cursor").rich_style
    rest = strip.crop(1).apply_style(paper)
    return Strip.join([Strip([Segment("▌", style)], 1), rest])
