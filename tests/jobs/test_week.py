"""Days of jobs in seconds, over a change of the clocks, with cores that are killed."""

from pathlib import Path

import pytest

from tests.jobs.week import KILLS_A_DAY, play, sheet

DAYS = 3  # Both seasons change their clocks in them; the long form is `python -m tests.jobs.week`.


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("season", ["spring", "autumn"])
def test_no_due_time_is_lost_or_met_twice_when_clocks_change_and_cores_are_killed(
    tmp_path: Path, season: str
) -> None:
    outcome = play(tmp_path, days=DAYS, season=season, seed=16)
    assert outcome.faults == [], sheet(outcome)
    assert 0 < outcome.kills <= DAYS * KILLS_A_DAY
    assert any(run.outcome for row in outcome.rows for run in row.runs)
