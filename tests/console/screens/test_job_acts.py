"""Acts on jobs, watchers and commitments over a record and a recorder of ops: no app, no screen."""

import pytest

from agent import protocol
from agent.records import Commitment, CommitmentStatus, Job, JobStatus, Watcher
from console.keys import actions
from console.screens.jobs.jobs_acts import JobActs
from console.screens.jobs.jobs_lists import Tab
from tests.console.deck.test_controllers import Recorder
from tests.console.fakes import commitment, job, watcher


class Listed:
    def __init__(self, record: Job | Watcher | Commitment | None, session: str = "") -> None:
        self.record = record
        self.ops = Recorder(protocol.Reply(submission_id="x"))
        self.tab = Tab.JOBS
        self.read = 0
        self.played = ""
        self._session = session

    def newest_session(self) -> str:
        return self._session

    def key_of(self, action_id: str) -> str:
        return actions.BY_ID[action_id].keys[0]

    async def read_now(self) -> None:
        self.read += 1

    def show_replay(self, session_id: str) -> None:
        self.played = session_id

    def copy_detail(self) -> None:
        pass


ACTIVE, PAUSED = JobStatus.ACTIVE, JobStatus.PAUSED


@pytest.mark.parametrize(
    ("record", "act", "sent"),
    [
        (job(1, status=ACTIVE), "run", protocol.JobRun(job_id=1)),
        (job(1, status=ACTIVE), "pause", protocol.JobPause(job_id=1)),
        (job(1, status=PAUSED), "pause", protocol.JobResume(job_id=1)),
        (job(1, status=JobStatus.RUNNING), "run", None),
        (job(1, status=JobStatus.STOPPED), "pause", None),
        (job(1, unread_result=True), "read", protocol.JobRead(job_id=1)),
        (watcher(2, unread=True), "read", protocol.WatcherRead(watcher_id=2)),
        (watcher(2), "run", None),
        (
            commitment(3),
            "done",
            protocol.CommitmentUpdate(commitment_id=3, status=CommitmentStatus.COMPLETED),
        ),
        (
            commitment(3, status=CommitmentStatus.COMPLETED),
            "snooze",
            protocol.CommitmentUpdate(commitment_id=3, status=CommitmentStatus.PENDING),
        ),
        (
            commitment(3),
            "snooze",
            protocol.CommitmentUpdate(commitment_id=3, status=CommitmentStatus.SNOOZED),
        ),
        (
            commitment(3),
            "read",
            protocol.CommitmentUpdate(commitment_id=3, status=CommitmentStatus.DISMISSED),
        ),
        (None, "read", None),
    ],
)
async def test_what_can_be_taken_back_is_done_at_once_and_the_list_is_read_anew(
    record: Job | Watcher | Commitment | None, act: str, sent: protocol.Op | None
) -> None:
    listed = Listed(record)
    getattr(JobActs(listed), f"do_job_{act}")()
    await listed.ops.run()
    assert listed.ops.sent == ([sent] if sent is not None else [])
    assert listed.read == len(listed.ops.sent)


@pytest.mark.parametrize(
    ("record", "sent"),
    [
        (job(1, status=ACTIVE), protocol.JobStop(job_id=1)),
        (watcher(2), protocol.WatcherStop(watcher_id=2)),
    ],
)
async def test_what_ends_for_good_takes_two_presses(
    record: Job | Watcher, sent: protocol.Op
) -> None:
    listed = Listed(record)
    acts = JobActs(listed)
    acts.do_job_stop()
    await listed.ops.run()
    assert listed.ops.sent == []
    assert listed.ops.two_presses.sentence.endswith("for good")
    acts.do_job_stop()
    await listed.ops.run()
    assert listed.ops.sent == [sent]


def test_a_job_is_played_from_its_newest_run_and_not_where_it_had_none() -> None:
    listed = Listed(job(1), session="s7")
    acts = JobActs(listed)
    assert acts.can("job.replay")
    acts.do_job_replay()
    assert listed.played == "s7"
    assert not JobActs(Listed(job(1))).can("job.replay")
