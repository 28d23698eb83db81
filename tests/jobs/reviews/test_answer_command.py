"""A review that is answered from the command line when no core is open."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.records import JobStatus, RunOutcome
from support.adb import free_port
from tests.end_to_end.harness import Workshop, adb_server_of_its_own, base_environment
from tests.fakes import FakeFleet
from tests.jobs.reviewing import PROMPT, Act, runs_of, waiting_job
from tests.stage import Stage


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    """A data directory, and an adb server of its own that knows no phone."""
    (home := tmp_path / "home").mkdir()
    environment = base_environment(home)
    with adb_server_of_its_own(environment, free_port()):
        yield Workshop(tmp_path / "data", environment)


async def test_a_refusal_that_was_taken_is_no_failure_of_the_command(
    tmp_path: Path, workshop: Workshop
) -> None:
    stage = Stage(tmp_path / "data", FakeFleet("phone-1"))
    # The command has the clock of the computer, and the review must not have expired for it.
    stage.now_ms = time.time_ns() // 1_000_000
    act = stage.parts[PROMPT] = Act()
    async with stage.play():
        job, question = await waiting_job(stage)
    call = await asyncio.to_thread(
        workshop.call, "sessions", "answer", question.session_id, "--answer", "Deny"
    )
    assert call.code == 0, call
    assert "cancelled" not in call.err
    late = await asyncio.to_thread(
        workshop.call, "sessions", "answer", question.question_id, "Approve"
    )
    assert (late.code, "is not open" in late.err) == (4, True), late
    async with stage.play():
        after = await stage.store.job(job.id)
        [run] = await runs_of(stage, job.id)
    assert after is not None
    assert (after.status, run.outcome) == (JobStatus.FAILED, RunOutcome.DENIED)
    assert act.done == []
