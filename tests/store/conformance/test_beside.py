"""What else is kept beside the log: runs, jobs that wait for events, watchers, commitments."""

import pytest
from msgspec.structs import replace

from agent.protocol import CommitmentChanged, JobChanged, JobsDropped, RunChanged, WatcherChanged
from agent.records import (
    Commitment,
    CommitmentStatus,
    Job,
    JobStatus,
    RunRecord,
    TriggerType,
    Usage,
    WatcherStatus,
)
from agent.store.changes.row_codec import KEPT_RUNS
from agent.store.store import EventDraft, Store
from tests.store.conformance.stores import BUCKET, DATABASES
from tests.store.conftest import make_job, session_draft, unpruned
from tests.store.test_spendings import watcher


@pytest.fixture(params=(*DATABASES, BUCKET))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def changed(*jobs: Job) -> tuple[EventDraft, ...]:
    return tuple(EventDraft("", JobChanged(job=job, reason="test")) for job in jobs)


def run(job_id: int, number: int, ended_at: int = 1) -> EventDraft:
    record = RunRecord(
        run_id=f"{job_id}/{number}", job_id=job_id, due_at=0, started_at=number, ended_at=ended_at
    )
    return EventDraft("", RunChanged(run=record))


def commitment(number: int, title: str, status: CommitmentStatus) -> EventDraft:
    record = Commitment(
        id=number,
        title=title,
        description="",
        trigger_type=TriggerType.TIME,
        trigger_spec_json={},
        due_at=0,
        expires_at=0,
        status=status,
        confidence=1.0,
        evidence_json={},
        created_at=1,
        updated_at=1,
    )
    return EventDraft("", CommitmentChanged(commitment=record, reason="test"))


async def test_jobs_that_wait_for_an_event_are_those_that_name_it(store: Store) -> None:
    def on(number: int, *events: str, status: JobStatus = JobStatus.ACTIVE) -> Job:
        job = make_job(number, status=status, prompt="a\0b \\u0000 {")
        return replace(job, schedule_json={"on": list(events)} if events else {})

    await store.append(
        *changed(
            on(1, "device_online", "boot"),
            on(2),
            on(3, "boot"),
            on(4, "boot", status=JobStatus.PAUSED),
        )
    )
    assert [job.id for job in await store.jobs_on("boot")] == [1, 3]
    assert [job.id for job in await store.jobs_on("device_online")] == [1]
    assert await store.jobs_on("%") == ()
    assert [job.id for job in await store.jobs(query="A\0B")] == [4, 3, 2, 1]


async def test_the_newest_runs_of_a_job_are_kept_and_go_with_it(store: Store) -> None:
    await store.append(*changed(make_job(1), make_job(2)), run(2, 1))
    await store.append(*(run(1, number) for number in range(KEPT_RUNS + 5)))
    await store.append(run(1, 900, ended_at=0))
    await store.append(run(1, 900, ended_at=9))
    runs = await store.job_runs.runs(1, limit=1000)
    assert len(runs) == KEPT_RUNS
    assert [one.started_at for one in runs[:2]] == [900, KEPT_RUNS + 4]
    assert [one.ended_at for one in await store.job_runs.runs(1, limit=1)] == [9]
    await store.append(EventDraft("", JobsDropped(job_ids=(1,))))
    assert await store.job_runs.runs(1) == ()
    assert await store.job(1) is None
    assert len(await store.job_runs.runs(2)) == 1


async def test_jobs_are_counted_and_listed_by_what_became_of_them(store: Store) -> None:
    statuses = (JobStatus.FAILED, JobStatus.WAITING, JobStatus.COMPLETED, JobStatus.ACTIVE)
    await store.append(*changed(*(make_job(n, status=one) for n, one in enumerate(statuses, 1))))
    assert await store.job_runs.count_jobs() == 4
    assert await store.job_runs.ended_jobs(9) == (1, 3)
    assert await store.job_runs.ended_jobs(1) == (1,)
    assert [job.id for job in await store.job_runs.open_jobs()] == [2]


async def test_watchers_are_found_by_words_and_the_live_ones_apart(store: Store) -> None:
    old = replace(watcher(1, Usage()), title="Straße", status=WatcherStatus.STOPPED)
    for one in (old, replace(watcher(2, Usage()), title="Rain"), watcher(3, Usage())):
        await store.append(EventDraft("", WatcherChanged(watcher=one, reason="test")))
    assert [one.id for one in await store.watches.watchers()] == [3, 2, 1]
    assert [one.id for one in await store.watches.watchers(query="STRASSE")] == [1]
    assert [one.id for one in await store.watches.watchers(live_only=True, before=3)] == [2]
    assert await store.watches.watcher(2) == replace(watcher(2, Usage()), title="Rain")
    assert await store.watches.watcher(1 << 70) is None


async def test_commitments_are_found_by_words_and_the_live_ones_apart(store: Store) -> None:
    await store.append(
        commitment(1, "Call back", CommitmentStatus.PENDING),
        commitment(2, "Send the file", CommitmentStatus.DISMISSED),
    )
    assert [one.id for one in await store.watches.commitments()] == [2, 1]
    assert [one.id for one in await store.watches.commitments(live_only=True)] == [1]
    assert [one.id for one in await store.watches.commitments(query="FILE")] == [2]
    found = await store.watches.commitment(1)
    assert found is not None and found.title == "Call back"


async def test_blobs_say_their_size_and_roots_their_names(store: Store) -> None:
    digest = await store.blobs.put(b"\0\xff" * 5000, "image/png")
    assert await store.blobs.put(b"\0\xff" * 5000, "image/png") == digest
    assert await store.blobs.read(digest) == b"\0\xff" * 5000
    await store.append(session_draft("p1"), session_draft("c", parent_id="p1"))
    assert await store.blobs.size_bytes() == 10_000
    await store.append(session_draft("p2"))
    assert await store.root_ids() == ("p2", "p1")
    assert [one.session_id for one in await unpruned(store)] == ["p2", "p1"]
