"""Questions: the call waits, the first answer wins, silence is no, and secrets are not stored."""

from __future__ import annotations

import asyncio

import pytest

from agent.errors import UsageError, WrongStateError
from agent.protocol import (
    Interrupt,
    QuestionAnswered,
    QuestionClosed,
    RequestUserInput,
    SessionCancel,
    SessionResume,
    ToolCallRequested,
    UserInput,
    UserInputAnswer,
)
from agent.records import Question, QuestionKind, QuestionOption, SessionState
from agent.tasks.task import TaskContext
from tests.stage import Stage, of_type, states

RUNNING, WAITING = SessionState.RUNNING, SessionState.WAITING_FOR_USER
COMPLETED, QUEUED = SessionState.COMPLETED, SessionState.QUEUED


async def asks(context: TaskContext) -> str:
    """Ask one question, and give its answer as the result."""
    requested = ToolCallRequested(
        step=1, call_id="c1", tool="ask_user", arguments="{}", kind="control"
    )
    await context.emit(requested)
    answer = await context.ask(
        "Which one?",
        call_id="c1",
        step=1,
        options=(QuestionOption(label="Blue"), QuestionOption(label="Red")),
    )
    return f"answer: {answer}"


async def open_question(stage: Stage) -> Question:
    async def found() -> Question | None:
        questions = await stage.store.open_questions()
        return questions[0] if questions else None

    return await stage.until(found, "a question")


async def test_an_answer_resolves_the_same_call_and_the_session_runs_again(stage: Stage) -> None:
    stage.parts["ask"] = asks
    async with stage.play():
        session_id = await stage.create("ask")
        question = await open_question(stage)
        assert (await stage.store.session(session_id)).state is WAITING
        reply = await stage.do(UserInputAnswer(question_id=question.question_id, answer="blue"))
        session = await stage.reach(session_id, COMPLETED)
        msgs = await stage.msgs(session_id)
    assert reply.session_id == session_id
    assert session.latest_result == "answer: Blue"
    assert states(msgs) == [QUEUED, RUNNING, WAITING, RUNNING, COMPLETED]


async def test_the_first_answer_wins_and_the_second_is_refused(stage: Stage) -> None:
    stage.parts["ask"] = asks
    async with stage.play():
        session_id = await stage.create("ask")
        question = await open_question(stage)
        outcomes = await asyncio.gather(
            *(
                stage.core.request(UserInputAnswer(question_id=question.question_id, answer=answer))
                for answer in ("first", "second")
            ),
            return_exceptions=True,
        )
        session = await stage.reach(session_id, COMPLETED)
        answers = of_type(await stage.msgs(session_id), QuestionAnswered)
    assert isinstance(outcomes[1], WrongStateError)
    assert session.latest_result == "answer: first"
    assert [answer.answer for answer in answers] == ["first"]


async def test_an_answer_to_no_question_is_a_usage_error(stage: Stage) -> None:
    async with stage.play():
        with pytest.raises(UsageError):
            await stage.do(UserInputAnswer(question_id="q-none", answer="yes"))


async def test_a_blank_answer_is_refused_and_the_question_stays_open(stage: Stage) -> None:
    stage.parts["ask"] = asks
    async with stage.play():
        await stage.create("ask")
        question = await open_question(stage)
        with pytest.raises(UsageError):
            await stage.do(UserInputAnswer(question_id=question.question_id, answer=" "))
        assert await stage.store.open_questions() == (question,)


async def test_silence_is_no_when_the_deadline_passes(stage: Stage) -> None:
    async def part(context: TaskContext) -> str:
        deadline_ms = context.now_ms() + 50
        answer = await context.ask(
            "Pay?", call_id="c", step=1, approval=True, deadline_ms=deadline_ms
        )
        assert context.session.state is RUNNING
        return f"answer: {answer}"

    stage.parts["pay"] = part
    async with stage.play():
        session_id = await stage.create("pay")
        session = await stage.reach(session_id, COMPLETED)
        msgs = await stage.msgs(session_id)
        assert await stage.store.open_questions() == ()
    assert session.latest_result == "answer: None"
    [asked] = of_type(msgs, RequestUserInput)
    assert asked.question.kind is QuestionKind.APPROVAL
    assert [closed.question_id for closed in of_type(msgs, QuestionClosed)] == [
        asked.question.question_id
    ]


async def test_the_setting_gives_a_question_its_deadline_when_the_asker_gave_none(
    stage: Stage,
) -> None:
    stage.set(run={"answer_timeout_s": 0.05})
    stage.parts["ask"] = asks
    async with stage.play():
        session = await stage.reach(await stage.create("ask"), COMPLETED)
    assert session.latest_result == "answer: None"


@pytest.mark.parametrize("op", [Interrupt, SessionCancel])
async def test_ending_a_turn_closes_its_questions(
    stage: Stage, op: type[Interrupt] | type[SessionCancel]
) -> None:
    stage.parts["ask"] = asks
    async with stage.play():
        session_id = await stage.create("ask")
        question = await open_question(stage)
        await stage.do(op(session_id=session_id))
        assert await stage.store.open_questions() == ()
        with pytest.raises(WrongStateError):
            await stage.do(UserInputAnswer(question_id=question.question_id, answer="Blue"))


async def test_a_question_of_a_turn_that_died_is_answered_later_and_its_session_resumes(
    stage: Stage,
) -> None:
    stage.parts["ask"] = asks
    async with stage.play():
        session_id = await stage.create("ask")
        question = await open_question(stage)
    async with stage.play():
        session = await stage.store.session(session_id)
        assert session.state is WAITING and session.turn_id == ""
        await stage.do(UserInputAnswer(question_id=question.question_id, answer="Red"))
        session = await stage.reach(session_id, COMPLETED)
        asked = of_type(await stage.msgs(session_id), RequestUserInput)
    assert session.latest_result == "answer: Red"
    assert len(asked) == 1


async def test_a_resumed_turn_that_asks_again_takes_up_the_open_question(stage: Stage) -> None:
    stage.parts["ask"] = asks
    async with stage.play():
        session_id = await stage.create("ask")
        question = await open_question(stage)
    async with stage.play():
        await stage.do(SessionResume(session_id=session_id))

        async def asked_again() -> bool | None:
            session = await stage.store.session(session_id)
            return True if session.state is WAITING and session.turn_id else None

        await stage.until(asked_again, "the call to wait again")
        await stage.do(UserInputAnswer(question_id=question.question_id, answer="Red"))
        session = await stage.reach(session_id, COMPLETED)
        asked = of_type(await stage.msgs(session_id), RequestUserInput)
    assert session.latest_result == "answer: Red" and len(asked) == 1


async def test_a_new_message_supersedes_the_question_of_a_dead_turn(stage: Stage) -> None:
    stage.parts["ask"] = asks
    async with stage.play():
        session_id = await stage.create("ask")
        await open_question(stage)
    stage.parts.clear()
    async with stage.play():
        await stage.do(UserInput(session_id=session_id, text="never mind"))
        session = await stage.reach(session_id, COMPLETED)
        [closed] = of_type(await stage.msgs(session_id), QuestionClosed)
    assert "superseded" in closed.reason and session.latest_result == "done: never mind"


@pytest.mark.parametrize("restarts", [False, True])
async def test_a_secret_answer_reaches_the_call_and_never_the_store(
    stage: Stage, restarts: bool
) -> None:
    got: list[str | None] = []

    async def part(context: TaskContext) -> str:
        # The context has no word for a secret yet, so the question is asked as it will be stored.
        question = Question(
            question_id="q-secret",
            session_id=context.session.session_id,
            text="PIN?",
            asked_ms=1,
            secret=True,
            call_id="c1",
        )
        if not any(isinstance(event.msg, RequestUserInput) for event in context.history):
            await context.emit(RequestUserInput(question=question))
            await asyncio.Event().wait()
        got.append(await context.ask("PIN?", call_id="c1", step=1))
        return "done"

    stage.parts["log in"] = part
    async with stage.play():
        session_id = await stage.create("log in")
        await open_question(stage)
        if not restarts:
            await stage.do(UserInputAnswer(question_id="q-secret", answer="4711"))
            assert [a.answer for a in of_type(await stage.msgs(session_id), QuestionAnswered)] == [
                ""
            ]
            return
    async with stage.play():
        await stage.do(UserInputAnswer(question_id="q-secret", answer="4711"))
        await stage.reach(session_id, COMPLETED)
        stored = await stage.all_events()
    assert got == ["4711"]
    assert "4711" not in repr(stored)
