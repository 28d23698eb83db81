"""A phone as a column: honest label, picture in the phone's own proportions, time split.

Draws a frame and its marks. Invariant: the picture never has other proportions than the screen.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Center, Vertical
from textual.content import Content
from textual.message import Message

from agent.records import Element, FrameStatus, LiveFrame, Point, TimeSplit
from agent.text import one_line
from widgets.frame_view import FrameView
from widgets.lines import PartsLine, frame_label, time_panel
from widgets.parts import Parts, steady, to_content
from widgets.sturdy import Sturdy

_USUAL = (1080, 2400)


class PhonePane(Sturdy, Vertical, can_focus=True):
    """One phone."""

    DEFAULT_CSS = """
    PhonePane { height: 1fr; }
    PhonePane > #frame-box { height: 1fr; align: center top; }
    PhonePane > #frame-note { height: auto; display: none; }
    PhonePane > #frame-note.-shown { display: block; }
    """

    class Wants(Message):
        """Frames of this size in pixels are wanted; 0 × 0 while nothing shows."""

        def __init__(self, width_px: int, height_px: int) -> None:
            super().__init__()
            self.width_px = width_px
            self.height_px = height_px

    def __init__(self, *, id: str | None = None, empty: str = "") -> None:
        super().__init__(id=id)
        self.empty = empty
        self.frame = FrameView(id="frame")
        self._proportions = _USUAL
        # Kept rather than looked up: a frame may still arrive while the pane is being taken down.
        self._label = PartsLine(id="frame-label")
        self._note = PartsLine(id="frame-note")
        self._time = PartsLine(id="time")
        self._box = Center(self.frame, id="frame-box")

    def compose(self) -> ComposeResult:
        yield self._label
        yield self._note
        yield self._box
        yield self._time

    @property
    def wanted_px(self) -> tuple[int, int]:
        """The size of the picture in pixels: a column each, two a row."""
        return self.frame.size.width, self.frame.size.height * 2

    def show_phone(
        self,
        frame: LiveFrame | None,
        *,
        name: str,
        proportions: tuple[int, int],
        now_ms: int,
        step: int = 0,
    ) -> None:
        """Show a frame of a device with these proportions (width, height in any unit)."""
        usable = proportions if all(proportions) else _USUAL
        if usable != self._proportions:
            self._proportions = usable
            self._fit()
        left, right = frame_label(frame, one_line(name, 40), now_ms, step=step)
        self._label.show(spread(left, right, self._label.size.width))
        note: Parts = ()
        if frame is not None and frame.detail:
            note = ((one_line(frame.detail, 300), "$warn"),)
        elif frame is None:
            note = ((self.empty, "$muted"),)
        elif frame.status is FrameStatus.SECURE:
            note = (("The app keeps its screen from being captured.", "$ask"),)
        self._note.set_class(bool(note), "-shown")
        self._note.show(note)
        self.frame.show_frame(frame)

    def show_marks(self, elements: Sequence[Element], touch: Point | None) -> None:
        """Show what the model sees and touched."""
        self.frame.show_marks(elements, touch)

    def show_time(self, split: TimeSplit, what: str) -> None:
        """Show where the time went."""
        width = max(8, self.size.width - 2)
        self._time.show(time_panel(split, width, what))

    def on_resize(self) -> None:
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        box = self._box.size
        across, down = self._proportions
        rows = min(box.height, max(1, round(box.width * down / across / 2)))
        columns = min(box.width, max(1, round(rows * 2 * across / down)))
        self.frame.styles.width = max(1, columns)
        self.frame.styles.height = max(1, rows)

    def on_frame_view_resized(self, event: FrameView.Resized) -> None:
        self.post_message(self.Wants(event.columns, event.rows * 2))


def spread(left: Parts, right: Parts, width: int) -> Parts:
    """Put one part at each end of a line; the left one gives way, down to half."""
    end = to_content(right).truncate(max(4, width // 2), ellipsis=True)
    room = max(0, width - end.cell_length - 1)
    kept: list[tuple[str, str]] = []
    used = 0
    for text, style in left:
        piece = Content(steady(text)).truncate(max(0, room - used), ellipsis=True)
        kept.append((piece.plain, style))
        used += piece.cell_length
        if piece.cell_length < Content(steady(text)).cell_length:
            break
    gap = width - used - end.cell_length
    if end.cell_length < to_content(right).cell_length:
        right = ((end.plain, right[0][1]),)
    return (*kept, (" " * max(0, gap), ""), *right)
