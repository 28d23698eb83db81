"""What a call to a phone costs: our asyncio client, adbutils and the adb program, side by side.

All three talk to the same virtual phone through the same adb server, in turn within each round, so
that the machine's moods meet them alike.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from agent.devices.client import AdbClient
from agent.devices.rack import AdbRack
from agent.devices.server import AdbServer, find_adb
from agent.devices.virtual import VirtualPhones

ROUNDS = 60


def main() -> None:
    """Print the median and 95th percentile of each way, in milliseconds."""
    asyncio.run(_measure())


async def _measure() -> None:
    with tempfile.TemporaryDirectory() as folder:
        server = AdbServer(Path(folder) / "adb")
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
    theirs = adbutils.AdbClient(host="127.0.0.1", port=server.address.port).device(serial)
    program = [str(find_adb()), "-P", str(server.address.port), "-s", serial, "shell", "echo hi"]
    times: dict[str, list[float]] = {"switchboard": [], "adb shell": [], "adbutils": []}
    for _ in range(ROUNDS):
        started = time.perf_counter()
        await client.shell(serial, "echo hi", features=features, timeout_s=5)
        times["switchboard"].append(time.perf_counter() - started)
        times["adb shell"].append(_timed(lambda: subprocess.run(program, capture_output=True)))
        times["adbutils"].append(_timed(lambda: theirs.shell("echo hi")))
    own = statistics.median(times["switchboard"])
    print("| `echo hi` by | p50 ms | p95 ms | times ours |\n|---|---|---|---|")
    for name, taken in times.items():
        print(f"| {name} | {_row(taken)} | {statistics.median(taken) / own:.1f} |")
    started = time.perf_counter()
    await asyncio.gather(
        *(client.shell(serial, "echo hi", features=features, timeout_s=30) for _ in range(200))
    )
    print(f"\n200 shells at once: {(time.perf_counter() - started) * 1000:.0f} ms\n")


async def _device(server: AdbServer, serial: str) -> None:
    rack = AdbRack([server.address])
    await rack.start()
    device = await rack.wait_for(serial, timeout_s=10)
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
    await rack.close()


def _timed(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def _row(taken: list[float]) -> str:
    ordered = sorted(taken)
    return (
        f"{statistics.median(ordered) * 1000:.2f} | {ordered[len(ordered) * 95 // 100] * 1000:.2f}"
    )
