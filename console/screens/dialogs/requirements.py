"""What a session's goal requires, while it runs: read, add, change and withdraw.

A dialog over the Deck. What is stored, and what the session is told, is the core's business
(`agent.sessions.questions.requiring`). Invariants: each edit is one op; what was refused stays in
the field; the list is the stored one, also while somebody else edits it.
"""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from agent.protocol import EditRequirements
from agent.records import Requirement, RequirementKind
from agent.text import one_line
from console.base_app import ConsoleApp
from console.screens.dialogs.dialog import Dialog, foot
from widgets.base.hint_input import HintInput
from widgets.base.row_list import RowList
from widgets.base.rows import Line, Row

MOST_CHARS = 500
_SHOW_S = 0.2
_ADD, _ADD_JUDGED = "Write what else has to be so", "Write what only you can judge"
_CHANGE = "Write it in other words"


class RequirementsScreen(Dialog[None]):
    """The list of one session.

    Args:
        session_id: whose.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", show=False, priority=True),
        Binding("q", "leave", show=False),
        Binding("a", "add(False)", "Add", show=False),
        Binding("A", "add(True)", "Add one that you judge", show=False),
        Binding("e", "change", "Change", show=False),
        Binding("w", "withdraw", "Withdraw", show=False),
    ]

    def __init__(self, session_id: str) -> None:
        super().__init__()
        self._session_id = session_id
        self._changed = 0
        """The number of the requirement that is written anew; 0: a new one is written."""
        self._judged = False
        """Whether the operator judges what is written."""

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="requirements") as dialog:
            dialog.border_title = "What the goal requires"
            dialog.border_subtitle = self._keys
            yield RowList(id="required", empty="Nothing is listed yet: the first step does. a adds")
            yield Static(id="whole", markup=False)
            yield HintInput(
                id="written", hint=_ADD, compact=True, select_on_focus=False, max_length=MOST_CHARS
            )

    @property
    def _keys(self) -> Content:
        if self.is_mounted and self._field.display:
            return foot(("enter", "store"), ("esc", "back"))
        add = (("a", "add"), ("A", "ask"))
        return foot(*add, ("e", "edit"), ("w", "withdraw"), ("esc", "back"))

    @property
    def _app(self) -> ConsoleApp:
        assert isinstance(self.app, ConsoleApp)
        return self.app

    @property
    def _field(self) -> HintInput:
        return self.query_one("#written", HintInput)

    @property
    def listed(self) -> Sequence[Requirement]:
        """The requirements as they are stored."""
        view = self._app.bridge.state.sessions.get(self._session_id)
        return () if view is None else view.session.requirements

    def on_mount(self) -> None:
        self._field.display = False
        self.query_one(RowList).focus()
        self._show()
        self.set_interval(_SHOW_S, self._show, name="requirements")

    def _show(self) -> None:
        rows = self.query_one(RowList)
        rows.show_rows([_row(one) for one in self.listed])
        if rows.rows and not rows.cursor_key:
            rows.move_to(rows.rows[0].key)
        chosen = self._chosen()
        self.query_one("#whole", Static).update(
            Content("" if chosen is None else _full_text(chosen))
        )

    def _chosen(self) -> Requirement | None:
        key = self.query_one(RowList).cursor_key
        return next((one for one in self.listed if str(one.number) == key), None)

    # --- keys ----------

    def on_row_list_highlighted(self, _event: RowList.Highlighted) -> None:
        self._show()

    def on_row_list_opened(self, _event: RowList.Opened) -> None:
        self.action_change()

    def action_add(self, judged: bool) -> None:
        """Write a new requirement."""
        self._write(0, "", _ADD_JUDGED if judged else _ADD, judged=judged)

    def action_change(self) -> None:
        """Write the requirement under the cursor in other words: a new one takes its place."""
        chosen = self._chosen()
        if chosen is None or chosen.withdrawn:
            return
        judged = chosen.kind is RequirementKind.PERSON
        self._write(chosen.number, chosen.text, _CHANGE, judged=judged)

    def action_withdraw(self) -> None:
        """Withdraw the requirement under the cursor, at the second press."""
        chosen = self._chosen()
        if chosen is None or chosen.withdrawn:
            return
        subject = f"{self._session_id}/{chosen.number}"
        sentence = f"w again withdraws {chosen.number}. {one_line(chosen.text, 60)}"
        if self._app.two_presses.confirm("requirements.withdraw", subject, sentence):
            self._app.request(
                EditRequirements(session_id=self._session_id, withdraw=(chosen.number,))
            )

    def action_leave(self) -> None:
        """Leave the field, or the dialog."""
        if self._field.display:
            self._stop_writing()
        else:
            self.dismiss(None)

    # --- writing ----------

    def _write(self, number: int, text: str, hint: str, *, judged: bool) -> None:
        field = self._field
        self._changed, self._judged = number, judged
        field.hint, field.value, field.display = hint, text, True
        field.cursor_position = len(text)
        self.set_focus(field)
        self._show_keys()

    def _stop_writing(self) -> None:
        self._field.display = False
        self.query_one(RowList).focus()
        self._show_keys()

    def _show_keys(self) -> None:
        self.query_one("#requirements", Vertical).border_subtitle = self._keys

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        text = event.value.strip()
        chosen = next((one for one in self.listed if one.number == self._changed), None)
        if not text or (chosen is not None and chosen.text == text):
            self._stop_writing()
            return
        op = EditRequirements(
            session_id=self._session_id,
            add=(text,),
            withdraw=(self._changed,) if self._changed else (),
            person=self._judged,
        )
        self._app.spawn(self._store(op), "editing requirements")

    async def _store(self, op: EditRequirements) -> None:
        if await self._app.ask(op) is not None and self.is_attached:
            self._stop_writing()


def _row(one: Requirement) -> Row:
    style = "$muted strike" if one.withdrawn else "$foreground"
    text = (f"{one.number:>2}  ", "$muted"), (one_line(one.text, MOST_CHARS), style)
    return Row(str(one.number), (Line(text, ((_note(one), "$muted"),)),))


def _note(one: Requirement) -> str:
    if one.withdrawn:
        return " withdrawn"
    if one.kind is RequirementKind.PERSON:
        return " you judge"
    return " yours" if one.is_operators else f" {one.kind.value.replace('any', '')}".rstrip()


def _full_text(one: Requirement) -> str:
    """Return all of a requirement, with how the model reads it."""
    reading = [one.object, one.value, one.recipient and f"to {one.recipient}", one.phone]
    read = " · ".join(one_line(part, 120) for part in reading if part)
    return f"{one_line(one.text, MOST_CHARS)}" + (f"\nread as {read}" if read else "")
