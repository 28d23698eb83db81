"""Control the Deck's approvals: once, for the session, reject, modify, take over by hand.

Invariants: an answer goes to the question whose card was read; approving for longer than once takes
two presses on the card itself.
"""

import json

from agent.protocol import UserInputAnswer
from agent.records import Question, QuestionKind
from agent.state.reducer import StepItem
from agent.text import one_line
from console.keys.controllers import Controller
from console.screens.deck.answering import QuestionController
from console.screens.deck.context import DeckContext
from console.screens.device.wheel import WheelController
from console.screens.op_sender import Refused
from widgets.attention.attention_rows import ASKING
from widgets.base.formatting import quoted
from widgets.base.rows import Parts
from widgets.questions.composer import Mode, Purpose

DENY = "Deny"
_TYPES = "type_text"


class ApprovalController(Controller):
    """The Deck's approvals.

    Args:
        deck: where they are shown.
        answering: answers questions.
        wheel: takes over by hand.
    """

    def __init__(
        self, deck: DeckContext, answering: QuestionController, wheel: WheelController
    ) -> None:
        self._deck = deck
        self._answering = answering
        self._wheel = wheel
        self._rejects: Question | None = None
        """The approval that the composer asks a reason against."""
        self._modifies: Question | None = None
        """The approval that the composer asks an instead for."""

    def can(self, action_id: str) -> bool:
        asked = self._current_approval()
        if asked is None:
            return False
        return action_id != "question.session" or _is_grantable(asked)

    def _current_approval(self) -> Question | None:
        """Return the approval that a and r apply to: the queue's row, else the session's oldest."""
        asked: Question | None = next(iter(self._deck.open_questions()), None)
        if self._deck.is_in_queue:
            one = self._deck.pointed_waiting
            asked = one.question if one is not None else None
        return asked if asked is not None and asked.kind is QuestionKind.APPROVAL else None

    def _show(self) -> Question | None:
        """Show the approval's card, and return the card's question."""
        wanted = self._current_approval()
        if wanted is None:
            return None
        if wanted.session_id != self._deck.selected:
            self._deck.select(wanted.session_id)
            self._deck.refresh_all()
        asked = self._deck.shown_question
        return asked if asked is not None and asked.kind is QuestionKind.APPROVAL else None

    def _readable(self) -> Question | None:
        """Show the approval's card; return its question, if there was time to see it."""
        asked = self._show()
        if asked is not None and not self._deck.is_card_ready:
            self._deck.ops.say("This was asked just now: read it, then press the key again.")
            return None
        return asked

    # --- keys ----------

    def do_question_approve(self) -> None:
        """Approve once: at once from the card, else at the second press."""
        asked = self._show()
        if asked is None:
            return
        if not (self._deck.is_at_card and self._deck.is_card_ready):
            # Approving takes a look first, and says what it would approve.
            self._deck.go_to_card()
            matter = one_line(asked.shown, 200).removeprefix(ASKING).strip()
            armed = self._deck.ops.two_presses
            armed.disarm()
            sentence = f"Press {self._deck.key_of('question.approve')} again to approve: {matter}"
            armed.confirm("question.approve", asked.question_id, sentence)
            return
        answer = asked.options[0].label if asked.options else "Approve"
        self._answering.answer(asked, answer)

    def do_question_reject(self) -> None:
        """Write a reason; enter rejects, with or without one."""
        asked = self._readable()
        if asked is None:
            return
        self._rejects = asked
        self._deck.refresh_all()
        self._deck.go_to_composer()

    def do_question_session(self) -> None:
        """Approve an effect for a recipient for the rest of the session, at the second press."""
        asked = self._show()
        if asked is None:
            self._deck.ops.say("Nothing to approve.")
            return
        if not _is_grantable(asked):
            self._deck.ops.say("This can be approved once only: press a.")
            return
        element = asked.subject.element if asked.subject else None
        label = one_line(element.label, 60) if element else ""
        key = self._deck.key_of("question.session")
        effect = asked.subject.effect if asked.subject else None
        to = effect.recipient if effect is not None else None
        whom = f" to {one_line(to.text, 60)}" if to is not None and to.text else ""
        long = "until this run ends" if asked.review else "for the rest of this session"
        sentence = f"{key} again approves {quoted(label, 60)}{whom} {long}"
        ready = self._deck.is_at_card and self._deck.is_card_ready
        self._deck.go_to_card()
        armed = self._deck.ops.two_presses
        if armed.confirm("question.session", asked.question_id, sentence) and ready:
            from agent.safety.approval import FOR_RUN, FOR_SESSION

            answer = FOR_RUN if asked.review else FOR_SESSION
            self._deck.ops.request(UserInputAnswer(question_id=asked.question_id, answer=answer))

    def do_question_modify(self) -> None:
        """Write an alternative to what the card asks."""
        asked = self._readable()
        if asked is None:
            return
        self._modifies = asked
        self._deck.refresh_all()
        self._deck.go_to_composer()
        if typed := self._typed_text(asked):
            self._deck.write(typed)

    def _typed_text(self, asked: Question) -> str:
        """Return the text that the approval would type, for editing."""
        view = self._deck.view()
        if view is None or asked.subject is None or asked.subject.action != _TYPES:
            return ""
        for item in reversed(view.transcript.items):
            for action in item.actions if isinstance(item, StepItem) else ():
                if action.call_id == asked.call_id:
                    return _text_of(action.arguments)
        return ""

    def do_question_wheel(self) -> None:
        """Take the wheel of the phone that the card is about."""
        if not self._wheel.serial:
            self._wheel.do_wheel_take()

    # --- the composer ----------

    def purpose(self) -> tuple[Purpose, Parts] | None:
        # By id: one of several people may have approved it meanwhile, and it is still asked.
        asked = {one.question_id for one in self._deck.open_questions()}
        if self._rejects is not None and self._rejects.question_id in asked:
            return Purpose(Mode.REASON, self._rejects.question_id), ()
        self._rejects = None
        if self._modifies is not None and self._modifies.question_id in asked:
            return Purpose(Mode.MODIFY, self._modifies.question_id), ()
        self._modifies = None
        return None

    def ask_no_reason(self) -> None:
        """Close the prompt for a rejection's reason."""
        self._rejects = None

    def forget(self) -> bool:
        """Close the composer's prompt; False if there was none."""
        asked = self._rejects is not None or self._modifies is not None
        self._rejects = self._modifies = None
        return asked

    def reject(self, question_id: str, reason: str, refused: Refused | None = None) -> None:
        """Reject, with or without a reason."""
        self._rejects = None
        answer = f"{DENY}: {reason}" if reason else DENY
        op = UserInputAnswer(question_id=question_id, answer=answer)
        self._deck.ops.request(op, refused=refused)

    def answer_instead(self, question_id: str, text: str, refused: Refused | None = None) -> None:
        """Answer with another text to type, or reject and say what to do instead."""
        self._modifies = None
        asked = self._deck.state.questions.get(question_id)
        types = asked is not None and asked.subject is not None and asked.subject.action == _TYPES
        lead = "Approve with: " if types else f"{DENY}: instead, "
        op = UserInputAnswer(question_id=question_id, answer=lead + text)
        self._deck.ops.request(op, refused=refused)

    # --- the footer ----------

    def keys(self, asked: Question) -> list[tuple[str, str]]:
        """List the keys of a question's card for the footer."""
        key_of = self._deck.key_of
        digits = "123456789"[: len(asked.options)]
        keys = [(span(digits), "choose")] if digits else []
        if asked.kind is QuestionKind.APPROVAL:
            keys.append((key_of("question.approve"), "approve"))
            keys.append((key_of("question.reject"), "reject with a reason"))
        if self._answering.given_for(asked):
            keys.append(("backspace", "part before"))
        keys += [("enter", "answer in words"), (key_of("session.stop"), "stop")]
        keys += [(key_of("session.pause"), "pause"), (key_of("view.next_pane"), "next pane")]
        if asked.kind is QuestionKind.APPROVAL:
            more = [
                (key_of("question.modify"), "instead"),
                (key_of("question.wheel"), "take the wheel"),
            ]
            if _is_grantable(asked):
                long = "for this run" if asked.review else "for this session"
                more.insert(0, (key_of("question.session"), long))
            keys[3:3] = more
        return keys


def span(digits: str) -> str:
    """Return a range of digits as the footer shows it."""
    return digits if len(digits) == 1 else f"{digits[0]}-{digits[-1]}"


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
