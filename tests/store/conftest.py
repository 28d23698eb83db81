"""A store in a directory of its own, and the drafts that tests put into it."""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from agent.protocol import RequestUserInput, SessionConfigured, StepStarted
from agent.records import (
    GoalVerdict,
    Job,
    JobStatus,
    JobType,
    Question,
    Session,
    SessionState,
    VerifiedBy,
)
from agent.store.embedded.sqlite_store import EventDraft, SqliteStore
from agent.store.store import Store
from tests.store.postgres_server import PostgresServer, binaries, running_server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A server for all tests of a worker; each takes a database of its own."""
    if binaries() is None and "SWITCHBOARD_NEEDS_ALL" not in os.environ:
        pytest.skip("PostgreSQL is not installed")
    with running_server() as server:
        yield server


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore.open(tmp_path / "data") as opened:
        yield opened


async def unpruned(store: Store) -> list[Session]:
    """Read all pages of the top-level sessions that still have their frames."""
    return [one async for page in store.unpruned_roots() for one in page]


def session_draft(session_id: str, *, parent_id: str = "", goal: str = "tidy up") -> EventDraft:
    session = Session(session_id=session_id, goal=goal, created_ms=1, parent_id=parent_id)
    return EventDraft(session_id, SessionConfigured(session=session))


def step_draft(session_id: str, step: int) -> EventDraft:
    return EventDraft(session_id, StepStarted(step=step))


def make_job(
    job_id: int,
    *,
    title: str = "Water the plants",
    prompt: str = "",
    status: JobStatus = JobStatus.ACTIVE,
    next_run_at: int = 0,
    running_at: int = 0,
) -> Job:
    return Job(
        id=job_id,
        type=JobType.AGENT_TURN,
        title=title,
        prompt=prompt,
        payload_json={},
        schedule_json={},
        session_target="main",
        delivery_json={},
        status=status,
        created_at=1,
        updated_at=1,
        next_run_at=next_run_at,
        running_at=running_at,
        last_run_at=0,
        last_result="",
        failure_count=0,
        failure_alert_at=0,
    )


def question_draft(question_id: str, session_id: str = "s1") -> EventDraft:
    question = Question(
        question_id=question_id, session_id=session_id, text="Which one?", asked_ms=5
    )
    return EventDraft(session_id, RequestUserInput(question=question))


def placed_sessions() -> list[Session]:
    return [
        Session(
            session_id=f"placed-{number}",
            goal="g",
            created_ms=number,
            state=state,
            host=host,
            serial=serial,
            model="OpenAI/GPT-5",
            kept=number % 2 == 0,
            tags=tags,
            verdict=verdict,
            verified_by=VerifiedBy.OPERATOR if number else VerifiedBy.NOBODY,
        )
        for number, (state, host, serial, tags, verdict) in enumerate(
            (
                (SessionState.COMPLETED, "Rack-3", "Rack-3/a", ("Wall", "x"), GoalVerdict.MET),
                (SessionState.COMPLETED, "", "127.0.0.1:5555", (), GoalVerdict.MET),
                (SessionState.COMPLETED, "rack-3", "", ("x",), GoalVerdict.NOT_MET),
                (SessionState.FAILED, "rack-3", "a", (), GoalVerdict.CANNOT_TELL),
                (SessionState.CANCELLED, "", "", (), GoalVerdict.CANNOT_TELL),
                (SessionState.WAITING_FOR_USER, "", "b", (), GoalVerdict.CANNOT_TELL),
            )
        )
    ]


def placed_job() -> Job:
    job = make_job(7, title="Water", prompt="slowly")
    campaign = {"phones": ["rack-4/a", "rack-4/b"]}
    payload = {"serial": "Rack-3/c", "campaign": campaign, "tags": ["wall"]}
    return replace(job, host="rack-3", payload_json=payload)


def encoded(record: Session | Job) -> str:
    return msgspec.json.encode(record).decode()
