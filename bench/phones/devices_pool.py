"""What a pool of phones costs: 64 virtual phones, 64 workers, 1,000 episodes, no phone shared."""

import asyncio
import statistics
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.adb.server import AdbServer
from agent.devices.adb_device import AdbDevice
from agent.devices.pool.pool import PhonePool
from agent.devices.pool.pool_setup import make_pool
from agent.settings import PoolSettings

PHONES = WORKERS = 64
EPISODES = 1000
TIMEOUT_S = 120.0


def main() -> None:
    """Print how long taking a phone takes, and observations a second over all phones."""
    with tempfile.TemporaryDirectory() as folder:
        server = AdbServer(Path(folder) / "adb")
        address = asyncio.run(server.start())
        wanted = PoolSettings(virtual=PHONES)
        try:
            began = time.perf_counter()
            with make_pool(wanted, Path(folder), own=server, server=address) as pool:
                print(f"{PHONES} phones ready in {time.perf_counter() - began:.1f} s\n")
                print("| 1,000 episodes of 64 workers | get p50 ms | get p95 ms | shared |")
                print("|---|---|---|---|")
                print(f"| threads, nothing done with the phone | {_threads(pool)} |")
                observed = asyncio.run(_episodes(pool, reset=False))
                print(f"| asyncio, a tree each | {observed.row} |")
                reset = asyncio.run(_episodes(pool, reset=True))
                print(f"| asyncio, a tree and a reset each; get waits for resets | {reset.row} |")
                print(
                    f"\nObservations (UI trees) a second, all phones: {observed.rate:.0f}, "
                    f"with a reset after each: {reset.rate:.0f}\n"
                )
        finally:
            asyncio.run(server.stop())


class _Tally:
    """Times of taking, and who has which phone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: set[str] = set()
        self.shared = 0
        self.taken_ms: list[float] = []
        self.rate = 0.0

    def took(self, serial: str, started: float) -> None:
        elapsed_ms = (time.perf_counter() - started) * 1000
        with self._lock:
            self.taken_ms.append(elapsed_ms)
            self.shared += serial in self._held
            self._held.add(serial)

    def gave(self, serial: str) -> None:
        with self._lock:
            self._held.discard(serial)

    @property
    def row(self) -> str:
        ordered = sorted(self.taken_ms)
        p95 = ordered[len(ordered) * 95 // 100]
        return f"{statistics.median(ordered):.3f} | {p95:.3f} | {self.shared}"


def _threads(pool: PhonePool) -> str:
    tally = _Tally()

    def episode(_: int) -> None:
        started = time.perf_counter()
        phone = pool.get(TIMEOUT_S)
        tally.took(phone.serial, started)
        tally.gave(phone.serial)
        pool.put(phone, reset=False)

    with ThreadPoolExecutor(WORKERS) as workers:
        list(workers.map(episode, range(EPISODES)))
    return tally.row


async def _episodes(pool: PhonePool, *, reset: bool) -> _Tally:
    tally, devices = _Tally(), dict[str, AdbDevice]()
    left = iter(range(EPISODES))

    async def work() -> None:
        for _ in left:
            started = time.perf_counter()
            phone = await pool.get_async(TIMEOUT_S)
            tally.took(phone.serial, started)
            device = devices.get(phone.serial)
            if device is None:
                client = AdbClient(ServerAddress.parse(phone.server))
                device = devices[phone.serial] = AdbDevice(client, phone.serial)
            await device.tree(timeout_s=TIMEOUT_S)
            tally.gave(phone.serial)
            pool.put(phone, reset=reset)

    began = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(WORKERS)))
    tally.rate = EPISODES / (time.perf_counter() - began)
    for device in devices.values():
        device.forget()
    return tally
