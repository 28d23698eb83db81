"""Control the Deck's composer: its purpose, and where its text goes.

Invariants: a text keeps the address that it was begun for until it is sent or given up; one that
cannot be delivered stays in the field, which says why.
"""

from secrets import token_hex
from typing import TYPE_CHECKING, NamedTuple

from textual.events import DescendantBlur, Paste
from textual.widgets import Input, TextArea

from agent.errors import SwitchboardError
from agent.protocol import Op, SessionStart, UserInput
from agent.records import DeviceState, Question, QuestionKind, SessionState
from agent.state.reducer import SessionView
from agent.text import counted, one_line
from console.input.delivery import Address, why_undeliverable
from console.keys.controllers import Controller
from console.palette.handles import Placed, completions
from console.screens.deck.marking import EACH_PHONE, MarkController, phones_of
from widgets.base.formatting import quoted
from widgets.base.rows import Parts
from widgets.lists.session_rows import device_name, session_title
from widgets.questions.composer import Composer, Mode, Purpose

if TYPE_CHECKING:
    from console.screens.deck.places import BaseDeck

_WORDS_REFUSE = '"yes" approves; anything else is a reason to reject'
_ENDED = "Ended. Press p twice to resume it, or n for a new session."
_READ_ONLY = "Read-only: nothing is sent from here"
_ENDED_HINT = "Ended. p twice to resume, n for a new session"
"""So short that it is whole at 80 columns."""


class _Returned(NamedTuple):
    """A text that came back, why, and whether it can be sent again."""

    address: Address
    why: str
    is_final: bool


class ComposerController(Controller):
    """The Deck's composer.

    Args:
        deck: whose it is; its controllers may claim the text first.
        marking: starts a goal on several phones.
    """

    def __init__(self, deck: "BaseDeck", marking: MarkController) -> None:
        self._deck = deck
        self._marking = marking
        self._held: Address | None = None
        """What the field was entered for, while the hands are in it."""
        self._returned: _Returned | None = None
        """What is shown in the field until it is closed, though the hands may be elsewhere."""

    def can(self, action_id: str) -> bool:
        if self._deck.beginning.awaits(action_id):
            # What was begun is not there yet: its own sentence says what the key does.
            return True
        view = self._deck.view()
        return view is not None and not view.session.state.is_terminal

    def do_session_write(self) -> None:
        if self._deck.beginning.comes_too_early():
            return
        self.open()
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

    def open(self) -> None:
        """Aim the field at what is meant now; entered, it holds that."""
        self._held = self._returned = None
        self._aim_anew(self._deck.view(), self._deck.answering.open_questions())
        self._held = Address(self._deck.composer.purpose, self._deck.selected)

    def aim(self, view: SessionView | None, asked: list[Question]) -> None:
        """Show what the composer's text is for; a text that was begun keeps its address."""
        composer = self._deck.composer
        if self._deck.console_app.only_looks:
            composer.aim(Purpose(Mode.NONE, "read-only"), hint=_READ_ONLY)
            return
        composer.earlier = self._deck.beginning.earlier_goals
        if self._deck.focused is composer.field:
            self._hold(bool(asked))
            return
        left, self._held = self._held, None
        if left is not None and composer.text.strip() and (why := self._why_not(left)):
            self._returned = _Returned(left, why, is_final=True)
        if self._returned is None:
            self._aim_anew(view, asked)
        else:
            self._show_returned(self._returned)

    def _hold(self, is_asked: bool) -> None:
        """Show the address of the text under the operator's hands, and whether it still counts."""
        composer, held, back = self._deck.composer, self._held, self._returned
        if held is None or held.purpose != composer.purpose:
            is_back = back is not None and back.address.purpose == composer.purpose
            held = back.address if back and is_back else self._address(composer.purpose)
            self._held = held
        if why := self._why_not(held):
            composer.aim(held.purpose, undeliverable=why)
            return
        about = composer.about
        for controller in self._deck.controllers:
            wanted = controller.purpose()
            if wanted is not None and wanted[0] == held.purpose:
                about = wanted[1]
        if held.purpose.mode in {Mode.NEW, Mode.DRAFT}:
            self._offer_devices()
            about = self._placing(composer.text, composer.choice)
        elif held.purpose.mode in {Mode.STEER, Mode.PROMPT}:
            about = (("  a question waits above", "$ask"),) if is_asked else ()
        composer.aim(held.purpose, about)

    def _show_returned(self, back: _Returned) -> None:
        purpose = back.address.purpose
        if why := self._why_not(back.address):
            self._deck.composer.aim(purpose, undeliverable=why)
        else:
            self._deck.composer.aim(purpose, ((f"  not sent: {back.why}", "$bad"),))

    def _address(self, purpose: Purpose) -> Address:
        return Address(purpose, self._deck.selected)

    def _why_not(self, address: Address) -> str:
        """Return why a text cannot be delivered; empty while it can."""
        back = self._returned
        if back is not None and back.is_final and back.address == address:
            return back.why
        state = self._deck.console_app.bridge.state
        why = why_undeliverable(address, state, driven=self._deck.wheel.serial)
        return why or self._marking.why_not(address.purpose)

    def returned(self, address: Address, text: str, why: str, *, is_final: bool = False) -> None:
        """Show a refused text in its field again, unless something else is written there.

        Args:
            address: what it was written for.
            text: what was written.
            why: the reason, where the view state has none.
            is_final: whether sending it again would be refused again.
        """
        composer = self._deck.composer
        if self._deck.focused is composer.field:
            composer.put_by(text)
            return
        self._returned = _Returned(address, why, is_final)
        self._show_returned(self._returned)
        composer.give_back(address.purpose, text)
        self._deck.refresh_all()

    def close_undeliverable(self) -> bool:
        """Close a text that came back or cannot be delivered; False if none is shown."""
        composer = self._deck.composer
        if not composer.undeliverable and self._returned is None:
            return False
        composer.close()
        self.on_composer_closed()
        return True

    def on_composer_closed(self) -> None:
        """Put away what asked for the text that was closed."""
        deck, was_in_field = self._deck, self._deck.focused is self._deck.composer.field
        self._held = self._returned = None
        deck.approving.forget()
        deck.following.forget()
        self._marking.forget()
        if was_in_field:
            deck.places.go_to_transcript()
        deck.refresh_all()

    def _aim_anew(self, view: SessionView | None, asked: list[Question]) -> None:
        composer, beginning = self._deck.composer, self._deck.beginning
        for controller in self._deck.controllers:
            if (asked_for := controller.purpose()) is not None:
                if controller is beginning:
                    self._offer_devices()
                composer.aim(*asked_for)
                return
        hint = ""
        answers = bool(asked) and (self._deck.card.is_ready or self._deck.places.is_at_card)
        if view is None or view.session.state.is_terminal:
            wanted = Purpose(Mode.NONE, view.session.session_id if view else "")
            if view is not None:
                hint = _ENDED_HINT
        elif answers:
            wanted = Purpose(Mode.ANSWER, self._deck.answering.subject_of(asked[0]))
        elif view.session.turn_id:
            wanted = Purpose(Mode.STEER, view.session.session_id)
        else:
            wanted = Purpose(Mode.PROMPT, view.session.session_id)
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
        if composer.choice not in dict(choices):
            # What was chosen stays chosen, though it has gone meanwhile.
            choices.append((composer.choice, self._name_of_gone(composer.choice)))
        composer.offer(choices)
        composer.handles = lambda word: completions(
            word, state.devices, self._deck.console_app.tool_servers
        )

    def on_text_area_changed(self) -> None:
        composer = self._deck.composer
        if composer.purpose.mode is Mode.NEW and not composer.undeliverable:
            about = self._placing(composer.text, composer.choice)
            composer.aim(composer.purpose, about)

    def _placing(self, text: str, choice: str) -> Parts:
        """Return on which phones a goal will be pursued, and which of them it waits for."""
        state = self._deck.console_app.bridge.state
        named = Placed(text, state.devices).serials if "@" in text or "#" in text else ()
        self._deck.composer.names_phones = bool(named)
        chosen = phones_of(choice) if choice.startswith(EACH_PHONE) else (choice,)
        serials = [one for one in named or chosen if one in state.devices]
        about: list[tuple[str, str]] = []
        if named:
            names = ", ".join(device_name(one, state.devices) for one in named)
            each = "  on each of " if len(named) > 1 else "  on "
            about.append((f"{each}{names}", "$foreground"))
        for serial in serials:
            if driver := state.devices[serial].driver:
                view = state.sessions.get(driver)
                doing = quoted(session_title(view.session), 40) if view else one_line(driver, 40)
                name = device_name(serial, state.devices)
                about.append((f"  {name} is busy with {doing}: the goal waits for it", "$warn"))
        return tuple(about)

    def _name_of_gone(self, choice: str) -> str:
        if choice.startswith(EACH_PHONE):
            return f"the {counted(len(phones_of(choice)), 'phone')} of sessions marked before"
        devices = self._deck.console_app.bridge.state.devices
        return f"{device_name(choice, devices)} (offline)"

    # --- what was written ----------

    def on_composer_sent(self, event: Composer.Sent) -> None:
        deck, mode = self._deck, event.purpose.mode
        if any(controller.sent(event) for controller in deck.controllers):
            deck.refresh_all()
            deck.panes.go_to("left", deck.sessions)
            return
        if not event.text and mode not in {Mode.REASON, Mode.NOTE}:
            return
        held = self._held
        is_held = held is not None and held.purpose == event.purpose
        self._send(event, held if held and is_held else self._address(event.purpose))
        self._returned = None
        deck.refresh_all()
        if not (mode is Mode.ANSWER and deck.places.is_at_card):
            deck.places.go_to_transcript()

    def _send(self, event: Composer.Sent, address: Address) -> None:
        deck, text, (mode, subject) = self._deck, event.text, event.purpose

        def refused(error: SwitchboardError) -> None:
            self.returned(address, text, str(error))

        match mode:
            case Mode.NEW:
                deck.beginning.begins = False
                placed = Placed(text, deck.console_app.bridge.state.devices)
                if len(placed.serials) > 1 and placed.goal:
                    self._marking.begin_on_each(placed.goal, placed.serials, lambda: token_hex(8))
                elif event.choice.startswith(EACH_PHONE):
                    phones = phones_of(event.choice)
                    self._marking.begin_on_each(text, phones, lambda: token_hex(8))
                else:
                    deck.beginning.begin(text, event.choice)
            case Mode.DRAFT:
                deck.beginning.begins = False
                deck.beginning.draft(text, event.choice)
            case Mode.MODIFY:
                deck.approving.answer_instead(subject, text, refused)
            case Mode.ANSWER:
                deck.answering.answer_subject(subject, text, refused)
            case Mode.REASON:
                deck.approving.reject(subject, text, refused)
            case Mode.NOTE:
                deck.following.forget()
                if deck.wheel.serial == subject:
                    deck.wheel.hand_back(text)
                else:
                    self.returned(address, text, "You no longer drive it.", is_final=True)
            case Mode.NEXT | Mode.EDIT:
                deck.following.send(event)
            case Mode.PROMPT | Mode.STEER:
                view = deck.console_app.bridge.state.sessions.get(subject)
                if view is not None and view.session.state is SessionState.CREATED:
                    op: Op = SessionStart(session_id=subject, prompt=text)
                else:
                    op = UserInput(session_id=subject, text=text, steers=mode is Mode.STEER)
                deck.console_app.request(op, refused=refused)
            case Mode.NONE | Mode.EACH | Mode.FOLLOW_UP | Mode.TAG | Mode.RENAME:
                pass
