"""The virtual phone: shell, captures, video, reset and snapshots, and 64 phones at once.

`python -m bench phone`. Our asyncio client and adbutils talk to the same phone through the same adb
server, in turn within each round. CPU is the phone process's own time, not the wall's, so that a
busy machine changes it little; it is read from /proc and left out where there is none.
"""

import asyncio
import io
import os
import statistics
import struct
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from PIL import Image

from agent.devices.adb.client import AdbClient
from agent.devices.adb.server import AdbServer
from agent.devices.pool.virtual_phones import VirtualPhones
from virtual_phone.display.png import encode
from virtual_phone.phone import Phone
from virtual_phone.scrcpy.stream import VideoEncoder

ROUNDS = 60
CAPTURES = 25
VIDEO_S = 6.0
IDLE_S = 5.0
FLEET = 64
SCRCPY = (
    "CLASSPATH=/data/local/tmp/s.jar app_process / com.genymobile.scrcpy.Server 3.3.4 "
    "tunnel_forward=true audio=false control=false max_size=720 max_fps=30 "
    "send_device_meta=false send_codec_meta=false send_dummy_byte=false"
)


def main() -> None:
    """Print the tables."""
    print("| what | figure | target |\n|---|---|---|")
    asyncio.run(_one_phone())
    asyncio.run(_states())
    asyncio.run(_fleet())


def _line(what: str, figure: str, target: str = "") -> None:
    print(f"| {what} | {figure} | {target} |", flush=True)


# --- one phone over adb ----------


@asynccontextmanager
async def _phones(count: int) -> AsyncIterator[tuple[AdbClient, VirtualPhones]]:
    with tempfile.TemporaryDirectory() as folder:
        server = AdbServer(Path(folder) / "adb", on_port=True)
        phones = VirtualPhones(Path(folder) / "phones", server, count=count)
        try:
            await phones.start()
            yield AdbClient(server.address), phones
        finally:
            await phones.stop()
            await server.stop()


async def _one_phone() -> None:
    async with _phones(1) as (client, phones):
        (serial,) = phones.serials
        features = await client.features(serial)

        async def shell(line: str) -> None:
            await client.shell(serial, line, features=features, timeout_s=30)

        await _shells(client, serial, shell)
        await shell("am start -n com.android.settings/.Settings; sleep 1")
        await _captures(client, serial, shell)
        await _video(client, serial, phones.pid, shell)


async def _shells(client: AdbClient, serial: str, shell: Callable[[str], Awaitable[None]]) -> None:
    import adbutils

    theirs = adbutils.AdbClient(host="127.0.0.1", port=_port(client)).device(serial)
    ours_s: list[float] = []
    theirs_s: list[float] = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        await shell("echo hi")
        ours_s.append(time.perf_counter() - started)
        started = time.perf_counter()
        theirs.shell("echo hi")
        theirs_s.append(time.perf_counter() - started)
    ours, others = statistics.median(ours_s), statistics.median(theirs_s)
    alone_s: list[float] = []
    for _ in range(ROUNDS * 4):
        started = time.perf_counter()
        await shell("echo hi")
        alone_s.append(time.perf_counter() - started)
    _line("`echo hi`, our asyncio client, p50", f"{_ms(alone_s)}", "< 1.5 ms")
    _line("the same in turn with adbutils, p50", f"{_ms(ours_s)}")
    _line("`echo hi`, adbutils, p50", f"{_ms(theirs_s)} (×{others / ours:.0f})")


def _ms(taken_s: list[float]) -> str:
    return f"{statistics.median(taken_s) * 1000:.2f} ms"


def _port(client: AdbClient) -> int:
    return client.address.port


async def _captures(
    client: AdbClient, serial: str, shell: Callable[[str], Awaitable[None]]
) -> None:
    changed_s: list[float] = []
    still_s: list[float] = []
    picture = b""
    for number in range(CAPTURES):
        start, end = (1700, 1500) if number % 2 else (1500, 1700)
        await shell(f"input swipe 540 {start} 540 {end} 60; sleep 0.7")
        for taken in (changed_s, still_s):
            started = time.perf_counter()
            picture = await client.exec(serial, "screencap -p", timeout_s=30)
            taken.append(time.perf_counter() - started)
    changed, still = statistics.median(changed_s), statistics.median(still_s)
    _line("`screencap -p` 1080×2400, changed, p50", f"{changed * 1000:.1f} ms", "< 60 ms")
    _line("`screencap -p`, unchanged, p50", f"{still * 1000:.1f} ms", "< 5 ms")
    _line("size of the picture", f"{len(picture) / 1024:.0f} KB")
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    ours = _median_s(lambda: encode(image))
    pillow = _median_s(lambda: image.save(io.BytesIO(), "PNG", compress_level=1))
    _line("writing it as PNG, p50", f"{ours * 1000:.1f} ms")
    _line("the same by Pillow at level 1", f"{pillow * 1000:.1f} ms (×{pillow / ours:.1f})")


async def _video(
    client: AdbClient, serial: str, pid: int, shell: Callable[[str], Awaitable[None]]
) -> None:
    """Scroll up and down while a client takes the video; the phone's CPU time over the wall's."""
    async with client.open(serial, f"shell,v2,raw:{SCRCPY}", timeout_s=60) as server:
        await server.reader.readline()
        async with client.open(serial, "localabstract:scrcpy", timeout_s=60) as video:
            frames: list[int] = []

            async def receive() -> None:
                while True:
                    _, size = struct.unpack(">QI", await video.exactly(12))
                    frames.append(len(await video.exactly(size)))

            receiving = asyncio.create_task(receive())
            await asyncio.sleep(1)
            frames.clear()
            began_cpu_s, began = _cpu_s(pid), time.perf_counter()
            while time.perf_counter() - began < VIDEO_S:
                await shell("input swipe 540 1900 540 700 900; input swipe 540 700 540 1900 900")
            wall_s, cpu_s = time.perf_counter() - began, _cpu_s(pid) - began_cpu_s
            receiving.cancel()
            await asyncio.gather(receiving, return_exceptions=True)
    rate = len(frames) / wall_s
    _line("H.264 720 high, a scrolling screen", f"{rate:.1f} frames/s", "30")
    if cpu_s:
        share = cpu_s / wall_s
        each = cpu_s / max(len(frames), 1)
        _line("its share of one core, drawing included", f"{share * 100:.0f} %")
        _line("the same at 30 frames/s", f"{each * 30 * 100:.0f} %", "< 20 %")
        alone = _encoding_s() * 30
        _line("encoding alone at 30 frames/s", f"{alone * 100:.0f} % (×{each * 30 / alone:.1f})")


def _encoding_s() -> float:
    """Return the CPU seconds of one frame, median, when nothing but the encoder works."""
    tall = Image.effect_mandelbrot((328, 1440), (-2, -2, 2, 2), 40).convert("RGB")
    frames = [tall.crop((0, y, 328, y + 720)) for y in range(0, 700, 10)]
    encoder = VideoEncoder(328, 720, bit_rate=8_000_000, max_fps=30)
    taken = []
    for number, frame in enumerate(frames):
        started = time.thread_time()
        encoder.encode(frame, number * 33_333)
        taken.append(time.thread_time() - started)
    return statistics.median(taken)


def _median_s(call: Callable[[], object]) -> float:
    taken = []
    for _ in range(ROUNDS // 4):
        started = time.perf_counter()
        call()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


# --- states ----------


async def _states() -> None:
    with tempfile.TemporaryDirectory() as folder:
        phone = Phone(Path(folder))
        for package in [info.package for info in phone.packages.list()]:
            # Every app has its state then, so that nothing is left out of what is measured.
            if phone.activities.launch_if_there(package):
                phone.compositor.scene()
        data = phone.snapshot()
        for name, call in (
            ("reset", phone.reset),
            ("snapshot", phone.snapshot),
            ("restore", lambda: phone.restore(data)),
        ):
            taken = []
            for _ in range(ROUNDS):
                started = time.perf_counter()
                call()
                taken.append(time.perf_counter() - started)
            _line(f"{name}, p50", f"{statistics.median(taken) * 1000:.2f} ms", "< 5 ms")
        phone.close()


# --- a fleet ----------


async def _fleet() -> None:
    async with _phones(1) as (_, phones):
        alone_kb = _rss_kb(phones.pid)
    began = time.perf_counter()
    async with _phones(FLEET) as (client, phones):
        _line(f"{FLEET} phones started and connected", _seconds(began), "< 2 s")
        for serial in phones.serials:
            await client.disconnect(serial)
        began = time.perf_counter()
        await phones.connect()
        # An answer is what tells that a phone can be used.
        await asyncio.gather(*(client.features(serial) for serial in phones.serials))
        _line(f"{FLEET} running phones connected", _seconds(began))
        await asyncio.sleep(1)
        rss_kb, began_cpu_s = _rss_kb(phones.pid), _cpu_s(phones.pid)
        if rss_kb:
            await asyncio.sleep(IDLE_S)
            share = (_cpu_s(phones.pid) - began_cpu_s) / IDLE_S / FLEET
            each_mb = max(0, rss_kb - alone_kb) / 1024 / (FLEET - 1)
            _line("memory of one more idle phone", f"{each_mb:.2f} MB", "< 4 MB")
            _line(f"memory of {FLEET} phones", f"{rss_kb / 1024:.0f} MB")
            _line("CPU of one idle phone", f"{share * 100:.3f} %", "< 0.1 %")


def _seconds(began: float) -> str:
    return f"{time.perf_counter() - began:.2f} s"


# --- what a process uses ----------


def _cpu_s(pid: int) -> float:
    """Return the CPU seconds of a process and its threads; 0 where there is no /proc."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _rss_kb(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)
