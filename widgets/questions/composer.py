"""The place to write: a prompt, a hint, an answer, a new goal, a reason.

Says what was written and in which mode; what it means is the console's business. Invariants: text
that was begun in one mode is never sent in another; each subject keeps its own half-written text.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import ClassVar, NamedTuple

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key, Paste, Resize
from textual.message import Message
from textual.widgets import TextArea

from agent.text import clean
from widgets.base.fault_isolation import FaultIsolated
from widgets.base.header_line import PartsLine
from widgets.base.hint_input import fitted
from widgets.base.rows import Parts


class Mode(StrEnum):
    """What the text will be."""

    PROMPT = "prompt"
    STEER = "steer"
    ANSWER = "answer"
    NEW = "new session"
    REASON = "reject"
    NOTE = "hand back"
    NEXT = "follow up"
    EDIT = "change the hint"
    MODIFY = "instead"
    DRAFT = "draft for an app"
    EACH = "to all marked"
    FOLLOW_UP = "follow up on all marked"
    TAG = "tag"
    RENAME = "rename"
    NONE = "nothing"


class Purpose(NamedTuple):
    """A mode and the session or question that it is about."""

    mode: Mode
    subject: str


HINTS = {
    Mode.PROMPT: "Say what to do next",
    Mode.STEER: "Steer: applied at the next step",
    Mode.ANSWER: "Answer in words",
    Mode.NEW: "What should be done? ↑ earlier goals, @phone, #tag, ^o for one app",
    Mode.REASON: "Why not? Enter rejects, also without a word",
    Mode.NOTE: "What should it know? Enter hands back",
    Mode.NEXT: "What should be done next, given the result?",
    Mode.EDIT: "The corrected hint; enter changes it",
    Mode.MODIFY: "What should be done instead? Enter sends it",
    Mode.DRAFT: "App, then goal: com.android.notes write milk",
    Mode.EACH: "One hint or goal for each of them",
    Mode.FOLLOW_UP: "What should each of them do next?",
    Mode.RENAME: "The new title",
    Mode.TAG: "Tags to add; -word takes one away",
    Mode.NONE: "Press n to start a session",
}
_SENDS = {
    Mode.ANSWER: "answer",
    Mode.NEW: "start",
    Mode.REASON: "reject",
    Mode.STEER: "steer",
    Mode.NOTE: "hand back",
    Mode.NEXT: "start",
    Mode.EDIT: "change",
    Mode.MODIFY: "do this instead",
    Mode.DRAFT: "keep the draft",
    Mode.RENAME: "rename",
    Mode.TAG: "tag",
}
_STYLES = {
    Mode.DRAFT: "$good",
    Mode.MODIFY: "$ask",
    Mode.ANSWER: "$ask",
    Mode.REASON: "$bad",
    Mode.NEW: "$good",
    Mode.NONE: "$faint",
}


MOST_CHARS = 20_000
"""As much as the core takes as a goal; a field that holds more answers no key for seconds."""
_HANDLES = {"@": "phone", "#": "tag of a phone", "+": "MCP server"}
_BEGINS = frozenset({Mode.NEW, Mode.DRAFT})  # The modes in which a device is chosen.
_RECALLS = frozenset({Mode.NEW, Mode.PROMPT, Mode.NEXT})  # The modes in which a goal is written.


class _Field(TextArea):
    """Many lines, enter sends; a new line is ctrl+j, or alt+enter where the terminal tells it."""

    DEFAULT_CSS = """
    _Field { height: auto; min-height: 1; max-height: 6; border: none; padding: 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("alt+enter,ctrl+j", "break_line", "New line", show=False, priority=True)
    ]

    sends: Callable[[], None] = staticmethod(lambda: None)
    """What enter does, in the handling of that very key."""
    recalls: Callable[[int], None] = staticmethod(lambda _by: None)
    """What an arrow does where the text has no line to go to; 1 is an older goal."""
    completes: Callable[[], bool] = staticmethod(lambda: False)
    """Complete the word at the cursor; False where it is no word that can be."""

    class Switched(Message):
        """The key that changes the kind of what is begun was pressed."""

    class Turned(Message):
        """The keys that choose the device were pressed."""

        def __init__(self, by: int) -> None:
            super().__init__()
            self.by = by

    hides = False
    """Whether what is written is drawn as dots: it is a secret."""

    hint = ""
    """What it says while it is empty."""

    def say(self, hint: str) -> None:
        """Say this while it is empty."""
        self.hint = hint
        self.placeholder = Content(fitted(hint, self.content_size.width))

    def on_resize(self, _event: Resize) -> None:
        self.say(self.hint)

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        return Text("•" * len(line), end="", no_wrap=True) if self.hides else line

    async def _on_key(self, event: Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.sends()
        elif event.key == "ctrl+o":
            event.stop()
            event.prevent_default()
            self.post_message(self.Switched())
        elif event.key in {"shift+up", "shift+down"}:
            event.stop()
            event.prevent_default()
            self.post_message(self.Turned(-1 if event.key == "shift+up" else 1))
        elif event.key in {"up", "down"} and self._is_at_edge(event.key):
            event.stop()
            event.prevent_default()
            self.recalls(1 if event.key == "up" else -1)
        elif event.key == "tab" and self.completes():
            event.stop()
            event.prevent_default()

    def _is_at_edge(self, key: str) -> bool:
        row = self.cursor_location[0]
        return row == (0 if key == "up" else self.document.line_count - 1)

    def action_break_line(self) -> None:
        """Begin a new line."""
        self.insert("\n")

    class TooMuch(Message):
        """So much was pasted that nothing could be done with it."""

        def __init__(self, chars: int) -> None:
            super().__init__()
            self.chars = chars

    async def _on_paste(self, event: Paste) -> None:
        # Textual calls the handler of TextArea after this one, with what is left in the event.
        chars = len(event.text)
        if len(self.text) + chars > MOST_CHARS:
            event.stop()
            event.prevent_default()
            self.post_message(self.TooMuch(chars))
        else:
            event.text = clean(event.text)


def _alike(words: Sequence[str]) -> int:
    """Return how many characters all words begin with, in any case."""
    columns = zip(*(word.casefold() for word in words), strict=False)
    return next((at for at, column in enumerate(columns) if len(set(column)) > 1), len(words[0]))


class Composer(FaultIsolated, Vertical):
    """A field under a line that says what the text will be."""

    DEFAULT_CSS = """
    Composer { height: auto; }
    """

    class Sent(Message):
        """The operator sent a text."""

        def __init__(self, purpose: Purpose, text: str, choice: str) -> None:
            super().__init__()
            self.purpose = purpose
            self.text = text
            self.choice = choice

    class Switched(Message):
        """The operator wants to begin the other kind: a goal, or a draft for one app."""

    class Refused(Message):
        """What was to be written was not taken, and why."""

        def __init__(self, reason: str) -> None:
            super().__init__()
            self.reason = reason

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.purpose = Purpose(Mode.NONE, "")
        self._drafts: dict[Purpose, str] = {}
        self._choices: Sequence[tuple[str, str]] = ()
        self._choice = 0
        self._about: Parts = ()
        self.earlier: Callable[[], Sequence[str]] = tuple
        """Gives earlier goals, the newest first."""
        self.handles: Callable[[str], Sequence[str]] = lambda _word: ()
        """Gives the phones and tags that begin with a word."""
        self._sought, self._recalled, self._place = "", "", -1
        self._fitting: tuple[str, str] = "", ""
        """What more than one handle fits, or none, and the text for which it was said."""

    def compose(self) -> ComposeResult:
        yield PartsLine(id="composer-label")
        yield _Field(
            id="composer-field",
            compact=True,
            soft_wrap=True,
            tab_behavior="focus",
            show_line_numbers=False,
        )

    @property
    def field(self) -> _Field:
        return self.query_one(_Field)

    @property
    def text(self) -> str:
        """What is written so far."""
        return self.field.text

    @property
    def sends(self) -> str:
        """What enter does, in a word."""
        return _SENDS.get(self.purpose.mode, "send")

    @property
    def choice(self) -> str:
        """The chosen device, in the mode that has devices."""
        return self._choices[self._choice][0] if self._choices else ""

    def aim(
        self, purpose: Purpose, about: Parts = (), hint: str = "", *, hides: bool = False
    ) -> None:
        """Turn to another purpose; the text begun for the old one is kept for it.

        Args:
            purpose: what the text will be.
            about: more to say beside the mode.
            hint: what stands in the empty field, when not the mode's own sentence.
            hides: what is written is a secret: it is not shown, and not kept for later.
        """
        if purpose != self.purpose:
            field = self.query_one(_Field)
            if field.hides:
                field.text = ""
            field.hides = hides
            if self.text or self.purpose in self._drafts:
                self._drafts[self.purpose] = self.text
            self.purpose = purpose
            self.field.text = self._drafts.get(purpose, "")
            self.field.move_cursor(self.field.document.end)
            self.field.say(hint or HINTS[purpose.mode])
            self.field.disabled = purpose.mode is Mode.NONE
            self.set_class(purpose.mode in {Mode.ANSWER, Mode.REASON}, "-answers")
        self._about = about
        self._show_label()

    def offer(self, choices: Sequence[tuple[str, str]]) -> None:
        """Offer devices, as (serial, name); the chosen one stays chosen while it is there."""
        chosen = self.choice
        self._choices = choices
        serials = [serial for serial, _ in choices]
        self._choice = serials.index(chosen) if chosen in serials else 0
        self._show_label()

    def forget(self, purpose: Purpose) -> None:
        """Drop the text of a purpose: it was sent, or is not wanted."""
        self._drafts.pop(purpose, None)
        if purpose == self.purpose:
            self.field.text = ""

    def _show_label(self) -> None:
        mode = self.purpose.mode
        parts: list[tuple[str, str]] = [
            (f"{mode.value} ▸", f"bold {_STYLES.get(mode, '$primary')}")
        ]
        if mode is Mode.NONE:
            parts = []
        text, fitting = self._fitting
        if fitting and text == self.text:
            parts += [("  ", ""), (fitting, "$warn")]
        elif mode in _BEGINS and self._choices:
            parts += [("  on ", "$muted"), (f"⇧↕ {self._choices[self._choice][1]}", "$foreground")]
        parts += self._about
        label = self.query_one("#composer-label", PartsLine)
        label.display = bool(parts)
        label.show(tuple(parts))

    def on_mount(self) -> None:
        field = self.query_one(_Field)
        field.sends, field.recalls, field.completes = self._send, self._recall, self._complete

    # --- earlier goals, phones and tags ----------

    def _recall(self, by: int) -> None:
        """Put an older or a newer goal that holds what was typed into the field."""
        if self.purpose.mode not in _RECALLS:
            return
        if self.text != self._recalled:
            # Something was typed since: it is what is looked for now.
            self._sought, self._place = self.text, -1
        wanted = self._sought.casefold().strip()
        found = [goal for goal in self.earlier() if wanted in goal.casefold()]
        self._place = max(-1, min(self._place + by, len(found) - 1))
        self._recalled = self._sought if self._place < 0 else found[self._place]
        self.field.text = self._recalled
        self.field.move_cursor(self.field.document.end)

    def _complete(self) -> bool:
        """Complete a word that begins with @, # or +, as far as all that fit begin alike."""
        if self.purpose.mode not in _BEGINS:
            return False
        field = self.field
        row, column = field.cursor_location
        before = field.document.get_line(row)[:column]
        word = before.split(" ")[-1]
        if word[:1] not in {"@", "#", "+"}:
            return False
        found = self.handles(word)
        if found:
            text = f"{found[0]} " if len(found) == 1 else found[0][: _alike(found)]
            field.replace(text, (row, column - len(word)), (row, column))
        if len(found) != 1:
            none = f"no {_HANDLES[word[0]]} begins so"
            self._fitting = self.text, "  ".join(found) or none
            self._show_label()
        return True

    def on_text_area_changed(self) -> None:
        if self._fitting[1] and self._fitting[0] != self.text:
            self._fitting = "", ""
            self._show_label()

    def _send(self) -> None:
        """Take the text with its purpose, and leave the field empty for what comes after it."""
        purpose, text = self.purpose, self.text.strip()
        self.forget(purpose)
        self.post_message(self.Sent(purpose, text, self.choice))

    def give_back(self, purpose: Purpose, text: str) -> None:
        """Keep a text that was sent in vain, unless another was begun for the same purpose."""
        if purpose != self.purpose:
            self._drafts.setdefault(purpose, text)
        elif not self.text:
            self.field.text = text
            self.field.move_cursor(self.field.document.end)

    def on__field_too_much(self, event: _Field.TooMuch) -> None:
        event.stop()
        told = f"Nothing was pasted: it has {event.chars:,} characters, and here is room for "
        self.post_message(self.Refused(f"{told}{MOST_CHARS:,}."))

    def on__field_switched(self, event: _Field.Switched) -> None:
        event.stop()
        if self.purpose.mode in _BEGINS:
            self.post_message(self.Switched())

    def on__field_turned(self, event: _Field.Turned) -> None:
        event.stop()
        if self.purpose.mode in _BEGINS and self._choices:
            self._choice = (self._choice + event.by) % len(self._choices)
            self._show_label()
