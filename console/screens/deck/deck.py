"""The Deck: sessions and what waits at the left, one session in the middle, its phone at the right.

Home of the console. Invariants: the selection follows a session by id, whatever rows do; focus is
moved by the operator alone; frames are asked for only while the phone can be seen.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.events import DescendantBlur, DescendantFocus, Resize
from textual.widget import Widget
from textual.widgets import Input, TextArea

from agent.records import Question
from agent.state.reducer import Item, SessionView, State, attention, failure_key, tree
from console.keys import actions
from console.screens.base import OPENING, ConsoleScreen
from console.screens.deck.arranging import ArrangeController
from console.screens.deck.beginning import BeginController
from console.screens.deck.deck_acts import DeckActs
from console.screens.deck.deck_devices import device_parts
from console.screens.deck.deck_phone import NO_DEVICES
from console.screens.deck.deck_questions import span
from console.screens.deck.dismissing import DismissController, end_key
from console.screens.deck.finding import FindController
from console.screens.deck.following import FollowController
from console.screens.deck.marking import MarkController
from console.screens.deck.panes import PaneController
from console.screens.deck.running import BatchRunner
from console.screens.deck.session_control import SessionController
from console.screens.deck.targets import TargetController
from widgets.base import status
from widgets.base.action_line import ActionLine
from widgets.base.row_list import RowList
from widgets.base.splitter import Splitter
from widgets.lists.attention_list import AttentionList
from widgets.lists.marking_list import MarkingList
from widgets.lists.session_list import Look, listed_sessions, session_rows
from widgets.lists.session_rows import delegating, phone_asked_about, session_title
from widgets.pictures.phone_pane import PhonePane
from widgets.questions.composer import Composer, Purpose
from widgets.questions.question_card import QuestionCard, void_note
from widgets.transcript.session_pane import SessionPane
from widgets.transcript.transcript_view import TranscriptView

if TYPE_CHECKING:
    from console.app import SwitchboardApp

_NO_SESSIONS = "No sessions yet. Press n to start one."
_NOTHING_WAITS = "Nothing waits for you."
READ_S = 3.0
"""How long a failed session is looked at until its failure counts as read."""
_COLUMNS = ("left", "middle", "right")


class DeckScreen(DeckActs, ConsoleScreen):
    """Home."""

    WHERE = actions.Where.DECK
    BINDINGS: ClassVar[list[BindingType]] = [
        *actions.bindings(actions.Where.DECK),
    ]
    AUTO_FOCUS = "#sessions"
    CONTROLLERS = (
        MarkController,
        DismissController,
        BatchRunner,
        ArrangeController,
        PaneController,
        FollowController,
        BeginController,
        SessionController,
        TargetController,
        FindController,
    )

    def __init__(self) -> None:
        super().__init__()
        kept = self.console_app.kept
        self.runner = BatchRunner(self)
        self.marking = MarkController(self, self.runner)
        self.dismissing = DismissController(self, self.runner)
        self.arranging = ArrangeController(self, kept)
        self.panes = PaneController(self, kept)
        self.following = FollowController(self)
        self.beginning = BeginController(self)
        self.session_control = SessionController(self, self.beginning)
        self.targets = TargetController(self)
        self.finding = FindController(self)
        self.controllers = (
            self.marking,
            self.dismissing,
            self.runner,
            self.arranging,
            self.panes,
            self.following,
            self.beginning,
            self.session_control,
            self.targets,
            self.finding,
        )
        self._selected = ""
        self.coming = ""
        self.folded: set[str] = set()
        self.wanted = ""
        self._column = "left"
        # Before there are widgets: each would be styled again for it.
        self.add_class("-at-left", update=False)
        self.clock_s = monotonic
        self._looked = ("", 0.0)
        self._known_s: dict[str, float] = {}
        """Since when each open question is told of here, by the card's clock."""

    @property
    def selected(self) -> str:
        """The id of the selected session; empty when none is."""
        return self._selected

    @property
    def column(self) -> str:
        """The column that has the focus."""
        return self._column

    def compose_body(self) -> ComposeResult:
        with Vertical(id="left"):
            sessions = MarkingList(id="sessions", empty=OPENING)
            sessions.add_class("pane", update=False)
            sessions.border_title = "Sessions"
            yield sessions
            yield Input(id="filter", placeholder="filter", compact=True)
            waiting = AttentionList(id="attention", empty=OPENING)
            waiting.add_class("pane", update=False)
            waiting.border_title = "Waiting for you"
            yield waiting
            devices = ActionLine(id="devices")
            devices.add_class("pane", update=False)
            devices.border_title = "Devices"
            yield devices
        yield Splitter(id="left-splitter")
        with Vertical(id="middle"):
            yield SessionPane(id="session", empty=OPENING)
            yield Input(id="find", placeholder="words; enter goes to the next", compact=True)
            yield QuestionCard(id="card")
            yield Composer(id="composer")
        yield Splitter(id="right-splitter")
        with Vertical(id="right"):
            yield PhonePane(id="phone", empty=OPENING)

    def compose_tabs(self) -> ComposeResult:
        yield ActionLine(id="tabs")

    def on_mount(self) -> None:
        self._selected = self.coming = self.console_app.focus_session
        self.panes.apply()
        self._go_to_column(self.panes.full or "left")

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

    @property
    def find_field(self) -> Input:
        """Where words are written that a transcript is searched for."""
        return self.query_one("#find", Input)

    # --- what its controllers ask of it (`DeckContext`) ----------

    @property
    def ops(self) -> SwitchboardApp:
        return self.console_app

    @property
    def state(self) -> State:
        return self.console_app.bridge.state

    def pointed_item(self) -> Item | None:
        transcript = self.pane.transcript
        return transcript.item_under_cursor() if self.focused is transcript else None

    def look_at_new(self, session_id: str) -> None:
        self.coming = session_id
        self.select(session_id)

    def leave_note(self) -> bool:
        asked = self.notes_back
        if asked:
            self.hand_back("")
        return asked

    def go_to_card(self) -> None:
        self.go_to("middle", self.card)

    def go_to_composer(self) -> None:
        self.go_to("middle", self.composer.field)

    def go_to_transcript(self) -> None:
        self.go_to("middle", self.pane.transcript)

    def write(self, text: str, *, over: bool = False) -> bool:
        field = self.composer.field
        if (field.disabled or field.text) and not over:
            return False
        field.text = text
        field.move_cursor(field.document.end)
        return True

    def give_back(self, purpose: Purpose, text: str) -> bool:
        self.composer.give_back(purpose, text)
        return self.focused is self.composer.field

    def answer_later(self) -> None:
        self.rejects = None

    # --- the picture ----------

    def show_state(self, state: State) -> None:
        now_ms = self.console_app.now_ms()
        coming = self._coming(state)
        if self.selected not in state.sessions and (not coming or self.selected != coming):
            self.select(self._best(state))
        self._say_when_empty()
        self._show_sessions(state, now_ms)
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

    def _show_sessions(self, state: State, now_ms: int) -> None:
        asking = {q.session_id for q in state.questions.values()}
        look = self._look_of_list()
        entries = listed_sessions(state, look, now_ms=now_ms)
        self.marking.marks.keep(e.view.session.session_id for e in entries if e.view is not None)
        look = look._replace(marked=self.marking.marks.ids)
        self.sessions.show_rows(session_rows(state, look, now_ms=now_ms, asking=asking))
        view = state.sessions.get(self.selected)
        if view is not None and view.session.dismissed and self.selected not in self.listed_ids():
            # It went from the list: what stands in its place is looked at.
            self.select(self.sessions.cursor_key)
        self.sessions.move_to(self.selected)
        live = sum(not v.session.state.is_terminal for v in state.sessions.values())
        count = sum(not v.session.dismissed for v in state.sessions.values())
        said = [f"Sessions {count or ''}".rstrip()]
        said += [f"{live} open"] if live else []
        said += [f"{len(self.marking.marks.ids)} marked"] if self.marking.marks.ids else []
        said += [self.arranging.indicator] if self.arranging.indicator else []
        _title(self.sessions, " · ".join(said))

    def _look_of_list(self) -> Look:
        return Look(
            sort=self.arranging.sort,
            group=self.arranging.group,
            folded=self.folded,
            wanted=self.wanted,
            width=self.sessions.text_width if self.sessions.size.width else 0,
            height=self.sessions.size.height,
        )

    def listed_ids(self) -> tuple[str, ...]:
        """Name the sessions that are listed, in their order."""
        return tuple(row.key for row in self.sessions.rows if not row.is_heading)

    def _say_when_empty(self) -> None:
        """Show what it means that a pane is empty, once that is known."""
        self.sessions.say_when_empty(self.if_known(_NO_SESSIONS))
        self.attention.say_when_empty(self.if_known(_NOTHING_WAITS))
        self.pane.empty = self.if_known(_NO_SESSIONS)

    def _look_at_failure(self) -> None:
        """Take an end for read once its session was looked at for a moment."""
        view = self.view()
        ended = view is not None and view.session.state.is_terminal
        key = end_key(view.session) if view is not None and ended else ""
        now_s = self.clock_s()
        if key != self._looked[0] or not self.app.app_focus:
            self._looked = (key, now_s)
        elif key and now_s - self._looked[1] >= READ_S:
            failure = failure_key(view.session) if view is not None else ""
            self.console_app.seen |= {key, failure} - {""}

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
        now_s = self.card.clock_s()
        self._known_s = {one: self._known_s.get(one, now_s) for one in state.questions}
        self.pane.show_view(
            view,
            devices=state.devices,
            now_ms=now_ms,
            asks=bool(asked),
            delegates=self.selected in delegating(state),
            saying=self.console_app.bridge.said_now(self.selected),
            parts=self._parts(state),
            others=state.sessions,
        )
        had_focus, before = self.focused is self.card, self.card.question
        self.card.show_question(
            asked[0] if asked else None,
            now_ms=now_ms,
            others=max(0, len(asked) - 1),
            note=void_note(asked[0], view.transcript.items) if asked and view else "",
            given=self.given_for(asked[0]) if asked else (),
            known_s=self._known_s[asked[0].question_id] if asked else None,
            phone=phone_asked_about(asked[0] if asked else None, state.devices),
        )
        if had_focus and before is not None and not _is_same(before, asked):
            # The card goes, or asks something else: what is typed next was not meant for that.
            self.set_focus(self.pane.transcript)
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
        line = self.query_one("#devices", ActionLine)
        width = line.content_size.width
        if not width:
            # Its column is not seen: what was laid out for a width stays until there is one again.
            return
        none = self.if_known(NO_DEVICES)
        height = self.size.height
        crowded = len(self.sessions.rows) > height // 2
        line.show_pressable(*device_parts(state, width, none, height=height, crowded=crowded))

    def _show_tabs(self, waiting: int) -> None:
        names = {"left": "Sessions", "middle": "Session", "right": "Phone"}
        parts: list[tuple[str, str]] = [(" ", "")]
        pressable: dict[int, str] = {}
        for column in _COLUMNS:
            if column == "right" and self.has_class("-short") and not self.has_class("-close"):
                continue
            here = column == self._column
            pressable[len(parts)] = column
            parts.append(
                (f" {names[column]} ", "bold $foreground on $cursor" if here else "$muted")
            )
            parts.append((" ", ""))
        parts.append(("tab changes", "$faint"))
        if waiting and self.has_class("-short"):
            parts.append((f"   ? {waiting} waiting", "bold $ask"))
        self.query_one("#tabs", ActionLine).show_pressable(tuple(parts), pressable)

    def view(self) -> SessionView | None:
        """The selected session."""
        return self.console_app.bridge.state.sessions.get(self.selected)

    def open_questions(self) -> list[Question]:
        """The open questions of the selected session, oldest first."""
        return [self.narrowed(q) for q in self.asked_now() if q.session_id == self.selected]

    def select(self, session_id: str) -> None:
        """Look at another session."""
        self._selected = session_id

    # --- panes ----------

    def on_resize(self, event: Resize) -> None:
        super().on_resize(event)
        self.panes.apply()
        if event.size.height < 24 and self._column == "right" and not self.has_class("-close"):
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
        is_close = self.has_class("-close")
        alone = self.has_class("-full") or not self.has_class("-wide")
        if is_close or (alone and not self.has_class("-short")):
            stops.append(("right", self.phone.hands))
        return stops

    @property
    def short_of_phone(self) -> bool:
        """Whether the phone's column has the place of the others, and is too short to be shown."""
        is_short = self.has_class("-short") and not self.has_class("-close")
        return is_short and self._column == "right"

    def do_view_next_pane(self) -> None:
        """Go to the next pane."""
        self._go_by(1)

    def do_view_previous_pane(self) -> None:
        """Go to the previous pane."""
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
        self.panes.follow(column)
        self.update_classes({f"-at-{name}": name == column for name in _COLUMNS})
        self._show_tabs(sum(one.needs_person for one in self.attention.waiting.values()))

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        for column, widget in self._stops():
            if widget is event.widget and column != self._column:
                self._go_to_column(column)
        super().on_descendant_focus(event)

    def on_descendant_blur(self, event: DescendantBlur) -> None:
        if event.widget is self.composer.field:
            # Under typing hands it kept what was begun; the next key is not for that.
            self.refresh_all()
        else:
            super().on_descendant_blur(event)

    # --- messages of the panes ----------

    def press_part(self, line: str, name: str) -> None:
        if line == "devices":
            self.console_app.show_device(name)
        else:
            first = {"left": self.sessions, "middle": self.pane.transcript}
            self.go_to(name, first.get(name, self.phone.hands))

    def on_splitter_dragged(self, event: Splitter.Dragged) -> None:
        if event.splitter.id == "left-splitter":
            self.panes.set_left(event.column)
        else:
            self.panes.set_right(self.size.width - event.column - 1)

    def on_marking_list_marked(self, event: MarkingList.Marked) -> None:
        if event.is_range:
            self.marking.span_to(event.key)
        else:
            self.marking.toggle(event.key)

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
            self.targets.tap()

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


def _is_same(before: Question, asked: list[Question]) -> bool:
    return bool(asked) and asked[0].question_id == before.question_id


def _title(widget: Widget, text: str) -> None:
    if widget.border_title != text:
        widget.border_title = text
