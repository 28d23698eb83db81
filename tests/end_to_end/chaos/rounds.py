"""Rounds of chaos on real hosts: each breaks one thing under load, and returns what it found.

`tests.end_to_end.chaos.test_chaos` runs a part of them, `python -m bench fleet --chaos` all.
"""

import asyncio
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from agent.protocol import JobCreate, SessionMove
from agent.records import Question
from tests.end_to_end.chaos.findings import Findings
from tests.end_to_end.chaos.network import Namespace
from tests.end_to_end.chaos.rack import Rack, kill_hosts, rack
from tests.orphans import folder_prefix
from tests.store.postgres_server import PostgresServer, running_server

FIRST, SECOND = "first", "second"
FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")
HOUR_S = 3600
_NOTES = 3
_FULL_MB = 160


async def kills(
    server: PostgresServer, folder: Path, *, times: int, phones: int = 3, dispatcher: str = "local"
) -> Findings:
    """Kill hosts again and again while all phones are at work, an approval open on each host."""
    async with rack(server, folder, dispatcher=dispatcher) as one:
        await _two_hosts(one, phones)
        async with _approvals(one) as own:
            await _load(one, own, sessions=2)
            await kill_hosts(one, times, phones=phones, refill=lambda: _load(one, own, sessions=1))
        return await one.look()


async def restarts(server: PostgresServer, folder: Path, *, times: int) -> Findings:
    """Kill the database's server again and again, as `pg_ctl -m immediate` does, under load."""
    async with rack(server, folder) as one:
        await _two_hosts(one, 3)
        async with _approvals(one) as own:
            await _load(one, own, sessions=1 + times)
            for _ in range(times):
                await one.more_acts(3)
                server.stop(signal.SIGQUIT)
                server.start(is_durable=True)
        return await one.look()


async def freeze(
    server: PostgresServer,
    folder: Path,
    *,
    phones: int = 2,
    is_fenced: bool = True,
    clocks: tuple[int, int] = (0, 0),
) -> Findings:
    """Freeze a host in the middle of its acts, take its sessions to another host that reaches the
    same phones, and thaw it once that is at work.

    Args:
        is_fenced: whether the frozen host keeps to leases; not in the control.
        clocks: how many seconds the hosts' clocks are off.
    """
    async with rack(server, folder) as one:
        for name, off_s in zip((FIRST, SECOND), clocks, strict=True):
            if off_s:
                one.clocks[name] = clock_off(off_s)
        if not is_fenced:
            one.unfenced.add(FIRST)
        sessions = await _one_rack_of_phones(one, phones)
        await _acted_by(one, FIRST, phones)
        one.signal(FIRST, signal.SIGSTOP)
        await _take_over(one, sessions)
        await _acted_by(one, SECOND, phones)
        one.signal(FIRST, signal.SIGCONT)
        await one.until_rest()
        await _knows_better(one, sessions)
        return await one.look()


async def partition(
    server: PostgresServer, folder: Path, net: Namespace, *, moves: bool
) -> Findings:
    """Cut a host's way to the database, with its phones in reach, and heal it.

    Args:
        server: listens on the namespace's address.
        moves: whether its sessions are taken to another host meanwhile.
    """
    async with rack(server, folder) as one:
        one.around[FIRST] = net.around()
        one.phones_at[FIRST] = net.phones
        one.dsns[FIRST] = one.dsn.replace(f"host={server.directory}", f"host={net.database}")
        sessions = await _one_rack_of_phones(one, 2)
        await _acted_by(one, FIRST, 2)
        net.cut()
        if moves:
            await _take_over(one, sessions)
            await _acted_by(one, SECOND, 2)
        else:
            await one.until(lambda: not one.is_here(FIRST), "that the host is said to be gone")
        net.heal()
        await one.until_rest()
        await _knows_better(one, sessions)
        return await one.look()


async def full_disk(folder: Path) -> Findings:
    """Fill the database's disk under load, and make room again."""
    with (
        small_disk() as disk,
        running_server(is_durable=True, directory=disk, max_wal_size="64MB") as server,
    ):
        async with rack(server, folder) as one:
            await _two_hosts(one, 2)
            async with _approvals(one) as own:
                await _load(one, own, sessions=3)
                await one.more_acts()
                with filled(disk):
                    await one.until(lambda: not _writes(server), "that the disk is full")
                    await asyncio.sleep(2)  # Long enough for what is tried to fail.
                if not server.is_running:
                    server.start(is_durable=True)
                await one.more_acts()
            return await one.look()


async def consoles(server: PostgresServer, folder: Path, *, times: int) -> Findings:
    """Kill clients that look on while the sessions that they asked for are at work."""
    async with rack(server, folder) as one:
        await _two_hosts(one, 1)
        for number in range(times):
            for host in (FIRST, SECOND):
                serial = one.phones[host][0]
                text = f"{host} {number} written"
                process = await one.client(
                    *(host, "run", f'write a note saying "{text}"', "--model", "pilot"),
                    *("--device", f"{host}/{serial}", "--json"),
                )
                before = one.acts(host)
                await one.until(
                    lambda host=host, at=before: one.acts(host) > at,  # type: ignore[misc]
                    "acts of what was asked for",
                )
                process.kill()
                await process.wait()
                one.goals[text] = [text]
            await one.until_rest()
        return await one.look()


async def ticks(server: PostgresServer, folder: Path, *, times: int) -> Findings:
    """Kill the host of jobs as each begins, so that its next life finds the same due time again.

    A run that its host's death interrupted has failed, and says so; its job is tried again later.
    """
    async with rack(server, folder) as one:
        await _two_hosts(one, 1)
        jobs: list[int] = []
        for number in range(times):
            text = f"job {number} was here"
            goal = f'write a note saying "{text}"'
            made = await one.request(
                FIRST,
                JobCreate(
                    title=text,
                    prompt=goal,
                    serial=f"{FIRST}/{one.phones[FIRST][0]}",
                    next_run_at=one.now_ms() + 1_000,
                ),
            )
            assert made.job is not None
            jobs.append(made.job.id)
            one.goals[text] = [text]
            await one.until(lambda job=made.job.id: one.runs(job) > 0, "a run of the job")  # type: ignore[misc]
            await one.kill(FIRST)
            await one.start(FIRST, phones=1)
            await one.until_rest()
        found = await one.look()
        for job in jobs:
            # An interrupted run is tried again at a time of its own, which may have come by now.
            if (runs := one.most_runs(job)) != 1:
                found.twice += 1
                found.why.append(f"job {job} ran {runs} times for one due time")
        return found


def _writes(server: PostgresServer) -> bool:
    rows = "SELECT repeat(md5(random()::text), 40) FROM generate_series(1, 2000)"
    return (
        server.is_running
        and server.takes("CREATE TABLE IF NOT EXISTS room (a text)")
        and server.takes(f"INSERT INTO room {rows}")
    )


# --- what they share ----------


async def _two_hosts(one: Rack, phones: int) -> None:
    """Start two hosts, each with phones of its own."""
    for name in (FIRST, SECOND):
        await one.serve_phones(name, phones)
    await asyncio.gather(*(one.start(name, phones=phones) for name in (FIRST, SECOND)))


@asynccontextmanager
async def _approvals(one: Rack) -> AsyncIterator[dict[str, str]]:
    """Have an approval open on each host while the block breaks things; then approve.

    Yields:
        By host, the phone that this takes.
    """
    asked: dict[str, Question] = {}
    phones = {name: one.phones[name][-1] for name in (FIRST, SECOND)}
    for name, serial in phones.items():
        _, asked[name] = await one.begin_message(name, serial, f"I am late, says {name}")
    yield phones
    await one.until_rest()
    still = await one.store.open_questions()
    for name, question in asked.items():
        assert question in still, f"an approval is gone: {question}"
        await one.answer(name, question)
    await one.until_rest()


async def _load(one: Rack, own: dict[str, str], *, sessions: int) -> None:
    """Have sessions wait in line for each phone that is not somebody's own."""
    for host, taken in own.items():
        for serial in one.phones[host]:
            if serial == taken:
                continue
            for _ in range(sessions):
                word = f"{host} {len(one.goals)}"
                await one.begin_notes(host, serial, word, _NOTES)


async def _one_rack_of_phones(one: Rack, phones: int) -> list[str]:
    """Start two hosts that both reach the same phones, the first at work on all."""
    await one.serve_phones(FIRST, phones)
    one.more[SECOND] = {**one.more[FIRST], **one.more.get(SECOND, {})}
    await asyncio.gather(*(one.start(name, phones=phones) for name in (FIRST, SECOND)))
    return [
        await one.begin_notes(FIRST, serial, f"moved {number}", 2 * _NOTES)
        for number, serial in enumerate(one.phones[FIRST])
    ]


async def _acted_by(one: Rack, host: str, phones: int) -> None:
    """Wait until a host has acted on so many phones."""

    def has_acted() -> bool:
        return (
            len({d.words[0] for d in one.recorded() if d.kind == "act" and d.host == host})
            >= phones
        )

    await one.until(has_acted, f"acts of {host}")


async def _take_over(one: Rack, sessions: list[str]) -> None:
    """Have the second host take sessions from the first, once that is said to be gone."""
    await one.until(lambda: not one.is_here(FIRST), "that the host is said to be gone")
    async with one.core(SECOND) as core:
        for session_id in sessions:
            session = await core.session(session_id)
            serial = session.serial.replace(FIRST, SECOND, 1)
            await core.request(SessionMove(session_id=session_id, serial=serial))


async def _knows_better(one: Rack, sessions: list[str]) -> None:
    """Wait until the first host is back and has let go of what is not its own any more."""
    await one.until(lambda: one.is_here(FIRST), "that the host is back")


def clock_off(seconds: int) -> dict[str, str]:
    """Return the environment in which a process takes it for so much later."""
    return {
        "LD_PRELOAD": str(FAKETIME),
        "FAKETIME": f"{seconds:+d}s",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }


@contextmanager
def small_disk() -> Iterator[Path]:
    """Mount a small disk for the length of the block; a directory on it is yielded."""
    # Where the server's user may go too; short, as a socket's path has to be.
    place = Path(tempfile.mkdtemp(prefix=folder_prefix("disk")))
    place.chmod(0o755)
    words = ("mount", "-t", "tmpfs", "-o", f"size={_FULL_MB}m,mode=755", "none", str(place))
    subprocess.run(words, check=True)
    try:
        made = place / "d"
        made.mkdir()
        yield made
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)
        place.rmdir()


@contextmanager
def filled(disk: Path) -> Iterator[None]:
    """Leave no room on a disk for the length of the block."""
    ballast = disk.parent / "ballast"
    with ballast.open("wb") as file:
        try:
            while True:
                file.write(bytes(1 << 16))
                file.flush()
        except OSError:
            pass
    try:
        yield
    finally:
        ballast.unlink()
