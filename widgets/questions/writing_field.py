"""A field of several lines: enter sends, the arrows at its edges recall, tab completes.

Not what the text is for (`widgets.questions.composer`). Invariant: what is pasted is cleaned, and
never more than the field can hold.
"""

from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Key, Paste, Resize
from textual.message import Message
from textual.widgets import TextArea

from agent.text import clean
from widgets.base.hint_input import fitted

MOST_CHARS = 20_000
"""As much as the core takes as a goal; a field that holds more answers no key for seconds."""


class WritingField(TextArea):
    """Many lines, enter sends; a new line is ctrl+j, or alt+enter where the terminal tells it."""

    DEFAULT_CSS = """
    WritingField { height: auto; min-height: 1; max-height: 6; border: none; padding: 0; }
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
