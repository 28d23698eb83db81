"""No room, no right to write: a clear error at the caller, and the store goes on when it can."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agent.errors import StoreError
from agent.store.embedded.sqlite_store import SqliteStore

ROOT = Path(__file__).parent.parent.parent.parent

# Fill the store until it refuses; make room; go on. Prints what happened.
FILLER = """
import asyncio, json, resource, sys
from pathlib import Path
from agent.errors import StoreError
from agent.protocol import WarningEvent
from agent.store.embedded.sqlite_store import EventDraft, SqliteStore
from tests.store.conftest import session_draft

async def main(directory, take_room, make_room):
    published, acknowledged, errors = [], [], []
    async with SqliteStore.open(directory) as store:
        store.subscribe(lambda commit: published.extend(e.event_id for e in commit.events))
        await store.append(session_draft("s1"))
        acknowledged.append(1)
        take_room()
        async def one(size):
            try:
                [event] = await store.append(EventDraft("s1", WarningEvent(message="x" * size)))
                acknowledged.append(event.event_id)
            except StoreError as error:
                errors.append(f"{error.message} | {error.remedy}")
        for _ in range(400):
            await asyncio.gather(*(one(20_000) for _ in range(4)))
            if errors:
                break
        assert errors, "it never filled"
        # Beside one that cannot fit, a small one may; and the store still reads.
        await asyncio.gather(one(5_000_000), one(1))
        assert len(await store.session_events("s1")) == len(acknowledged)
        try:
            await store.blobs.put(b"y" * 5_000_000, "text/plain")
            errors.append("a blob fitted")
        except StoreError as error:
            errors.append(f"{error.message} | {error.remedy}")
        make_room()
        before = len(errors)
        await one(100)
        await store.blobs.read(await store.blobs.put(b"y" * 300_000, "text/plain"))
        assert len(errors) == before, errors
    async with SqliteStore.open(directory) as store:
        stored = [event.event_id for event in await store.session_events("s1")]
        leftovers = [p.name for p in (directory / "blobs" / "incoming").iterdir()]
    print(json.dumps({"published": published, "acknowledged": sorted(acknowledged),
                      "stored": stored, "errors": errors, "leftovers": leftovers}))
"""

BY_LIMIT = """
def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

asyncio.run(main(Path(sys.argv[1]), lambda: limit(600_000), lambda: limit(resource.RLIM_INFINITY)))
"""

BY_MOUNT = """
ballast = Path(sys.argv[1]) / "ballast"

ballast.write_bytes(b"z" * 9_000_000)
asyncio.run(main(Path(sys.argv[1]) / "data", lambda: None, ballast.unlink))
"""


def can_mount() -> bool:
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return False
    probe = ["unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", "/mnt"]
    return subprocess.run(probe, capture_output=True, timeout=20).returncode == 0


needs_mounts = pytest.mark.skipif(not can_mount(), reason="needs the right to mount (root, Linux)")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=ROOT)


def run_mounted(script: str, directory: Path, program: str) -> subprocess.CompletedProcess[str]:
    """Run a program after a shell script has mounted something on a directory, only for itself."""
    shell = ("unshare", "-m", "sh", "-c", f'{script} && exec "$2" -c "$3" "$1"', "sh")
    return run(*shell, str(directory), sys.executable, program)


def check(ran: subprocess.CompletedProcess[str], phrase: str) -> None:
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert told["stored"] == told["acknowledged"] == told["published"]
    assert "a blob fitted" not in told["errors"]
    for error in told["errors"]:
        assert phrase in error
        assert "Free some space" in error
    assert told["leftovers"] == []


def test_a_file_size_limit_is_a_clear_error_and_nothing_unstored_is_published(
    tmp_path: Path,
) -> None:
    check(run(sys.executable, "-c", FILLER + BY_LIMIT, str(tmp_path)), "limit")


@needs_mounts
def test_a_full_disk_is_a_clear_error_and_the_store_goes_on_when_there_is_room(
    tmp_path: Path,
) -> None:
    mount = 'mount -t tmpfs -o size=12m tmpfs "$1"'
    check(run_mounted(mount, tmp_path, FILLER + BY_MOUNT), "full")


OPENER = """
import asyncio, os, sys
from pathlib import Path
from agent.errors import StoreError
from agent.store.embedded.sqlite_store import SqliteStore

async def main():
    try:
        async with SqliteStore.open(Path(sys.argv[1])) as store:
            print("opened")
    except StoreError as error:
        print(f"{error.message} | {error.remedy}")

if len(sys.argv) > 2:
    os.setgid(65534); os.setuid(65534)
asyncio.run(main())
"""


@needs_mounts
@pytest.mark.parametrize("exists", [True, False])
def test_a_read_only_file_system_is_a_clear_error(tmp_path: Path, exists: bool) -> None:
    if exists:
        assert run(sys.executable, "-c", OPENER, str(tmp_path)).stdout == "opened\n"
    mount = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"'
    place = tmp_path if exists else tmp_path / "data"
    program = f"import sys; sys.argv[1] = {str(place)!r}\n{OPENER}"
    ran = run_mounted(mount, tmp_path, program)
    assert "is on a read-only file system" in ran.stdout, ran.stderr
    assert "SWITCHBOARD_DATA_DIR" in ran.stdout


@needs_mounts
def test_a_disk_that_is_full_from_the_start_is_a_clear_error(tmp_path: Path) -> None:
    mount = (
        'mount -t tmpfs -o size=64k,mode=700 tmpfs "$1" && { cat /dev/zero > "$1/x" 2>&-; true; }'
    )
    ran = run_mounted(mount, tmp_path, OPENER)
    assert "full" in ran.stdout, ran.stdout + ran.stderr
    assert "Free some space" in ran.stdout


READER = """
import asyncio, sys
from pathlib import Path
from agent.errors import StoreError
from agent.store.embedded.sqlite_store import EventDraft, SqliteStore
from tests.store.conftest import session_draft, step_draft

async def main():
    async with SqliteStore.open(Path(sys.argv[1]), may_only_read=True) as store:
        stored = await store.session_events("s1")
        print(len(stored), (await store.session("s1")).goal, await store.next_due_ms())
        for write in (store.append(step_draft("s1", 9)), store.blobs.put(b"x", "text/plain"),
                      store.search("tidy")):
            try:
                await write
                print("written")
            except StoreError as error:
                print(error.message, "|", error.remedy)

asyncio.run(main())
"""
KILLED = """
import asyncio, os, sys
from pathlib import Path
from agent.store.embedded.sqlite_store import SqliteStore
from tests.store.conftest import session_draft, step_draft

async def main():
    async with SqliteStore.open(Path(sys.argv[1])) as store:
        await store.append(session_draft("s1"), step_draft("s1", 1))
        if len(sys.argv) > 2:
            os._exit(0)

asyncio.run(main())
"""


FULL = 'cat /dev/zero > "$1/ballast" 2>&-; true'
READ_ONLY = 'mount -o remount,ro "$1"'


@needs_mounts
@pytest.mark.parametrize(
    ("make_full", "is_killed", "phrase"),
    # What a crash left in the log cannot be read where not even a lock can be taken.
    [(FULL, False, "full"), (FULL, True, "full"), (READ_ONLY, False, "read-only file system")],
)
def test_what_is_stored_can_be_read_where_nothing_can_be_written(
    tmp_path: Path, make_full: str, is_killed: bool, phrase: str
) -> None:
    args = ("killed",) if is_killed else ()
    assert run(sys.executable, "-c", KILLED, str(tmp_path / "data"), *args).returncode == 0
    (tmp_path / "mount").mkdir()
    fill = (
        f'mount -t tmpfs -o size=2m tmpfs "$1" && cp -a "$1/../data/." "$1" && {{ {make_full}; }}'
    )
    ran = run_mounted(fill, tmp_path / "mount", READER)
    lines = ran.stdout.splitlines()
    assert lines[:1] == ["2 tidy up None"], ran.stdout + ran.stderr
    assert len(lines) == 4
    for line in lines[1:]:
        assert phrase in line
        assert "Free some space" in line or "Make it writable" in line


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_directory_of_somebody_else_is_a_clear_error() -> None:
    ran = run(sys.executable, "-c", OPENER, "/switchboard-of-nobody", "as nobody")
    assert "is not writable for this account" in ran.stdout, ran.stderr
    assert not Path("/switchboard-of-nobody").exists()


async def test_a_file_where_the_directory_should_be_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    for place in (tmp_path / "data", tmp_path / "data" / "deeper"):
        with pytest.raises(StoreError, match="is a file") as caught:
            async with SqliteStore.open(place):
                pytest.fail("it was opened")
        assert caught.value.remedy
