"""The Jobs screen over a real store of a hundred thousand jobs: a few pages held, any one found."""

from pathlib import Path

from agent.protocol import JobQueue, Op, Reply
from agent.store.embedded.sqlite_store import SqliteStore
from console.screens.jobs.jobs import JobsScreen
from console.screens.jobs.jobs_lists import PAGE, Tab
from console.steps.pager import HELD
from tests.console.conftest import Open, Seat
from tests.console.fakes import FakeCore, job
from tests.console.screens.test_jobs_screen import jobs_of
from tests.store.many_jobs import store_jobs

STORED = 100_000


class StoredJobsCore(FakeCore):
    def __init__(self, store: SqliteStore) -> None:
        super().__init__()
        self.store = store

    async def request(self, op: Op) -> Reply:
        if not isinstance(op, JobQueue):
            return await super().request(op)
        self.reads.append(op)
        page = await self.store.job_pages.page(query=op.query, limit=op.limit, after=op.after)
        return Reply(submission_id="x", jobs=page.jobs, after=page.after)


def keys(screen: JobsScreen) -> list[str]:
    return [row.key for row in screen.table.rows]


async def until_at(seat: Seat, screen: JobsScreen, place: int, number: int) -> None:
    """Wait until a job stands at the top (0) or the end (-1) of what is held."""
    await seat.until(lambda: keys(screen)[place] == str(number), f"job {number} at {place}")


async def test_of_a_hundred_thousand_jobs_a_few_pages_are_held_and_any_one_is_found(
    console: Open, tmp_path: Path
) -> None:
    # What wakes next comes first: the numbers.
    many = (job(n, prompt="", next_run_at=1_000_000 + n) for n in range(1, STORED + 1))
    await store_jobs(tmp_path / "many", many)
    async with SqliteStore.open(tmp_path / "many") as store:
        core = StoredJobsCore(store)
        async with console(core=core) as seat:
            screen = await jobs_of(seat)
            queues = [op for op in core.reads if isinstance(op, JobQueue)]
            assert [len(screen.lists.pager(Tab.JOBS).records), len(queues)] == [PAGE, 1]
            for page in range(2, 6):
                await seat.press("G")
                await until_at(seat, screen, -1, page * PAGE)
            assert len(keys(screen)) == HELD * PAGE
            assert keys(screen)[0] == str(2 * PAGE + 1)
            for page in (2, 1):
                await seat.press("g")
                await until_at(seat, screen, 0, (page - 1) * PAGE + 1)
            assert len(keys(screen)) == HELD * PAGE
            await seat.press("slash", *"ob 7777")
            wanted = [str(n) for n in range(1, STORED + 1) if "7777" in str(n)]
            await seat.until(lambda: keys(screen) == wanted, "those that fit")
            await seat.press("enter", "escape")
            await until_at(seat, screen, 0, 1)
