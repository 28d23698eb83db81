"""What is allowed in words: warrants and drafts, their clauses and borderline cases.

A dialog over the Deck. What is stored and signed is the core's business (`agent.warrants`).
Invariants: what is signed is what is shown; signing and revoking take two presses; what was refused
stays in the field.
"""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from agent.protocol import (
    ListWarrants,
    Op,
    WarrantCorrect,
    WarrantDraft,
    WarrantRevoke,
    WarrantSign,
)
from agent.records import BorderlineCase, Correction, ReviewVerdict, WarrantStatus, WarrantView
from agent.safety.warrants.wording import moment
from agent.text import one_line
from console.base_app import ConsoleApp
from console.screens.dialogs.dialog import Dialog, foot
from widgets.base.hint_input import HintInput
from widgets.base.row_list import RowList
from widgets.base.rows import Line, Row

MOST_CHARS = 600
_SHOW_S = 2.0
_WRITE = "What is allowed, as: today up to 40 EUR in com.example.shop, messages to Ana Silva"
_EMPTY = "Nothing is allowed in words. n writes it"


class WarrantsScreen(Dialog[None]):
    """The warrants; `enter` goes to the borderline cases of one, `esc` back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", show=False, priority=True),
        Binding("q", "leave", show=False),
        Binding("n", "write", "New", show=False),
        Binding("v", "turn_round", "Turn the verdict round", show=False),
        Binding("s", "sign", "Sign", show=False),
        Binding("x", "revoke", "Revoke", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._views: Sequence[WarrantView] = ()
        self._opened = ""
        """The warrant whose cases are shown; empty: the warrants are."""

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="warrants") as dialog:
            dialog.border_title = "Allowed in words"
            dialog.border_subtitle = self._keys
            yield RowList(id="listed", empty=_EMPTY)
            yield Static(id="whole", markup=False)
            yield HintInput(
                id="written",
                hint=_WRITE,
                compact=True,
                select_on_focus=False,
                max_length=MOST_CHARS,
            )

    @property
    def _keys(self) -> Content:
        if self.is_mounted and self._field.display:
            return foot(("enter", "draft"), ("esc", "back"))
        if not self._opened:
            return foot(("enter", "cases"), ("n", "new"), ("x", "revoke"), ("esc", "back"))
        return foot(("v", "other verdict"), ("s", "sign"), ("x", "revoke"), ("esc", "back"))

    @property
    def _app(self) -> ConsoleApp:
        assert isinstance(self.app, ConsoleApp)
        return self.app

    @property
    def _field(self) -> HintInput:
        return self.query_one("#written", HintInput)

    def on_mount(self) -> None:
        self._field.display = False
        self.query_one(RowList).focus()
        self._read_again()
        self.set_interval(_SHOW_S, self._read_again, name="warrants")

    def _read_again(self) -> None:
        self._app.spawn(self._read(), "reading warrants")

    async def _read(self) -> None:
        views = await self._app.core.look_up(ListWarrants())
        if self.is_attached:
            self._take(views)

    def _take(self, views: Sequence[WarrantView]) -> None:
        self._views = views
        if self._opened and self._chosen() is None:
            self._opened = ""
        self._show()

    def _show(self) -> None:
        rows, view = self.query_one(RowList), self._chosen()
        if self._opened and view is not None:
            rows.show_rows([_case_row(case) for case in view.cases])
        else:
            rows.show_rows([_row(one) for one in self._views])
        if rows.rows and rows.cursor_key not in {row.key for row in rows.rows}:
            rows.move_to(rows.rows[0].key)
        view = self._chosen()
        self.query_one("#whole", Static).update(Content("" if view is None else self._about(view)))
        self._show_keys()

    def _chosen(self) -> WarrantView | None:
        key = self._opened or self.query_one(RowList).cursor_key
        return next((one for one in self._views if one.warrant.warrant_id == key), None)

    def _case(self) -> BorderlineCase | None:
        view, key = self._chosen(), self.query_one(RowList).cursor_key
        if view is None or not self._opened:
            return None
        return next((one for one in view.cases if f"case {one.number}" == key), None)

    def _about(self, view: WarrantView) -> str:
        """Return what stands below the list: the case under the cursor, then the warrant."""
        one, case = view.warrant, self._case()
        lines = [] if case is None else [f"{case.says}{f': {case.why}' if case.why else ''}."]
        lines += [f"“{one.words}”", *view.lines, f"Ends at {moment(one.expires_ms)}."]
        lines += [f"Not signed yet: {gap}" for gap in view.gaps]
        return "\n".join(one_line(line, 400) for line in lines)

    # --- keys ----------

    def on_row_list_highlighted(self, _event: RowList.Highlighted) -> None:
        self._show()

    def on_row_list_opened(self, _event: RowList.Opened) -> None:
        view = self._chosen()
        if not self._opened and view is not None:
            self._opened = view.warrant.warrant_id
            self._show()

    def action_write(self) -> None:
        """Write what is allowed."""
        if self._opened:
            return
        field = self._field
        field.display = True
        self.set_focus(field)
        self._show_keys()

    def action_turn_round(self) -> None:
        """Give the case under the cursor the other verdict."""
        view, case = self._chosen(), self._case()
        if view is None or case is None or view.warrant.status is not WarrantStatus.DRAFT:
            return
        wanted = Correction(case=case.number, allows=case.verdict is not ReviewVerdict.ALLOW)
        self._send(WarrantCorrect(warrant_id=view.warrant.warrant_id, corrections=(wanted,)))

    def action_sign(self) -> None:
        """Sign the draft whose cases are shown, at the second press."""
        view = self._chosen()
        if not self._opened or view is None or view.warrant.status is not WarrantStatus.DRAFT:
            return
        one = view.warrant
        sentence = f"s again signs: {one_line('; '.join(view.lines), 120)}"
        if self._app.two_presses.confirm("warrants.sign", str(hash(one)), sentence):
            self._send(
                WarrantSign(
                    warrant_id=one.warrant_id, clauses=one.clauses, expires_ms=one.expires_ms
                )
            )

    def action_revoke(self) -> None:
        """Revoke the warrant, at the second press."""
        view = self._chosen()
        if view is None or view.warrant.status is WarrantStatus.REVOKED:
            return
        one = view.warrant
        sentence = f"x again revokes: {one_line(one.words, 100)}"
        if self._app.two_presses.confirm("warrants.revoke", one.warrant_id, sentence):
            self._send(WarrantRevoke(warrant_id=one.warrant_id))

    def action_leave(self) -> None:
        """Leave the field, the cases, or the dialog."""
        if self._field.display:
            self._stop_writing()
        elif self._opened:
            opened, self._opened = self._opened, ""
            self._show()
            self.query_one(RowList).move_to(opened)
        else:
            self.dismiss(None)

    # --- writing ----------

    def _stop_writing(self) -> None:
        self._field.display = False
        self.query_one(RowList).focus()
        self._show_keys()

    def _show_keys(self) -> None:
        self.query_one("#warrants", Vertical).border_subtitle = self._keys

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        words = event.value.strip()
        if not words:
            self._stop_writing()
            return
        self.query_one("#whole", Static).update(Content("A model reads your words …"))
        self._app.spawn(self._draft(WarrantDraft(words=words)), "drafting a warrant")

    async def _draft(self, op: WarrantDraft) -> None:
        reply = await self._app.ask(op)
        if reply is None or reply.warrant is None or not self.is_attached:
            return
        self._field.value = ""
        self._stop_writing()
        await self._read()
        self._opened = reply.warrant.warrant.warrant_id
        self._show()

    def _send(self, op: Op) -> None:
        self._app.spawn(self._sent(op), "a warrant")

    async def _sent(self, op: Op) -> None:
        if await self._app.ask(op) is not None and self.is_attached:
            await self._read()


def _row(view: WarrantView) -> Row:
    one = view.warrant
    is_dead = bool(view.trouble) and one.status is not WarrantStatus.DRAFT
    style = "$muted" if is_dead else "$foreground"
    state = (view.trouble or "in force", "$muted" if view.trouble else "$good")
    used = (f"  {len(view.uses)} used", "$muted") if view.uses else ("", "")
    return Row(one.warrant_id, (Line(((one_line(one.words, MOST_CHARS), style),), (used, state)),))


def _case_row(case: BorderlineCase) -> Row:
    is_yes = case.verdict is ReviewVerdict.ALLOW
    verdict = ("yes  ", "$good") if is_yes else ("no   ", "$warn")
    says = (one_line(case.says, 200), "$foreground")
    of = (f" clause {case.clause}", "$muted")
    return Row(f"case {case.number}", (Line((verdict, says), (of,)),))
