"""What the Deck does with questions: goes to them, approves, rejects, answers part by part.

Invariants: an answer goes to the question whose card was read; what may be dangerous takes a look
first; the answers to several questions of one request are sent together.
"""

from __future__ import annotations

from msgspec.structs import replace

from agent.protocol import CommitmentUpdate, UserInputAnswer, WatcherRead
from agent.records import CommitmentStatus, Question, QuestionKind
from agent.state import Attention, AttentionKind
from agent.text import one_line
from console.screens.deck_follow import DeckFollow
from widgets.attention_list import AttentionList
from widgets.question_card import QuestionCard

DENY = "Deny"
_ASKING = "May I do this?"


class DeckQuestions(DeckFollow):
    """The Deck's questions."""

    rejects: Question | None = None
    """The approval that the composer asks a reason against."""

    def __init__(self) -> None:
        super().__init__()
        self._given: dict[str, dict[str, tuple[str, ...]]] = {}

    def do_question_next(self) -> None:
        """Go to the oldest question."""
        for question in self.console_app.bridge.state.questions.values():
            self.deck.select(question.session_id)
            self.refresh_all()
            self.deck.go_to("middle", self.deck.card)
            return

    def open_waiting(self) -> None:
        """Go from the attention queue to the thing itself."""
        one = self.deck.attention.under_cursor
        if one is None:
            return
        if one.session_id:
            self.deck.select(one.session_id)
            self.refresh_all()
        if one.question is not None:
            self.deck.go_to("middle", self.deck.card)
        elif one.kind in (AttentionKind.WATCHER, AttentionKind.COMMITMENT):
            self.console_app.show_reminder(one)
        elif one.session_id:
            if not one.needs_person:
                # News is read by looking; a session that waits for its phone waits on.
                self.console_app.seen |= {one.key}
            self.deck.go_to("middle", self.deck.pane.transcript)

    def _dismissable(self) -> Attention | None:
        if self.deck.focused is not self.deck.attention:
            return None
        one = self.deck.attention.under_cursor
        return one if one is not None and not one.needs_person else None

    def do_question_dismiss(self) -> None:
        """Take the news under the cursor out of what waits."""
        one = self._dismissable()
        if one is None:
            return
        self.console_app.seen |= {one.key}
        if one.kind is AttentionKind.WATCHER:
            self.console_app.request(WatcherRead(watcher_id=one.number))
        elif one.kind is AttentionKind.COMMITMENT:
            op = CommitmentUpdate(commitment_id=one.number, status=CommitmentStatus.DISMISSED)
            self.console_app.request(op, done="Dismissed. It is on the Jobs screen still.")
        self.refresh_all()

    def approval_meant(self) -> Question | None:
        """Give the approval that a and r are about: the queue's row, else the session's oldest."""
        asked: Question | None = next(iter(self.deck.open_questions()), None)
        if self.deck.focused is self.deck.attention:
            one = self.deck.attention.under_cursor
            asked = one.question if one is not None else None
        return asked if asked is not None and asked.kind is QuestionKind.APPROVAL else None

    def show_approval(self) -> Question | None:
        """Show the card of that approval, and give what the card asks."""
        wanted = self.approval_meant()
        if wanted is None:
            return None
        if wanted.session_id != self.deck.selected:
            self.deck.select(wanted.session_id)
            self.refresh_all()
        asked = self.deck.card.question
        return asked if asked is not None and asked.kind is QuestionKind.APPROVAL else None

    def do_question_approve(self) -> None:
        """Approve once what the card shows: at once from the card, else at the second press."""
        asked = self.show_approval()
        if asked is None:
            return
        card = self.deck.card
        if self.deck.focused is not card or not card.is_ready:
            # Approving takes a look first, and says what it would approve.
            self.deck.go_to("middle", card)
            matter = one_line(asked.text, 200).removeprefix(_ASKING).strip()
            armed = self.console_app.two_acts
            armed.disarm()
            sentence = f"Press {self.key_of('question.approve')} again to approve: {matter}"
            armed.confirm("question.approve", asked.question_id, sentence)
            return
        answer = asked.options[0].label if asked.options else "Approve"
        self._answer(asked, answer)

    def do_question_reject(self) -> None:
        """Write why not: enter rejects what the card shows, with or without a reason."""
        asked = self.show_approval()
        if asked is None:
            return
        self.rejects = asked
        self.refresh_all()
        self.deck.go_to("middle", self.deck.composer.field)

    # --- answers ----------

    def narrowed(self, question: Question) -> Question:
        """Give of several questions the first that is unanswered, as a question of its own."""
        if not question.parts:
            return question
        given = self._given.get(question.question_id, {})
        left = [part for part in question.parts if part.part_id not in given]
        part = left[0] if left else question.parts[-1]
        number = question.parts.index(part) + 1
        place = f"{number} of {len(question.parts)}" if len(question.parts) > 1 else ""
        return replace(
            question,
            text=part.text,
            header=" · ".join(filter(None, (place, part.header))),
            options=part.options,
            secret=part.secret,
            parts=(part,),
        )

    @staticmethod
    def subject_of(question: Question) -> str:
        """Name what an answer is about: the question, or one part of it."""
        part_id = question.parts[0].part_id if question.parts else ""
        return f"{question.question_id}/{part_id}" if part_id else question.question_id

    def answer_subject(self, subject: str, answer: str) -> None:
        """Answer a question; one part of several waits until the others are answered."""
        question_id, _, part_id = subject.partition("/")
        question = self.console_app.bridge.state.questions.get(question_id)
        if question is None or not part_id:
            self.console_app.request(UserInputAnswer(question_id=question_id, answer=answer))
            return
        given = self._given.setdefault(question_id, {})
        given[part_id] = (answer,)
        if any(part.part_id not in given for part in question.parts):
            self.refresh_all()
            self.deck.go_to("middle", self.deck.card)
            return
        del self._given[question_id]
        self.console_app.request(UserInputAnswer(question_id=question_id, answers=given))

    def _answer(self, question: Question, answer: str) -> None:
        self.answer_subject(self.subject_of(question), answer)

    def on_question_card_chosen(self, event: QuestionCard.Chosen) -> None:
        self._answer(event.question, event.answer)

    def on_question_card_write(self, _event: QuestionCard.Write) -> None:
        self.deck.go_to("middle", self.deck.composer.field)

    def on_attention_list_chosen(self, event: AttentionList.Chosen) -> None:
        if event.waiting.question is not None:
            self._answer(self.narrowed(event.waiting.question), event.answer)

    def card_keys(self, asked: Question) -> list[tuple[str, str]]:
        """List the keys of the card for the footer."""
        keys = [(f"1-{len(asked.options)}", "choose")] if asked.options else []
        if asked.kind is QuestionKind.APPROVAL:
            keys.append((self.key_of("question.approve"), "approve"))
            keys.append((self.key_of("question.reject"), "reject with a reason"))
        keys += [("enter", "answer in words"), (self.key_of("session.stop"), "stop")]
        keys += [
            (self.key_of("session.pause"), "pause"),
            (self.key_of("view.next_pane"), "next pane"),
        ]
        return keys
