"""Lay a paragraph of the transcript out as lines of so many cells.

Drawing alone; what a paragraph says is `widgets.transcript.transcript_lines`. Invariant: every line
has the width that was asked for and one cell more, so a cursor or a scrollbar moves nothing.
"""

from rich.segment import Segment
from textual.content import Content
from textual.strip import Strip
from textual.visual import Visual
from textual.widget import Widget

from widgets.base.rich_parts import to_content
from widgets.transcript.transcript_lines import Paragraph

_LEAST_BESIDE = 16
"""Cells that the text keeps beside its right part; with less, that goes to a line of its own."""


def strips_of(widget: Widget, paragraph: Paragraph, width: int) -> list[Strip]:
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
    [first, *_] = Visual.to_strips(widget, head, head.cell_length, 1, style)
    drawn: list[Strip] = []
    for at, strip in enumerate(strips):
        lead = first if at == 0 else Strip([Segment(" " * head.cell_length, base)])
        line = Strip.join([lead, strip])
        if at == 0 and beside:
            [end] = Visual.to_strips(widget, right, right.cell_length, 1, style)
            line = line.adjust_cell_length(width - right.cell_length, base)
            line = Strip.join([line, end])
        drawn.append(line.adjust_cell_length(width + 1, base))
    return drawn


def with_cursor(widget: Widget, strip: Strip) -> Strip:
    """Mark a line as under the cursor."""
    style = widget.app.stylesheet.parse_style("$primary on $cursor").rich_style
    paper = widget.app.stylesheet.parse_style("on $cursor").rich_style
    rest = strip.crop(1).apply_style(paper)
    return Strip.join([Strip([Segment("▌", style)], 1), rest])
