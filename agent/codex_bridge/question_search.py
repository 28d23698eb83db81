"""Which open question an operator means who names a session, or a question, pure.

Invariant: a parent's own question comes before those of its children, theirs in the order of
asking (CONTRACTS 1.11).
"""

from collections.abc import Iterable

from agent.core import Core, Overview
from agent.errors import WrongStateError
from agent.protocol import QuestionAnswered, QuestionClosed
from agent.records import Question, Session
from agent.state.event_text import closed_words
from agent.timestamps import day_and_time


def question_in(root: Session, overview: Overview) -> Question | None:
    """Return the question shown for a session: its own, else the first of its children's."""
    tree = {root.session_id}
    for session in sorted(overview.sessions, key=lambda one: one.created_ms):
        if session.parent_id in tree:
            tree.add(session.session_id)
    asked = [question for question in overview.questions if question.session_id in tree]
    return min(
        asked, key=lambda one: (one.session_id != root.session_id, one.asked_ms), default=None
    )


def questions_by_session(
    sessions: Iterable[Session], overview: Overview
) -> dict[str, Question | None]:
    """Return what is shown as asked for each of many sessions."""
    return {session.session_id: question_in(session, overview) for session in sessions}


async def find_question(core: Core, wanted: str) -> Question:
    """Find the open question of a session, of the first of its children that asks, or by its id.

    Raises:
        UsageError: there is no such session.
        WrongStateError: nothing is asked in it, or the question is not open any more.
    """
    overview = await core.overview()
    for question in overview.questions:
        if question.question_id == wanted:
            return question
    if wanted.startswith("q-"):
        raise WrongStateError(
            f"Question {wanted} is not open.", "The first answer counts; see what is asked now."
        )
    root = await core.session(wanted)
    found = question_in(root, overview)
    if found is None:
        raise WrongStateError(
            f"Session {root.session_id} has no open question{await _closed(core, root)}.",
            f"See what it does: switchboard sessions show {root.session_id}",
        )
    return found


async def _closed(core: Core, session: Session) -> str:
    """Return when and why the newest question closed unanswered; empty if it was answered."""
    for event in reversed(await core.history(session.session_id)):
        match event.msg:
            case QuestionClosed():
                return (
                    f"; the last one closed {day_and_time(event.ts_ms)}: {closed_words(event.msg)}"
                )
            case QuestionAnswered():
                return ""
            case _:
                pass
    return ""
