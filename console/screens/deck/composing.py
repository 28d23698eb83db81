"""Control the Deck's composer: its purpose, and where its text goes.

Invariant: the purpose does not change while the operator types.
"""

from secrets import token_hex
from typing import TYPE_CHECKING

from textual.events import DescendantBlur, Paste
from textual.widgets import Input, TextArea

from agent.protocol import SessionStart, UserInput
from agent.records import DeviceState, Question, QuestionKind, SessionState
from agent.state.reducer import SessionView
from console.keys.controllers import Controller
from console.palette.handles import completions
from console.screens.deck.marking import EACH_PHONE, MarkController
from widgets.base.rows import Parts
from widgets.lists.session_rows import device_name
from widgets.questions.composer import Composer, Mode, Purpose

if TYPE_CHECKING:
    from console.screens.deck.places import BaseDeck

_WORDS_REFUSE = '"yes" approves; anything else is a reason to reject'
_ENDED = "Ended. Press p twice to resume it, or n for a new session."
_ENDED_HINT = "Ended. p twice to resume, n for a new session"
"""So short that it is whole at 80 columns."""


class ComposerController(Controller):
    """The Deck's composer.

    Args:
        deck: whose it is; its controllers may claim the text first.
        marking: starts a goal on several phones.
    """

    def __init__(self, deck: "BaseDeck", marking: MarkController) -> None:
        self._deck = deck
        self._marking = marking

    def can(self, action_id: str) -> bool:
        if self._deck.beginning.awaits(action_id):
            # What was begun is not there yet: its own sentence says what the key does.
            return True
        view = self._deck.view()
        return view is not None and not view.session.state.is_terminal

    def do_session_write(self) -> None:
        if self._deck.beginning.comes_too_early():
            return
        if not self._deck.composer.field.disabled:
            self._deck.places.go_to_composer()
        elif self._deck.view() is None:
            self._deck.console_app.say("No session to write to. Press n to start one.")
        else:
            self._deck.console_app.say(_ENDED)

    def back(self) -> bool:
        """Leave the text being written; False if there is none."""
        deck = self._deck
        begins, deck.beginning.begins = deck.beginning.begins, False
        if not (deck.approving.forget() or begins):
            return False
        deck.refresh_all()
        deck.places.go_to_transcript()
        return True

    def on_paste(self, event: Paste) -> None:
        """Show where a pasted text may go; open fields take theirs first."""
        if event.text.strip() and not isinstance(self._deck.focused, TextArea | Input):
            self._deck.console_app.say(
                "Nothing was pasted: press n first for a new session, i to write to this one."
            )

    def on_descendant_blur(self, event: DescendantBlur) -> None:
        if event.widget is self._deck.composer.field:
            # Under typing hands it kept what was begun; the next key is not for that.
            self._deck.refresh_all()

    # --- what it is for ----------

    def aim(self, view: SessionView | None, asked: list[Question]) -> None:
        """Show the purpose of the composer's text, without changing it during typing."""
        composer, beginning = self._deck.composer, self._deck.beginning
        composer.earlier = beginning.earlier_goals
        for controller in self._deck.controllers:
            if (asked_for := controller.purpose()) is not None:
                if controller is beginning:
                    self._offer_devices()
                composer.aim(*asked_for)
                return
        hint = ""
        if view is None or view.session.state.is_terminal:
            wanted = Purpose(Mode.NONE, view.session.session_id if view else "")
            if view is not None:
                hint = _ENDED_HINT
        elif asked:
            wanted = Purpose(Mode.ANSWER, self._deck.answering.subject_of(asked[0]))
        elif view.session.turn_id:
            wanted = Purpose(Mode.STEER, view.session.session_id)
        else:
            wanted = Purpose(Mode.PROMPT, view.session.session_id)
        typing = composer.field.has_focus
        subjects = {self._deck.selected, *map(self._deck.answering.subject_of, asked)}
        changes = wanted != composer.purpose and composer.purpose.subject in subjects
        too_soon = wanted.mode is Mode.ANSWER and not self._deck.card.is_ready
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
        """Switch between a goal and a draft for one app."""
        self._deck.beginning.switch()

    def _offer_devices(self) -> None:
        state = self._deck.console_app.bridge.state
        online = [d for d in state.devices.values() if d.state is DeviceState.ONLINE]
        online.sort(key=lambda device: (bool(device.driver), device.serial))
        choices = [("", "any free device"), *self._marking.choices()]
        for device in online:
            busy = " (busy)" if device.driver else ""
            choices.append((device.serial, f"{device_name(device.serial, state.devices)}{busy}"))
        composer = self._deck.composer
        composer.offer(choices)
        composer.handles = lambda word: completions(
            word, state.devices, self._deck.console_app.tool_servers
        )

    # --- what was written ----------

    def on_composer_sent(self, event: Composer.Sent) -> None:
        deck, mode = self._deck, event.purpose.mode
        if any(controller.sent(event) for controller in deck.controllers):
            deck.refresh_all()
            deck.panes.go_to("left", deck.sessions)
            return
        if not event.text and mode not in {Mode.REASON, Mode.NOTE}:
            return
        self._send(event)
        deck.refresh_all()
        if not (mode is Mode.ANSWER and deck.places.is_at_card):
            deck.places.go_to_transcript()

    def _send(self, event: Composer.Sent) -> None:
        deck, text, (mode, subject) = self._deck, event.text, event.purpose
        match mode:
            case Mode.NEW:
                deck.beginning.begins = False
                if event.choice == EACH_PHONE:
                    self._marking.begin_on_each(text, lambda: token_hex(8))
                else:
                    deck.beginning.begin(text, event.choice)
            case Mode.DRAFT:
                deck.beginning.begins = False
                deck.beginning.draft(text, event.choice)
            case Mode.MODIFY:
                deck.approving.answer_instead(subject, text)
            case Mode.ANSWER:
                deck.answering.answer_subject(subject, text)
            case Mode.REASON:
                deck.approving.reject(subject, text)
            case Mode.NOTE:
                deck.following.forget()
                deck.wheel.hand_back(text)
            case Mode.NEXT | Mode.EDIT:
                deck.following.send(event)
            case Mode.PROMPT | Mode.STEER:
                view = deck.view()
                drafted = view is not None and view.session.state is SessionState.CREATED
                if drafted and deck.selected == subject:
                    deck.console_app.request(SessionStart(session_id=subject, prompt=text))
                else:
                    deck.console_app.request(UserInput(session_id=subject, text=text))
            case Mode.NONE | Mode.EACH | Mode.FOLLOW_UP | Mode.TAG | Mode.RENAME:
                pass
