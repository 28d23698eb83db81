"""Help: what the keys do here, from the registry.

A dialog over any screen; esc leaves it.
"""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen

from console import actions
from widgets.lines import PartsLine
from widgets.row_list import Parts
from widgets.sturdy import Sturdy


class HelpScreen(Sturdy, ModalScreen[None]):
    """Keys by group."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1", "dismiss", "Back", show=False),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
        Binding("ctrl+d,pagedown,space", "scroll(10)", show=False),
        Binding("ctrl+u,pageup", "scroll(-10)", show=False),
    ]

    def __init__(self, where: actions.Where, subject: str) -> None:
        super().__init__()
        self._where = where
        self._subject = subject

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = f"Keys · {self._subject}"
            dialog.border_subtitle = "esc back"
            with VerticalScroll(can_focus=False):
                yield PartsLine(help_text(self._where), id="help")

    def action_scroll(self, by: int) -> None:
        """Scroll by lines."""
        self.query_one(VerticalScroll).scroll_relative(y=by, animate=False, force=True)


def help_text(where: actions.Where) -> Parts:
    """Write the keys of a screen, by group."""
    groups: dict[str, list[actions.Action]] = {}
    for action in actions.on_screen(where):
        groups.setdefault(action.group, []).append(action)
    parts: list[tuple[str, str]] = []
    for group, listed in groups.items():
        parts.append((f"{group}\n", "bold $primary"))
        for action in listed:
            keys = " ".join(actions.key_name(key) for key in action.keys)
            parts += [
                (f"  {keys:<12} ", "$footer-key"),
                (f"{action.title:<17}", "$foreground"),
                (f" {action.sentence}\n", "$muted"),
            ]
        parts.append(("\n", ""))
    parts.append(("^x and ^q also work while typing. Nothing here asks before it stops.", "$faint"))
    return tuple(parts)
