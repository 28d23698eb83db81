"""Small status texts: a line of parts, the time split, the frame label.

Invariant: a widget is not redrawn while its text is unchanged.
"""

from collections.abc import Iterator

from textual.content import Content
from textual.widgets import Static

from agent.records import FrameSource, FrameStatus, LiveFrame, TimeSplit
from widgets.base import formatting
from widgets.base.fault_isolation import FaultIsolated
from widgets.base.rich_parts import to_content
from widgets.base.rows import Parts
from widgets.base.time_bar import bar, legend, total_ms


class PartsLine(FaultIsolated, Static):
    """Text made of parts; updated only when it changes."""

    DEFAULT_CSS = """
    PartsLine { height: auto; width: 1fr; }
    """
    ALLOW_SELECT = False

    def __init__(self, parts: Parts = (), *, id: str | None = None) -> None:
        super().__init__(to_content(parts), id=id, markup=False)
        self._parts = parts

    @property
    def parts(self) -> Parts:
        return self._parts

    def show(self, parts: Parts) -> None:
        if parts != self._parts:
            self._parts = parts
            self.update(to_content(parts))


def frame_label(
    frame: LiveFrame | None, device: str, now_ms: int, *, step: int = 0
) -> tuple[Parts, Parts]:
    """Return a frame's label: (device, source and age; status)."""
    if frame is None:
        return ((device or "no device", "$muted"),), ()
    word = frame.status.value
    style = {
        FrameStatus.LIVE: "$good",
        FrameStatus.STATIC: "$muted",
        FrameStatus.STALE: "$warn",
        FrameStatus.SECURE: "$ask",
        FrameStatus.UNKNOWN: "$warn",
        FrameStatus.LOST: "$bad",
        FrameStatus.ERROR: "$bad",
    }[frame.status]
    of = f" · step {step}" if step else ""
    age = "" if step else f" · {formatting.age(now_ms - frame.captured_ms)}"
    glyph = "●" if frame.status is FrameStatus.LIVE else "○"
    about = f"{frame.source.value}{of}{age}"
    if frame.source is FrameSource.STORED and frame.status is FrameStatus.STATIC:
        # A picture of the past is not static: it is stored.
        return ((device, "$foreground"),), ((f"{glyph} {about}", style),)
    return ((device, "$foreground"), (f"  {about}", "$muted")), ((f"{glyph} {word}", style),)


_LEAST_NAME_CELLS = 10


def frame_labels(
    frame: LiveFrame | None, device: str, now_ms: int, *, step: int = 0
) -> Iterator[tuple[Parts, Parts]]:
    """Yield a frame's label in decreasing lengths, for narrow lines.

    Spaces go first, then the source, then the middle of a long name, because similar phones differ
    at its end. Age and status stay.
    """
    left, right = frame_label(frame, device, now_ms, step=step)
    yield left, right
    if len(left) < 2:
        return
    (name, style), (about, muted) = left
    dense = about.strip().replace(" · ", " ")
    yield ((name, style), (f" {dense}", muted)), right
    age = dense.partition(" ")[2]
    if not age:
        return
    yield ((name, style), (f" {age}", muted)), right
    for cells in range(Content(name).cell_length - 1, _LEAST_NAME_CELLS - 1, -1):
        yield ((cut_middle(name, cells), style), (f" {age}", muted)), right


def cut_middle(name: str, cells: int) -> str:
    """Shorten a name to a width by cutting its middle."""
    whole = Content(name)
    if whole.cell_length <= cells:
        return name
    end = whole.plain[-(cells // 2) :]
    while Content(end).cell_length > cells // 2:
        end = end[1:]
    begin = whole.truncate(max(1, cells - Content(end).cell_length), ellipsis=True)
    return f"{begin.plain}{end}"


def time_panel(split: TimeSplit, width: int, what: str) -> Parts:
    """Return the time split of a step or a session: a bar and its legend."""
    total = total_ms(split)
    if not total:
        return ()
    parts: list[tuple[str, str]] = [
        (f"{what} ", "$muted"),
        (f"{formatting.duration(total)}\n", "$foreground"),
        *bar(split, max(8, width)),
        ("\n", ""),
    ]
    used = 0
    for share in legend(split):
        length = sum(len(text) for text, _ in share)
        if used and used + 2 + length > width:
            parts.append(("\n", ""))
            used = 0
        elif used:
            parts.append(("  ", ""))
            used += 2
        parts.extend(share)
        used += length
    return tuple(parts)
