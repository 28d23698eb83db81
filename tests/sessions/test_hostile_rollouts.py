"""Rollouts that somebody made up to harm: what they may not touch, and what is left of them."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from agent.core import Overview
from agent.protocol import (
    AdbServerChanged,
    CommitmentChanged,
    DeviceChanged,
    EventMsg,
    JobChanged,
    JobCreate,
    JobsDropped,
    NoticePosted,
    NoticeWithdrawn,
    RunChanged,
    SessionImport,
    SessionsDeleted,
    ShutdownComplete,
    WatcherChanged,
    WithdrawReason,
)
from agent.records import (
    DeviceInfo,
    DeviceState,
    JobStatus,
    Notice,
    NoticeKind,
    RunRecord,
    SessionState,
)
from agent.sessions.fork import OF_NO_SESSION
from agent.sessions.rollout_lines import EventLine, line_of
from agent.sessions.rollout_write import export_rollout
from tests.console.test_jobs_screen import commitment, watcher
from tests.sessions.test_rollouts import storied
from tests.stage import Stage

COMPLETED = SessionState.COMPLETED


async def test_a_rollout_changes_nothing_but_its_own_session(stage: Stage, tmp_path: Path) -> None:
    async with stage.play():
        job = (await stage.do(JobCreate(title="Mine", prompt="water them"))).job
        assert job is not None
        mine = await stage.create("mine")
        await stage.reach(mine, COMPLETED)
        session_id = await storied(stage)
        path = (await export_rollout(stage.core, session_id, tmp_path)).path
        notice = Notice(
            token="n-1", session_id=mine, kind=NoticeKind.COMPLETED, title="Pay", text="now"
        )
        evil: tuple[EventMsg, ...] = (
            JobChanged(job=replace(job, title="Theirs", status=JobStatus.STOPPED)),
            JobChanged(job=replace(job, id=job.id + 1)),
            RunChanged(run=RunRecord(run_id="r", job_id=job.id, due_at=1, started_at=1)),
            JobsDropped(job_ids=(job.id,)),
            WatcherChanged(watcher=watcher(9, title="Theirs")),
            CommitmentChanged(commitment=commitment(9, title="Theirs")),
            NoticePosted(notice=notice),
            NoticeWithdrawn(notice_of=mine, token="n-1", reason=WithdrawReason.REMOVED),
            SessionsDeleted(session_ids=(mine,)),
            DeviceChanged(device=DeviceInfo(serial="evil", state=DeviceState.ONLINE)),
            AdbServerChanged(address="127.0.0.1:1", why="gone"),
            ShutdownComplete(),
        )
        assert {type(msg) for msg in evil} == set(OF_NO_SESSION)
        for seq, msg in enumerate(evil, start=1_000):
            with path.open("ab") as file:
                file.write(line_of(EventLine(seq=seq, ts_ms=1, msg=msg), 1))
        # An hour later: what began long ago is no news.
        stage.now_ms = stage.clock() + 3_600_000
        reply = await stage.do(SessionImport(path=str(path), as_new=True))
        assert reply.skipped_lines == len(evil)
        last = await stage.create("mine too")

        async def told() -> Overview | None:
            seen = await stage.core.overview()
            return seen if any(one.session_id == last for one in seen.notices) else None

        after = await stage.until(told, "the notice of the session after the import")
        assert [one.id for one in after.jobs] == [job.id]
        assert [one.serial for one in after.devices] == ["phone-1"]
        assert reply.session_id not in {one.session_id for one in after.notices}
        assert "n-1" not in {one.token for one in after.notices}
        assert {one.session_id for one in after.sessions} >= {mine, session_id, reply.session_id}
        assert await stage.store.job(job.id) == job
        assert await stage.store.watches.watchers() == ()
        assert await stage.store.watches.commitments() == ()
        assert await stage.store.job_runs.runs(job.id) == ()
