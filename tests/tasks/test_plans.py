"""A model's plan: what was done stays done, until the operator speaks."""

import pytest

from agent.loop.task_context import Steering
from agent.loop.turn.control_tools import SAME_PLAN, STAYS_DONE
from agent.loop.verification.claims import BLOCKED
from agent.models.model import ModelReply, ModelRequest
from agent.protocol import Event, PlanUpdate, StepCompleted, ToolCallFinished, UserMessage
from tests.tasks.context import MemoryContext
from tests.tasks.counter import Counter, results, run
from tests.tasks.scripted import DONE, Clock, says, scripted, task, texts

PRESS = says("click_element", element=1)
FAILS = says("finish", success=False, summary="Not today.")
LAUNCH = says("launch_app", app="com.example")


def planned(context: MemoryContext) -> list[list[str]]:
    told = [m for m in context.of(PlanUpdate) if isinstance(m, PlanUpdate)]
    return [[item.status.value for item in m.plan] for m in told]


def plans(*statuses: str) -> ModelReply:
    steps = [{"step": f"part {at}", "status": status} for at, status in enumerate(statuses)]
    return says("update_plan", plan=steps)


async def test_an_item_of_a_plan_that_was_completed_stays_so_and_the_model_is_told() -> None:
    first, second = plans("completed", "in_progress"), plans("pending", "completed")
    context = await run(scripted(first, second, DONE))
    assert planned(context) == [["completed", "in_progress"], ["completed", "completed"]]
    assert results(context)[:2] == ["Plan updated.", f"Plan updated. {STAYS_DONE}"]


async def test_a_plan_that_is_written_again_is_no_new_one_and_its_parts_keep_their_numbers() -> (
    None
):
    said = {"plan": [{"step": "part 0"}], "requirements": [{"text": "open Settings"}]}
    goal = "open Settings, and count every entry of its list twice"
    context = MemoryContext(
        scripted(*[says("update_plan", **said) for _ in range(3)], FAILS),
        Counter().phone,
        goal=goal,
    )
    await task().run(context)
    assert len(planned(context)) == 1
    assert results(context)[1] == results(context)[2] == SAME_PLAN
    numbers = {one.number for one in context.session.requirements}
    assert numbers == {1, 2}


async def test_a_word_of_the_operator_opens_what_was_completed_again() -> None:
    again = plans("pending")

    def asked(_request: ModelRequest) -> ModelReply:
        context.steering.append(Steering(message_id="m-1", text="Do it once more."))
        return plans("completed")

    context = MemoryContext(scripted(asked, again, FAILS), Counter().phone)
    await task().run(context)
    assert planned(context) == [["completed"], ["pending"]]


async def test_a_claim_that_was_refused_opens_what_was_completed_again() -> None:
    context = await run(scripted(plans("completed", "pending"), DONE, plans("pending"), FAILS))
    assert planned(context) == [["completed", "pending"], ["pending"]]
    assert results(context)[1].startswith(
        "BLOCKED: The work is not accepted as done. These items of your plan"
    )


@pytest.mark.parametrize(
    ("last", "asked"),
    [
        ("Finish with result", False),
        ("then report the number", False),
        ("Tell me the total, and finish", False),
        ("call finish", False),
        ("Press it", True),
        ("Finish the order", True),
        ("Tell Anna that I am late", True),
        ("Answer the newest message", True),
        ("Report the post as spam", True),
    ],
)
async def test_an_item_to_finish_is_done_by_the_claim_itself(last: str, asked: bool) -> None:
    steps = [{"step": "Read it", "status": "completed"}, {"step": last, "status": "in_progress"}]
    context = await run(scripted(says("update_plan", plan=steps), DONE, DONE))
    refused = [text.startswith(f"{BLOCKED}. These items") for text in results(context)]
    assert any(refused) is asked


async def test_a_new_goal_begins_without_the_plan_of_the_one_before() -> None:
    first = await run(scripted(plans("completed", "pending"), FAILS))
    model = scripted(plans("pending"), FAILS)
    other = Event(
        event_id=99,
        session_id="s-1",
        seq=99,
        ts_ms=1,
        msg=UserMessage(text="open Notes", message_id="m1"),
    )
    past = (*first.events, other)
    later = MemoryContext(model, Counter().phone, past=past, asks_goal=False)
    await task().run(later)
    assert planned(later) == [["completed", "pending"], ["pending"]]
    assert "## Plan" not in texts(model, 0)[-1]


def both(*replies: ModelReply) -> ModelReply:
    calls = tuple(call for reply in replies for call in reply.tool_calls)
    return ModelReply(tool_calls=calls, usage=replies[0].usage)


async def test_a_plan_and_the_act_beside_it_take_one_request() -> None:
    model = scripted(
        both(plans("in_progress"), says("remember", text="the counter is at 0"), PRESS), FAILS
    )
    counter = Counter()
    context = await run(model, counter)
    assert counter.count == 1
    assert planned(context) == [["in_progress"]]
    assert len(model.requests) == 2
    assert not any("not done" in text for text in results(context))
    counted = [m.counted for m in context.of(StepCompleted) if isinstance(m, StepCompleted)]
    assert counted[:3] == [False, False, True]
    assert sum(m.usage.calls for m in context.of(StepCompleted)) == 2


async def test_a_slow_model_may_note_what_is_new_and_act_in_one_answer() -> None:
    clock, counter = Clock(), Counter()

    def slowly(_request: ModelRequest) -> ModelReply:
        # The screen is looked at anew after so long, and nothing on it is new any more.
        clock.now += 60
        return both(says("remember", text="pressed once"), PRESS)

    model = scripted(PRESS, slowly, FAILS)
    context = MemoryContext(model, counter.phone)
    await task(clock).run(context)
    assert counter.count == 2
    assert len(model.requests) == 3


@pytest.mark.parametrize(("act", "follows"), [(PRESS, False), (LAUNCH, True)])
async def test_on_another_screen_only_what_needs_none_follows_a_plan(
    act: ModelReply, follows: bool
) -> None:
    clock, counter = Clock(), Counter()

    def slowly(_request: ModelRequest) -> ModelReply:
        clock.now += 60
        counter.count += 1
        return both(plans("in_progress"), act)

    model = scripted(slowly, FAILS)
    context = MemoryContext(model, counter.phone)
    await task(clock).run(context)
    assert len(model.requests) == 2
    assert len(context.of(ToolCallFinished)) == (3 if follows else 2)


async def test_a_hint_comes_before_the_act_beside_a_plan() -> None:
    counter = Counter()

    def hinted(_request: ModelRequest) -> ModelReply:
        context.steering.append(Steering(message_id="m-1", text="Do not press it."))
        return both(plans("in_progress"), PRESS)

    model = scripted(hinted, FAILS)
    context = MemoryContext(model, counter.phone)
    await task().run(context)
    assert counter.count == 0 and len(model.requests) == 2
