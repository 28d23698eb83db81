"""Jobs and exports over MCP: the operator is asked for a job, and a client has only its own."""

import asyncio
import json
from pathlib import Path

import pytest

from agent import records
from agent.config import load_settings
from agent.core import Core
from agent.protocol import JobCreate, JobList, SessionCreate
from bench.exercises.house import house
from tests.mcp.stand import Stand

ERAS = pytest.mark.parametrize("era", ["handshake", "2026-07-28"])
WEATHER = {"title": "Weather", "prompt": "Read the weather", "interval_ms": 3_600_000}


async def jobs(core: Core) -> tuple[records.Job, ...]:
    return (await core.request(JobList())).jobs


async def test_a_job_is_stored_once_the_operator_says_so(stand: Stand) -> None:
    async with stand.agent() as agent:
        approving = asyncio.create_task(stand.operator_answers("Approve"))
        text = await agent.call("create_job", **WEATHER)
        question = await approving
        assert (
            question.kind is records.QuestionKind.APPROVAL and "Read the weather" in question.shown
        )
        (job,) = await jobs(stand.at.core)
        assert (job.title, job.prompt, job.status) == (
            "Weather",
            "Read the weather",
            records.JobStatus.ACTIVE,
        )
        assert f"Job {job.id} is stored" in text
        assert "Weather" in await agent.call("list_jobs")
        session = await stand.at.core.session(question.session_id)
        assert session.state is records.SessionState.COMPLETED
        # The phone is free again, and the record is the client's.
        assert session.model == "direct:test-agent"
        await agent.call("take_phone", purpose="Look around")
        await agent.call("stop_job", job_id=job.id)
        assert (await jobs(stand.at.core))[0].status is not records.JobStatus.ACTIVE


async def test_a_job_that_the_operator_refuses_is_not_stored(stand: Stand) -> None:
    async with stand.agent() as agent:
        denying = asyncio.create_task(stand.operator_answers("Deny"))
        assert "rejected" in await agent.refused("create_job", **WEATHER)
        await denying
        assert await jobs(stand.at.core) == ()
        await agent.refused("create_job", title="", prompt="x")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"cron": "soon", "interval_ms": 0}, "cron"),
        ({"interval_ms": -1}, "interval_ms"),
        ({"next_run_at": -1}, "1970"),
        ({"cron": "0 8 * * *", "timezone": "Mars/Olympus", "interval_ms": 0}, "Mars"),
    ],
)
async def test_a_job_that_cannot_run_is_put_to_nobody(
    stand: Stand, wrong: dict[str, object], told: str
) -> None:
    async with stand.agent() as agent:
        assert told in await agent.refused("create_job", **{**WEATHER, **wrong})
        overview = await stand.at.core.overview()
        assert overview.questions == () and overview.sessions == ()


async def test_a_client_stops_no_job_of_others(stand: Stand) -> None:
    theirs = (await stand.at.core.request(JobCreate(title="Mine", prompt="x"))).job
    assert theirs is not None
    async with stand.agent() as agent:
        assert "not created by you" in await agent.refused("stop_job", job_id=theirs.id)
    assert (await jobs(stand.at.core))[0].status is records.JobStatus.ACTIVE


async def test_a_client_that_hangs_up_leaves_no_question_about_its_job(stand: Stand) -> None:
    async with stand.agent() as agent:
        creating = asyncio.create_task(agent.call_tool("create_job", WEATHER))
        question = await stand.question()
        creating.cancel()
        await asyncio.gather(creating, return_exceptions=True)
    async with stand.agent() as another:
        await another.call("take_phone", purpose="Look around")
        session = await stand.at.core.session(question.session_id)
        assert session.state is records.SessionState.CANCELLED
        assert (await stand.at.core.overview()).questions == ()
    assert await jobs(stand.at.core) == ()


async def test_an_export_says_what_a_session_did_and_shows_no_frame(stand: Stand) -> None:
    async with stand.agent() as agent:
        await agent.call("take_phone", purpose="Look around")
        session_id = agent.session_id
        await agent.call("launch_app", app="Settings")
        await agent.call("release_phone", success=True, summary="Looked")
        told = await agent.call("export_session", session=session_id)
        assert "no session" in await agent.refused("export_session", session="nosuch")
    place = Path(told.rpartition(": ")[2])
    assert place.parent == stand.socket.parent / "exports"
    mode, written = await asyncio.to_thread(lambda: (place.stat().st_mode, place.read_text()))
    assert mode & 0o077 == 0
    lines = [json.loads(line) for line in written.splitlines()]
    assert session_id in place.name and len(lines) > 5
    assert "Look around" in written
    assert not [line for line in lines if "data" in line.get("payload", {})]


async def test_a_goal_gets_a_phone_by_its_tag(stand: Stand) -> None:
    async with stand.agent() as agent:
        assert "Tags: none" in await agent.refused("start_session", goal="x", tag="blue")
        assert "Name one" in await agent.refused("start_session", goal="x", tag="a", phone="b")


async def test_a_program_asks_only_for_less_than_is_set(tmp_path: Path) -> None:
    overrides = {
        "data_dir": str(tmp_path / "data"),
        "safety.autonomy": "ask_before_action",
        "run.max_seconds": 100.0,
        "run.max_cost_usd": 1.0,
    }
    settings = load_settings(overrides=overrides, environ={})
    async with house(tmp_path, settings, phones=1) as at:

        async def made(
            speaker: records.Speaker, autonomy: records.Autonomy, budget: records.Budget
        ) -> records.Session:
            op = SessionCreate(
                goal="x", start=False, speaker=speaker, autonomy=autonomy, budget=budget
            )
            return await at.core.session((await at.core.request(op)).session_id)

        more = records.Budget(seconds=200.0, tokens=7, cost_usd=2.0)
        program = await made(records.Speaker.MODEL, records.Autonomy.TRUSTED_ACTIONS, more)
        assert program.autonomy is records.Autonomy.ASK_BEFORE_ACTION
        assert program.budget == records.Budget(seconds=100.0, tokens=7, cost_usd=1.0)
        less = records.Budget(seconds=50.0)
        program = await made(records.Speaker.MODEL, records.Autonomy.OBSERVE_ONLY, less)
        assert program.autonomy is records.Autonomy.OBSERVE_ONLY
        assert program.budget == records.Budget(seconds=50.0, cost_usd=1.0)
        operator = await made(records.Speaker.OPERATOR, records.Autonomy.TRUSTED_ACTIONS, more)
        assert (operator.autonomy, operator.budget) == (records.Autonomy.TRUSTED_ACTIONS, more)
