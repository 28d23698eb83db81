"""Jobs under anything in any order: created, stopped, paused, failing, crashing, with clocks that
jump. None is lost, none runs twice for one due time, stopped stays stopped, the wake is set right.

The store is the one in memory, so that thousands of sequences take seconds; what it promises is
what the embedded one promises (`tests.store`). More of them: JOBS_SEQUENCES=5000.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agent import protocol
from agent.errors import SwitchboardError
from agent.jobs.schedule import MINIMUM_DELAY_MS, STUCK_AFTER_MS
from agent.loop.task_context import TaskContext, TurnEnd
from agent.records import Job, JobStatus, JobType, RunRecord
from agent.runtime.runtime import Runtime
from agent.settings import RecoverySettings, Settings
from tests.fakes import FakeFleet, FakeModel, PlayedTask
from tests.jobs.reviewing import Act
from tests.store.memory import MemoryStore

SEQUENCES = int(os.environ.get("JOBS_SEQUENCES", "60"))
ACTIVE, RUNNING, STOPPED = JobStatus.ACTIVE, JobStatus.RUNNING, JobStatus.STOPPED
PAUSED, AWAITING = JobStatus.PAUSED, JobStatus.AWAITING_REVIEW
UNDER_WAY = {RUNNING, JobStatus.WAITING, JobStatus.QUEUED}
MOVES = {
    ACTIVE: {ACTIVE, RUNNING, PAUSED, STOPPED, JobStatus.COMPLETED},
    RUNNING: {ACTIVE, AWAITING, JobStatus.COMPLETED, JobStatus.FAILED, STOPPED},
    # Queued: nobody reviewed it in time, and its run goes on without.
    AWAITING: {ACTIVE, JobStatus.WAITING, JobStatus.QUEUED, JobStatus.FAILED, STOPPED},
    JobStatus.WAITING: {
        ACTIVE,
        AWAITING,
        JobStatus.QUEUED,
        JobStatus.COMPLETED,
        JobStatus.FAILED,
        STOPPED,
    },
    JobStatus.QUEUED: {RUNNING},
    PAUSED: {ACTIVE, STOPPED},
    JobStatus.COMPLETED: {ACTIVE, STOPPED},
    JobStatus.FAILED: {ACTIVE, STOPPED},
    STOPPED: set(),
}
WHERE_IT_HANGS = "phone-7"
"""Runs that hang have a phone of their own, so that no other run waits for them."""

op = st.one_of(
    st.tuples(
        st.just("create"),
        st.sampled_from(["ok", "fail", "act", "hang"]),
        st.sampled_from([0, 0, 1000, 60_000]),
        st.sampled_from([0, 1, 20_000, 600_000]),
        st.booleans(),
    ),
    st.tuples(st.sampled_from(["stop", "pause", "resume", "run"]), st.integers(0, 7)),
    st.tuples(st.sampled_from(["approve", "deny"])),
    st.tuples(st.just("ring")),
    st.tuples(st.just("ring")),
    st.tuples(st.just("pass"), st.sampled_from([1, 14_999, 15_000, 61_000, STUCK_AFTER_MS + 1])),
    st.tuples(st.just("jump"), st.sampled_from([-3_600_000, -30_000, 86_400_000])),
    st.tuples(st.just("crash")),
)


class World:
    """A core that dies and comes again over one store, and a clock that anybody may set."""

    def __init__(self, directory: Path) -> None:
        self.now_ms = 1_000_000_000
        self.store = MemoryStore(lambda: self.now_ms)
        self.settings = Settings(
            data_dir=directory,
            config_file=directory / "config.toml",
            recovery=RecoverySettings(auto_resume=False, retries=0),
        )
        self.core: Runtime
        self.stopped: set[int] = set()
        self.created: set[int] = set()

    @asynccontextmanager
    async def life(self) -> AsyncIterator[None]:
        """Run one core; it dies without a word."""
        self.core = await Runtime.spawn(
            self.settings,
            store=self.store,
            fleet=FakeFleet(*(f"phone-{number}" for number in range(8))),
            models=lambda session: FakeModel(session.model),
            task=lambda: PlayedTask({"ok": self._ok, "fail": self._fail, **self._more()}),
            clock=lambda: self.now_ms,
        )
        await self.core._job_service.scheduler.ring()
        try:
            yield
        finally:
            await self.core.close()
            self.store.reopened()

    def _more(self) -> dict[str, object]:
        return {"act": Act(), "hang": self._hang}

    async def _ok(self, context: TaskContext) -> str:
        return "done"

    async def _fail(self, context: TaskContext) -> TurnEnd:
        return TurnEnd(completed=False, message="no")

    async def _hang(self, context: TaskContext) -> str:
        await asyncio.Event().wait()
        return "never"

    # --- what happens ----------

    async def do(self, step: tuple[object, ...]) -> bool:
        """Carry one step out; True when the core is to die."""
        wake = self.core._job_service.scheduler
        self.now_ms += 1
        jobs = sorted(self.store._jobs)
        match step:
            case ("create", str(part), int(interval), int(wait), bool(beats)):
                await self._create(part, interval, wait, beats)
            case ("ring",):
                await wake.ring()
            case ("pass", int(passed)):
                self.now_ms += passed
            case ("jump", int(by)):
                self.now_ms = max(self.now_ms + by, 1_000_000)
            case ("crash",):
                return True
            case ("approve",) | ("deny",):
                for question in await self.store.open_questions():
                    answer = "Approve" if step[0] == "approve" else "Deny"
                    said = protocol.UserInputAnswer(question_id=question.question_id, answer=answer)
                    with suppress(SwitchboardError):
                        await self.core.request(said)
            case (str(name), int(at)) if jobs:
                job_id = jobs[at % len(jobs)]
                kind = {
                    "stop": protocol.JobStop,
                    "pause": protocol.JobPause,
                    "resume": protocol.JobResume,
                    "run": protocol.JobRun,
                }
                with suppress(SwitchboardError):
                    await self.core.request(kind[name](job_id=job_id))
                if name == "stop":
                    self.stopped.add(job_id)
            case _:
                pass
        # What the timer does when it looks at the clock, which is at least once a minute.
        while wake.timer.is_time():
            await wake.ring()
            await self.settle()
        await self.settle()
        return False

    async def _create(self, part: str, interval: int, wait: int, beats: bool) -> None:
        wanted = protocol.JobCreate(
            title=part,
            prompt=part,
            job_type=JobType.HEARTBEAT if beats else JobType.AGENT_TURN,
            interval_ms=interval,
            next_run_at=self.now_ms + wait,
            serial=WHERE_IT_HANGS if part == "hang" else "",
        )
        job = (await self.core.request(wanted)).job
        assert job is not None
        self.created.add(job.id)

    async def settle(self) -> None:
        """Wait until nothing is under way but what hangs."""
        for _ in range(20_000):
            jobs = self.store._jobs.values()
            if not any(job.status in UNDER_WAY and job.title != "hang" for job in jobs):
                break
            await asyncio.sleep(0)
        else:
            raise AssertionError(f"runs do not end: {self.store._jobs}")
        await asyncio.sleep(0)

    # --- what must hold ----------

    def check(self) -> None:
        jobs = self.store._jobs
        assert set(jobs) == self.created, "a job was lost"
        for job_id in self.stopped:
            assert jobs[job_id].status is STOPPED, "a stopped job came to life"
            assert (jobs[job_id].next_run_at, jobs[job_id].running_at) == (0, 0)
        self._check_log()
        active = [job.next_run_at for job in jobs.values() if job.status is ACTIVE]
        armed = self.core._job_service.scheduler.armed_ms
        if active:
            assert armed is not None, "nobody will wake"
            assert armed <= max(min(active), self.now_ms + MINIMUM_DELAY_MS), "too late"

    def _check_log(self) -> None:
        """Read the whole log: each claim has one run, and was due; each run ends once."""
        was: dict[int, Job] = {}
        runs: dict[str, RunRecord] = {}
        claims: dict[int, int] = {}
        for event in self.store._events:
            match event.msg:
                case protocol.JobChanged(job=job):
                    before = was.get(job.id)
                    if before is not None:
                        assert job.status in MOVES[before.status], (before.status, job.status)
                        if (before.status, job.status) == (ACTIVE, RUNNING):
                            assert before.next_run_at <= event.ts_ms, "it was not due"
                            claims[job.id] = claims.get(job.id, 0) + 1
                    was[job.id] = job
                case protocol.RunChanged(run=run):
                    known = runs.get(run.run_id)
                    if known is None:
                        others = [r for r in runs.values() if r.job_id == run.job_id]
                        assert all(
                            (r.due_at, r.started_at) != (run.due_at, run.started_at) for r in others
                        ), "two runs for one due time"
                    runs[run.run_id] = run
                case _:
                    pass
        for job_id, job in was.items():
            of_it = [run for run in runs.values() if run.job_id == job_id]
            assert len(of_it) == claims.get(job_id, 0), "a claim without its run"
            unended = [run for run in of_it if not run.ended_at]
            open_now = job.status in UNDER_WAY | {AWAITING}
            assert len(unended) == int(open_now), (job.status, unended)

    async def drain(self) -> None:
        """Let time pass until nothing is due: whatever was due has then run."""
        for _ in range(200):
            self.now_ms += MINIMUM_DELAY_MS
            await self.core._job_service.scheduler.ring()
            await self.settle()
            once = [
                job
                for job in self.store._jobs.values()
                if job.status is ACTIVE
                and not job.schedule_json.get("interval_ms")
                and job.next_run_at <= self.now_ms
            ]
            if not once:
                return
        raise AssertionError("something that is due never runs")


async def live_through(steps: list[tuple[object, ...]]) -> None:
    with TemporaryDirectory() as directory:
        world = World(Path(directory))
        rest = iter(steps)
        over = False
        while not over:
            over = True
            async with world.life():
                await world.settle()
                world.check()
                for step in rest:
                    if await world.do(step):
                        over = False
                        break
                    world.check()
                if over:
                    await world.drain()
                    world.check()


@settings(max_examples=SEQUENCES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(op, min_size=5, max_size=40))
def test_no_sequence_loses_a_job_or_runs_one_twice(steps: list[tuple[object, ...]]) -> None:
    asyncio.run(live_through(steps))


def test_the_check_itself_notices_a_run_that_was_not_due() -> None:
    """A check that cannot fail would prove nothing."""

    async def broken() -> None:
        with TemporaryDirectory() as directory:
            world = World(Path(directory))
            async with world.life():
                await world.do(("create", "ok", 0, 600_000, True))
                [job] = world.store._jobs.values()
                claim = replace(job, status=RUNNING, running_at=world.now_ms)
                await world.store.replace_job(claim, expect=ACTIVE, reason="too early")
                world._check_log()

    try:
        asyncio.run(broken())
    except AssertionError as error:
        assert "not due" in str(error)
    else:
        raise AssertionError("a job ran before its time and nobody noticed")
