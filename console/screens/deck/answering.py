"""Control the Deck's questions: go to them, and answer them part by part.

Invariants: an answer goes to the question whose card was read; a dangerous answer needs a look
first; the answers to all parts of a request are sent together.
"""

from collections.abc import Callable

from msgspec.structs import replace

from agent.protocol import UserInputAnswer
from agent.records import Question, QuestionKind, QuestionPart, Speaker
from agent.state.reducer import AttentionKind
from agent.text import one_line
from console.keys.controllers import Controller
from console.screens.deck.context import DeckContext
from console.screens.op_sender import Refused
from widgets.attention.attention_list import AttentionList
from widgets.attention.attention_rows import ASKING
from widgets.base import formatting
from widgets.lists.row_marks import Marks
from widgets.questions.question_card import Given, QuestionCard

HIDDEN = "•••"
"""What stands for a secret."""
_ON_JOBS = frozenset({AttentionKind.WATCHER, AttentionKind.COMMITMENT, AttentionKind.RESULT})
"""What is dealt with on the Jobs screen."""


class QuestionController(Controller):
    """The Deck's questions.

    Args:
        deck: where they are shown.
        marks: the sessions whose questions come first.
        answers_for_all: answers for all marked sessions; returns False if only one is meant.
    """

    def __init__(
        self, deck: DeckContext, marks: Marks, answers_for_all: Callable[[Question, str], bool]
    ) -> None:
        self._deck = deck
        self._marks = marks
        self._answers_for_all = answers_for_all
        self._given: dict[str, dict[str, tuple[str, ...]]] = {}
        self._gone_to: Question | None = None
        """The question whose card was gone to last."""

    def can(self, action_id: str) -> bool:
        return bool(self._deck.state.questions)

    def do_question_next(self) -> None:
        """Go to the oldest question; from an answered card, to the next question of another
        session. While sessions are marked, theirs come first.
        """
        oldest: dict[str, Question] = {}
        for question in self._waiting():
            oldest.setdefault(question.session_id, question)
        marked = self._marks.ids
        asking = [one for one in oldest if one in marked] or list(oldest)
        if not asking:
            return
        here = self._deck.shown_question if self._deck.is_at_card else None
        at = 0
        if here is not None and here.session_id in asking:
            at = asking.index(here.session_id) + 1
        elif self._gone_to is not None and self._gone_to not in self._asked_now():
            # It was answered; those before it were left for later.
            later = [one for one in asking if _order(oldest[one]) > _order(self._gone_to)]
            at = asking.index(later[0]) if later else 0
        self._gone_to = oldest[asking[at % len(asking)]]
        self._deck.select(self._gone_to.session_id)
        self._deck.refresh_all()
        self._deck.go_to_card()

    def _asked_now(self) -> list[Question]:
        """List the open questions without an answer in flight from this console."""
        pending = self._deck.ops.pending
        questions = self._deck.state.questions.values()
        return [one for one in questions if not pending.is_answered(one.question_id)]

    def open_questions(self) -> list[Question]:
        """List the open questions of the selected session, oldest first."""
        return [self.narrowed(q) for q in self._asked_now() if q.session_id == self._deck.selected]

    def _waiting(self) -> list[Question]:
        """List the open questions of all known sessions, oldest first."""
        state = self._deck.state
        asked = [q for q in self._asked_now() if q.session_id in state.sessions]
        return sorted(asked, key=_order)

    def open_waiting(self) -> None:
        """Open the item under the attention queue's cursor."""
        one = self._deck.pointed_waiting
        if one is None:
            return
        if one.session_id:
            self._deck.select(one.session_id)
            self._deck.refresh_all()
        if one.question is not None:
            self._deck.go_to_card()
        elif one.kind in _ON_JOBS:
            self._deck.ops.show_reminder(one)
        elif one.session_id:
            if not one.needs_person:
                # News is read by looking; a session that waits for its phone waits on.
                self._deck.ops.seen |= {one.key}
            self._deck.go_to_transcript()

    # --- answers ----------

    def narrowed(self, question: Question) -> Question:
        """Return the first unanswered part of a question as a separate question."""
        if not question.parts:
            return question
        given = self._given.get(question.question_id, {})
        left = [part for part in question.parts if part.part_id not in given]
        part = left[0] if left else question.parts[-1]
        number = question.parts.index(part) + 1
        place = f"{number} of {len(question.parts)}" if len(question.parts) > 1 else ""
        own = part.speaker is Speaker.PRODUCT
        return replace(
            question,
            text=part.text if own else ": ".join(filter(None, (part.header, part.text))),
            header=" · ".join(filter(None, (place, part.header if own else ""))),
            speaker=part.speaker,
            note="",
            options=part.options,
            secret=part.secret,
            parts=(part,),
        )

    @staticmethod
    def subject_of(question: Question) -> str:
        """Return the id that an answer is for: the question, or one part of it."""
        part_id = question.parts[0].part_id if question.parts else ""
        return f"{question.question_id}/{part_id}" if part_id else question.question_id

    def given_for(self, question: Question) -> Given:
        """List the unsent answers to the other parts of a question."""
        whole = self._deck.state.questions.get(question.question_id, question)
        given = self._given.get(question.question_id, {})
        return tuple(
            (part.header or part.text, HIDDEN if part.secret else " ".join(given[part.part_id]))
            for part in whole.parts
            if part.part_id in given
        )

    def answer_subject(self, subject: str, answer: str, refused: Refused | None = None) -> None:
        """Answer a question; one part of several waits until the others are answered."""
        question_id, _, part_id = subject.partition("/")
        if self._deck.ops.pending.is_answered(question_id):
            return
        question = self._deck.state.questions.get(question_id)
        if question is not None:
            part = next((one for one in question.parts if one.part_id == part_id), None)
            answer = _option_meant(question if part is None else part, answer)
        if question is not None and self._answers_for_all(question, answer):
            self._deck.go_to_card()
            return
        if question is None or not part_id:
            op = UserInputAnswer(question_id=question_id, answer=answer)
            self._deck.ops.request(op, refused=refused)
            return
        given = self._given.setdefault(question_id, {})
        given[part_id] = (answer,)
        if any(part.part_id not in given for part in question.parts):
            self._deck.refresh_all()
            self._deck.go_to_card()
            return
        del self._given[question_id]
        op = UserInputAnswer(question_id=question_id, answers=given)
        self._deck.ops.request(op, refused=refused)

    def answer(self, question: Question, answer: str) -> None:
        """Answer a question, or its visible part."""
        self.answer_subject(self.subject_of(question), answer)

    def on_question_card_chosen(self, event: QuestionCard.Chosen) -> None:
        if not event.by_mouse or self._means_it(event.question, event.answer):
            self.answer(event.question, event.answer)

    def _means_it(self, asked: Question, answer: str) -> bool:
        """Return whether a click answers: an approval takes two, since one may be a slip."""
        if asked.kind is not QuestionKind.APPROVAL:
            return True
        word = one_line(formatting.answer_word(asked, answer), 40)
        matter = one_line(asked.text, 160).removeprefix(ASKING).strip()
        sentence = f"Click again for {formatting.quoted(word, 40)}: {matter}"
        subject = f"{asked.question_id}/{answer}"
        means = self._deck.ops.two_presses.confirm("question.click", subject, sentence)
        if not means:
            self._deck.show_footer()
        return means

    def on_question_card_write(self, _event: QuestionCard.Write) -> None:
        self._deck.go_to_composer()

    def on_question_card_back(self, _event: QuestionCard.Back) -> None:
        asked = self._deck.shown_question
        given = self._given.get(asked.question_id, {}) if asked is not None else {}
        if given:
            given.popitem()
            self._deck.refresh_all()

    def on_attention_list_chosen(self, event: AttentionList.Chosen) -> None:
        asked = event.waiting.question
        if asked is not None and (not event.by_mouse or self._means_it(asked, event.answer)):
            self.answer(self.narrowed(asked), event.answer)


def _order(question: Question) -> tuple[int, str]:
    """Return a question's sort key, oldest first."""
    return question.asked_ms, question.question_id


def _option_meant(asked: Question | QuestionPart, typed: str) -> str:
    """Read a typed number as the option with that number, if it can mean no other.

    Not for approvals, which a slip must not give, nor where options are numbers.
    """
    labels = [option.label for option in asked.options]
    approves = isinstance(asked, Question) and asked.kind is QuestionKind.APPROVAL
    number = typed.strip()
    if approves or asked.secret or any(label.strip().isdecimal() for label in labels):
        return typed
    is_named = number.isascii() and number.isdecimal() and 1 <= int(number) <= len(labels)
    return labels[int(number) - 1] if is_named else typed
