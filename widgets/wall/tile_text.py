"""The lines of text over and under the pictures of the wall.

Makes strips; knows no phone. Invariant: a line is exactly as wide as the wall, whatever names are
like, and the tile under the cursor is marked by a bar, not by colour alone.
"""

from collections.abc import Sequence

from textual.content import Content
from textual.strip import Strip
from textual.visual import Visual
from textual.widget import Widget

from agent.records import FrameStatus, LiveFrame
from widgets.base import formatting
from widgets.base.rich_parts import to_content
from widgets.base.rows import Parts, Row
from widgets.wall.wall_layout import Tile, WallLayout

_LEAST_RIGHT = 6
FRAME_STYLES = {
    FrameStatus.LIVE: "$good",
    FrameStatus.STATIC: "$muted",
    FrameStatus.STALE: "$warn",
    FrameStatus.SECURE: "$ask",
    FrameStatus.UNKNOWN: "$warn",
    FrameStatus.LOST: "$bad",
    FrameStatus.ERROR: "$bad",
}


def picture_label(frame: LiveFrame | None, now_ms: int) -> Parts:
    """Return what a picture is, the status first: a tile may be too narrow for the rest."""
    if frame is None:
        return (("no picture yet", "$muted"),)
    glyph = "●" if frame.status is FrameStatus.LIVE else "○"
    age = formatting.age(now_ms - frame.captured_ms) if frame.captured_ms else ""
    return (
        (f"{glyph} {frame.status.value}", FRAME_STYLES[frame.status]),
        (f" {age} · {frame.source.value}".replace("  ", " "), "$muted"),
    )


def row_strip(
    widget: Widget,
    tiles: Sequence[Tile | None],
    number: int,
    plan: WallLayout,
    *,
    cursor: str,
    width: int,
) -> Strip:
    """Return one line of text of the tiles that are beside each other.

    Args:
        number: which line: 0 the name and state, 1 what the picture is, 2 who drives.
    """
    pieces: list[Content] = []
    for tile in tiles:
        if tile is None:
            break
        here = tile.serial == cursor
        lines: tuple[tuple[Parts, Parts], ...] = (
            (tile.name, tile.state),
            (tile.label, tile.looks if _fits(tile.label, tile.looks, plan.columns) else ()),
            (tile.driver, ()),
        )
        left, right = lines[number]
        bar = Content.styled("▌", "$primary" if widget.has_focus else "$muted")
        text = _fitted(left, right, plan.columns, keep_end=number == 0)
        if here:
            text = text.stylize("on $cursor" if widget.has_focus else "on $cursor-blurred")
        pieces += [bar if here else Content(" "), text]
    return _to_strip(widget, Content.assemble(*pieces), width)


def heading_strip(widget: Widget, heading: Row, *, is_first: bool, width: int) -> Strip:
    """Return the line over a row of tiles: its group, and how that is on the first row of it."""
    [line] = heading.lines
    left: Parts = ((" ", ""), *line.left)
    right: Parts = (*line.right, (" ", ""))
    if not is_first:
        left, right = tuple((text, "$faint") for text, _ in left), ()
    return _to_strip(widget, _fitted(left, right, width, keep_end=False), width)


def empty_strips(widget: Widget, sentence: str, width: int) -> list[Strip]:
    """Return the lines that stand where there is no tile."""
    content = Content.styled(sentence, "$muted")
    strips = Visual.to_strips(widget, content, max(1, width - 4), None, widget.visual_style)
    plain = widget.visual_style.rich_style
    blank = Strip.blank(2, plain)
    return [Strip.blank(width, plain)] + [
        _filtered(widget, Strip.join([blank, strip]).adjust_cell_length(width, plain))
        for strip in strips
    ]


def _fits(left: Parts, right: Parts, width: int) -> bool:
    """Return whether both have room, with a gap between them."""
    return to_content(left).cell_length + to_content(right).cell_length + 2 <= width


def _fitted(left: Parts, right: Parts, width: int, *, keep_end: bool) -> Content:
    """Put one part at each end; the right one goes where there is no room for it.

    Args:
        keep_end: what is too long at the left loses its middle, not its end.
    """
    end = to_content(right)
    if width - end.cell_length < _LEAST_RIGHT:
        end = Content("")
    room = max(0, width - end.cell_length - bool(end.plain))
    begin = to_content(left)
    if keep_end and begin.cell_length > room:
        # Phones that are alike differ at the end of their names.
        kept = min(begin.cell_length, room) // 2
        tail = begin[len(begin) - kept :]
        lead = begin.truncate(max(0, room - tail.cell_length), ellipsis=True)
        begin = Content.assemble(lead, tail)
    begin = begin.truncate(room, ellipsis=True)
    gap = width - begin.cell_length - end.cell_length
    return Content.assemble(begin, " " * max(0, gap), end)


def _to_strip(widget: Widget, content: Content, width: int) -> Strip:
    style = widget.visual_style
    strips = Visual.to_strips(widget, content, max(1, width), 1, style)
    strip = strips[0] if strips else Strip([])
    return _filtered(widget, strip.adjust_cell_length(width, style.rich_style))


def _filtered(widget: Widget, strip: Strip) -> Strip:
    # These lines do not go through Textual's styles cache, which would do this.
    background = widget.background_colors[1]
    for one in widget.app.get_line_filters():
        if one.enabled:
            strip = strip.apply_filter(one, background)
    return strip
