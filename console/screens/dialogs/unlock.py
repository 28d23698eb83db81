"""Asking for the operator's passphrase, or for a new one.

A dialog that returns what was typed. Invariant: it is never shown, and kept nowhere.
"""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

from console.screens.dialogs.dialog import Dialog, foot
from widgets.base.header_line import PartsLine
from widgets.base.hint_input import HintInput

_WHY = "It tells you from the programs that work for you, and is asked for once in a terminal.\n"


class UnlockScreen(Dialog[str | None]):
    """One field, or two for a new passphrase.

    Args:
        told: why it is asked for.
        chooses: whether there is none yet.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", show=False, priority=True)
    ]

    def __init__(self, told: str, *, chooses: bool) -> None:
        super().__init__()
        self._told = told
        self._chooses = chooses

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog small") as dialog:
            dialog.border_title = "Choose a passphrase" if self._chooses else "Passphrase"
            dialog.border_subtitle = foot(("enter", "unlock"), ("esc", "back"))
            yield PartsLine(((f"{self._told}\n", "$warn"), (_WHY, "$muted")), id="why")
            hint = "8 characters or more" if self._chooses else "the operator's passphrase"
            yield HintInput(hint=hint, password=True, id="said")
            if self._chooses:
                yield HintInput(hint="the same again", password=True, id="again")

    def on_mount(self) -> None:
        self.query_one("#said", Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        said = self.query_one("#said", Input).value
        if self._chooses and event.input.id == "said":
            self.query_one("#again", Input).focus()
        elif self._chooses and event.input.value != said:
            self.query_one("#why", PartsLine).show((("The two differ.\n", "$warn"),))
        elif said:
            self.dismiss(said)

    def action_leave(self) -> None:
        self.dismiss(None)
