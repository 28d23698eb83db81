"""A host that has left for good is removed: not while it is there, nor while work belongs to it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.core import ClientInfo
from agent.errors import StoreError, UsageError, WrongStateError
from agent.hosts.host_removal import remove_host
from agent.protocol import (
    HostForget,
    HostForgotten,
    RunChanged,
    SessionStateChanged,
    WatcherChanged,
)
from agent.records import CommitmentStatus, JobType, SessionState, Usage, campaign_of
from agent.records.jobs import Campaign, RunRecord
from agent.store.postgres.core_store import open_core
from agent.store.postgres.health import examine
from agent.store.postgres.host_store import own_part
from agent.store.postgres.hosts import forget, hosts
from agent.store.postgres.link import Link
from agent.store.postgres.postgres_store import PostgresStore
from agent.store.store import EventDraft
from tests.store.conformance.test_beside import commitment
from tests.store.conftest import make_job, session_draft
from tests.store.fleet.test_hosts import phones
from tests.store.postgres_server import PostgresServer
from tests.store.test_spendings import watcher

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("postgres")]
BY = ClientInfo("c1", "ana: console", "ana")


@pytest.fixture
def dsn(postgres_server: PostgresServer) -> str:
    return postgres_server.new_store()


@pytest.fixture
async def store(dsn: str, tmp_path: Path) -> AsyncIterator[PostgresStore]:
    """The store as the host that stays has it open."""
    async with (
        open_core(dsn, "stays", tmp_path / "stays") as opened,
        opened.present(dsn, version="1.2.0", phones=phones),
    ):
        yield opened


@pytest.fixture
async def link(dsn: str) -> AsyncIterator[Link]:
    asking = Link(dsn, "test")
    yield asking
    await asking.close()


async def names(link: Link) -> list[str]:
    return [one.name for one in await hosts(link)]


async def test_a_host_is_forgotten_once_it_has_left_and_nothing_belongs_to_it(
    dsn: str, store: PostgresStore, link: Link, tmp_path: Path
) -> None:
    op = HostForget(host="goes")

    async def refused(op: HostForget, why: str) -> str:
        with pytest.raises((WrongStateError, UsageError), match=why) as caught:
            await remove_host(link, store, op, "op-1", BY)
        assert op.host in await names(link) or op.host == "nobody"
        return caught.value.remedy

    async with (
        open_core(dsn, "goes", tmp_path / "goes") as leaving,
        leaving.present(dsn, version="1.2.0", phones=phones),
    ):
        own = own_part(leaving)
        await own.append(session_draft("s1"))
        job = await own.create_job(
            lambda number: replace(make_job(number), payload_json={"serial": "goes/phone", "n": 1})
        )
        condition = {"serial": "stays/phone"}
        watched = replace(watcher(1, Usage()), condition_json=condition)
        await own.append(
            EventDraft("", WatcherChanged(watcher=watched, reason="test")),
            commitment(1, "Call Ada", CommitmentStatus.PENDING),
        )
        await refused(op, "goes is here; nothing was done")
    assert "fleet move SESSION HOST" in await refused(op, "1 session .* not ended: s1")
    ended = EventDraft("s1", SessionStateChanged(state=SessionState.CANCELLED))
    async with open_core(dsn, "goes", tmp_path / "goes") as again:
        await again.append(ended)
    why = "1 job: 1; 1 watcher: 1; 1 commitment: 1"
    assert "--jobs-to HOST" in await refused(op, why)
    await refused(HostForget(host="goes", jobs_to="goes"), "Host 'goes' is not running")
    await refused(HostForget(host="nobody"), "The fleet has no host 'nobody'")

    await remove_host(link, store, HostForget(host="goes", jobs_to="stays"), "op-2", BY)
    assert await names(link) == ["stays"]
    moved = await store.job(job.id)
    assert moved is not None
    assert (moved.host, moved.payload_json) == ("stays", {"serial": "stays/phone", "n": 1})
    mine = own_part(store)
    [watching] = await mine.watches.watchers(live_only=True)
    assert (watching.host, watching.condition_json) == ("stays", condition)
    [promised] = await mine.watches.commitments(live_only=True)
    assert promised.host == "stays"
    assert "goes" not in str(await examine(link))
    [*_, told] = await store.events(after=0, limit=100)
    assert told.msg == HostForgotten(host="goes", by="ana: console", jobs_to="stays")
    assert told.submission_id == "op-2"
    # What it did stays in the log, and a host of that name that joins later is a new one.
    assert (await store.session("s1")).host == "goes"
    async with open_core(dsn, "goes", tmp_path / "new") as new:
        assert new.epoch > store.epoch


async def test_campaigns_of_any_host_go_on_at_the_phones_of_the_other(
    dsn: str, store: PostgresStore, link: Link, tmp_path: Path
) -> None:
    """A phone that has begun stays as it is: its run names it."""
    both = ("goes/begun", "goes/left", "goes/twice", "stays/own", "stays/twice")

    async def campaign(where: PostgresStore, phones: tuple[str, ...]) -> int:
        payload: dict[str, object] = {"campaign": {"phones": list(phones), "needs": "tag:wall"}}
        job = await own_part(where).create_job(
            lambda number: replace(make_job(number), type=JobType.CAMPAIGN, payload_json=payload)
        )
        record = RunRecord(
            run_id=str(job.id), job_id=job.id, due_at=0, started_at=1, serial="goes/begun"
        )
        await where.append(EventDraft("", RunChanged(run=record)))
        return job.id

    async with (
        open_core(dsn, "goes", tmp_path / "goes") as leaving,
        leaving.present(dsn, version="1.2.0", phones=phones),
    ):
        its_own = await campaign(leaving, both)
    anothers = await campaign(store, both)
    begun = await campaign(store, ("goes/begun", "stays/own"))
    with pytest.raises(WrongStateError, match=f"2 jobs: {its_own}, {anothers}"):
        await remove_host(link, store, HostForget(host="goes"), "op-1", BY)
    await remove_host(link, store, HostForget(host="goes", jobs_to="stays"), "op-2", BY)
    there = ("goes/begun", "stays/left", "stays/twice", "stays/own")
    for number, phones_now in (
        (its_own, there),
        (anothers, there),
        (begun, ("goes/begun", "stays/own")),
    ):
        job = await store.job(number)
        assert job is not None
        assert job.host == "stays"
        assert campaign_of(job.payload_json) == Campaign(phones=phones_now, needs="tag:wall")


async def test_no_job_of_another_host_keeps_a_host_whatever_it_holds(
    dsn: str, store: PostgresStore, link: Link, tmp_path: Path
) -> None:
    """PostgreSQL reads nothing of a JSON text with an escaped NUL, which SQLite stores."""
    payloads: tuple[dict[str, object], ...] = (
        {"campaign": {"phones": ["goes/begun"]}},
        {"campaign": {"phones": "goes/one"}},
        {"campaign": "spring"},
    )
    for payload in payloads:
        job = await own_part(store).create_job(
            lambda number, held=payload: replace(  # type: ignore[misc]
                make_job(number, prompt="one\0two"), payload_json=held
            )
        )
        run = RunRecord(
            run_id=str(job.id), job_id=job.id, due_at=0, started_at=1, serial="goes/begun"
        )
        await store.append(EventDraft("", RunChanged(run=replace(run, result="\0"))))
    async with (
        open_core(dsn, "goes", tmp_path / "goes") as leaving,
        leaving.present(dsn, version="1.2.0", phones=phones),
    ):
        assert "goes" in await names(link)
    await remove_host(link, store, HostForget(host="goes"), "op-1", BY)
    assert "goes" not in await names(link)


async def test_a_host_whose_process_stands_still_is_not_forgotten(
    dsn: str, store: PostgresStore, link: Link
) -> None:
    async with PostgresStore.open(dsn, "stalls") as stalls:
        # A frozen process keeps its connection, and so its name.
        assert not await forget(link, "stalls")
        await stalls.append(session_draft("s1"))
    assert await forget(link, "stalls")


async def test_what_a_forgotten_host_still_writes_is_refused(
    dsn: str, store: PostgresStore, link: Link
) -> None:
    async with PostgresStore.open(dsn, "cut off") as cut:
        await cut.append(session_draft("s1"))
        await cut.append(EventDraft("s1", SessionStateChanged(state=SessionState.CANCELLED)))
        # As after a network that was cut: the server has ended its connection, it goes on.
        await cut._standing.close()
        assert await forget(link, "cut off")
        with pytest.raises(StoreError):
            await cut.append(session_draft("s2"))
    assert [one.session_id for one in await store.sessions()] == ["s1"]
