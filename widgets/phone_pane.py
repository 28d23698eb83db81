"""A phone as a column: honest label, picture in the phone's own proportions, time split.

Draws a frame and its marks. Invariant: the picture never has other proportions than the screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Center, Vertical
from textual.content import Content
from textual.events import Key, Paste
from textual.message import Message

from agent.records import Element, FrameStatus, LiveFrame, Point, TimeSplit
from agent.text import clean, one_line
from widgets.frame_view import FrameView
from widgets.lines import PartsLine, frame_labels, time_panel
from widgets.parts import Parts, steady, to_content
from widgets.sturdy import Sturdy
from widgets.touch import Touch

_USUAL = (1080, 2400)
_DRIVEN = "You drive: click, drag, type; ↑ ↓ scroll. F2 back, F3 home, F4 recents; esc hands back."
_PASTE_CHARS = 10_000
_PRESSES = {"enter": "ENTER", "backspace": "DELETE", "tab": "TAB"}
_SCROLLS = {"down": 1, "pagedown": 1, "up": -1, "pageup": -1}
_MIDDLE = Point(x=0.5, y=0.5)
# As in scrcpy's own window: the middle button is home, the right one back.
_CLICKS = {2: "HOME", 3: "BACK"}


class FrameBox(Center):
    """The room that is left for the picture; says when it is another."""

    class Resized(Message):
        """There is more room or less."""

    def on_resize(self) -> None:
        self.post_message(self.Resized())


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

    class Touched(Message):
        """The operator, who drives, touched the picture."""

        def __init__(self, touch: Touch) -> None:
            super().__init__()
            self.touch = touch

    class Scrolled(Message):
        """The operator, who drives, turned the wheel of the mouse; down is 1, up is -1."""

        def __init__(self, at: Point, down: int) -> None:
            super().__init__()
            self.at = at
            self.down = down

    class Typed(Message):
        """The operator, who drives, typed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Pasted(Message):
        """The operator, who drives, pasted."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Pressed(Message):
        """The operator, who drives, wants a button of the phone pressed."""

        def __init__(self, button: str) -> None:
            super().__init__()
            self.button = button

    class Left(Message):
        """The operator, who drives, wants to hand back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, f"button('{button}')", button.capitalize(), show=False)
        for key, button in (("f2", "BACK"), ("f3", "HOME"), ("f4", "RECENTS"))
    ]

    is_driven = False
    """Whether the operator drives: then hands on the picture are the phone's."""

    def __init__(self, *, id: str | None = None, empty: str = "") -> None:
        super().__init__(id=id)
        self.empty = empty
        self.frame = FrameView(id="frame")
        self.shown: LiveFrame | None = None
        """The frame that was last told to show."""
        self._proportions = _USUAL
        # Kept rather than looked up: a frame may still arrive while the pane is being taken down.
        self._label = PartsLine(id="frame-label")
        self._note = PartsLine(id="frame-note")
        self._time = PartsLine(id="time")
        self._box = FrameBox(self.frame, id="frame-box")

    def compose(self) -> ComposeResult:
        yield self._label
        yield self._note
        yield self._box
        yield self._time

    @property
    def wanted_px(self) -> tuple[int, int]:
        """The size of the picture in pixels, as many as its cells can show."""
        return self.frame.wanted_px

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
        width = self._label.size.width
        labels = frame_labels(frame, one_line(name, 40), now_ms, step=step)
        left, right = first_fitting(labels, width)
        self._label.show(spread(left, right, width))
        note: Parts = ()
        if frame is not None and frame.detail:
            note = ((one_line(frame.detail, 300), "$warn"),)
        elif frame is None:
            note = ((self.empty, "$muted"),)
        elif frame.status is FrameStatus.SECURE:
            note = (("The app keeps its screen from being captured.", "$ask"),)
        if self.is_driven:
            note = ((_DRIVEN, "bold $ask"), *((("\n", ""), *note) if note else ()))
        self._note.set_class(bool(note), "-shown")
        if note != self._note.parts:
            self._note.show(note)
        self.shown = frame
        self.frame.show_frame(frame)

    # --- driving ----------

    def drive(self, driven: bool) -> None:
        """Take hands on the picture for the phone's, or do not any more."""
        self.is_driven = driven
        self.set_class(driven, "-driven")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the buttons of the phone alone while nobody drives it."""
        return self.is_driven if action == "button" else True

    def action_button(self, button: str) -> None:
        """Press a button of the phone."""
        self.post_message(self.Pressed(button))

    async def _on_key(self, event: Key) -> None:
        if not self.is_driven:
            return
        button = _PRESSES.get(event.key)
        if event.key == "escape":
            self.post_message(self.Left())
        elif button:
            self.post_message(self.Pressed(button))
        elif event.key in _SCROLLS:
            self.post_message(self.Scrolled(_MIDDLE, _SCROLLS[event.key]))
        elif event.is_printable and event.character:
            self.post_message(self.Typed(event.character))
        else:
            return
        event.stop()
        event.prevent_default()

    async def _on_paste(self, event: Paste) -> None:
        if self.is_driven and (text := clean(event.text, _PASTE_CHARS)):
            event.stop()
            self.post_message(self.Pasted(text))

    def on_frame_view_touched(self, event: FrameView.Touched) -> None:
        if not self.is_driven:
            return
        if event.button in _CLICKS:
            self.post_message(self.Pressed(_CLICKS[event.button]))
        else:
            self.post_message(self.Touched(event.touch))

    def on_frame_view_scrolled(self, event: FrameView.Scrolled) -> None:
        if self.is_driven:
            self.post_message(self.Scrolled(event.at, event.down))

    def show_marks(self, elements: Sequence[Element], touch: Point | None) -> None:
        """Show what the model sees and touched."""
        self.frame.show_marks(elements, touch)

    def show_time(self, split: TimeSplit, what: str) -> None:
        """Show where the time went."""
        width = max(8, self.size.width - 2)
        self._time.show(time_panel(split, width, what))

    def on_frame_box_resized(self) -> None:
        # Also where a sentence takes lines from the picture, or gives them back.
        self._fit()

    def _fit(self) -> None:
        box = self._box.size
        across, down = self._proportions
        rows = min(box.height, max(1, round(box.width * down / across / 2)))
        columns = min(box.width, max(1, round(rows * 2 * across / down)))
        self.frame.styles.width = max(1, columns)
        self.frame.styles.height = max(1, rows)

    def on_frame_view_resized(self, event: FrameView.Resized) -> None:
        self.post_message(self.Wants(*event.view.wanted_px))


def first_fitting(labels: Iterable[tuple[Parts, Parts]], width: int) -> tuple[Parts, Parts]:
    """Give the first label that fits a width with a space between its ends; else the last."""
    left: Parts = ()
    right: Parts = ()
    for left, right in labels:
        if to_content((*left, *right)).cell_length < width:
            break
    return left, right


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
