"""Two processes on one data directory, either killed again and again: every due time runs once."""

from pathlib import Path

import pytest

from agent.records import JobStatus
from tests.jobs.takeover import play


@pytest.mark.slow
def test_every_due_time_runs_once_however_often_an_owner_is_killed(tmp_path: Path) -> None:
    outcome = play(tmp_path / "data", seconds=8, jobs=60)
    assert outcome.faults() == []
    assert outcome.kills >= 1 and outcome.owners >= 1
    # None is lost: each has run, or still waits for its turn.
    assert len(outcome.jobs) == 60
    for job in outcome.jobs:
        assert outcome.runs[job.id] or job.status is JobStatus.ACTIVE
