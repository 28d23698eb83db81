"""What the operator says while a session works counts at once, and for who carries its work out."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import protocol, records
from agent.loop.conversation.operator_words import OperatorWords
from agent.loop.task_context import TaskContext
from agent.safety.redacting.redaction import redact
from agent.tasks.plan import PlanTask
from tests.fakes import FakeFleet, Part
from tests.sessions.scripted import ScriptedModel, propose
from tests.stage import Cue, Stage

COMPLETED, WAITING = records.SessionState.COMPLETED, records.SessionState.WAITING_FOR_USER
NUMBER = "+81 90 5555 0114"


@pytest.fixture
async def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path / "data", FakeFleet("phone-1", "phone-2"))


async def test_an_answer_that_speaks_of_numbers_shows_them_from_then_on(stage: Stage) -> None:
    read: list[str] = []

    async def part(context: TaskContext) -> str:
        read.append(redact(NUMBER))
        options = (records.QuestionOption(label="Read his phone number"),)
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
            await stage.do(
                protocol.UserInputAnswer(question_id=question.question_id, answer=answer)
            )
        await stage.reach(session_id, COMPLETED)
    # The option is the asker's text, whoever chose it.
    assert [NUMBER in text for text in read] == [False, False, True]


async def test_a_child_sees_what_its_parents_goal_speaks_of(stage: Stage) -> None:
    read: list[str] = []

    async def part(context: TaskContext) -> str:
        read.append(redact(NUMBER))
        assert "find the phone number of Hiro" in context.operator_texts
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
        await stage.do(protocol.UserInput(session_id=parent_id, text="be quick"))
        cue.go.set()
        await stage.reach(parent_id, COMPLETED)
    assert heard == ["be quick"]


def test_what_was_changed_counts_as_it_is_now_and_what_was_taken_back_does_not() -> None:
    words = OperatorWords("goal")
    for message_id in ("m1", "m2"):
        words.fold(
            protocol.UserMessage(text=f"old {message_id}", message_id=message_id, steer=True)
        )
    words.fold(protocol.SteerEdited(message_id="m1", text="new"))
    words.fold(protocol.SteerWithdrawn(message_id="m2"))
    assert words.texts == words.written == ("goal", "new")


@given(
    st.sampled_from(records.QuestionKind),
    st.booleans(),
    st.text(max_size=20),
    st.lists(st.text(max_size=8)),
)
def test_only_the_operators_own_words_are_written(
    kind: records.QuestionKind, secret: bool, answer: str, labels: list[str]
) -> None:
    options = tuple(records.QuestionOption(label=label) for label in labels)
    question = records.Question(
        question_id="q",
        session_id="s",
        text="Which?",
        asked_ms=1,
        kind=kind,
        options=options,
        secret=secret,
    )
    asked, answered = (
        protocol.RequestUserInput(question=question),
        protocol.QuestionAnswered(question_id="q", answer=answer),
    )
    words = OperatorWords("", (asked, answered))
    is_own = bool(answer.strip()) and kind is not records.QuestionKind.APPROVAL and not secret
    assert bool(words.texts) is is_own
    assert words.written == ((answer,) if is_own and answer not in labels else ())


async def test_what_a_planner_wrote_allows_its_child_nothing(stage: Stage) -> None:
    stage.plan = PlanTask
    objective = "read the telephone number at example.org"
    stage.make_model = lambda session: ScriptedModel(propose({"objective": objective}))
    read: list[tuple[str, tuple[str, ...]]] = []

    async def part(context: TaskContext) -> str:
        read.append((redact(NUMBER), tuple(context.operator_texts)))
        return "done"

    stage.parts[objective] = part
    async with stage.play():
        parent_id = await stage.create("look at Hiro")
        await stage.reach(parent_id, COMPLETED)
        [child] = await stage.store.children(parent_id)
    async with stage.play():
        # Neither a new generation nor a copy makes the words the operator's.
        copy_id = (await stage.do(protocol.SessionFork(session_id=child.session_id))).session_id
        await stage.do(protocol.SessionResume(session_id=copy_id))
        await stage.reach(copy_id, COMPLETED)
        await stage.do(protocol.SessionResume(session_id=child.session_id))
        await stage.reach(child.session_id, COMPLETED)
    assert [NUMBER in text for text, _ in read] == [False] * 3
    assert all(objective not in said for _, said in read)
    assert "look at Hiro" in read[0][1] and "look at Hiro" in read[2][1]


async def test_what_a_program_says_allows_nothing_and_what_the_operator_adds_does(
    stage: Stage,
) -> None:
    cue, said = Cue(), list[tuple[str, ...]]()

    async def part(context: TaskContext) -> str:
        await cue.wait()
        said.append(tuple(hint.text for hint in context.take_steering()))
        await context.ask("Which?", call_id="c1", step=1)
        await context.ask("And which?", call_id="c2", step=1)
        said.append(tuple(context.operator_texts))
        return "done"

    stage.parts["a model's goal"] = part
    async with stage.play():
        op = protocol.SessionCreate(goal="a model's goal", speaker=records.Speaker.MODEL)
        session_id = (await stage.do(op)).session_id
        await cue.there()
        await stage.do(
            protocol.UserInput(
                session_id=session_id, text="its hint", speaker=records.Speaker.MODEL
            )
        )
        await stage.do(protocol.UserInput(session_id=session_id, text="my hint"))
        cue.go.set()
        for answer, speaker in (
            ("its answer", records.Speaker.MODEL),
            ("my answer", records.Speaker.OPERATOR),
        ):
            await stage.reach(session_id, WAITING)
            [question] = await stage.store.open_questions()
            asked = protocol.UserInputAnswer(
                question_id=question.question_id, answer=answer, speaker=speaker
            )
            await stage.do(asked)
        await stage.reach(session_id, COMPLETED)
        msgs = await stage.msgs(session_id)
    assert said == [("its hint", "my hint"), ("my hint", "my answer")]
    assert OperatorWords("", msgs).written == ("my hint", "my answer")


async def test_the_purpose_of_a_direct_session_is_its_programs(stage: Stage) -> None:
    async with stage.play():
        op = protocol.SessionCreate(goal="open example.org", serial="phone-1", direct=True)
        session = await stage.store.session((await stage.do(op)).session_id)
    assert not session.has_operators_goal


@pytest.mark.parametrize(
    ("kind", "speaker", "is_own"),
    [
        (records.SessionKind.AGENT, None, True),
        (records.SessionKind.HOME, None, True),
        (records.SessionKind.GENIE, None, False),
        (records.SessionKind.GENIE, records.Speaker.OPERATOR, True),
        (records.SessionKind.GENIE, records.Speaker.MODEL, False),
        (records.SessionKind.AGENT, records.Speaker.MODEL, False),
    ],
)
def test_a_record_that_does_not_say_whose_its_goal_is_is_believed_of_no_child(
    kind: records.SessionKind, speaker: records.Speaker | None, is_own: bool
) -> None:
    session = records.Session(
        session_id="s", goal="open example.org", created_ms=1, kind=kind, goal_speaker=speaker
    )
    assert session.has_operators_goal is is_own
    assert OperatorWords("", (protocol.SessionConfigured(session=session),)).texts == (
        session.goal,
    )
    assert OperatorWords("", (protocol.SessionConfigured(session=session),)).written == (
        (session.goal,) if is_own else ()
    )


@pytest.mark.parametrize("package", ["", "org.example.app"])
async def test_what_a_session_came_to_is_not_what_the_operator_sends_after_it(
    stage: Stage, package: str
) -> None:
    said: list[tuple[str, ...]] = []

    async def ends(context: TaskContext) -> str:
        said.append(tuple(context.operator_texts))
        return "read more at example.org"

    class Always(dict[str, Part]):
        def get(self, *_: object) -> Part:  # type: ignore[override]
            return ends

    stage.parts = Always()
    async with stage.play():
        op = protocol.SessionCreate(goal="look", serial="phone-1", target_package=package)
        first = (await stage.do(op)).session_id
        await stage.reach(first, COMPLETED)
        send = protocol.NoticeSend(session_id=first, text="and now?")
        goes_on = (await stage.do(send)).session_id
        await stage.until(lambda: _has_count(said, 2), "the second turn")
        await stage.reach(goes_on, COMPLETED)
        events = await stage.msgs(goes_on)
    assert any("example.org" in str(msg) for msg in events)
    assert "and now?" in said[1]
    assert not any("example.org" in words for words in said[1])


async def _has_count(said: list[tuple[str, ...]], count: int) -> bool | None:
    return True if len(said) >= count else None
