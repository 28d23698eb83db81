"""A phone as a column: honest label, picture in the phone's own proportions or text, time split.

Draws a frame and its marks, whole or zoomed, or the screen as text. Invariants: the picture never
has other proportions than the screen; the label is of what is shown, picture or text.
"""

from collections.abc import Iterable, Sequence
from typing import ClassVar, NamedTuple, TypeAlias

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Center, Vertical
from textual.content import Content
from textual.events import Key, Paste
from textual.message import Message
from textual.widget import Widget

from agent.records import Element, FrameStatus, LiveFrame, Point, TimeSplit
from agent.text import clean, one_line
from widgets.base import formatting
from widgets.base.fault_isolation import FaultIsolated
from widgets.base.gesture import Touch
from widgets.base.header_line import PartsLine, frame_labels, time_panel
from widgets.base.rich_parts import steady, to_content
from widgets.base.rows import Parts
from widgets.pictures.frame_view import FrameView
from widgets.pictures.mark_age import LookRef, MarkAge
from widgets.pictures.text_map import TextMap
from widgets.pictures.zoom import Zoom, place_words

_USUAL = (1080, 2400)
_DRIVEN = "You drive: click, drag, type; ↑ ↓ scroll. F2 back, F3 home, F4 recents; esc hands back."
_DRIVEN_AS_TEXT = "You drive: enter or a click presses, other keys type; esc hands back."
_PASTE_CHARS = 10_000
_PRESSES = {"enter": "ENTER", "backspace": "DELETE", "tab": "TAB"}
_SCROLLS = {"down": 1, "pagedown": 1, "up": -1, "pageup": -1}
_MIDDLE = Point(x=0.5, y=0.5)
_PANS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
_OF_TEXT = frozenset({*_PANS, "enter", "home", "end", "pageup", "pagedown", "ctrl+d", "ctrl+u"})
"""The keys that are the text's own while the phone is driven by it; all others go to the phone."""
_WATCHED_PX = (96, 208)
"""The frames that are asked for behind the text: enough to see that the screen changed."""
# As in scrcpy's own window: the middle button is home, the right one back.
_CLICKS = {2: "HOME", 3: "BACK"}


_Marks: TypeAlias = tuple[Sequence[Element], Point | None, Sequence[Point], LookRef | None]
"""Elements with their numbers, the last touch, the way of the finger, and the look they are of."""


class ScreenText(NamedTuple):
    """What the text of a screen is made of."""

    elements: Sequence[Element]
    about: str  # Whose look it is, and how old.
    empty: str  # What is said where there are no elements.
    note: str = ""  # What is wrong with it, in a few words.
    remark: str = ""  # What should be known of where it was read.
    is_old: bool = False  # Whether the screen is known to be another by now.


class FrameBox(Center):
    """The room that is left for the picture; says when it is another."""

    class Resized(Message):
        """There is more room or less."""

    def on_resize(self) -> None:
        self.post_message(self.Resized())


class PhonePane(FaultIsolated, Vertical, can_focus=True):
    """One phone."""

    DEFAULT_CSS = """
    PhonePane { height: 1fr; }
    PhonePane > #frame-box { height: 1fr; align: center top; }
    PhonePane > #frame-note { height: auto; display: none; }
    PhonePane > #frame-note.-shown { display: block; }
    PhonePane > #text-map { display: none; }
    PhonePane.-text > #text-map { display: block; }
    PhonePane.-text > #frame-box { display: none; }
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

    class HandBackWanted(Message):
        """The operator, who drives, wants to hand back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, f"button('{button}')", button.capitalize(), show=False)
        for key, button in (("f2", "BACK"), ("f3", "HOME"), ("f4", "RECENTS"))
    ]

    class Viewed(Message):
        """The operator zoomed or panned with the mouse."""

    is_driven = False  # Whether the operator drives: then hands on the picture are the phone's.
    wants_text = False  # Whether the operator wants the screen as text.

    def __init__(self, *, id: str | None = None, empty: str = "") -> None:
        super().__init__(id=id)
        self.empty = empty
        self.frame = FrameView(id="frame")
        self.shown: LiveFrame | None = None
        """The frame that was last told to show."""
        self._proportions = _USUAL
        self._marks: _Marks = ((), None, (), None)
        self._age = MarkAge()
        self._is_stale = False
        self.zoom = Zoom()
        self._name = ""
        self._text: ScreenText | None = None
        self.map = TextMap(id="text-map")
        # Kept rather than looked up: a frame may still arrive while the pane is being taken down.
        self._label = PartsLine(id="frame-label")
        self._note = PartsLine(id="frame-note")
        self._time = PartsLine(id="time")
        self._box = FrameBox(self.frame, id="frame-box")

    def compose(self) -> ComposeResult:
        yield self._label
        yield self._note
        yield self._box
        yield self.map
        yield self._time

    @property
    def wanted_px(self) -> tuple[int, int]:
        """The size of the whole picture in pixels, as many as its cells can show."""
        return _WATCHED_PX if self.shows_text else self.frame.wanted_px

    @property
    def is_seen(self) -> bool:
        """Whether the phone's screen, as picture or text, is on the terminal."""
        return self.map.is_on_screen if self.shows_text else self.frame.is_on_screen

    @property
    def hands(self) -> Widget:
        """What has the focus when the operator's hands are on the phone."""
        return self.map if self.shows_text else self

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
        if (usable, name) != (self._proportions, self._name):
            if self.zoom != Zoom():
                # Another phone, or another way up: nothing is where it was.
                self.zoom = Zoom()
                self._fit()
            self._name = name
        if usable != self._proportions:
            self._proportions = usable
            self._fit()
        note: Parts = ()
        if frame is not None and frame.detail:
            note = ((one_line(frame.detail, 300), "$warn"),)
        elif frame is None:
            note = ((self.empty, "$muted"),)
        elif frame.status is FrameStatus.SECURE:
            note = (("The app keeps its screen from being captured.", "$ask"),)
        if self.is_driven:
            driven = _DRIVEN_AS_TEXT if self.shows_text else _DRIVEN
            note = ((driven, "bold $ask"), *((("\n", ""), *note) if note else ()))
        self._note.set_class(bool(note), "-shown")
        if note != self._note.parts:
            self._note.show(note)
        self.shown = frame
        with self.frame.at_once():
            self.frame.show_frame(frame)
            self._wear_marks()
        self._show_text(step)
        width = self._label.size.width
        if self.shows_text:
            left, right = self._text_label(name, step)
        else:
            labels = [*frame_labels(frame, one_line(name, 40), now_ms, step=step)]
            zoomed = (
                (left, (*seen, *right)) for seen in self._zoom_words() for left, right in labels
            )
            left, right = first_fitting(zoomed, width)
        self._label.show(spread(left, right, width))

    # --- as text ----------

    @property
    def shows_text(self) -> bool:
        """Whether the screen is shown as text: by wish, or where pictures cannot be."""
        return self.has_class("-text")

    @property
    def has_text_alone(self) -> bool:
        return self.frame.is_colourless

    def want_text(self, wanted: bool) -> None:
        """Show the screen as text, or as a picture."""
        self.wants_text = wanted
        self._choose_view()

    def show_text(self, text: ScreenText | None) -> None:
        """Set what the text is made of; None: of the elements that the marks are of."""
        self._text = text
        self._choose_view()

    def _choose_view(self) -> None:
        has_text = self.wants_text or self.has_text_alone
        if has_text != self.shows_text:
            self.set_class(has_text, "-text")
            self.post_message(self.Wants(*self.wanted_px))

    def _show_text(self, step: int) -> None:
        self._choose_view()
        if not self.shows_text:
            return
        elements, _, _, seen = self._marks
        text = self._text
        if text is None:
            self.map.show_elements(elements, empty="No elements were stored here.")
            return
        is_old = text.is_old or (self._is_stale and text.elements is elements and seen is not None)
        self.map.show_elements(text.elements, empty=text.empty, old=is_old)

    def _text_label(self, name: str, step: int) -> tuple[Parts, Parts]:
        """Show whose look the text is, and how old."""
        text = self._text
        about = text.about if text is not None else f"step {step}" if step else ""
        right: Parts = ((text.note, "$warn"),) if text is not None and text.note else ()
        if self.map.is_old and not right:
            right = (("another screen now", "$warn"),)
        left: Parts = ((one_line(name, 40) or "no device", "$foreground"),)
        return (*left, (f"  text {about}".rstrip(), "$muted")), right

    # --- zoom ----------

    def zoom_by(self, by: int, at: Point | None = None) -> None:
        """Show the picture closer by so many steps, around a place that keeps its place."""
        self.look_at(self.zoom.closer(by, at, self.frame.part))

    def pan_by(self, across: int, down: int) -> None:
        """Move what is seen of a zoomed picture."""
        self.look_at(self.zoom.panned(across, down, self.frame.part))

    def look_at(self, zoom: Zoom) -> None:
        self.zoom = zoom
        self._fit()

    def _zoom_words(self) -> list[Parts]:
        """Return how closely the picture is seen, and what of it; then in fewer letters."""
        if self.zoom.factor == 1:
            return [()]
        words = place_words(self.frame.part)
        said = (f"{self.zoom.factor}x{f', {words}' if words else ''}  ", f"{self.zoom.factor}x ")
        return [((one, "bold $ask"),) for one in said]

    # --- driving ----------

    def drive(self, driven: bool) -> None:
        """Take hands on the picture for the phone's, or do not any more."""
        self.is_driven = self.map.presses_at_once = driven
        self.set_class(driven, "-driven")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the buttons of the phone alone while not driven."""
        return self.is_driven if action == "button" else True

    def action_button(self, button: str) -> None:
        self.post_message(self.Pressed(button))

    async def _on_key(self, event: Key) -> None:
        if self.shows_text and event.key in _OF_TEXT:
            return
        held, _, arrow = event.key.rpartition("+")
        may_pan = held == "shift" or not (held or self.is_driven)
        if arrow in _PANS and self.zoom.factor > 1 and may_pan:
            self.pan_by(*_PANS[arrow])
            self.post_message(self.Viewed())
            event.stop()
            event.prevent_default()
            return
        if not self.is_driven:
            return
        button = _PRESSES.get(event.key)
        if event.key == "escape":
            self.post_message(self.HandBackWanted())
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
            if event.touch.is_swipe and self.zoom.factor > 1:
                start, end = event.touch.start, event.touch.end
                self.look_at(self.zoom.shifted(start.x - end.x, start.y - end.y, self.frame.part))
                self.post_message(self.Viewed())
            return
        if event.button in _CLICKS:
            self.post_message(self.Pressed(_CLICKS[event.button]))
        else:
            self.post_message(self.Touched(event.touch))

    def on_frame_view_scrolled(self, event: FrameView.Scrolled) -> None:
        if self.is_driven and not event.ctrl:
            self.post_message(self.Scrolled(event.at, event.down))
        else:
            self.zoom_by(-event.down, event.at)
            self.post_message(self.Viewed())

    def show_marks(
        self,
        elements: Sequence[Element],
        touch: Point | None,
        path: Sequence[Point] = (),
        *,
        seen: LookRef | None = None,
    ) -> None:
        """Set what the model sees and touched; it is drawn with the next picture that is told.

        Args:
            elements: with their numbers.
            touch: where it touched last.
            path: the way of its finger.
            seen: the look that they are of, where the picture may be newer; None: they are of it.
        """
        self._marks = (elements, touch, path, seen)
        self._is_stale = self._age.is_stale(seen, elements, self.shown)

    def knows_look(self, seen: LookRef) -> bool:
        """Return whether it is known what the screen looked like at a look."""
        return self._age.knows(seen)

    def learn_look(self, seen: LookRef, frame: LiveFrame) -> None:
        """Take the stored frame of a look to compare newer pictures with."""
        self._age.learn(seen, frame)
        self._wear_marks()

    def _wear_marks(self) -> None:
        elements, touch, path, seen = self._marks
        self._is_stale = self._age.is_stale(seen, elements, self.shown)
        if self._is_stale:
            touch, path = None, ()
        self.frame.show_marks(elements, touch, path, faded=self._is_stale)

    def show_time(self, split: TimeSplit, what: str, now_ms: int = 0) -> None:
        """Show where the time went, and of which look the numbers are if the picture is newer."""
        width = max(8, self.size.width - 2)
        panel = time_panel(split, width, what)
        seen = self._marks[3]
        if self._is_stale and seen is not None and not self.shows_text:
            age = formatting.duration(max(0, now_ms - seen.ended_ms))
            whose = f"of step {seen.step}" if seen.step else "as they were read"
            of = f"elements {whose}, {age} old"
            # In the line that is there already: another line would take one from the picture.
            panel = ((of, "$warn"), *panel[2:]) if panel else ((of, "$warn"),)
            if len(panel) > 1:
                panel = ((f"{of}\n", "$warn"), *panel[1:])
        chosen = self.map.chosen if self.shows_text else None
        if chosen is not None and self.map.is_cut(chosen):
            # What has no room in its place stands here whole.
            panel = ((one_line(chosen.label, 300), "$foreground"),)
        elif self.shows_text and self._text is not None and self._text.remark:
            panel = ((one_line(self._text.remark, 300), "$warn"),)
        self._time.show(panel)

    def on_frame_box_resized(self) -> None:
        # Also where a sentence takes lines from the picture, or gives them back.
        self._fit()

    def _fit(self) -> None:
        box = self._box.size
        across, down = self._proportions
        rows = min(box.height, max(1, round(box.width * down / across / 2)))
        columns = min(box.width, max(1, round(rows * 2 * across / down)))
        fitted, room = (columns, rows), (box.width, box.height)
        self.frame.styles.width, self.frame.styles.height = self.zoom.size(fitted, room)
        self.frame.show_part(self.zoom.part(fitted, room))

    def on_frame_view_resized(self, _event: FrameView.Resized) -> None:
        self.post_message(self.Wants(*self.wanted_px))


def is_driven_at(widget: Widget | None) -> bool:
    """Return whether a phone is driven by the keys that a widget gets: its picture, or its text."""
    pane = widget.parent if isinstance(widget, TextMap) else widget
    return isinstance(pane, PhonePane) and pane.is_driven


def first_fitting(labels: Iterable[tuple[Parts, Parts]], width: int) -> tuple[Parts, Parts]:
    """Return the first label that fits a width with a space between its ends; else the last."""
    left: Parts = ()
    right: Parts = ()
    for left, right in labels:
        if to_content((*left, *right)).cell_length < width:
            break
    return left, right


def spread(left: Parts, right: Parts, width: int) -> Parts:
    """Put one part at each end of a line; the left one gives way, down to half."""
    begin, whole_end = [Content(steady(text)) for text, _ in left], to_content(right)
    beside = width - sum(whole.cell_length for whole in begin) - 1
    end = whole_end.truncate(max(4, width // 2, beside), ellipsis=True)
    room = max(0, width - end.cell_length - 1)
    kept: list[tuple[str, str]] = []
    used = 0
    for whole, (_, style) in zip(begin, left, strict=True):
        piece = whole.truncate(max(0, room - used), ellipsis=True)
        kept.append((piece.plain, style))
        used += piece.cell_length
        if piece.cell_length < whole.cell_length:
            break
    gap = width - used - end.cell_length
    if end.cell_length < whole_end.cell_length:
        right = ((end.plain, right[0][1]),)
    return (*kept, (" " * max(0, gap), ""), *right)
