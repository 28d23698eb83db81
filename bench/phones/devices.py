"""What a call to a phone costs: our asyncio client, adbutils and the adb program, side by side.

All talk to the same virtual phone through the same adb server, in turn within each round, so that
the machine's moods meet them alike: ten calls in a row, as a look at a phone makes several, and one
at a time, which meets each of them with the caches that the others left.
"""

import asyncio
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from agent.devices.adb.client import AdbClient
from agent.devices.adb.server import AdbServer, find_adb
from agent.devices.fleet.fleet import AdbFleet
from agent.devices.pool.virtual_phones import VirtualPhones
from agent.devices.shell.phone_shell import PhoneShell

ROUNDS = 60
BLOCK = 10


def main() -> None:
    """Print the median and 95th percentile of each way, in milliseconds."""
    asyncio.run(_measure())


async def _measure() -> None:
    with tempfile.TemporaryDirectory() as folder:
        server = AdbServer(Path(folder) / "adb", on_port=True)
        phones = VirtualPhones(Path(folder) / "phones", server)
        (serial,) = await phones.start()
        try:
            await _shells(server, serial)
            await _device(server, serial)
        finally:
            await phones.stop()
            await server.stop()


async def _shells(server: AdbServer, serial: str) -> None:
    import adbutils

    client = AdbClient(server.address)
    features = await client.features(serial)
    kept = PhoneShell(client, serial, keeps_shells=True)
    theirs = adbutils.AdbClient(host="127.0.0.1", port=server.address.port).device(serial)
    program = [str(find_adb()), "-P", str(server.address.port), "-s", serial, "shell", "echo hi"]

    async def adb_program() -> None:
        process = await asyncio.create_subprocess_exec(*program, stdout=subprocess.PIPE)
        await process.communicate()

    async def adbutils_shell() -> None:
        theirs.shell("echo hi")

    ways: dict[str, Callable[[], Awaitable[object]]] = {
        "switchboard, a kept shell": lambda: kept.run("echo hi", 5),
        "switchboard, a shell each": lambda: client.shell(
            serial, "echo hi", features=features, timeout_s=5
        ),
        "`adb shell`": adb_program,
        "adbutils": adbutils_shell,
    }
    blocks = await _in_turn(ways, BLOCK, ROUNDS // BLOCK)
    single = await _in_turn(ways, 1, ROUNDS)
    kept.close()
    own, alone = (statistics.median(next(iter(times.values()))) for times in (blocks, single))
    print(
        f"| `echo hi` by | {BLOCK} in a row: p50 ms | p95 ms | times ours | one in turn: p50 ms"
        " | p95 ms | times ours |\n|---|---|---|---|---|---|---|"
    )
    for name in ways:
        in_row, in_turn = statistics.median(blocks[name]), statistics.median(single[name])
        print(
            f"| {name} | {_row(blocks[name])} | {in_row / own:.1f}"
            f" | {_row(single[name])} | {in_turn / alone:.1f} |"
        )
    started = time.perf_counter()
    await asyncio.gather(
        *(client.shell(serial, "echo hi", features=features, timeout_s=30) for _ in range(200))
    )
    print(f"\n200 shells at once: {(time.perf_counter() - started) * 1000:.0f} ms\n")


async def _in_turn(
    ways: Mapping[str, Callable[[], Awaitable[object]]], block: int, rounds: int
) -> dict[str, list[float]]:
    """Time each way's calls, so many in a row, then the next way's: seconds a call."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for call in ways.values():
        await call()
    for _ in range(rounds):
        for name, call in ways.items():
            for _ in range(block):
                started = time.perf_counter()
                await call()
                times[name].append(time.perf_counter() - started)
    return times


async def _device(server: AdbServer, serial: str) -> None:
    fleet = AdbFleet([server.address])
    await fleet.start()
    device = await fleet.wait_for(serial, timeout_s=10)
    print("| device call | p50 ms | p95 ms |\n|---|---|---|")
    calls = {
        "capture, screen unchanged": device.capture,
        "tree": device.tree,
        "foreground": device.foreground,
        "apps": device.apps,
    }
    for name, call in calls.items():
        taken = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            await call()
            taken.append(time.perf_counter() - started)
        print(f"| {name} | {_row(taken)} |")
    await fleet.close()


def _row(taken: list[float]) -> str:
    ordered = sorted(taken)
    return (
        f"{statistics.median(ordered) * 1000:.2f} | {ordered[len(ordered) * 95 // 100] * 1000:.2f}"
    )
