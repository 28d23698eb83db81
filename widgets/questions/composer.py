"""The place to write: a prompt, a hint, an answer, a new goal, a reason.

Says what was written and in which mode; what it means is the console's business. Invariants: text
that was begun in one mode is never sent in another; each subject keeps its own half-written text;
what can no longer be delivered is never sent, and its words can be recalled.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from agent.text import one_line
from widgets.base.fault_isolation import FaultIsolated
from widgets.base.header_line import PartsLine
from widgets.base.rows import Parts
from widgets.questions.writing_field import MOST_CHARS, WritingField


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


_HANDLES = {"@": "phone", "#": "tag of a phone", "+": "MCP server"}
_BEGINS = frozenset({Mode.NEW, Mode.DRAFT})  # The modes in which a device is chosen.
_UNSENT = 20  # How many texts that could not be delivered can be recalled.
_RECALLS = frozenset({Mode.NEW, Mode.PROMPT, Mode.NEXT})  # The modes in which a goal is written.


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

    class Closed(Message):
        """The operator closed a text that can no longer be delivered."""

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
        self._chosen = ""
        self._about: Parts = ()
        self.undeliverable = ""
        """Why the text can no longer go where it was begun for; empty while it can."""
        self.names_phones = False
        """Whether the text itself says on which phones it is pursued; then none is chosen."""
        self._unsent: list[str] = []
        """Texts that were closed undelivered, the newest first."""
        self.earlier: Callable[[], Sequence[str]] = tuple
        """Gives earlier goals, the newest first."""
        self.handles: Callable[[str], Sequence[str]] = lambda _word: ()
        """Gives the phones and tags that begin with a word."""
        self._sought, self._recalled, self._place = "", "", -1
        self._fitting: tuple[str, str] = "", ""
        """What more than one handle fits, or none, and the text for which it was said."""

    def compose(self) -> ComposeResult:
        yield PartsLine(id="composer-label")
        yield WritingField(
            id="composer-field",
            compact=True,
            soft_wrap=True,
            tab_behavior="focus",
            show_line_numbers=False,
        )

    @property
    def field(self) -> WritingField:
        return self.query_one(WritingField)

    @property
    def text(self) -> str:
        """What is written so far."""
        return self.field.text

    @property
    def sends(self) -> str:
        """What enter does, in a word."""
        return "close" if self.undeliverable else _SENDS.get(self.purpose.mode, "send")

    @property
    def about(self) -> Parts:
        """What is said beside the mode."""
        return self._about

    @property
    def choice(self) -> str:
        """The chosen device, in the mode that has devices."""
        return self._chosen if self._choices else ""

    def aim(
        self,
        purpose: Purpose,
        about: Parts = (),
        hint: str = "",
        *,
        hides: bool = False,
        undeliverable: str = "",
    ) -> None:
        """Turn to another purpose; the text begun for the old one is kept for it.

        Args:
            purpose: what the text will be.
            about: more to say beside the mode.
            hint: what stands in the empty field, when not the mode's own sentence.
            hides: what is written is a secret: it is not shown, and not kept for later.
            undeliverable: why it can no longer be sent; enter then closes it.
        """
        if purpose != self.purpose:
            field = self.query_one(WritingField)
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
        self._about, self.undeliverable = about, undeliverable
        self.set_class(bool(undeliverable), "-undeliverable")
        self._show_label()

    def close(self) -> None:
        """Put a text away that cannot be delivered; an arrow brings its words back."""
        if not self.field.hides:
            self.put_by(self.text.strip())
        self.forget(self.purpose)
        self.undeliverable = ""

    def put_by(self, text: str) -> None:
        """Keep a text that was not sent for an arrow to bring back."""
        if text:
            self._unsent = [text, *(one for one in self._unsent if one != text)][:_UNSENT]

    def offer(self, choices: Sequence[tuple[str, str]]) -> None:
        """Offer devices, as (serial, name); the chosen one stays chosen while it is offered."""
        self._choices = choices
        if self._chosen not in dict(choices):
            self._chosen = choices[0][0] if choices else ""
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
        if self.undeliverable:
            kept = " Your words are kept:" if self.text.strip() else ""
            said = f"  not sent. {self.undeliverable}{kept} enter or esc closes this."
            label = self.query_one("#composer-label", PartsLine)
            label.display = True
            label.show((*parts, (said, "$warn")))
            return
        if fitting and text == self.text:
            parts += [("  ", ""), (fitting, "$warn")]
        elif mode in _BEGINS and self._choices and not self.names_phones:
            parts += [("  phone: ", "$muted"), (dict(self._choices)[self._chosen], "$foreground")]
            parts += [("  shift+↑↓ changes it", "$faint")]
        parts += self._about
        label = self.query_one("#composer-label", PartsLine)
        label.display = bool(parts)
        label.show(tuple(parts))

    def on_mount(self) -> None:
        field = self.query_one(WritingField)
        field.sends, field.recalls, field.completes = self._send, self._recall, self._complete

    # --- earlier goals, phones and tags ----------

    def _recall(self, by: int) -> None:
        """Put an older or a newer goal that holds what was typed into the field."""
        if self.field.hides or self.undeliverable:
            return
        if self.text != self._recalled:
            # Something was typed since: it is what is looked for now.
            self._sought, self._place = self.text, -1
        wanted = self._sought.casefold().strip()
        goals = self.earlier() if self.purpose.mode in _RECALLS else ()
        found = [goal for goal in (*self._unsent, *goals) if wanted in goal.casefold()]
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
            none = f"no {_HANDLES[word[0]]} starts with {one_line(word, 40)}"
            self._fitting = self.text, "  ".join(found) or none
            self._show_label()
        return True

    def on_text_area_changed(self) -> None:
        if self._fitting[1] and self._fitting[0] != self.text:
            self._fitting = "", ""
            self._show_label()

    def _send(self) -> None:
        """Take the text with its purpose, and leave the field empty for what comes after it."""
        if self.undeliverable:
            self.close()
            self.post_message(self.Closed())
            return
        purpose, text, choice = self.purpose, self.text.strip(), self.choice
        self.forget(purpose)
        if text and purpose.mode in _BEGINS:
            # It was chosen for this one alone.
            self._chosen = ""
        self.post_message(self.Sent(purpose, text, choice))

    def give_back(self, purpose: Purpose, text: str, choice: str = "") -> None:
        """Keep a text that was sent in vain, unless another was begun for the same purpose."""
        if choice and not (self.text if purpose == self.purpose else self._drafts.get(purpose)):
            self._chosen = choice
        if purpose != self.purpose:
            self._drafts.setdefault(purpose, text)
        elif not self.text:
            self.field.text = text
            self.field.move_cursor(self.field.document.end)

    def on_writing_field_too_much(self, event: WritingField.TooMuch) -> None:
        event.stop()
        told = f"Nothing was pasted: it has {event.chars:,} characters, and here is room for "
        self.post_message(self.Refused(f"{told}{MOST_CHARS:,}."))

    def on_writing_field_switched(self, event: WritingField.Switched) -> None:
        event.stop()
        if self.purpose.mode in _BEGINS:
            self.post_message(self.Switched())

    def on_writing_field_turned(self, event: WritingField.Turned) -> None:
        event.stop()
        if self.purpose.mode in _BEGINS and self._choices:
            serials = [serial for serial, _ in self._choices]
            at = (serials.index(self._chosen) + event.by) % len(serials)
            self._chosen = serials[at]
            self._show_label()
