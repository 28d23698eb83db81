"""A reviewer's answer is shown first, comes after everybody's own, and dies with its core."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.loop.task_context import PreparedAnswer, TaskContext
from agent.protocol import QuestionAnswered, SessionPause, SessionResume, UserInputAnswer
from agent.records import Question, SessionState, Speaker
from agent.safety.approval import APPROVE, OPTIONS
from tests.fakes import FakeFleet
from tests.stage import Stage

GOAL = "pay for milk"


class Part:
    """Asks once with an answer ready, and tells what it was answered."""

    def __init__(self, after_s: float, settles: bool = True) -> None:
        self.after_s = after_s
        self.settles = settles
        self.settled = 0

    async def settle(self) -> bool:
        self.settled += 1
        return self.settles

    async def __call__(self, context: TaskContext) -> str:
        by = "the reviewer, warrant w-1, clause 2"
        prepared = PreparedAnswer(self.after_s, APPROVE, by, self.settle)
        answer = await context.ask(
            "May I?", call_id="c-1", step=1, options=OPTIONS, approval=True, prepared=prepared
        )
        return str(answer)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    made = Stage(tmp_path / "data", FakeFleet("phone"))
    async with made.play():
        yield made


async def asked(stage: Stage) -> Question:
    async def there() -> Question | None:
        return next(iter(await stage.store.open_questions()), None)

    return await stage.until(there, "a question")


async def over() -> None:
    """Wait until the time of a prepared answer has passed."""
    async with asyncio.timeout(30):
        while any(task.get_name() == "prepared answer" for task in asyncio.all_tasks()):
            await asyncio.sleep(0.01)


async def answers(stage: Stage, session_id: str) -> list[QuestionAnswered]:
    events = await stage.store.session_events(session_id)
    return [one.msg for one in events if isinstance(one.msg, QuestionAnswered)]


async def test_nobodys_answer_is_the_reviewers_after_its_time(stage: Stage) -> None:
    part = stage.parts[GOAL] = Part(0.05)
    session_id = await stage.create(GOAL)
    done = await stage.reach(session_id, SessionState.COMPLETED)
    [given] = await answers(stage, session_id)
    assert (done.latest_result, part.settled) == (APPROVE, 1)
    assert given.answered_by == "the reviewer, warrant w-1, clause 2"
    assert given.speaker is Speaker.PRODUCT


async def test_the_operators_answer_comes_first(stage: Stage) -> None:
    part = stage.parts[GOAL] = Part(3600)
    session_id = await stage.create(GOAL)
    question = await asked(stage)
    await stage.do(UserInputAnswer(question_id=question.question_id, answer="Deny"))
    done = await stage.reach(session_id, SessionState.COMPLETED)
    assert (done.latest_result, part.settled) == ("Deny", 0)


async def test_what_cannot_be_settled_waits_for_a_person(stage: Stage) -> None:
    part = stage.parts[GOAL] = Part(0.01, settles=False)
    session_id = await stage.create(GOAL)
    question = await asked(stage)
    await over()
    assert part.settled == 1 and await answers(stage, session_id) == []
    await stage.do(UserInputAnswer(question_id=question.question_id, answer="Approve"))
    await stage.reach(session_id, SessionState.COMPLETED)


async def test_a_paused_session_takes_it_back(stage: Stage) -> None:
    part = stage.parts[GOAL] = Part(0.3)
    session_id = await stage.create(GOAL)
    question = await asked(stage)
    await stage.do(SessionPause(session_id=session_id))
    await over()
    assert part.settled == 0 and await answers(stage, session_id) == []
    await stage.do(UserInputAnswer(question_id=question.question_id, answer="Deny"))
    await stage.do(SessionResume(session_id=session_id))
    done = await stage.reach(session_id, SessionState.COMPLETED)
    assert done.latest_result == "Deny"


async def test_after_a_restart_the_card_waits_for_a_person(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "data", FakeFleet("phone"))
    stage.parts[GOAL] = Part(3600)
    async with stage.play():
        session_id = await stage.create(GOAL)
        await asked(stage)
    part = stage.parts[GOAL] = Part(0.01)
    async with stage.play():
        question = await asked(stage)
        await stage.do(UserInputAnswer(question_id=question.question_id, answer="Deny"))
        done = await stage.reach(session_id, SessionState.COMPLETED)
        assert (done.latest_result, part.settled) == ("Deny", 0)
