"""What the operator says while a session works counts at once, and for who carries its work out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.loop.conversation.operator_words import OperatorWords
from agent.loop.task_context import TaskContext
from agent.protocol import (
    QuestionAnswered,
    RequestUserInput,
    SteerEdited,
    SteerWithdrawn,
    UserInput,
    UserInputAnswer,
    UserMessage,
)
from agent.records import Question, QuestionKind, QuestionOption, SessionState
from agent.safety.redacting.redaction import redact
from agent.tasks.plan import PlanTask
from tests.fakes import FakeRack
from tests.sessions.scripted import ScriptedModel, propose
from tests.stage import Cue, Stage

COMPLETED, WAITING = SessionState.COMPLETED, SessionState.WAITING_FOR_USER
NUMBER = "+81 90 5555 0114"


@pytest.fixture
async def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path / "data", FakeRack("phone-1", "phone-2"))


async def test_an_answer_that_speaks_of_numbers_shows_them_from_then_on(stage: Stage) -> None:
    read: list[str] = []

    async def part(context: TaskContext) -> str:
        read.append(redact(NUMBER))
        options = (QuestionOption(label="Read his phone number"),)
        for call_id in ("c1", "c2"):
            await context.ask("What of Hiro?", call_id=call_id, step=1, options=options)
            read.append(redact(NUMBER))
        return "done"

    stage.parts["look at Hiro"] = part
    async with stage.play():
        session_id = await stage.create("look at Hiro")
        for answer in ("Read his phone number", "his mobile number, please"):
            await stage.reach(session_id, WAITING)
            [question] = await stage.store.open_questions()
            await stage.do(UserInputAnswer(question_id=question.question_id, answer=answer))
        await stage.reach(session_id, COMPLETED)
    # The option is the asker's text, whoever chose it.
    assert [NUMBER in text for text in read] == [False, False, True]


async def test_a_child_sees_what_its_parents_goal_speaks_of(stage: Stage) -> None:
    read: list[str] = []

    async def part(context: TaskContext) -> str:
        read.append(redact(NUMBER))
        assert "find the phone number of Hiro" in context.said
        return "done"

    stage.parts["look at Hiro"] = part
    async with stage.play():
        parent_id = await stage.create("find the phone number of Hiro", "look at Hiro")
        await stage.reach(parent_id, COMPLETED)
    assert read == [NUMBER]


async def test_what_is_said_while_a_plan_is_made_reaches_its_children(stage: Stage) -> None:
    stage.plan = PlanTask
    cue, heard = Cue(), list[str]()
    model = ScriptedModel(propose({"objective": "part"}))

    class Thinking(ScriptedModel):
        async def complete(self, *args: object, **kwargs: object) -> object:
            await cue.wait()
            return await model.complete(*args, **kwargs)  # type: ignore[arg-type]

    async def part(context: TaskContext) -> str:
        heard.extend(hint.text for hint in context.take_steering())
        return "done"

    stage.parts["part"] = part
    stage.make_model = lambda session: Thinking()
    async with stage.play():
        parent_id = await stage.create("all of it")
        await cue.there()
        await stage.do(UserInput(session_id=parent_id, text="be quick"))
        cue.go.set()
        await stage.reach(parent_id, COMPLETED)
    assert heard == ["be quick"]


def test_what_was_changed_counts_as_it_is_now_and_what_was_taken_back_does_not() -> None:
    words = OperatorWords("goal")
    for message_id in ("m1", "m2"):
        words.fold(UserMessage(text=f"old {message_id}", message_id=message_id, steer=True))
    words.fold(SteerEdited(message_id="m1", text="new"))
    words.fold(SteerWithdrawn(message_id="m2"))
    assert words.said == words.written == ("goal", "new")


@given(
    st.sampled_from(QuestionKind),
    st.booleans(),
    st.text(max_size=20),
    st.lists(st.text(max_size=8)),
)
def test_only_the_operators_own_words_are_written(
    kind: QuestionKind, secret: bool, answer: str, labels: list[str]
) -> None:
    options = tuple(QuestionOption(label=label) for label in labels)
    question = Question(
        question_id="q",
        session_id="s",
        text="Which?",
        asked_ms=1,
        kind=kind,
        options=options,
        secret=secret,
    )
    asked, answered = (
        RequestUserInput(question=question),
        QuestionAnswered(question_id="q", answer=answer),
    )
    words = OperatorWords("", (asked, answered))
    is_own = bool(answer.strip()) and kind is not QuestionKind.APPROVAL and not secret
    assert bool(words.said) is is_own
    assert words.written == ((answer,) if is_own and answer not in labels else ())
