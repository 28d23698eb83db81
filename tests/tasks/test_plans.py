"""A model's plan: what was done stays done, until the operator speaks."""

from __future__ import annotations

from agent.loop.task_context import Steering
from agent.loop.turn.control_tools import STAYS_DONE
from agent.models.model import ModelReply, ModelRequest
from agent.protocol import PlanUpdate
from tests.tasks.context import MemoryContext
from tests.tasks.counter import Counter, results, run
from tests.tasks.scripted import DONE, says, scripted, task, texts

FAILS = says("finish", success=False, summary="Not today.")


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


async def test_a_word_of_the_operator_opens_what_was_completed_again() -> None:
    again = plans("pending")

    def asked(_request: ModelRequest) -> ModelReply:
        context.steering.append(Steering(message_id="m-1", text="Do it once more."))
        return plans("completed")

    context = MemoryContext(scripted(asked, again, FAILS), Counter().phone)
    await task().run(context)
    assert planned(context) == [["completed"], ["pending"]]


async def test_a_new_goal_begins_without_the_plan_of_the_one_before() -> None:
    first = await run(scripted(plans("completed", "pending"), FAILS))
    model = scripted(plans("pending"), FAILS)
    later = MemoryContext(model, Counter().phone, past=first.events, prompt="open Notes")
    await task().run(later)
    assert planned(later) == [["completed", "pending"], ["pending"]]
    assert "## Plan" not in texts(model, 0)[-1]
