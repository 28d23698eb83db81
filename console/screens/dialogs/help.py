"""Help: what the keys do here, from the registry.

A dialog over any screen; esc leaves it.
"""

from textwrap import wrap
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll

from console.keys import actions
from console.keys.keymap import Keymap
from console.screens.dialogs.dialog import Dialog, foot
from widgets.base.header_line import PartsLine
from widgets.base.rows import Parts

_LEAST_SENTENCE = 24
"""Cells that a sentence needs beside its keys and title; with less, it stands below them."""


class HelpScreen(Dialog[None]):
    """Keys by group."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1", "dismiss", "Back", show=False),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
        Binding("ctrl+d,pagedown,space", "scroll(10)", show=False),
        Binding("ctrl+u,pageup", "scroll(-10)", show=False),
    ]

    def __init__(self, where: actions.Where, subject: str, keymap: Keymap) -> None:
        super().__init__()
        self._keymap = keymap
        self._where = where
        self._subject = subject

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = f"Keys · {self._subject}"
            dialog.border_subtitle = foot(("esc", "back"))
            with VerticalScroll(can_focus=False):
                yield PartsLine(id="help")

    def on_resize(self) -> None:
        self.call_after_refresh(self._lay_out)

    def _lay_out(self) -> None:
        place = self.query_one("#help", PartsLine)
        place.show(help_text(self._where, place.size.width, self._keymap))

    def action_scroll(self, by: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=by, animate=False, force=True)


def help_text(where: actions.Where, width: int, keymap: Keymap) -> Parts:
    """Write the keys of a screen, by group, with sentences that wrap under themselves."""
    listing = actions.on_screen(where)
    keys_wide = max(len(keymap.names(action)) for action in listing) + 1
    titles_wide = max(len(action.title) for action in listing) + 2
    lead = 2 + keys_wide + titles_wide
    is_beside = width >= lead + _LEAST_SENTENCE
    indent = lead if is_beside else 4
    groups: dict[str, list[actions.Action]] = {}
    for action in listing:
        groups.setdefault(action.group, []).append(action)
    parts: list[tuple[str, str]] = []
    for group, listed in groups.items():
        parts.append((f"{group}\n", "bold $primary"))
        for action in listed:
            keys = keymap.names(action)
            parts += [
                (f"  {keys:<{keys_wide}}", "$footer-key"),
                (f"{action.title:<{titles_wide}}", "$foreground"),
            ]
            lines = wrap(action.sentence, max(20, width - indent - 2))
            under = "\n" + " " * indent
            parts.append((("" if is_beside else under) + under.join(lines) + "\n", "$muted"))
        parts.append(("\n", ""))
    stop, leave = keymap.name("session.stop_all"), keymap.name("app.quit")
    said = f"{stop} and {leave} also work while typing. Stopping asks for no confirmation."
    parts.append((said, "$faint"))
    return tuple(parts)
