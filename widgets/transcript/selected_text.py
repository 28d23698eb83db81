"""Text that the operator selects with the mouse: how it is drawn, and what of it is copied."""

from collections.abc import Iterable

from rich.cells import cell_len
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget


def selected(lines: Iterable[Strip | None], selection: Selection) -> str:
    """Return the selected text, as it is drawn, without the space at the ends of lines."""
    # A line of nothing has to be a line: what is selected is counted in lines.
    text = selection.extract(
        "\n".join((line.text.rstrip() if line is not None else "") or " " for line in lines)
    )
    return "\n".join(line.rstrip() for line in text.split("\n"))


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
