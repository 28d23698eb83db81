"""Questions: the call waits, the first answer wins, silence is no, and secrets are not stored."""

import asyncio

import pytest

from agent import protocol
from agent.errors import UsageError, WrongStateError
from agent.loop.task_context import TaskContext
from agent.records import Question, QuestionKind, QuestionOption, QuestionPart, SessionState
from tests.stage import Cue, Stage, of_type, states

RUNNING, WAITING = SessionState.RUNNING, SessionState.WAITING_FOR_USER
COMPLETED, QUEUED = SessionState.COMPLETED, SessionState.QUEUED


async def asks(context: TaskContext) -> str:
    """Ask one question, and give its answer as the result."""
    requested = protocol.ToolCallRequested(
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
        reply = await stage.do(
            protocol.UserInputAnswer(question_id=question.question_id, answer="blue")
        )
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
                stage.core.request(
                    protocol.UserInputAnswer(question_id=question.question_id, answer=answer)
                )
                for answer in ("first", "second")
            ),
            return_exceptions=True,
        )
        session = await stage.reach(session_id, COMPLETED)
        answers = of_type(await stage.msgs(session_id), protocol.QuestionAnswered)
    assert isinstance(outcomes[1], WrongStateError)
    assert session.latest_result == "answer: first"
    assert [answer.answer for answer in answers] == ["first"]


async def test_an_answer_to_no_question_is_a_usage_error(stage: Stage) -> None:
    async with stage.play():
        with pytest.raises(UsageError):
            await stage.do(protocol.UserInputAnswer(question_id="q-none", answer="yes"))


async def test_a_blank_answer_is_refused_and_the_question_stays_open(stage: Stage) -> None:
    stage.parts["ask"] = asks
    async with stage.play():
        await stage.create("ask")
        question = await open_question(stage)
        with pytest.raises(UsageError):
            await stage.do(protocol.UserInputAnswer(question_id=question.question_id, answer=" "))
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
    [asked] = of_type(msgs, protocol.RequestUserInput)
    assert asked.question.kind is QuestionKind.APPROVAL
    assert [closed.question_id for closed in of_type(msgs, protocol.QuestionClosed)] == [
        asked.question.question_id
    ]


async def test_a_clock_that_is_set_forward_ends_the_wait_of_a_running_call_too(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.wake_timer.LONGEST_SLEEP_S", 0.01)
    stage.now_ms = 1_000_000
    stage.set(run={"answer_timeout_s": 3600.0})
    stage.parts["ask"] = asks
    async with stage.play():
        session_id = await stage.create("ask")
        await open_question(stage)
        # A computer that slept: no timer of this process ran meanwhile.
        stage.now_ms += 3_600_001
        session = await stage.reach(session_id, COMPLETED)
    assert session.latest_result == "answer: None"


async def test_the_setting_gives_a_question_its_deadline_when_the_asker_gave_none(
    stage: Stage,
) -> None:
    stage.set(run={"answer_timeout_s": 0.05})
    stage.parts["ask"] = asks
    async with stage.play():
        session = await stage.reach(await stage.create("ask"), COMPLETED)
    assert session.latest_result == "answer: None"


@pytest.mark.parametrize("op", [protocol.Interrupt, protocol.SessionCancel])
async def test_ending_a_turn_closes_its_questions(
    stage: Stage, op: type[protocol.Interrupt] | type[protocol.SessionCancel]
) -> None:
    stage.parts["ask"] = asks
    async with stage.play():
        session_id = await stage.create("ask")
        question = await open_question(stage)
        await stage.do(op(session_id=session_id))
        assert await stage.store.open_questions() == ()
        with pytest.raises(WrongStateError):
            await stage.do(
                protocol.UserInputAnswer(question_id=question.question_id, answer="Blue")
            )


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
        await stage.do(protocol.UserInputAnswer(question_id=question.question_id, answer="Red"))
        session = await stage.reach(session_id, COMPLETED)
        asked = of_type(await stage.msgs(session_id), protocol.RequestUserInput)
    assert session.latest_result == "answer: Red"
    assert len(asked) == 1


async def test_a_resumed_turn_that_asks_again_takes_up_the_open_question(stage: Stage) -> None:
    stage.parts["ask"] = asks
    async with stage.play():
        session_id = await stage.create("ask")
        question = await open_question(stage)
    async with stage.play():
        await stage.do(protocol.SessionResume(session_id=session_id))

        async def asked_again() -> bool | None:
            session = await stage.store.session(session_id)
            return True if session.state is WAITING and session.turn_id else None

        await stage.until(asked_again, "the call to wait again")
        await stage.do(protocol.UserInputAnswer(question_id=question.question_id, answer="Red"))
        session = await stage.reach(session_id, COMPLETED)
        asked = of_type(await stage.msgs(session_id), protocol.RequestUserInput)
    assert session.latest_result == "answer: Red" and len(asked) == 1


async def test_a_new_message_supersedes_the_question_of_a_dead_turn(stage: Stage) -> None:
    stage.parts["ask"] = asks
    async with stage.play():
        session_id = await stage.create("ask")
        await open_question(stage)
    stage.parts.clear()
    async with stage.play():
        await stage.do(protocol.UserInput(session_id=session_id, text="never mind"))
        session = await stage.reach(session_id, COMPLETED)
        [closed] = of_type(await stage.msgs(session_id), protocol.QuestionClosed)
    assert "superseded" in closed.reason and session.latest_result == "done: never mind"


@pytest.mark.parametrize("restarts", [False, True])
async def test_a_secret_answer_reaches_the_call_and_never_the_store(
    stage: Stage, restarts: bool
) -> None:
    got: list[str | None] = []

    async def part(context: TaskContext) -> str:
        question = Question(
            question_id="q-secret",
            session_id=context.session.session_id,
            text="PIN?",
            asked_ms=1,
            secret=True,
            call_id="c1",
        )
        if not any(isinstance(event.msg, protocol.RequestUserInput) for event in context.history):
            await context.emit(protocol.RequestUserInput(question=question))
            await asyncio.Event().wait()
        got.append(await context.ask("PIN?", call_id="c1", step=1))
        return "done"

    stage.parts["log in"] = part
    async with stage.play():
        session_id = await stage.create("log in")
        await open_question(stage)
        if not restarts:
            await stage.do(protocol.UserInputAnswer(question_id="q-secret", answer="p1n of mine"))
            assert [
                a.answer for a in of_type(await stage.msgs(session_id), protocol.QuestionAnswered)
            ] == [""]
            return
    async with stage.play():
        await stage.do(protocol.UserInputAnswer(question_id="q-secret", answer="p1n of mine"))
        await stage.reach(session_id, COMPLETED)
        stored = await stage.all_events()
    assert got == ["p1n of mine"]
    assert "p1n of mine" not in repr(stored)


PARTS = (
    QuestionPart(part_id="colour", text="Which colour?", options=(QuestionOption(label="Blue"),)),
    QuestionPart(part_id="size", text="Which size?"),
)


async def asks_two(context: TaskContext) -> str:
    """Ask two questions at once, and give what was answered as the result."""
    await context.emit(
        protocol.ToolCallRequested(
            step=1, call_id="c1", tool="ask_user", arguments="{}", kind="control"
        )
    )
    answer = await context.ask_all(PARTS, call_id="c1", step=1)
    return "none" if answer is None else str(dict(answer.by_part))


@pytest.mark.parametrize("restarts", [False, True])
async def test_several_questions_are_one_request_and_resolve_the_same_call(
    stage: Stage, restarts: bool
) -> None:
    stage.parts["ask"] = asks_two
    async with stage.play():
        session_id = await stage.create("ask")
        question = await open_question(stage)
        assert [part.part_id for part in question.parts] == ["colour", "size"]
        op = protocol.UserInputAnswer(question_id=question.question_id, answer="blue\n\nlarge")
        if not restarts:
            await stage.do(op)
            assert (await stage.reach(session_id, COMPLETED)).latest_result == (
                "{'colour': ('Blue',), 'size': ('large',)}"
            )
            return
    async with stage.play():
        assert await open_question(stage) == question
        await stage.do(op)
        session = await stage.reach(session_id, COMPLETED)
        [answered] = of_type(await stage.msgs(session_id), protocol.QuestionAnswered)
    assert session.latest_result == "{'colour': ('Blue',), 'size': ('large',)}"
    assert answered.answers == {"colour": ("Blue",), "size": ("large",)}


async def test_a_newer_question_supersedes_the_older_whose_call_gets_no_answer(
    stage: Stage,
) -> None:
    got: list[str | None] = []

    async def part(context: TaskContext) -> str:
        async def older() -> None:
            got.append(await context.ask("First?", call_id="c1", step=1))

        first = asyncio.create_task(older())
        while not context.session.latest_question:
            await context.checkpoint()
        got.append(await context.ask("Second?", call_id="c2", step=2))
        await first
        return "done"

    stage.parts["ask"] = part
    async with stage.play():
        session_id = await stage.create("ask")

        async def second() -> Question | None:
            found = [q for q in await stage.store.open_questions() if q.text == "Second?"]
            return found[0] if found else None

        question = await stage.until(second, "the second question")
        await stage.do(protocol.UserInputAnswer(question_id=question.question_id, answer="yes"))
        await stage.reach(session_id, COMPLETED)
        [closed] = of_type(await stage.msgs(session_id), protocol.QuestionClosed)
    assert closed.reason == "superseded by a newer question"
    assert sorted(got, key=str) == [None, "yes"]


async def test_a_secret_question_that_was_answered_before_a_crash_is_asked_again(
    stage: Stage,
) -> None:
    got: list[str | None] = []
    answered = Cue()

    async def part(context: TaskContext) -> str:
        answer = await context.ask("PIN?", call_id="c1", step=1, secret=True)
        if not answered.go.is_set():
            await answered.wait()
        got.append(answer)
        return "done"

    stage.parts["log in"] = part
    async with stage.play():
        session_id = await stage.create("log in")
        first = await open_question(stage)
        await stage.do(protocol.UserInputAnswer(question_id=first.question_id, answer="p1n-one"))
        await answered.there()
    answered.go.set()
    async with stage.play():
        await stage.idle(session_id)
        await stage.do(protocol.SessionResume(session_id=session_id))
        again = await open_question(stage)
        await stage.do(protocol.UserInputAnswer(question_id=again.question_id, answer="p1n-two"))
        await stage.reach(session_id, COMPLETED)
        stored = await stage.all_events()
    assert again.question_id != first.question_id and got == ["p1n-two"]
    assert "p1n-one" not in repr(stored) and "p1n-two" not in repr(stored)


async def test_a_question_whose_turn_died_still_closes_at_its_deadline(stage: Stage) -> None:
    async def part(context: TaskContext) -> str:
        await context.ask("Which?", call_id="c1", step=1, deadline_ms=stage.clock() + 60_000)
        return "done"

    stage.parts["ask"] = part
    async with stage.play():
        session_id = await stage.create("ask")
        await open_question(stage)
        stage.now_ms = stage.clock()
    async with stage.play():
        await open_question(stage)
        stage.now_ms += 60_001
        # The next look at the deadlines is at the next question or the minute's end: ask one.
        await stage.create("ask")

        async def closed() -> protocol.QuestionClosed | None:
            found = of_type(await stage.msgs(session_id), protocol.QuestionClosed)
            return found[0] if found else None

        gone = await stage.until(closed, "the question to close")
        assert (gone.reason, gone.limit_ms) == (protocol.CloseReason.EXPIRED, 60_000)
        with pytest.raises(WrongStateError):
            [asked] = of_type(await stage.msgs(session_id), protocol.RequestUserInput)
            await stage.do(
                protocol.UserInputAnswer(question_id=asked.question.question_id, answer="too late")
            )


async def test_a_turn_is_told_once_what_was_asked_and_answered_and_no_secret(stage: Stage) -> None:
    told: list[object] = []

    async def part(context: TaskContext) -> str:
        await context.ask("Which one?", call_id="c1", step=1)
        await context.ask("PIN?", call_id="c2", step=1, secret=True)
        told.extend(context.take_exchanges())
        assert not context.take_exchanges()
        return "done"

    stage.parts["ask"] = part
    async with stage.play():
        session_id = await stage.create("ask")
        for answer in ("Blue", "2580"):
            question = await open_question(stage)
            answered = protocol.UserInputAnswer(question_id=question.question_id, answer=answer)
            await stage.do(answered)
            await stage.until(
                lambda asked=question: _is_closed(stage, asked), "the question to be closed"
            )
        await stage.reach(session_id, COMPLETED)
    said = [one.answer for one in told if isinstance(one, protocol.QuestionAnswered)]
    asked = [one.question.text for one in told if isinstance(one, protocol.RequestUserInput)]
    assert (asked, said) == (["Which one?", "PIN?"], ["Blue", ""])


async def _is_closed(stage: Stage, asked: Question) -> bool:
    return asked.question_id not in {q.question_id for q in await stage.store.open_questions()}
