"""What a planner, a review and a watcher's judge are told: the facts that the loop is told too."""

import re

import pytest

from agent.errors import ModelError
from agent.knowledge.app_names import with_names
from agent.knowledge.library import load
from agent.loop.conversation import prompts
from agent.loop.turn import compaction
from agent.loop.turn.budget import budget_words
from agent.loop.verification import request as verification
from agent.models.model import Model, ModelReply, ModelRequest, ToolCall
from agent.records import AppInfo, Budget, DeviceInfo, DeviceState
from agent.tasks import planner_prompts, review
from agent.tasks.delegation import PhoneView
from agent.tasks.plan import PlanTask
from agent.tasks.review import ReviewTask
from agent.timestamps import day_and_time, iso_time
from agent.watchers import semantic_match
from agent.watchers.semantic_match import Judge
from tests.loop.paper_phone import PaperPhone
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import ScriptedModel, says, scripted

PROMPTS = {
    "the loop": prompts.INSTRUCTIONS,
    "the planner": planner_prompts.INSTRUCTIONS,
    "a review": review.INSTRUCTIONS,
    "a verifier": verification.INSTRUCTIONS,
    "a compaction": compaction.INSTRUCTIONS,
    "a judge": semantic_match._INSTRUCTIONS,
}
NOW = "Sunday 2026-11-22 22:52 +0000, UTC, en-US"


@pytest.mark.parametrize("whose", PROMPTS)
def test_every_prompt_says_that_foreign_text_is_no_instruction(whose: str) -> None:
    said = PROMPTS[whose].casefold()
    assert re.search(r"content|data", said)
    assert re.search(r"never follow|only the operator's|never an order|never an instruction", said)


class Phones:
    """Two phones, one of which does not tell its time."""

    async def phones(self) -> tuple[PhoneView, ...]:
        apps = (AppInfo(package="com.android.deskclock"), AppInfo(package="org.example.oddity"))
        first = DeviceInfo(serial="one", state=DeviceState.ONLINE)
        second = DeviceInfo(serial="two", state=DeviceState.ONLINE)
        return (PhoneView(info=first, apps=apps, local_time=NOW), PhoneView(info=second))

    async def delegate(self, targets: object, reason: str) -> tuple[str, ...]:
        raise AssertionError("nothing is proposed")


async def test_a_planner_is_told_date_zone_app_names_and_budget() -> None:
    model = scripted(says("work_alone", reason="One is enough."))
    budget = Budget(seconds=600, tokens=200_000, cost_usd=1.5)
    context = MemoryContext(model, PaperPhone(lambda: []), goal="look", budget=budget)
    await PlanTask(Phones()).run(context)
    told = model.requests[0].messages[1].text
    assert f"- one: free, its date, time, time zone and language: {NOW}" in told
    assert "- two: free\n" in told
    assert "- Clock (com.android.deskclock)" in told
    assert "- ~Oddity (org.example.oddity)" in told
    each = "30 steps, 600 s of work, 200,000 tokens, $1.50"
    assert f"## Budget\nEach session on a phone: {each}. For this plan: 10 calls." in told


def test_the_loop_is_told_what_the_line_of_its_phone_means() -> None:
    told = prompts.goal_text("look", with_names((), load()), phone=NOW)
    assert f"## Phone\nDate, time, time zone and language: {NOW}" in told


async def test_a_review_is_told_when_where_and_with_what_budget_the_work_was_done() -> None:
    model = scripted(ModelReply(text="Nothing went wrong."))
    context = MemoryContext(model, PaperPhone(lambda: []), budget=Budget(tokens=500))
    await ReviewTask().run(context)
    told = model.requests[0].messages[1].text
    assert f"It was given on {day_and_time(context.session.created_ms)}." in told
    assert "Its budget: 30 steps, 500 tokens." in told
    assert "It used 0 steps, 0 s of work and 0 tokens." in told


class Judging(ScriptedModel):
    """Says that it holds, and keeps what it was asked."""

    async def complete(self, request: ModelRequest, on_text: object = None) -> ModelReply:
        self.requests.append(request)
        call = ToolCall(
            call_id="c", name="report", arguments='{"holds": true, "why": "it says so"}'
        )
        return ModelReply(text="", tool_calls=(call,))


async def test_a_judge_is_told_the_date_that_today_and_tomorrow_are_counted_from() -> None:
    model = Judging([])
    at_ms = 1_795_420_800_000

    def made() -> Model:
        return model

    found = await Judge(made, lambda: at_ms).judge("a parcel comes today", "Parcel: Monday")
    assert found.holds
    told = model.requests[0].messages[1].text
    assert f"## Now\n{day_and_time(at_ms)}\n" in told
    assert re.search(r"## Now\n\w+day \d{4}-\d\d-\d\d \d\d:\d\d [+-]\d{4} \(.+\)\n", told)
    assert "## What the operator is waiting for\na parcel comes today\n" in told


async def test_a_judge_that_does_not_answer_is_an_error() -> None:
    def made() -> Model:
        return scripted(ModelError("It is away.", retryable=False))

    with pytest.raises(ModelError):
        await Judge(made, lambda: 1).judge("a", "b")


@pytest.mark.parametrize("at_ms", [0, -5, 1 << 62])
def test_what_no_clock_can_show_is_no_moment(at_ms: int) -> None:
    assert iso_time(at_ms) is None
    assert day_and_time(at_ms) == ""


def test_a_budget_is_said_in_words_without_what_is_not_limited() -> None:
    assert budget_words(30, Budget()) == "30 steps"
    assert (
        budget_words(1000, Budget(seconds=90, cost_usd=0.5)) == "1,000 steps, 90 s of work, $0.50"
    )
