"""Text that the operator selects with the mouse: how it is drawn, and what of it is copied.

Invariant: what is copied is the text, not the screen: without the indents, without the line ends
that wrapping made.
"""

from collections.abc import Iterable

from rich.cells import cell_len
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from widgets.transcript.paragraph_strips import DrawnLine


def selected(lines: Iterable[DrawnLine | None], selection: Selection) -> str:
    """Return the selected text as it would be written into a letter."""
    written: list[str] = []
    beside = ""
    for at, line in enumerate(lines):
        span = selection.get_span(at)
        if span is None:
            continue
        drawn = line or DrawnLine(Strip.blank(0))
        text = drawn.strip.text
        start = max(span[0], drawn.indent)
        end = len(text) if span[1] == -1 else span[1]
        own_end = min(end, drawn.ends_at) if drawn.ends_at else end
        piece = text[start:own_end].rstrip()
        if drawn.joint is not None and written:
            written[-1] += drawn.joint + piece
            continue
        if written:
            written[-1] += beside
        written.append(piece)
        # What stands beside the first line of a paragraph comes after its last one.
        said = text[max(start, own_end) : end].strip()
        beside = f"  {said}" if said else ""
    if written:
        written[-1] += beside
    return "\n".join(written)


def selectable(widget: Widget, strip: Strip, line: int) -> Strip:
    """Draw what of a line is selected, and let the screen know which text it is."""
    selection = widget.text_selection
    span = selection.get_span(line) if selection is not None else None
    if span is not None:
        start, end = span
        length = strip.cell_length
        cells = cell_len(strip.text[:start])
        stop = length if end == -1 else cell_len(strip.text[:end])
        style = widget.screen.get_component_rich_style("screen--selection")
        parts = strip.divide([cells, stop, length])
        strip = Strip.join([parts[0], parts[1].apply_style(style), *parts[2:]])
    return strip.apply_offsets(0, line)
