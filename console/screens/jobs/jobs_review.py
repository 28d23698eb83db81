"""The review of a job on the Jobs screen: the card of the action that waits, and the answer to it.

Not the Deck's cards, which are of a session. Invariants: the card is that of the job under the
cursor; approving takes a look at the card first; an answer is given once.
"""

from typing import TYPE_CHECKING

from agent.protocol import UserInputAnswer
from agent.records import Commitment, Job, JobStatus, Question, Watcher
from agent.text import one_line
from console.keys.controllers import Controller
from console.screens.jobs.jobs_browsing import JobBrowser
from widgets.lists.job_words import pending_review
from widgets.lists.session_rows import phone_asked_about
from widgets.questions.question_card import QuestionCard

if TYPE_CHECKING:
    from console.base_app import ConsoleApp
    from console.screens.jobs.context import BaseJobs

APPROVE = "job.review"


class JobReview(Controller):
    """What the Jobs screen asks for a job.

    Args:
        screen: where it is asked.
        browsing: has the record under the cursor.
    """

    def __init__(self, screen: "BaseJobs", browsing: JobBrowser) -> None:
        self._screen = screen
        self._browsing = browsing
        self._known_s: dict[str, float] = {}

    @property
    def _app(self) -> "ConsoleApp":
        return self._screen.console_app

    @property
    def _card(self) -> QuestionCard:
        return self._screen.query_one("#job-card", QuestionCard)

    def can(self, action_id: str) -> bool:
        return self._question(self._browsing.record) is not None

    def _question(self, record: Job | Watcher | Commitment | None) -> Question | None:
        """Return the open question of a job that waits for its review; None for any other."""
        if not isinstance(record, Job) or record.status is not JobStatus.AWAITING_REVIEW:
            return None
        wanted = pending_review(record)
        for one in self._app.bridge.state.questions.values():
            is_its = one.review is not None and one.review.job_id == record.id
            in_session = wanted is not None and one.session_id == wanted.session_id
            if (is_its or in_session) and not self._app.pending.is_answered(one.question_id):
                return one
        return None

    def show(self, record: Job | Watcher | Commitment | None, now_ms: int) -> bool:
        """Show the card of a job, or none; returns whether one that had the focus went."""
        before, had_focus = self._card.question, self._card.has_focus
        question = self._question(record)
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

    def do_job_review(self) -> None:
        """Go to the card of the job's review; approve it at the second press."""
        question, card = self._card.question, self._card
        if question is None:
            return
        if card.has_focus and card.is_ready:
            self._answer(question, question.options[0].label if question.options else "Approve")
            return
        armed, key = self._app.two_presses, self._screen.key_of(APPROVE)
        armed.disarm()
        matter = one_line(question.text, 200)
        armed.confirm(APPROVE, question.question_id, f"{key} again approves: {matter}")
        self._screen.focus_now(card)

    def on_question_card_chosen(self, event: QuestionCard.Chosen) -> None:
        """Answer the review with an option."""
        self._answer(event.question, event.answer)

    def on_question_card_write(self, _event: QuestionCard.Write) -> None:
        """Show where a reason is written."""
        key = self._screen.key_of("question.next")
        self._app.say(f"Press 2 to reject. To write a reason, answer on the Deck: {key}.")

    def _answer(self, question: Question, answer: str) -> None:
        """Send an answer, once."""
        if not self._app.pending.is_answered(question.question_id):
            self._app.request(UserInputAnswer(question_id=question.question_id, answer=answer))
