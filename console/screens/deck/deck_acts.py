"""What the Deck's keys do: steer, answer, stop, pause, cancel, replay, filter, copy.

The half of the Deck that sends ops; the other half draws. Invariants: stopping and pausing act at
once, ending and beginning anew take two acts; an answer goes to the question whose card was read.
"""

from __future__ import annotations

from secrets import token_hex

from textual.events import Paste
from textual.widgets import Input, TextArea

from agent.protocol import (
    SessionStart,
    UserInput,
    UserInputAnswer,
)
from agent.records import DeviceState, Question, QuestionKind, Session, SessionState
from agent.state.reducer import SessionView
from console.core.active_sessions import is_under_way
from console.keys.actions import Action
from console.palette.handles import completions
from console.screens.deck.deck_approvals import DeckApprovals
from console.screens.deck.deck_questions import DENY
from console.screens.deck.marking import EACH_PHONE
from console.storage.keeping import keep_pictures
from widgets.base.rich_parts import Parts
from widgets.lists.session_rows import device_name
from widgets.questions.composer import Composer, Mode, Purpose
from widgets.transcript.transcript_lines import as_text

_WORDS_REFUSE = 'Anything but "yes" rejects, and is the reason'
_ENDED = "Ended. Press p twice to resume it, or n for a new session."
_ENDED_HINT = "Ended. p p to resume, n for a new session"
"""So short that it is whole at 80 columns."""


class DeckActs(DeckApprovals):
    """The Deck's actions."""

    def _session(self) -> Session | None:
        view = self.deck.view()
        return view.session if view else None

    # --- what can be done now ----------

    def can(self, action_id: str) -> bool:
        owner = self.owner_of(action_id)
        if owner is not None:
            return owner.can(action_id)
        session = self._session()
        if self.deck.beginning.awaits(action_id):
            # What was begun is not there yet: its own sentence says what the key does.
            return True
        match action_id:
            case "session.write":
                return session is not None and not session.state.is_terminal
            case "session.editor":
                return self.can_open_editor()
            case "session.replay" | "session.copy" | "session.keep":
                return session is not None
            case "session.stop_all":
                sessions = self.console_app.bridge.state.sessions.values()
                return any(is_under_way(view.session) for view in sessions)
            case "question.next":
                return bool(self.console_app.bridge.state.questions)
            case "question.approve" | "question.reject":
                return self.approval_meant() is not None
            case "question.session" | "question.modify" | "question.wheel":
                return self.can_approve(action_id)
            case "screen.deck":
                return False
            case "wheel.take" | "device.open" | "phone.text":
                return bool(self.shown_serial())
            case "phone.closer":
                return bool(self.shown_serial()) and not self.deck.phone.shows_text
            case "phone.farther":
                return self.deck.phone.zoom.factor > 1
            case "device.virtual":
                return self.console_app.start_phone is not None
            case _:
                return True

    def word_of(self, action: Action) -> str:
        if action.id == "phone.text":
            return "picture" if self.deck.phone.wants_text else "text"
        return super().word_of(action)

    def do_session_keep(self) -> None:
        """Keep the pictures of the selected session's tree for ever, or no longer."""
        session = self._session()
        if session is not None:
            root = self.console_app.bridge.state.sessions.get(session.parent_id)
            keep_pictures(self.console_app, root.session if root is not None else session)

    # --- writing ----------

    def aim_composer(self, view: SessionView | None, asked: list[Question]) -> None:
        """Show what the composer's text will be, without changing it while somebody types."""
        composer = self.deck.composer
        composer.earlier = self.deck.beginning.earlier_goals
        for controller in self.controllers:
            if (asked_for := controller.purpose()) is not None:
                composer.aim(*asked_for)
                return
        if self.aim_note():
            return
        if self.deck.beginning.begins:
            self._offer_devices()
            composer.aim(Purpose(Mode.DRAFT if self.deck.beginning.drafts else Mode.NEW, ""))
            return
        if self.rejects is not None and self.rejects in asked:
            composer.aim(Purpose(Mode.REASON, self.rejects.question_id))
            return
        self.rejects = None
        if self.aim_modify(asked):
            return
        hint = ""
        if view is None or view.session.state.is_terminal:
            wanted = Purpose(Mode.NONE, view.session.session_id if view else "")
            if view is not None:
                hint = _ENDED_HINT
        elif asked:
            wanted = Purpose(Mode.ANSWER, self.subject_of(asked[0]))
        elif view.session.turn_id:
            wanted = Purpose(Mode.STEER, view.session.session_id)
        else:
            wanted = Purpose(Mode.PROMPT, view.session.session_id)
        typing = composer.field.has_focus
        subjects = {self.deck.selected, *(self.subject_of(q) for q in asked)}
        changes = wanted != composer.purpose and composer.purpose.subject in subjects
        too_soon = wanted.mode is Mode.ANSWER and not self.deck.card.is_ready
        if typing and changes and (composer.text or too_soon):
            # The hands are on the keys: what was begun as a hint stays a hint.
            about = (("  a question waits above", "$ask"),) if asked else ()
            composer.aim(composer.purpose, about)
            return
        hides = wanted.mode is Mode.ANSWER and asked[0].secret
        beside: Parts = ()
        if wanted.mode is Mode.ANSWER and asked[0].kind is QuestionKind.APPROVAL:
            hint, beside = _WORDS_REFUSE, (("  type a reason to reject", "$bad"),)
        elif hides:
            hint = "Hidden, and not stored"
        composer.aim(wanted, beside, hint, hides=hides)

    def on_composer_switched(self, _event: Composer.Switched) -> None:
        """Turn from a goal to a draft for one app, and back."""
        self.deck.beginning.switch()

    def _offer_devices(self) -> None:
        state = self.console_app.bridge.state
        online = [d for d in state.devices.values() if d.state is DeviceState.ONLINE]
        online.sort(key=lambda device: (bool(device.driver), device.serial))
        choices = [("", "any free device"), *self.deck.marking.choices()]
        for device in online:
            busy = " (busy)" if device.driver else ""
            choices.append((device.serial, f"{device_name(device.serial, state.devices)}{busy}"))
        composer = self.deck.composer
        composer.offer(choices)
        composer.handles = lambda word: completions(
            word, state.devices, self.console_app.tool_servers
        )

    def do_session_write(self) -> None:
        """Go to the composer."""
        if self.deck.beginning.comes_too_early():
            return
        if not self.deck.composer.field.disabled:
            self.deck.go_to("middle", self.deck.composer.field)
        elif self._session() is None:
            self.console_app.say("No session to write to. Press n to start one.")
        else:
            self.console_app.say(_ENDED)

    def on_paste(self, event: Paste) -> None:
        """Show where a pasted text may go; fields take theirs before it comes here."""
        if event.text.strip() and not isinstance(self.deck.focused, TextArea | Input):
            self.console_app.say(
                "Nothing was pasted: press n first for a new session, i to write to this one."
            )

    async def on_composer_sent(self, event: Composer.Sent) -> None:
        app = self.console_app
        mode, subject = event.purpose
        if any(controller.sent(event) for controller in self.controllers):
            self.refresh_all()
            self.deck.go_to("left", self.deck.sessions)
            return
        if not event.text and mode not in {Mode.REASON, Mode.NOTE}:
            return
        match mode:
            case Mode.NEW:
                self.deck.beginning.begins = False
                if event.choice == EACH_PHONE:
                    self.deck.marking.begin_on_each(event.text, lambda: token_hex(8))
                else:
                    self.deck.beginning.begin(event.text, event.choice)
            case Mode.DRAFT:
                self.deck.beginning.begins = False
                self.deck.beginning.draft(event.text, event.choice)
            case Mode.MODIFY:
                self.send_modified(event)
            case Mode.ANSWER:
                self.answer_subject(subject, event.text)
            case Mode.REASON:
                self.rejects = None
                reason = f"{DENY}: {event.text}" if event.text else DENY
                app.request(UserInputAnswer(question_id=subject, answer=reason))
            case Mode.NOTE:
                self.deck.following.forget()
                self.hand_back(event.text)
            case Mode.NEXT | Mode.EDIT:
                self.deck.following.send(event)
            case Mode.PROMPT | Mode.STEER:
                session = self._session()
                drafted = session is not None and session.state is SessionState.CREATED
                if drafted and session is not None and session.session_id == subject:
                    app.request(SessionStart(session_id=subject, prompt=event.text))
                else:
                    app.request(UserInput(session_id=subject, text=event.text))
            case Mode.NONE | Mode.EACH | Mode.FOLLOW_UP | Mode.TAG | Mode.RENAME:
                pass
        self.refresh_all()
        is_asked_on = mode is Mode.ANSWER and self.deck.focused is self.deck.card
        if not is_asked_on:
            self.deck.go_to("middle", self.deck.pane.transcript)

    # --- looking ----------

    def do_device_open(self) -> None:
        """Show the phone that is seen here large."""
        serial = self.shown_serial()
        if serial:
            self.console_app.show_device(serial)
        else:
            self.console_app.say("No phone here.")

    def do_view_filter(self) -> None:
        """Filter the sessions."""
        field = self.query_one("#filter", Input)
        field.add_class("-shown")
        self.deck.go_to("left", field)

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id != "filter":
            return
        self.deck.wanted = event.value
        self.refresh_all()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input is self.deck.find_field:
            self.deck.finding.find_next()
            return
        listed = self.deck.listed_ids()
        if listed and self.deck.selected not in listed:
            # The cursor stands on one that fits: keys are for that one.
            self.deck.select(self.deck.sessions.cursor_key)
            self.refresh_all()
        self.deck.go_to("left", self.deck.sessions)

    def do_view_numbers(self) -> None:
        """Show or hide the element numbers."""
        frame = self.deck.phone.frame
        if not frame.has_picture or self.deck.phone.shows_text:
            self.console_app.say("No picture here.")
        frame.show_numbers(not frame.numbers_shown)

    def key_space(self) -> None:
        """Mark the session under the cursor."""
        if self.deck.focused is self.deck.sessions:
            self.deck.marking.do_view_mark()

    def key_left(self) -> None:
        """Fold the subtasks of the session under the cursor."""
        self._fold(folds=True)

    def key_right(self) -> None:
        """Unfold the subtasks of the session under the cursor."""
        self._fold(folds=False)

    def _fold(self, *, folds: bool) -> None:
        deck = self.deck
        if deck.focused is not deck.sessions:
            return
        session = self._session()
        if folds and session is not None and not self._has_subtasks(session):
            # From a subtask the key goes to what it is part of, as in any tree.
            parent = self.console_app.bridge.state.sessions.get(session.parent_id)
            if parent is not None:
                deck.select(session.parent_id)
        elif folds:
            deck.folded |= {deck.sessions.cursor_key}
        else:
            deck.folded -= {deck.sessions.cursor_key}
        self.refresh_all()

    def _has_subtasks(self, session: Session) -> bool:
        views = self.console_app.bridge.state.sessions.values()
        return any(view.session.parent_id == session.session_id for view in views)

    def back(self) -> bool:
        """Leave the composer, the filter or the right column; never a session."""
        deck = self.deck
        field = self.query_one("#filter", Input)
        if self._leave_part():
            pass
        elif self.deck.beginning.begins or self.rejects is not None or self.modifies is not None:
            self.deck.beginning.begins = False
            self.rejects = self.modifies = None
            self.refresh_all()
            deck.go_to("middle", deck.pane.transcript)
        elif deck.focused is field or deck.wanted:
            field.value = ""
            field.remove_class("-shown")
            deck.go_to("left", deck.sessions)
        elif deck.focused is deck.composer.field or deck.focused is deck.card:
            deck.go_to("middle", deck.pane.transcript)
        elif deck.focused is not deck.sessions:
            deck.go_to("left", deck.sessions)
        return True

    def _leave_part(self) -> bool:
        """Go one layer back in a part of the Deck; False when none has one."""
        left = any(controller.back() for controller in self.controllers)
        return left or self.leave_zoom()

    def do_session_replay(self) -> None:
        """Play the session again from the store."""
        from console.screens.history.replay import ReplayScreen

        if self.deck.selected:
            self.console_app.push_screen(ReplayScreen(self.deck.selected))

    def do_session_editor(self) -> None:
        """Show the step under the cursor in an editor, else the whole transcript."""
        self.open_editor()

    def do_session_copy(self) -> None:
        """Copy what is under the cursor."""
        session = self._session()
        if session is None:
            return
        deck = self.deck
        if deck.focused is deck.pane.transcript:
            item = deck.pane.transcript.item_under_cursor()
            text = as_text(item) if item is not None else session.goal
        elif deck.focused is deck.card and deck.card.question is not None:
            text = deck.card.question.shown
        else:
            text = f"{session.session_id}  {session.goal}"
        self.console_app.copy(text)
