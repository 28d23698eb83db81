"""The Deck: sessions and the attention queue left, one session in the middle, its phone right.

The console's home screen, composed of controllers. Invariants: the selection follows a session by
id, however rows move; only the operator moves the focus; frames are requested only while the phone
is visible.
"""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Input, TextArea

from agent.records import Question
from agent.state.reducer import State, attention
from console.core.active_sessions import is_under_way
from console.frames.stills import Source
from console.keys import actions
from console.screens.base.console_screen import OPENING
from console.screens.deck.answering import QuestionController
from console.screens.deck.approving import ApprovalController, span
from console.screens.deck.arranging import ArrangeController
from console.screens.deck.composing import ComposerController
from console.screens.deck.dismissing import DismissController
from console.screens.deck.finding import FindController
from console.screens.deck.following import FollowController
from console.screens.deck.listing import SessionListController
from console.screens.deck.marking import MarkController
from console.screens.deck.panes import PaneController
from console.screens.deck.places import BaseDeck, DeckPlaces
from console.screens.deck.running import BatchRunner
from console.screens.deck.session_control import SessionController, UndoController
from console.screens.deck.session_start import BeginController
from console.screens.deck.showing import SessionPaneController
from console.screens.deck.shown_phone import PhoneController
from console.screens.deck.targets import TargetController
from console.screens.device.phone_text import PhoneText
from console.screens.device.wheel import WheelController
from console.screens.history.step_reader import StepReader
from widgets.attention.attention_list import AttentionList
from widgets.base.action_line import ActionLine
from widgets.base.splitter import Splitter
from widgets.lists import device_line
from widgets.lists.marking_list import MarkingList
from widgets.pictures.phone_pane import PhonePane
from widgets.questions.composer import Composer
from widgets.questions.question_card import QuestionCard
from widgets.transcript.session_pane import SessionPane

_NO_SESSIONS = ("No sessions yet.", "Press n to start one.")
_NOTHING_WAITS = "Nothing is waiting for you."


class DeckScreen(BaseDeck):
    """The home screen."""

    WHERE = actions.Where.DECK
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings(actions.Where.DECK)]
    AUTO_FOCUS = "#sessions"
    CONTROLLERS = (
        MarkController,
        DismissController,
        BatchRunner,
        ArrangeController,
        PaneController,
        FollowController,
        SessionController,
        UndoController,
        TargetController,
        FindController,
        WheelController,
        PhoneText,
        PhoneController,
        StepReader,
        BeginController,
        QuestionController,
        ApprovalController,
        ComposerController,
        SessionPaneController,
        SessionListController,
    )

    panes: PaneController

    def __init__(self) -> None:
        super().__init__()
        kept = self.console_app.kept
        self.places = places = DeckPlaces(self)
        self.runner = BatchRunner(self)
        self.marking = MarkController(self, self.runner)
        self.arranging = ArrangeController(self, kept)
        self.panes = PaneController(self, kept)
        self.following = FollowController(places)
        self.beginning = BeginController(places)
        self.session_control = SessionController(places, self.beginning)
        self.targets = TargetController(places)
        self.finding = FindController(self)
        self.steps = StepReader(self, self.view, "session.editor")
        self.shown_phone = PhoneController(self, self.steps)
        self.wheel = self.shown_phone.wheel
        marking = self.marking
        self.answering = QuestionController(places, marking.marks, marking.answers_for_all)
        self.approving = ApprovalController(places, self.answering, self.wheel)
        self.composing = ComposerController(self, marking)
        self.showing = SessionPaneController(self, self.composing, self.shown_phone)
        self.listing = SessionListController(self, marking, self.arranging)
        # In the order in which they are asked: for an action, for a text, and to go back.
        self.controllers = (
            marking,
            DismissController(self, self.runner),
            self.runner,
            self.arranging,
            self.panes,
            self.following,
            self.session_control,
            UndoController(places),
            self.targets,
            self.finding,
            self.wheel,
            self.shown_phone.text,
            self.shown_phone,
            self.steps,
            self.beginning,
            self.answering,
            self.approving,
            self.composing,
            self.showing,
            self.listing,
        )
        # Before there are widgets: each would be styled again for it.
        self.add_class("-at-left", update=False)

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
            yield QuestionCard(id="card", only_looks=self.console_app.only_looks)
            yield Composer(id="composer")
        yield Splitter(id="right-splitter")
        with Vertical(id="right"):
            yield PhonePane(id="phone", empty=OPENING)

    def compose_tabs(self) -> ComposeResult:
        yield ActionLine(id="tabs")

    def on_mount(self) -> None:
        self.places.look_at_new(self.console_app.focus_session)
        self.panes.apply()
        self.panes.go_to_column(self.panes.full or "left")

    # --- the picture ----------

    def show_state(self, state: State) -> None:
        now_ms = self.console_app.now_ms()
        self.showing.choose(state)
        self.sessions.say_when_empty(self.if_known(*_NO_SESSIONS))
        self.attention.say_when_empty(self.if_known(_NOTHING_WAITS))
        self.pane.empty = self.if_known(*_NO_SESSIONS)
        self.listing.show(state, now_ms)
        self.showing.look_at_failure()
        waiting = attention(state, self.console_app.seen)
        self.attention.show_waiting(waiting, state, now_ms=now_ms)
        count = sum(one.needs_person for one in waiting)
        answer = " · ! to answer" if state.questions else ""
        title = f"Waiting for you {count or ''}".rstrip() + answer
        if self.attention.border_title != title:
            self.attention.border_title = title
        self.shown_phone.show_devices(
            state, crowded=len(self.sessions.rows) > self.size.height // 2
        )
        self.showing.show(state, now_ms)
        self.panes.show_tabs(count)
        self.shown_phone.want_frames(state)
        self.show_frame()

    def show_frame(self) -> None:
        self.shown_phone.show_frame()

    def still(self) -> Source | None:
        return self.shown_phone.still()

    # --- keys ----------

    def can(self, action_id: str) -> bool:
        match action_id:
            case "session.stop_all":
                sessions = self.console_app.bridge.state.sessions.values()
                return any(is_under_way(view.session) for view in sessions)
            case "screen.deck":
                return False
            case _:
                return super().can(action_id)

    def back(self) -> bool:
        """Leave the composer, the filter or the right column; never a session."""
        if self.composing.close_undeliverable() or any(one.back() for one in self.controllers):
            pass
        elif self.focused is self.composer.field or self.places.is_at_card:
            self.places.go_to_transcript()
        elif self.focused is not self.sessions:
            self.panes.go_to("left", self.sessions)
        return True

    def press_part(self, line: str, name: str) -> None:
        if line == "devices" and name == device_line.ALL:
            self.console_app.navigation.do_screen_wall()
        elif line == "devices":
            self.console_app.navigation.show_device(name)
        else:
            self.panes.press(name)

    def taken_digits(self) -> str:
        asked: Question | None = None
        if self.places.is_at_card:
            asked = self.card.question
        elif self.places.is_in_queue:
            one = self.attention.under_cursor
            asked = one.question if one is not None else None
        if asked is None:
            return super().taken_digits()
        return "123456789"[: len(asked.options)]

    def footer_keys(self) -> list[tuple[str, str]]:
        asked, focused = self.card.question, self.focused
        if self.console_app.only_looks:
            return super().footer_keys()
        if focused is self.card and asked is not None:
            return self.approving.keys(asked)
        if isinstance(focused, TextArea | Input):
            if focused is self.finding.field:
                return [("enter", "to the next"), ("esc", "leave")]
            return super().footer_keys()
        if keys := self.shown_phone.text.keys():
            return keys
        first: list[tuple[str, str]] = []
        if focused is self.sessions and self.sessions.rows:
            first = [("enter", "open")]
        elif focused is self.attention and self.attention.rows:
            one = self.attention.under_cursor
            asks = one is not None and one.question is not None
            group = self.attention.group_under_cursor
            look = "look" if group is None else f"mark these {len(group.members)}"
            if group is not None and not group.session_ids:
                look = "to the Wall"
            first = [("enter", "go to the card" if asks else look)]
            if digits := self.taken_digits():
                first.append((span(digits), "choose"))
        elif focused is self.pane.transcript:
            first = self.steps.keys()
        elif focused is self.phone.map and self.phone.map.entries:
            first = [("enter", "press")]
        return first + super().footer_keys()
