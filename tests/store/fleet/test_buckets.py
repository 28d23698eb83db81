"""Blobs of a fleet in a bucket: what holds when it is away, slow, empty, damaged or another's."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from fsspec import register_implementation
from fsspec.implementations.memory import MemoryFileSystem

from agent.errors import ConfigError, StoreError
from agent.protocol import ToolCallRequested
from agent.store.postgres.backup import back_up, restore
from agent.store.postgres.bucket import Bucket
from agent.store.postgres.health import Finding, examine
from agent.store.postgres.link import Link
from agent.store.postgres.opening import open_records
from agent.store.postgres.postgres_store import PostgresStore
from agent.store.postgres.upkeep import check
from agent.store.store import EventDraft
from tests.store.conftest import session_draft, step_draft
from tests.store.postgres_server import PostgresServer

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("postgres")]
SECRET = "AKIA-not-for-any-log"


class FaultyFileSystem(MemoryFileSystem):
    """Objects in memory, behind a network that fails as a test says."""

    protocol = "faulty"
    is_away = False
    refuses = False  # Whether it only lets read.
    slow_s = 0.0

    def pipe_file(self, path: str, value: bytes, **more: Any) -> None:
        self._fail()
        if self.refuses:
            raise PermissionError(f"{SECRET} may only read")
        super().pipe_file(path, value, **more)

    def cat_file(self, path: str, *bounds: Any, **more: Any) -> bytes:
        self._fail()
        return bytes(super().cat_file(path, *bounds, **more))

    def _fail(self) -> None:
        time.sleep(self.slow_s)
        if self.is_away:
            raise ConnectionError(f"https://{SECRET}@bucket.example is away")


@pytest.fixture(autouse=True)
def faults() -> Iterator[type[FaultyFileSystem]]:
    register_implementation("faulty", FaultyFileSystem, clobber=True)
    FaultyFileSystem.is_away = FaultyFileSystem.refuses = False
    FaultyFileSystem.slow_s = 0.0
    yield FaultyFileSystem
    FaultyFileSystem.store.clear()


@pytest.fixture
def dsn(postgres_server: PostgresServer) -> str:
    return postgres_server.new_database()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "bucket"


@pytest.fixture
async def store(dsn: str, folder: Path) -> AsyncIterator[PostgresStore]:
    async with PostgresStore.open(dsn, "a", bucket=Bucket(folder.as_uri())) as opened:
        yield opened


def objects(folder: Path) -> list[Path]:
    return sorted(folder.glob("??/*"))


def naming(session_id: str, digest: str) -> EventDraft:
    call = ToolCallRequested(step=1, call_id="c", tool="t", arguments="{}", prompt_digest=digest)
    return EventDraft(session_id, call)


async def test_bytes_are_in_the_bucket_and_not_in_the_database(
    store: PostgresStore, folder: Path
) -> None:
    digest = await store.blobs.put(b"picture", "image/png")
    [path] = objects(folder)
    assert path.read_bytes() == b"picture"
    assert path.name.startswith(digest)
    rows = await store.rows("SELECT data, size_bytes FROM blob", ())
    assert rows == [(None, 7)]
    assert await store.blobs.put(b"picture", "image/png") == digest
    assert objects(folder) == [path]


async def test_events_are_stored_while_the_bucket_is_away_and_its_address_is_told_to_nobody(
    dsn: str, faults: type[FaultyFileSystem], caplog: pytest.LogCaptureFixture
) -> None:
    async with PostgresStore.open(dsn, "a", bucket=Bucket(f"faulty://{SECRET}/p")) as store:
        faults.is_away = True
        with pytest.raises(StoreError, match=r"cannot be written \(ConnectionError\)") as raised:
            await store.blobs.put(b"picture", "image/png")
        [*_] = await store.append(session_draft("s"), step_draft("s", 1))
        assert len(await store.session_events("s")) == 2
        faults.is_away = False
        digest = await store.blobs.put(b"picture", "image/png")
        assert await store.blobs.read(digest) == b"picture"
        said = f"{raised.value} {raised.value.__cause__} {caplog.text}"
        assert SECRET not in said
        assert raised.value.__suppress_context__


async def test_a_slow_bucket_is_given_up_and_keeps_no_event_waiting(
    dsn: str, faults: type[FaultyFileSystem]
) -> None:
    bucket = Bucket("faulty://slow", patience_s=0.1)
    async with PostgresStore.open(dsn, "a", bucket=bucket) as store:
        faults.slow_s = 1.0
        with pytest.raises(StoreError, match=r"did not answer within 0\.1 s"):
            await store.blobs.put(b"picture", "image/png")
        await store.append(session_draft("s"))


async def test_what_is_damaged_or_missing_is_named_by_a_read_and_by_the_check(
    store: PostgresStore, dsn: str, folder: Path, tmp_path: Path
) -> None:
    damaged = await store.blobs.put(b"one", "text/plain")
    [path] = objects(folder)
    path.write_bytes(b"two")
    gone = await store.blobs.put(b"three", "text/plain")
    next(path for path in objects(folder) if path.name.startswith(gone)).unlink()
    with pytest.raises(StoreError, match=f"{damaged} is damaged"):
        await store.blobs.read(damaged)
    with pytest.raises(StoreError, match=f"{gone} is gone"):
        await store.blobs.read(gone)
    found = await check(dsn, tmp_path / "data", bucket=Bucket(folder.as_uri()))
    assert sorted(one.split()[1] for one in found.findings) == sorted((damaged, gone))


async def test_an_object_goes_with_its_row_and_a_stray_one_an_hour_after_it_was_written(
    store: PostgresStore, dsn: str, folder: Path
) -> None:
    await store.append(session_draft("s"))
    digest = await store.blobs.put(b"named", "text/plain")
    await store.append(naming("s", digest))
    assert (await store.blobs.collect()).blobs == 0
    stray = folder / "ab" / "abcdef"
    stray.parent.mkdir()
    stray.write_bytes(b"left by a host that was killed")
    assert await store.blobs.drop_strays() == 0
    os.utime(stray, (time.time() - 7200,) * 2)
    assert await store.blobs.drop_strays() == 1
    assert await store.blobs.read(digest) == b"named"
    await store.delete_sessions("s")
    assert (await store.blobs.collect()).blobs == 1
    assert objects(folder) == []


async def test_two_hosts_that_put_the_same_leave_one_object(
    store: PostgresStore, dsn: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with PostgresStore.open(dsn, "b", bucket=Bucket(folder.as_uri())) as other:
        digest = await store.blobs.put(b"same", "text/plain")

        async def unknown(_digest: str) -> bool:
            return False

        monkeypatch.setattr(other.blobs, "_is_known", unknown)
        assert await other.blobs.put(b"same", "text/plain") == digest
        assert len(objects(folder)) == 1
        assert await store.blobs.read(digest) == await other.blobs.read(digest) == b"same"


async def test_a_host_without_the_bucket_or_with_another_is_refused(
    store: PostgresStore, dsn: str, folder: Path, postgres_server: PostgresServer, tmp_path: Path
) -> None:
    assert store.identity
    for bucket, why in (
        (None, "store.blobs names none"),
        (Bucket((tmp_path / "other").as_uri()), "not the one"),
    ):
        with pytest.raises(StoreError, match=why):
            async with PostgresStore.open(dsn, "b", bucket=bucket):
                raise AssertionError
    fresh = postgres_server.new_database()
    with pytest.raises(StoreError, match="another store"):
        async with PostgresStore.open(fresh, "b", bucket=Bucket(folder.as_uri())):
            raise AssertionError
    with pytest.raises(ConfigError, match="cannot be used"):
        async with PostgresStore.open(fresh, "b", bucket=Bucket("nothing-such://bucket")):
            raise AssertionError


async def test_a_bucket_is_not_begun_with_while_others_work_without_it(
    dsn: str, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("agent.store.postgres.blobs.LOCK_S", 0.1)
    bucket = Bucket(folder.as_uri())
    async with PostgresStore.open(dsn, "rack-1") as old:
        with pytest.raises(StoreError, match="work without one: rack-1") as refused:
            async with PostgresStore.open(dsn, "rack-2", bucket=bucket):
                raise AssertionError
        assert "set the same store.blobs on each" in refused.value.remedy
        assert objects(folder) == []
        # Nothing has changed for those who work.
        digest = await old.blobs.put(b"picture", "image/png")
        assert await old.blobs.read(digest) == b"picture"
    monkeypatch.undo()
    # The server may take a moment to notice that it has gone. Several may begin at once.
    async with AsyncExitStack() as stack:
        opening = [PostgresStore.open(dsn, f"rack-{n}", bucket=bucket) for n in range(1, 4)]
        stores = await asyncio.gather(*(stack.enter_async_context(one) for one in opening))
        digest = await stores[0].blobs.put(b"another", "image/png")
        assert await stores[2].blobs.read(digest) == b"another"
        with pytest.raises(StoreError, match=r"store\.blobs names none"):
            async with PostgresStore.open(dsn, "rack-4"):
                raise AssertionError


async def test_the_doctor_names_a_host_whose_setting_differs(
    store: PostgresStore, dsn: str, folder: Path
) -> None:
    async def found() -> Finding:
        link = Link(dsn, "doctor", is_written=False)
        try:
            finds = await examine(link, Bucket(folder.as_uri()))
        finally:
            await link.close()
        return next(one for one in finds if one.name == "store.blobs")

    async with store.present(dsn, version="1.2.0", phones=tuple):
        assert (await found()).ok
        # As on a database that was changed by hand.
        await store.rows("UPDATE host SET names_bucket = 0", ())
        apart = await found()
        assert not apart.ok
        assert apart.detail == "differs on a"
        assert apart.remedy


async def examined(dsn: str, bucket: Bucket | None) -> Finding:
    """Return what a fleet's doctor says of its pictures."""
    link = Link(dsn, "doctor", is_written=False)
    try:
        await open_records(link, expected="")
        [found] = [one for one in await examine(link, bucket) if one.name == "pictures"]
        return found
    finally:
        await link.close()


async def test_the_doctor_finds_a_bucket_that_is_another_or_away_or_takes_nothing(
    store: PostgresStore,
    dsn: str,
    folder: Path,
    faults: type[FaultyFileSystem],
    postgres_server: PostgresServer,
    tmp_path: Path,
) -> None:
    ours = await examined(dsn, Bucket(folder.as_uri()))
    assert ours.ok, ours
    assert "this store's" in ours.detail
    assert objects(folder) == []
    other = tmp_path / "other"
    for bucket, why in ((None, "store.blobs names none"), (Bucket(other.as_uri()), "not the one")):
        found = await examined(dsn, bucket)
        assert not found.ok
        assert why in found.detail
        assert found.remedy
    assert not other.exists()
    fresh = postgres_server.new_database()
    async with PostgresStore.open(fresh, "b"):
        assert (await examined(fresh, None)).detail == "in the database"
        assert "another store" in (await examined(fresh, Bucket(folder.as_uri()))).detail
        empty = Bucket(f"faulty://{SECRET}/p")
        assert "empty" in (await examined(fresh, empty)).detail
        faults.is_away = True
        away = await examined(fresh, empty)
        assert not away.ok
        assert SECRET not in f"{away.detail} {away.remedy}"
        faults.is_away, faults.refuses = False, True
        assert "cannot be written" in (await examined(fresh, empty)).detail
        assert "cannot be used" in (await examined(fresh, Bucket("nothing-such://b"))).detail


async def test_what_is_in_the_database_is_moved_out_and_stays_readable(
    dsn: str, folder: Path
) -> None:
    async with PostgresStore.open(dsn, "a") as store:
        await store.append(session_draft("s"))
        digest = await store.blobs.put(b"inside", "text/plain")
        await store.append(naming("s", digest))
        assert await store.blobs.move_out() == 0
    async with PostgresStore.open(dsn, "a", bucket=Bucket(folder.as_uri())) as store:
        assert await store.blobs.read(digest) == b"inside"
        assert await store.blobs.move_out() == 1
        assert await store.blobs.move_out() == 0
        assert await store.blobs.read(digest) == b"inside"
        assert len(objects(folder)) == 1


@pytest.mark.parametrize("where", ["bucket", "database"])
async def test_a_backup_holds_the_bucket_and_is_put_back_to_either_place(
    where: str, dsn: str, folder: Path, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    bucket = Bucket(folder.as_uri())
    async with PostgresStore.open(dsn, "a", bucket=bucket) as store:
        kept, lost = [await store.blobs.put(data, "text/plain") for data in (b"kept", b"lost")]
        identity = store.identity
    next(path for path in objects(folder) if path.name.startswith(lost)).unlink()
    made = await back_up(dsn, tmp_path / "backup", bucket=bucket)
    assert made.missing == 1
    fresh = postgres_server.new_database()
    new = Bucket((tmp_path / "new").as_uri()) if where == "bucket" else None
    await restore(fresh, tmp_path / "backup", bucket=new)
    async with PostgresStore.open(fresh, "a", bucket=new) as store:
        assert store.identity == identity
        assert await store.blobs.read(kept) == b"kept"
        with pytest.raises(StoreError, match="is gone"):
            await store.blobs.read(lost)
    assert len(objects(tmp_path / "new")) == (where == "bucket")


async def test_the_same_holds_on_a_server_that_speaks_s3(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = pytest.importorskip("moto.server", reason="moto[server] is not installed")
    pytest.importorskip("s3fs", reason="the extra s3 is not installed")
    import fsspec

    serving = server.ThreadedMotoServer(port=0)
    serving.start()
    try:
        host, port = serving.get_host_and_port()
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", SECRET)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        fsspec.filesystem("s3").mkdir("s3://pictures")
        bucket = Bucket("s3://pictures/fleet")
        async with PostgresStore.open(dsn, "a", bucket=bucket) as store:
            await store.append(session_draft("s"))
            digest = await store.blobs.put(b"picture", "image/png")
            await store.append(naming("s", digest))
            assert await store.blobs.read(digest) == b"picture"
            assert (await check(dsn, tmp_path / "data", bucket=bucket)).findings == ()
            await store.delete_sessions("s")
            assert (await store.blobs.collect()).blobs == 1
            assert await bucket.places(older_than_s=-60) == set()
            assert await bucket.store() == store.identity
        with pytest.raises(StoreError) as raised:
            await Bucket("s3://no-such-bucket/p").write(digest, b"")
        assert SECRET not in str(raised.value)
    finally:
        serving.stop()
