"""What else the Deck does with an approval: for the session, with something else instead, by hand.

Beside approving once and rejecting (`deck_questions`). Invariants: what holds for longer than once
takes two acts on the card itself; an answer goes to the question whose card was read.
"""

from __future__ import annotations

import json

from agent.protocol import UserInputAnswer
from agent.records import Question, QuestionKind
from agent.state.reducer import StepItem
from agent.text import one_line
from console.screens.deck.deck_questions import DENY, DeckQuestions
from widgets.questions.composer import Composer, Mode, Purpose

_TYPES = "type_text"


class DeckApprovals(DeckQuestions):
    """The Deck's other ways with an approval."""

    modifies: Question | None = None
    """The approval that the composer asks an instead for."""

    def can_approve(self, action_id: str) -> bool:
        """Return whether an action of this part can be done now."""
        asked = self.approval_meant()
        if asked is None:
            return False
        return action_id != "question.session" or _is_grantable(asked)

    def do_question_session(self) -> None:
        """Approve an effect for a recipient, for the rest of the session, at the second press."""
        asked = self.show_approval()
        if asked is None:
            self.console_app.say("Nothing to approve.")
            return
        if not _is_grantable(asked):
            self.console_app.say("This can be approved once only: press a.")
            return
        card = self.deck.card
        element = asked.subject.element if asked.subject else None
        label = one_line(element.label, 60) if element else ""
        key = self.key_of("question.session")
        effect = asked.subject.effect if asked.subject else None
        to = effect.recipient if effect is not None else None
        whom = f" to {one_line(to.text, 60)}" if to is not None and to.text else ""
        sentence = f"{key} again approves “{label}”{whom} for the rest of this session"
        ready = self.deck.focused is card and card.is_ready
        self.deck.go_to("middle", card)
        if not self.console_app.two_acts.confirm("question.session", asked.question_id, sentence):
            return
        if ready:
            from agent.safety.approval import FOR_SESSION

            self.console_app.request(
                UserInputAnswer(question_id=asked.question_id, answer=FOR_SESSION)
            )

    def do_question_modify(self) -> None:
        """Write what should be done instead of what the card asks."""
        asked = self.show_approval()
        if asked is None:
            return
        self.modifies = asked
        self.refresh_all()
        field = self.deck.composer.field
        self.deck.go_to("middle", field)
        typed = self._typed_text(asked)
        if typed and not field.text:
            field.text = typed
            field.move_cursor(field.document.end)

    def _typed_text(self, asked: Question) -> str:
        """Return the text that the approval would have typed, to be changed."""
        view = self.deck.view()
        if view is None or asked.subject is None or asked.subject.action != _TYPES:
            return ""
        for item in reversed(view.transcript.items):
            for action in item.actions if isinstance(item, StepItem) else ():
                if action.call_id == asked.call_id:
                    return _text_of(action.arguments)
        return ""

    def do_question_wheel(self) -> None:
        """Take the wheel of the phone that the card is about."""
        if not self.wheel_of:
            self.do_wheel_take()

    def aim_modify(self, asked: list[Question]) -> bool:
        """Turn the composer to the instead; False when none is asked for."""
        if self.modifies is None or self.modifies not in asked:
            self.modifies = None
            return False
        self.deck.composer.aim(Purpose(Mode.MODIFY, self.modifies.question_id))
        return True

    def send_modified(self, event: Composer.Sent) -> None:
        """Answer with what should be done instead."""
        asked, self.modifies = self.modifies, None
        types = asked is not None and asked.subject is not None and asked.subject.action == _TYPES
        lead = "Approve with: " if types else f"{DENY}: instead, "
        self.console_app.request(
            UserInputAnswer(question_id=event.purpose.subject, answer=lead + event.text)
        )

    def card_keys(self, asked: Question) -> list[tuple[str, str]]:
        keys = super().card_keys(asked)
        if asked.kind is QuestionKind.APPROVAL:
            more = [
                (self.key_of("question.modify"), "instead"),
                (self.key_of("question.wheel"), "take the wheel"),
            ]
            if _is_grantable(asked):
                more.insert(0, (self.key_of("question.session"), "for this session"))
            keys[3:3] = more
        return keys


def _is_grantable(asked: Question) -> bool:
    # The words of the policy are not read before there is something to approve.
    from agent.safety.granting import grantable

    return grantable(asked.subject)


def _text_of(arguments: str) -> str:
    try:
        given = json.loads(arguments)
    except ValueError:
        return ""
    text = given.get("text", "") if isinstance(given, dict) else ""
    return text if isinstance(text, str) else ""
