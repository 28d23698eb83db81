"""The Deck: sessions and what waits at the left, one session in the middle, its phone at the right.

Home of the console. Invariants: the selection follows a session by id, whatever rows do; focus is
moved by the operator alone; frames are asked for only while the phone can be seen.
"""

from __future__ import annotations

from time import monotonic
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import DescendantFocus, Resize
from textual.widget import Widget
from textual.widgets import Input, TextArea

from agent.records import Question
from agent.state import SessionView, State, attention, failure_key, tree
from console import actions
from console.screens.base import OPENING, ConsoleScreen
from console.screens.deck_acts import DeckActs
from console.screens.deck_devices import device_parts
from console.screens.deck_phone import NO_DEVICES
from console.screens.deck_questions import span
from widgets import status
from widgets.attention_list import AttentionList
from widgets.composer import Composer
from widgets.lines import PartsLine
from widgets.phone_pane import PhonePane
from widgets.question_card import QuestionCard, void_note
from widgets.row_list import RowList
from widgets.session_pane import SessionPane
from widgets.session_rows import delegating, session_rows, session_title
from widgets.transcript_view import TranscriptView

_NO_SESSIONS = "No sessions yet. Press n to begin one."
_NOTHING_WAITS = "Nothing waits for you."
READ_S = 3.0
"""How long a failed session is looked at until its failure counts as read."""
_COLUMNS = ("left", "middle", "right")


class DeckScreen(DeckActs, ConsoleScreen):
    """Home."""

    WHERE = actions.Where.DECK
    BINDINGS: ClassVar[list[BindingType]] = [
        *actions.bindings(actions.Where.DECK),
        # Before the card has it: the letters that are typed right after must find the field.
        Binding("enter", "write_words", "Answer in words", show=False, priority=True),
    ]
    AUTO_FOCUS = "#sessions"

    def __init__(self) -> None:
        super().__init__()
        self.selected = ""
        self.coming = ""
        self.folded: set[str] = set()
        self.wanted = ""
        self._column = "left"
        # Before there are widgets: each would be styled again for it.
        self.add_class("-at-left", update=False)
        self.clock_s = monotonic
        self._looked = ("", 0.0)

    def compose_body(self) -> ComposeResult:
        with Vertical(id="left"):
            sessions = RowList(id="sessions", empty=OPENING)
            sessions.add_class("pane", update=False)
            sessions.border_title = "Sessions"
            yield sessions
            yield Input(id="filter", placeholder="filter", compact=True)
            waiting = AttentionList(id="attention", empty=OPENING)
            waiting.add_class("pane", update=False)
            waiting.border_title = "Waiting for you"
            yield waiting
            devices = PartsLine(id="devices")
            devices.add_class("pane", update=False)
            devices.border_title = "Devices"
            yield devices
        with Vertical(id="middle"):
            yield SessionPane(id="session", empty=OPENING)
            yield Input(id="find", placeholder="words; enter goes to the next", compact=True)
            yield QuestionCard(id="card")
            yield Composer(id="composer")
        with Vertical(id="right"):
            yield PhonePane(id="phone", empty=OPENING)

    def compose_tabs(self) -> ComposeResult:
        yield PartsLine(id="tabs")

    def on_mount(self) -> None:
        self.selected = self.coming = self.console_app.focus_session
        self._go_to_column("left")

    # --- what is on screen, by name ----------

    @property
    def sessions(self) -> RowList:
        """The session tree."""
        return self.query_one("#sessions", RowList)

    @property
    def attention(self) -> AttentionList:
        """What waits."""
        return self.query_one(AttentionList)

    @property
    def pane(self) -> SessionPane:
        """The selected session."""
        return self.query_one(SessionPane)

    @property
    def card(self) -> QuestionCard:
        """The open question of the selected session."""
        return self.query_one(QuestionCard)

    @property
    def composer(self) -> Composer:
        """Where to write."""
        return self.query_one(Composer)

    # --- the picture ----------

    def show_state(self, state: State) -> None:
        now_ms = self.console_app.now_ms()
        coming = self._coming(state)
        if self.selected not in state.sessions and (not coming or self.selected != coming):
            self.select(self._best(state))
        self._say_when_empty()
        asking = {q.session_id for q in state.questions.values()}
        self.sessions.show_rows(
            session_rows(
                state, now_ms=now_ms, asking=asking, folded=self.folded, wanted=self.wanted
            )
        )
        self.sessions.move_to(self.selected)
        live = sum(not v.session.state.is_terminal for v in state.sessions.values())
        title = f"Sessions {len(state.sessions) or ''}".rstrip()
        _title(self.sessions, f"{title} · {live} open" if live else title)
        self._look_at_failure()
        waiting = attention(state, self.console_app.seen)
        self.attention.show_waiting(waiting, state, now_ms=now_ms)
        count = sum(one.needs_person for one in waiting)
        answer = " · ! to answer" if state.questions else ""
        _title(self.attention, f"Waiting for you {count or ''}".rstrip() + answer)
        self._show_devices(state)
        self._show_session(state, now_ms)
        self._show_tabs(count)
        self.want_frames(state)
        self.show_frame()

    def _say_when_empty(self) -> None:
        """Say what it means that a pane is empty, once that is known."""
        self.sessions.say_when_empty(self.if_known(_NO_SESSIONS))
        self.attention.say_when_empty(self.if_known(_NOTHING_WAITS))
        self.pane.empty = self.if_known(_NO_SESSIONS)

    def _look_at_failure(self) -> None:
        """Take a failure for read once its session was looked at for a moment."""
        view = self.view()
        key = failure_key(view.session) if view is not None else ""
        now_s = self.clock_s()
        if key != self._looked[0] or not self.app.app_focus:
            self._looked = (key, now_s)
        elif key and now_s - self._looked[1] >= READ_S:
            self.console_app.seen |= {key}

    def _coming(self, state: State) -> str:
        """Name the session that was chosen before its first event came."""
        if self.coming in state.sessions:
            self.coming = ""
        if self.coming and self.coming == self.console_app.focus_session and state.event_id:
            # It was asked for by name at the start, and there is no such session.
            self.coming = ""
        return self.coming

    def _best(self, state: State) -> str:
        """Choose what to look at when nothing is selected: who asks, who works, the newest."""
        for question in state.questions.values():
            if question.session_id in state.sessions:
                return question.session_id
        listed = [view.session for _, view in tree(state)]
        for session in listed:
            if session.turn_id and session.serial:
                return session.session_id
        return listed[0].session_id if listed else ""

    def _show_session(self, state: State, now_ms: int) -> None:
        view = self.view()
        asked = self.open_questions()
        self.pane.show_view(
            view,
            devices=state.devices,
            now_ms=now_ms,
            asks=bool(asked),
            delegates=self.selected in delegating(state),
            saying=self.console_app.bridge.said_now(self.selected),
            parts=self._parts(state),
        )
        had_focus = self.card.has_focus
        self.card.show_question(
            asked[0] if asked else None,
            now_ms=now_ms,
            others=max(0, len(asked) - 1),
            note=void_note(asked[0], view.transcript.items) if asked and view else "",
            given=self.given_for(asked[0]) if asked else (),
        )
        if had_focus and not asked:
            # The card goes; what is typed next must not land on something that acts.
            self.pane.transcript.focus()
        self.aim_composer(view, asked)
        self.show_marks(view)
        if view is not None and view.is_behind:
            app = self.console_app
            app.spawn(app.bridge.read_history(self.selected), "reading the transcript")

    def _parts(self, state: State) -> list[tuple[status.Mark, str]]:
        """List the children of the selected session."""
        asking = {q.session_id for q in state.questions.values()}
        children = [
            view.session
            for view in state.sessions.values()
            if view.session.parent_id == self.selected
        ]
        children.sort(key=lambda session: session.created_ms)
        return [
            (status.of_session(one, asks=one.session_id in asking), session_title(one))
            for one in children
        ]

    def _show_devices(self, state: State) -> None:
        line = self.query_one("#devices", PartsLine)
        width = line.content_size.width
        if not width:
            # Its column is not seen: what was laid out for a width stays until there is one again.
            return
        none = self.if_known(NO_DEVICES)
        line.show(device_parts(state, width, none, height=self.size.height))

    def _show_tabs(self, waiting: int) -> None:
        names = {"left": "Sessions", "middle": "Session", "right": "Phone"}
        parts: list[tuple[str, str]] = [(" ", "")]
        for column in _COLUMNS:
            if column == "right" and self.has_class("-short"):
                continue
            here = column == self._column
            parts.append(
                (f" {names[column]} ", "bold $foreground on $cursor" if here else "$muted")
            )
            parts.append((" ", ""))
        parts.append(("tab changes", "$faint"))
        if waiting and self.has_class("-short"):
            parts.append((f"   ? {waiting} waiting", "bold $ask"))
        self.query_one("#tabs", PartsLine).show(tuple(parts))

    def view(self) -> SessionView | None:
        """The selected session."""
        return self.console_app.bridge.state.sessions.get(self.selected)

    def open_questions(self) -> list[Question]:
        """The open questions of the selected session, oldest first."""
        questions = self.console_app.bridge.state.questions.values()
        return [self.narrowed(q) for q in questions if q.session_id == self.selected]

    def select(self, session_id: str) -> None:
        """Look at another session."""
        self.selected = session_id

    # --- panes ----------

    def on_resize(self, event: Resize) -> None:
        super().on_resize(event)
        # The phone gets the width its height deserves, never more than a third.
        if event.size.width >= 120:
            rows = max(10, event.size.height - 9)
            columns = min(round(rows * 0.9) + 4, event.size.width // 3)
            self.query_one("#right").styles.width = max(26, columns)
        else:
            self.query_one("#right").styles.clear_rule("width")
        if event.size.height < 24 and self._column == "right":
            self._go_to_column("middle")

    def _stops(self) -> list[tuple[str, Widget]]:
        """List where tab goes, with the column of each."""
        stops: list[tuple[str, Widget]] = [("left", self.sessions)]
        if self.attention.rows:
            stops.append(("left", self.attention))
        stops.append(("middle", self.pane.transcript))
        if self.card.question is not None:
            stops.append(("middle", self.card))
        if not self.composer.field.disabled:
            stops.append(("middle", self.composer.field))
        if not self.has_class("-wide") and not self.has_class("-short"):
            stops.append(("right", self.phone))
        return stops

    def do_view_next_pane(self) -> None:
        """Go to the next pane."""
        self._go_by(1)

    def do_view_previous_pane(self) -> None:
        """Go to the pane before."""
        self._go_by(-1)

    def _go_by(self, by: int) -> None:
        stops = self._stops()
        widgets = [widget for _, widget in stops]
        at = widgets.index(self.focused) if self.focused in widgets else -1 if by > 0 else 0
        column, widget = stops[(at + by) % len(stops)]
        self.go_to(column, widget)

    def go_to(self, column: str, widget: Widget) -> None:
        """Show a column and focus something in it."""
        if column != self._column:
            self._go_to_column(column)
        self.focus_now(widget)

    def _go_to_column(self, column: str) -> None:
        self._column = column
        self.update_classes({f"-at-{name}": name == column for name in _COLUMNS})
        self._show_tabs(sum(one.needs_person for one in self.attention.waiting.values()))

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        for column, widget in self._stops():
            if widget is event.widget and column != self._column:
                self._go_to_column(column)
        super().on_descendant_focus(event)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Take enter from the card alone, and not before its keys count."""
        if action == "write_words":
            return self.focused is self.card and self.card.is_ready
        return super().check_action(action, parameters)

    # --- messages of the panes ----------

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        if event.rows is self.sessions and event.by_operator:
            self.select(event.key)
        elif event.rows is self.attention and event.by_operator:
            one = self.attention.under_cursor
            if one is not None and one.session_id:
                self.select(one.session_id)
        else:
            return
        self.refresh_all()

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        if event.rows is self.attention:
            self.open_waiting()
        else:
            self.tap_session()

    def on_transcript_view_behind(self, _event: TranscriptView.Behind) -> None:
        self.show_footer()

    def taken_digits(self) -> str:
        asked: Question | None = None
        if self.focused is self.card:
            asked = self.card.question
        elif self.focused is self.attention:
            one = self.attention.under_cursor
            asked = one.question if one is not None else None
        if asked is None:
            return super().taken_digits()
        return "123456789"[: len(asked.options)]

    def footer_keys(self) -> list[tuple[str, str]]:
        asked = self.card.question
        if self.focused is self.card and asked is not None:
            return self.card_keys(asked)
        if isinstance(self.focused, TextArea | Input):
            typing = super().footer_keys()
            if self.focused is self.find_field:
                return [("enter", "to the next"), ("esc", "leave")]
            if self.focused is self.composer.field:
                typing[0] = ("enter", self.composer.sends)
            return typing
        first: list[tuple[str, str]] = []
        if self.focused is self.sessions and self.sessions.rows:
            first = [("enter", "open")]
        elif self.focused is self.attention and self.attention.rows:
            one = self.attention.under_cursor
            asks = one is not None and one.question is not None
            first = [("enter", "go to the card" if asks else "look")]
            if digits := self.taken_digits():
                first.append((span(digits), "choose"))
        elif self.focused is self.pane.transcript:
            first = self.transcript_keys()
        return first + super().footer_keys()


def _title(widget: Widget, text: str) -> None:
    if widget.border_title != text:
        widget.border_title = text
