"""An agent session plans: it asks, divides its goal among phones, or keeps it for itself."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.loop.task_context import TaskContext, TaskKind
from agent.models.model import ModelReply, ModelRequest
from agent.protocol import (
    AbortReason,
    Interrupt,
    NoticeSend,
    ResultPublished,
    SessionResume,
    TargetsPlanned,
    TaskComplete,
    TaskStarted,
    ToolCallRequested,
    TurnAborted,
    UserInputAnswer,
    WarningEvent,
)
from agent.records import RequirementOrigin, SessionState
from agent.sessions.rules.turn_input import seen_by
from agent.tasks.plan import PlanTask
from agent.tools.planning import READ_GOAL
from tests.fakes import FakeFleet
from tests.sessions.scripted import ScriptedModel, call, propose
from tests.stage import Cue, Stage, of_type, waiting_at

COMPLETED, FAILED = SessionState.COMPLETED, SessionState.FAILED
RUNNING, WAITING = SessionState.RUNNING, SessionState.WAITING_FOR_USER


def scripted(stage: Stage, *lines: object) -> ScriptedModel:
    model = ScriptedModel(*lines)  # type: ignore[arg-type]
    stage.make_model = lambda session: model
    return model


@pytest.fixture
async def stage(tmp_path: Path) -> Stage:
    stage = Stage(tmp_path / "data", FakeFleet("phone-1", "phone-2", "phone-3"))
    stage.plan = PlanTask
    return stage


async def test_a_plan_sends_children_off_on_their_phones_and_the_parent_completes_with_them(
    stage: Stage,
) -> None:
    cues = [Cue(), Cue()]
    stage.parts["part 0"] = waiting_at(cues[0], "zero")
    stage.parts["part 1"] = waiting_at(cues[1], "one")
    scripted(
        stage,
        propose(
            {"objective": "part 0", "device": "phone-2"},
            {"objective": "part 1", "device": "phone-3"},
        ),
    )
    async with stage.play():
        parent_id = await stage.create("both parts")
        for cue in cues:
            await cue.there()
        assert (await stage.store.session(parent_id)).state is RUNNING
        children = await stage.store.children(parent_id)
        assert [child.serial for child in children] == ["phone-2", "phone-3"]
        for cue in cues:
            cue.go.set()
        parent = await stage.reach(parent_id, COMPLETED)
        msgs = await stage.msgs(parent_id)
    assert "zero" in parent.latest_result and "one" in parent.latest_result
    assert [started.kind for started in of_type(msgs, TaskStarted)] == ["plan"]
    assert len(of_type(msgs, TaskComplete)) == len(of_type(msgs, ResultPublished)) == 1
    [planned] = of_type(msgs, TargetsPlanned)
    assert planned.child_ids == tuple(child.session_id for child in children)
    assert planned.reason == "On 2 of 3 phones.\ndivided"


async def test_a_planner_asks_before_any_child_exists_and_the_answer_resolves_the_same_call(
    stage: Stage,
) -> None:
    model = scripted(stage, call("ask_user", question="Which?"), propose({"objective": "this"}))
    async with stage.play():
        parent_id = await stage.create("one of them")
        await stage.reach(parent_id, WAITING)
        assert await stage.store.children(parent_id) == ()
        [question] = await stage.store.open_questions()
        await stage.do(UserInputAnswer(question_id=question.question_id, answer="the left"))
        await stage.reach(parent_id, COMPLETED)
        msgs = await stage.msgs(parent_id)
    assert len(of_type(msgs, TaskStarted)) == 1
    assert "the left" in model.messages[-1].text
    asked = of_type(msgs, ToolCallRequested)[0]
    assert question.call_id == asked.call_id == model.messages[-1].call_id


async def test_a_planners_question_survives_the_core_and_is_asked_once(stage: Stage) -> None:
    scripted(stage, call("ask_user", question="Which?"), propose({"objective": "this"}))
    async with stage.play():
        parent_id = await stage.create("one of them")
        await stage.reach(parent_id, WAITING)
    model = scripted(stage, propose({"objective": "this"}))
    async with stage.play():
        [question] = await stage.store.open_questions()
        await stage.do(UserInputAnswer(question_id=question.question_id, answer="the left"))
        await stage.reach(parent_id, COMPLETED)
        msgs = await stage.msgs(parent_id)
    assert "the left" in model.messages[-1].text
    assert len(of_type(msgs, TargetsPlanned)) == 1


async def test_a_goal_for_one_phone_is_worked_on_by_the_session_itself_at_once(
    stage: Stage,
) -> None:
    seen: list[tuple[object, ...]] = []

    async def part(context: TaskContext) -> str:
        seen.append(tuple(type(event.msg) for event in context.history))
        return "done alone"

    stage.parts["small"] = part
    scripted(stage, call("work_alone", reason="one is enough"))
    async with stage.play():
        session_id = await stage.create("small")
        session = await stage.reach(session_id, COMPLETED)
        msgs = await stage.msgs(session_id)
        children = await stage.store.children(session_id)
    assert session.latest_result == "done alone" and session.serial and children == ()
    assert [started.kind for started in of_type(msgs, TaskStarted)] == ["plan", "regular"]
    assert len(of_type(msgs, TaskComplete)) == 2
    assert ToolCallRequested not in seen[0], "a planner's calls are no part of a phone's memory"


async def test_a_proposal_that_cannot_be_started_twice_fails_the_session_and_says_why(
    stage: Stage,
) -> None:
    model = scripted(stage, propose({"objective": "x", "package": "com.android.systemui"}))
    async with stage.play():
        session_id = await stage.create("forbidden")
        session = await stage.reach(session_id, FAILED)
        assert await stage.store.children(session_id) == ()
    assert "not an app to drive" in session.latest_error
    assert len(model.asked) == 2


async def test_a_model_that_cannot_plan_leaves_the_work_to_the_session_and_says_so(
    stage: Stage,
) -> None:
    scripted(stage, call("click_element", element=1))
    async with stage.play():
        session_id = await stage.create("anything")
        await stage.reach(session_id, COMPLETED)
        msgs = await stage.msgs(session_id)
    assert [w.message for w in of_type(msgs, WarningEvent)] == [
        "The planner made no usable plan; the session works itself."
    ]


async def test_with_one_phone_or_a_named_one_nobody_plans(stage: Stage, tmp_path: Path) -> None:
    model = scripted(stage, call("work_alone"))
    async with stage.play():
        await stage.reach(await stage.create("named", serial="phone-2"), COMPLETED)
        for serial in ("phone-1", "phone-3"):
            stage.fleet.unplug(serial)
        await stage.reach(await stage.create("only one"), COMPLETED)
    assert model.asked == []


async def test_a_stopped_plan_is_resumed_as_a_plan(stage: Stage) -> None:
    scripted(stage, call("ask_user", question="Which?"))
    async with stage.play():
        parent_id = await stage.create("one of them")
        await stage.reach(parent_id, WAITING)
        await stage.do(Interrupt(session_id=parent_id))
        await stage.idle(parent_id)
        scripted(stage, propose({"objective": "this"}))
        await stage.do(SessionResume(session_id=parent_id))
        await stage.reach(parent_id, WAITING)
        [question] = await stage.store.open_questions()
        await stage.do(UserInputAnswer(question_id=question.question_id, answer="so"))
        await stage.reach(parent_id, COMPLETED)
        msgs = await stage.msgs(parent_id)
    assert [s.kind for s in of_type(msgs, TaskStarted)] == ["plan", "plan"]
    assert [a.reason for a in of_type(msgs, TurnAborted)] == [AbortReason.INTERRUPTED]


async def test_the_history_of_a_plan_is_the_planners_alone(stage: Stage) -> None:
    scripted(stage, call("update_plan", plan=["look"]), call("work_alone"))
    async with stage.play():
        session_id = await stage.create("small")
        await stage.reach(session_id, COMPLETED)
        history = await stage.store.session_events(session_id)
    planner = seen_by(TaskKind.PLAN, history)
    worker = seen_by(TaskKind.REGULAR, history)
    assert any(isinstance(event.msg, ToolCallRequested) for event in planner)
    assert not any(isinstance(event.msg, ToolCallRequested) for event in worker)
    assert seen_by(TaskKind.REVIEW, history) == tuple(history)


async def sent_on(stage: Stage, session_id: str, text: str) -> None:
    """Send a settled session's notice on, as an operator does."""
    await stage.do(NoticeSend(session_id=session_id, text=text))


async def test_a_settled_parent_that_is_sent_on_plans_anew_with_what_came_of_it_before(
    stage: Stage,
) -> None:
    async def part(context: TaskContext) -> str:
        return "the first result"

    stage.parts["part 0"] = part
    model = scripted(stage, propose({"objective": "part 0"}), propose({"objective": "part 1"}))
    async with stage.play():
        parent_id = await stage.create("all of it")
        await stage.reach(parent_id, COMPLETED)
        await sent_on(stage, parent_id, "and now the rest")
        parent = await stage.reach(parent_id, COMPLETED)
        first, second = await stage.store.children(parent_id)
        msgs = await stage.msgs(parent_id)
    assert [started.kind for started in of_type(msgs, TaskStarted)] == ["plan", "plan"]
    assert (first.generation, second.generation, parent.generation) == (0, 1, 1)
    told = "\n".join(message.text for message in model.messages)
    assert "the first result" in told and "and now the rest" in told


async def test_a_parent_that_was_sent_on_goes_on_after_a_crash_though_it_has_old_children(
    stage: Stage,
) -> None:
    scripted(stage, propose({"objective": "part 0"}), call("ask_user", question="Which?"))
    async with stage.play():
        parent_id = await stage.create("all of it")
        await stage.reach(parent_id, COMPLETED)
        await sent_on(stage, parent_id, "and now the rest")
        await stage.reach(parent_id, WAITING)
    scripted(stage, propose({"objective": "part 1"}))
    async with stage.play():
        await stage.idle(parent_id)
        await stage.do(SessionResume(session_id=parent_id))
        await stage.reach(parent_id, WAITING)
        [question] = await stage.store.open_questions()
        await stage.do(UserInputAnswer(question_id=question.question_id, answer="so"))
        await stage.reach(parent_id, COMPLETED)
        first, second = await stage.store.children(parent_id)
    assert (first.generation, second.generation) == (0, 1)


def together(*replies: ModelReply) -> ModelReply:
    """Make one answer of the calls of several."""
    return ModelReply(tool_calls=tuple(one for reply in replies for one in reply.tool_calls))


async def test_a_planner_may_look_and_decide_in_one_answer(stage: Stage) -> None:
    stage.parts["part 0"] = waiting_at(cue := Cue(), "zero")
    cue.go.set()
    model = scripted(
        stage, together(call("list_devices"), propose({"objective": "part 0", "device": "phone-2"}))
    )
    async with stage.play():
        parent_id = await stage.create("part 0 on phone-2")
        await stage.reach(parent_id, COMPLETED)
        msgs = await stage.msgs(parent_id)
    assert len(model.asked) == 1
    assert [one.tool for one in of_type(msgs, ToolCallRequested)] == [
        "list_devices",
        "propose_targets",
    ]


async def test_a_planner_is_told_of_calls_that_were_not_done(stage: Stage) -> None:
    model = scripted(
        stage,
        together(call("finish", success=True, summary="Done."), call("list_devices")),
        call("finish", success=False, summary="It cannot be done."),
    )
    async with stage.play():
        parent_id = await stage.create("nothing")
        await stage.reach(parent_id, FAILED)
    assert "Your 1 other call was not done." in model.messages[-1].text


class Reads(ScriptedModel):
    """A planner's model that reads the goal, too, when it is asked to."""

    def __init__(self, *lines: ModelReply, parts: list[dict[str, object]]) -> None:
        super().__init__(*lines)
        self.parts = parts
        self.read: list[ModelRequest] = []

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        if any(tool.name == READ_GOAL for tool in request.tools):
            self.read.append(request)
            return call(READ_GOAL, parts=self.parts)
        return await super().complete(request, on_text)


async def test_a_goal_is_read_once_by_who_does_not_see_the_plan_and_doubts_stay(
    stage: Stage,
) -> None:
    one = propose({"objective": "look", "device": "phone-1"})
    model = Reads(one, one, parts=[{"words": "look", "phones": ["all"]}])
    stage.make_model, stage.verifies = lambda session: model, True
    async with stage.play():
        parent_id = await stage.create("look on every phone")
        parent = await stage.reach(parent_id, COMPLETED)
        msgs = await stage.msgs(parent_id)
    [asked] = model.read
    shown = "\n".join(message.text for message in asked.messages)
    assert "look on every phone" in shown and "propose" not in shown and "divided" not in shown
    refused = next(m for m in model.messages if "say why as `reason`" in m.text)
    assert 'the goal says "look" of phone-2, phone-3: add a target there' in refused.text
    assert not parent.is_verified
    [planned] = of_type(msgs, TargetsPlanned)
    assert planned.reason == "On 1 of 3 phones.\ndivided"
    doubts = [r.text for r in parent.requirements if r.origin is RequirementOrigin.PLAN]
    assert len(doubts) == 1 and doubts[0].startswith("The plan is right although the goal says")


async def test_what_every_phone_does_as_it_was_read_is_a_plan_without_a_doubt(stage: Stage) -> None:
    each = [{"objective": "look", "device": f"phone-{at}"} for at in (1, 2, 3)]
    model = Reads(propose(*each), parts=[{"words": "look", "phones": ["all"]}])
    stage.make_model, stage.verifies = lambda session: model, True
    async with stage.play():
        parent_id = await stage.create("look on every phone")
        parent = await stage.reach(parent_id, COMPLETED)
        children = await stage.store.children(parent_id)
    assert [(r.text, r.phone) for r in parent.requirements] == [
        ("look", "phone-1"),
        ("look", "phone-2"),
        ("look", "phone-3"),
    ]
    assert not any(child.requirements for child in children)
    assert len(model.asked) == 1 and len(model.read) == 1


async def test_a_reading_that_cannot_be_true_is_asked_for_once_more_with_the_reason(
    stage: Stage,
) -> None:
    each = [{"objective": "look", "device": f"phone-{at}"} for at in (1, 2, 3)]
    model = Reads(propose(*each), parts=[{"words": "look away", "phones": ["all"]}])
    stage.make_model, stage.verifies = lambda session: model, True
    async with stage.play():
        parent_id = await stage.create("look on 3 phones, please")
        parent = await stage.reach(parent_id, COMPLETED)
    assert len(model.read) == 2
    assert "could not be true of the goal: the goal does not say away" in (
        model.read[1].messages[-1].text
    )
    assert not parent.is_verified
