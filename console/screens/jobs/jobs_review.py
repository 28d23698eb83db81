"""The review of a job on the Jobs screen: the card of the action that waits, and the answer to it.

Not the Deck's cards, which are of a session. Invariants: the card is that of the job under the
cursor; approving takes a look at the card first; an answer is given once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.protocol import UserInputAnswer
from agent.records import Commitment, Job, JobStatus, Question, Watcher
from agent.text import one_line
from widgets.lists.job_words import asked
from widgets.lists.session_rows import phone_asked_about
from widgets.questions.question_card import QuestionCard

if TYPE_CHECKING:
    from console.app import SwitchboardApp

APPROVE = "job.review"


class JobReview:
    """What the Jobs screen asks for a job.

    Args:
        app: where questions come from and answers go.
        card: shows the question.
    """

    def __init__(self, app: SwitchboardApp, card: QuestionCard) -> None:
        self._app = app
        self._card = card
        self._known_s: dict[str, float] = {}

    def question(self, record: Job | Watcher | Commitment | None) -> Question | None:
        """Return the open question of a job that waits for its review; None for any other."""
        if not isinstance(record, Job) or record.status is not JobStatus.AWAITING_REVIEW:
            return None
        wanted = asked(record)
        for one in self._app.bridge.state.questions.values():
            is_its = one.review is not None and one.review.job_id == record.id
            in_session = wanted is not None and one.session_id == wanted.session_id
            if (is_its or in_session) and not self._app.pending.is_answered(one.question_id):
                return one
        return None

    def show(self, record: Job | Watcher | Commitment | None, now_ms: int) -> bool:
        """Show the card of a job, or none; returns whether one that had the focus went."""
        before, had_focus = self._card.question, self._card.has_focus
        question = self.question(record)
        now_s = self._card.clock_s()
        known_s = None
        if question is not None:
            known_s = self._known_s.setdefault(question.question_id, now_s)
        phone = phone_asked_about(question, self._app.bridge.state.devices)
        self._card.show_question(question, now_ms=now_ms, known_s=known_s, phone=phone)
        is_same = (
            before is not None
            and question is not None
            and before.question_id == question.question_id
        )
        return had_focus and not is_same

    def approve(self, key: str) -> bool:
        """Approve what the card shows at the second press; returns whether the card is wanted."""
        question = self._card.question
        if question is None:
            return False
        if not self._card.has_focus or not self._card.is_ready:
            armed = self._app.two_acts
            armed.disarm()
            matter = one_line(question.text, 200)
            armed.confirm(APPROVE, question.question_id, f"{key} again approves: {matter}")
            return True
        self.answer(question, question.options[0].label if question.options else "Approve")
        return False

    def answer(self, question: Question, answer: str) -> None:
        """Send an answer, once."""
        if not self._app.pending.is_answered(question.question_id):
            self._app.request(UserInputAnswer(question_id=question.question_id, answer=answer))
