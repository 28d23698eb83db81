"""The queue of jobs is read page by page, in one order, whatever stands between the pages."""

from pathlib import Path

from agent.store.embedded.job_trigrams import lookup
from agent.store.embedded.sqlite_store import SqliteStore
from agent.store.queries.job_pages import WALKS, Band, pick
from agent.store.queries.job_runs import ENDED_JOBS, OPEN_JOBS
from agent.store.queries.reader import jobs_found

WALK_PLACES = ((1, "", 1), (0, 0, "", 1), (1, "", 1))


async def test_each_part_of_the_queue_is_found_by_an_index_of_its_own(tmp_path: Path) -> None:
    async with SqliteStore.open(tmp_path) as store:
        for sql, index, parameters in (
            *zip(WALKS.values(), ("job_at_hand", "job_due", "job_ended"), WALK_PLACES, strict=True),
            (OPEN_JOBS, "job_open", ()),
            (ENDED_JOBS, "job_ended", (1,)),
        ):
            plan = await store._reading.rows(f"EXPLAIN QUERY PLAN {sql}", parameters)
            told = " ".join(str(row[-1]) for row in plan)
            assert index in told
            assert "TEMP B-TREE" not in told
        ways = [one for one in map(lookup, ("abc", "ab")) if one]
        by_words = [(one, pick(band, one.found)) for one in ways for band in Band]
        by_words += [(one, jobs_found(one.found)) for one in ways]
        assert len(by_words) == 8
        for where, sql in by_words:
            places = (1,) * (sql.count("?") - len(where.parameters))
            plan = await store._reading.rows(
                f"EXPLAIN QUERY PLAN {sql}", (*where.parameters, *places)
            )
            told = " | ".join(str(row[-1]) for row in plan)
            assert "VIRTUAL TABLE INDEX" in told
            assert "SEARCH job USING INTEGER PRIMARY KEY (rowid=?)" in told
            assert "SCAN job " not in told
