"""The tools with which a model hands in, lists and stops jobs: arguments, replies, and the rule."""

import json
from typing import Any

import pytest

from agent.errors import UsageError
from agent.loop.task_context import ServiceOp
from agent.protocol import JobCreate, JobList, JobStop, Reply, ToolCallFinished
from agent.records import Autonomy, JobType, Trigger
from agent.timestamps import iso_time
from agent.tools import background_jobs as jobs
from agent.tools.arguments import ToolKind
from agent.tools.background_jobs import BackgroundJobCreate, JobDelivery, JobSchedule
from agent.tools.registry import TOOLS, schemas
from tests.jobs.timing.test_schedule import a_job
from tests.loop.paper_phone import PaperPhone, button
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import DONE, says, scripted, task

CREATE = {"title": "Plants", "prompt": "look at the plants", "reason": "asked for"}


def fields_of(text: str) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(text)
    return said


def answered(op: ServiceOp) -> Reply:
    match op:
        case JobList():
            return Reply(submission_id="", jobs=(a_job(),))
        case JobStop(job_id=99):
            raise UsageError("There is no job 99.")
        case JobCreate(title="Too many"):
            raise UsageError("200 jobs are stored, and none of them has ended.", "Stop one.")
        case _:
            return Reply(submission_id="", job=a_job(id=7, next_run_at=123))


async def use(name: str, **arguments: object) -> tuple[dict[str, Any], list[ServiceOp]]:
    """Have a model call a tool in the foreground; returns the reply that it reads."""
    phone = PaperPhone(lambda: (button("Go", 0.3),))
    model = scripted(says(name, **arguments), DONE)
    context = MemoryContext(model, phone, reply=answered, answer=lambda _: "Approve")
    assert (await task().run(context)).completed
    finished = context.of(ToolCallFinished)[0]
    assert isinstance(finished, ToolCallFinished)
    return fields_of(finished.text), context.requested


def test_the_tools_have_the_kinds_and_the_required_arguments_of_the_contract() -> None:
    kinds = {name: TOOLS[name].tool_kind for name in TOOLS if name.startswith("background_job")}
    assert kinds == {
        "background_job_create": ToolKind.ACTION,
        "background_job_list": ToolKind.OBSERVE,
        "background_job_stop": ToolKind.ACTION,
    }
    wanted = {tool.name: tool.parameters.get("required") for tool in schemas()}
    assert wanted["background_job_create"] == ["title", "prompt", "reason"]
    assert wanted["background_job_list"] == ["reason"]
    assert wanted["background_job_stop"] == ["job_id", "reason"]


async def test_a_job_that_was_created_is_told_with_its_number_and_its_next_time() -> None:
    reply, ops = await use("background_job_create", **CREATE)
    assert reply == {
        "status": "background_job.created",
        "job_id": 7,
        "title": "Water the plants",
        "next_run_at": iso_time(123),
    }
    assert isinstance(ops[0], JobCreate) and ops[0].prompt == "look at the plants"


async def test_a_list_is_told_with_what_was_asked_for_and_how_many_it_may_hold() -> None:
    reply, ops = await use("background_job_list", reason="curious", query="pl", limit=99)
    assert (reply["status"], reply["query"], reply["limit"]) == (
        "background_job.list.results",
        "pl",
        20,
    )
    assert [job["job_id"] for job in reply["jobs"]] == [1]
    assert ops == [JobList(query="pl", limit=20)]


async def test_a_stop_is_told_and_an_unknown_job_is_not_found() -> None:
    reply, _ = await use("background_job_stop", job_id=7, reason="done")
    assert reply == {"status": "background_job.stopped", "job_id": 7}
    reply, _ = await use("background_job_stop", job_id=99, reason="done")
    assert reply == {"status": "background_job.not_found", "job_id": 99}
    reply, ops = await use("background_job_stop", reason="done")
    assert (reply["reason"], ops) == ("bad_background_job_stop", [])


async def test_a_stop_whose_job_cannot_be_read_is_refused_in_its_own_words() -> None:
    for corrupt in ("seven", [7], 7.5, {"id": 7}):
        reply, ops = await use("background_job_stop", job_id=corrupt, reason="done")
        assert (reply["reason"], ops) == ("bad_background_job_stop", [])


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"title": " ", "prompt": "look"}, "empty_background_job"),
        ({"title": "Plants"}, "empty_background_job_prompt"),
    ],
)
async def test_a_job_without_words_is_refused_by_name(
    arguments: dict[str, object], reason: str
) -> None:
    reply, ops = await use("background_job_create", **arguments)
    assert (reply["status"], reply["reason"], ops) == ("error", reason, [])


async def test_what_the_jobs_refuse_is_a_failed_creation() -> None:
    reply, _ = await use("background_job_create", **CREATE | {"title": "Too many"})
    assert reply["status"] == "background_job.create_failed" and "200 jobs" in reply["reason"]
    assert reply["remedy"] == "Stop one."


@pytest.mark.parametrize("alias", ["goal", "task"])
def test_a_prompt_may_have_another_name(alias: str) -> None:
    op = jobs.job_op(BackgroundJobCreate(title="Plants", **{alias: "look"}))
    assert isinstance(op, JobCreate) and op.prompt == "look"


def test_a_schedule_a_delivery_and_a_moment_are_read_in_every_form() -> None:
    op = jobs.job_op(
        BackgroundJobCreate(
            title="Plants",
            prompt="look",
            type="unheard of",
            schedule=JobSchedule(cron="0 9 * * *", timezone="Europe/Berlin", on=(Trigger.MANUAL,)),
            run_at="2030-01-01T00:00:00+00:00",
            delivery=JobDelivery(mode="silent", notification_text="Watered."),
        )
    )
    assert isinstance(op, JobCreate)
    assert (op.job_type, op.cron, op.on) == (JobType.AGENT_TURN, "0 9 * * *", (Trigger.MANUAL,))
    assert (op.delivery_mode, op.notification_text) == ("silent", "Watered.")
    assert op.next_run_at == 1_893_456_000_000


@pytest.mark.parametrize(
    "run_at", ["soon", "2030-99-99", "9" * 5000, "-5", -5, "1969-01-01", "0001-01-01T00:00"]
)
async def test_what_is_no_time_is_told_as_that(run_at: str | int) -> None:
    phone = PaperPhone(lambda: (button("Go", 0.3),))
    call = says("background_job_create", **CREATE, run_at=run_at)
    context = MemoryContext(scripted(call, DONE), phone, reply=answered, answer=lambda _: "Approve")
    await task().run(context)
    finished = context.of(ToolCallFinished)[0]
    assert isinstance(finished, ToolCallFinished)
    assert "is not a time" in finished.text or "is before 1970" in finished.text
    assert context.requested == []


async def test_in_the_background_a_creation_waits_for_a_review_and_a_list_does_not() -> None:
    phone = PaperPhone(lambda: (button("Go", 0.3),))
    model = scripted(
        says("background_job_list", reason="x"), says("background_job_create", **CREATE)
    )
    context = MemoryContext(model, phone, background=True, reply=answered)
    end = await task().run(context)
    assert end.review is not None and "Create the job" in end.review.text
    assert [type(op) for op in context.requested] == [JobList]


async def test_a_session_that_asks_before_it_acts_asks_before_it_creates_a_job() -> None:
    phone = PaperPhone(lambda: (button("Go", 0.3),))
    model = scripted(says("background_job_create", **CREATE), DONE)
    context = MemoryContext(
        model, phone, autonomy=Autonomy.ASK_BEFORE_ACTION, answer=lambda q: "Deny", reply=answered
    )
    await task().run(context)
    assert context.requested == [] and len(context.questions) == 1


async def test_nested_arguments_are_read_as_a_model_writes_them() -> None:
    _, ops = await use(
        "background_job_create",
        **CREATE,
        schedule={"cron": "0 9 * * *", "quiet": {"since": "22:00", "until": "07:00"}},
        delivery={"mode": "none"},
        payload={"colour": "green"},
    )
    [op] = ops
    assert isinstance(op, JobCreate) and op.quiet is not None
    assert (op.cron, op.quiet.until, op.delivery_mode) == ("0 9 * * *", "07:00", "none")
    assert op.payload == {"colour": "green"}


@pytest.mark.parametrize(
    "more", [{"dry_run": True}, {"autonomy": Autonomy.OBSERVE_ONLY, "background": True}]
)
async def test_who_may_only_look_creates_no_job(more: dict[str, Any]) -> None:
    phone = PaperPhone(lambda: (button("Go", 0.3),))
    model = scripted(says("background_job_create", **CREATE), DONE)
    context = MemoryContext(model, phone, reply=answered, **more)
    end = await task().run(context)
    assert end.completed and end.review is None and context.requested == []


async def test_a_time_beside_the_schedule_is_read_and_not_left_out() -> None:
    _, (op,) = await use("background_job_create", **CREATE, cron="0 9 * * 1", timezone="UTC")
    assert isinstance(op, JobCreate)
    assert (op.cron, op.timezone) == ("0 9 * * 1", "UTC")


async def test_a_name_that_means_nothing_is_refused_before_anything_is_stored() -> None:
    phone = PaperPhone(lambda: (button("Go", 0.3),))
    call = says("background_job_create", **CREATE, every="monday", at="09:00")
    context = MemoryContext(scripted(call, DONE), phone, reply=answered, answer=lambda _: "Approve")
    await task().run(context)
    finished = context.of(ToolCallFinished)[0]
    assert isinstance(finished, ToolCallFinished)
    assert "there is no `at`, `every`" in finished.text
    assert "schedule" in finished.text
    assert not context.requested
