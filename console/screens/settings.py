"""The settings: every key with its value and what it means; changed here, kept in the file.

Writes the TOML that the operator may also edit by hand. Invariants: a value that cannot be used is
not written, and the reason is said; comments and order of the file stay; what is shown as in force
is what this process began with, until it says otherwise.
"""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Input

from agent.errors import ConfigError
from agent.settings import KEYS, Key
from agent.state.reducer import State
from agent.text import one_line
from console.keys import actions
from console.screens.base.console_screen import ConsoleScreen
from console.settings.setting_values import as_typed, value_in_force, write_typed
from widgets.base.header_line import PartsLine
from widgets.base.row_list import RowList
from widgets.base.rows import Line, Parts, Row


class SettingsScreen(ConsoleScreen):
    """All keys."""

    WHERE = actions.Where.SETTINGS
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings(actions.Where.SETTINGS)]
    AUTO_FOCUS = "#keys"

    def __init__(self) -> None:
        super().__init__()
        self.wanted = ""
        self.edited = ""
        """The key whose value is being typed."""

    def compose_body(self) -> ComposeResult:
        with Vertical(id="settings-table"):
            yield PartsLine(id="settings-heading")
            yield RowList(id="keys", empty="No setting matches.")
            yield Input(id="filter", placeholder="filter", compact=True)
            yield PartsLine(id="settings-detail")
            yield Input(id="value", compact=True)

    @property
    def table(self) -> RowList:
        return self.query_one("#keys", RowList)

    @property
    def value_field(self) -> Input:
        return self.query_one("#value", Input)

    # --- the picture ----------

    def show_state(self, state: State) -> None:
        settings = self.console_app.settings
        place = str(settings.config_file) if settings else "no file: this console has no settings"
        heading: Parts = ((f" {one_line(place, 200)}", "$muted"),)
        self.query_one("#settings-heading", PartsLine).show(heading)
        words = self.wanted.casefold().split()
        rows: list[Row] = []
        for key in KEYS.values():
            hay = f"{key.name} {key.description}".casefold()
            if all(word in hay for word in words):
                rows.append(self._row(key))
        self.table.show_rows(rows)
        self._show_detail()

    def _row(self, key: Key) -> Row:
        left: Parts = (
            (f"{key.name:<28} ", "bold $foreground"),
            (one_line(self.in_force(key.name), 80) or "–", "$primary"),
        )
        right: Parts = ()
        if key.name in self.console_app.written:
            right = (
                (
                    f"from the next start: {one_line(self.console_app.written[key.name], 40)}",
                    "$ask",
                ),
            )
        elif self.in_force(key.name) != as_typed(key.default) and key.name != "data_dir":
            right = (("changed", "$muted"),)
        return Row(key.name, (Line(left, right),))

    def _show_detail(self) -> None:
        key = KEYS.get(self.table.cursor_key)
        parts: Parts = ()
        if key is not None:
            parts = (
                (f"{one_line(key.description, 400)}\n", "$foreground"),
                (
                    f"default {as_typed(key.default) or 'empty'} · environment {key.variable}",
                    "$faint",
                ),
            )
        self.query_one("#settings-detail", PartsLine).show(parts)

    def in_force(self, name: str) -> str:
        """Return a value as it is typed, as this process has it."""
        return value_in_force(self.console_app.settings, name)

    # --- changing ----------

    def do_settings_filter(self) -> None:
        field = self.query_one("#filter", Input)
        field.add_class("-shown")
        self.focus_now(field)

    def on_row_list_highlighted(self, _event: RowList.Highlighted) -> None:
        self._show_detail()

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        self.console_app.stray_words.expect()
        if self.console_app.settings is None:
            self.console_app.say("This console has no settings.")
            return
        if KEYS[event.key].is_secret:
            variable = KEYS[event.key].variable
            self.console_app.say(
                f"{event.key} may contain a password: write it into the settings file, or set "
                f"{variable}."
            )
            return
        self.edited = event.key
        field = self.value_field
        field.value = self.console_app.written.get(event.key, self.in_force(event.key))
        field.add_class("-shown")
        self.focus_now(field)

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id == "filter":
            self.wanted = event.value
            self.refresh_all()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "filter":
            self.focus_now(self.table)
        elif self.edited:
            try:
                write_typed(self.console_app, self.edited, event.value.strip())
            except ConfigError as error:
                # What was typed stays in the field, to be corrected.
                self.console_app.say(str(error), tone="warning")
            else:
                self._close()

    def _close(self) -> None:
        self.edited = ""
        self.value_field.remove_class("-shown")
        self.focus_now(self.table)
        self.refresh_all()

    def footer_keys(self) -> list[tuple[str, str]]:
        if self.focused is self.value_field:
            return [("enter", "write it"), ("esc", "leave it as it is")]
        return [("enter", "change"), *super().footer_keys()]

    def can(self, action_id: str) -> bool:
        return action_id != "screen.settings"

    def back(self) -> bool:
        field = self.query_one("#filter", Input)
        if self.edited:
            self._close()
        elif self.focused is field or self.wanted:
            field.value = ""
            field.remove_class("-shown")
            self.focus_now(self.table)
        else:
            return False
        return True
