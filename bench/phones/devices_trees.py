"""What a UI tree costs: the service that stays up against `uiautomator dump`, same screen."""

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from agent.devices.adb.client import AdbClient
from agent.devices.adb.server import AdbServer
from agent.devices.adb_device import AdbDevice
from agent.devices.frames.display_size import DisplaySize
from agent.devices.pool.virtual_phones import VirtualPhones
from agent.devices.shell.phone_shell import PhoneShell
from agent.devices.trees.tree_provider import WarmTrees
from agent.devices.trees.tree_source import DumpTrees, TreeSource
from agent.devices.trees.uiautomator_service import UiautomatorService

WARM_ROUNDS, COLD_ROUNDS = 100, 15
TIMEOUT_S = 30.0


def main() -> None:
    """Print median and 95th percentile of both ways, in milliseconds, and their ratio."""
    asyncio.run(_measure())


async def _measure() -> None:
    with tempfile.TemporaryDirectory() as folder:
        server = AdbServer(Path(folder) / "adb")
        phones = VirtualPhones(Path(folder) / "phones", server)
        (serial,) = await phones.start()
        shell = PhoneShell(AdbClient(server.address), serial)
        service, display = UiautomatorService(shell), DisplaySize(shell)
        cold = DumpTrees(shell, display)
        warm = WarmTrees(shell, display, service=service, cold=cold)
        try:
            await AdbDevice(shell.client, serial).launch("com.android.settings")
            started = time.perf_counter()
            tree = await warm.tree(timeout_s=TIMEOUT_S)
            first_ms = (time.perf_counter() - started) * 1000
            warm_ms = await _times(warm, WARM_ROUNDS)
            # A phone gives its UiAutomation to one program at a time.
            await service.stop()
            cold_ms = await _times(cold, COLD_ROUNDS)
        finally:
            await service.stop()
            await phones.stop()
            await server.stop()
    ratio = statistics.median(cold_ms) / statistics.median(warm_ms)
    print(f"| a tree of {len(tree.nodes)} nodes by | p50 ms | p95 ms | times warm |")
    print("|---|---|---|---|")
    print(f"| the service that stays up | {_row(warm_ms)} | 1.0 |")
    print(f"| `uiautomator dump` | {_row(cold_ms)} | {ratio:.0f} |")
    print(f"\nThe first warm tree, with the start of the service: {first_ms:.0f} ms\n")


async def _times(source: TreeSource, rounds: int) -> list[float]:
    taken = []
    for _ in range(rounds):
        started = time.perf_counter()
        await source.tree(timeout_s=TIMEOUT_S)
        taken.append((time.perf_counter() - started) * 1000)
    return taken


def _row(taken_ms: list[float]) -> str:
    ordered = sorted(taken_ms)
    return f"{statistics.median(ordered):.1f} | {ordered[len(ordered) * 95 // 100]:.1f}"
