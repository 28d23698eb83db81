"""What video and warm touches cost, beside `screencap`, `input tap` and mysc-core.

Latencies are of one monotonic clock. The decoding peers get the same H.264 stream from one encoder
in one run; mysc-core runs in an environment of its own: that of the interpreter named by
SWITCHBOARD_MYSC_PYTHON, or one that is made with uv and kept in the cache directory.
"""

import asyncio
import json
import multiprocessing
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from agent.devices.adb.client import AdbClient
from agent.devices.adb.server import AdbServer
from agent.devices.adb_device import AdbDevice
from agent.devices.fleet.fleet import AdbFleet
from agent.devices.gestures import Tap
from agent.devices.pool.virtual_phones import VirtualPhones
from agent.devices.protocols import Device
from agent.devices.scrcpy.decoding.decoder import Decoder, load
from agent.devices.scrcpy.dialect import dialect
from agent.devices.scrcpy.packets import VideoPacket, read_video
from agent.records import Point
from bench._peers import Peer, newer_python

ROUNDS = 40
FPS = 30
CHANGES = 40
STREAM_FPS = 30
STREAM_FRAMES = 180
SIZE = (328, 720)
BITS = 16
PEER_NAME = "mysc-core 1.0.1"
MYSC = Peer(
    package="mysc-core==1.0.1",
    loads="mysc_core.video",
    variable="SWITCHBOARD_MYSC_PYTHON",
    python=newer_python,
    needs=("av", "numpy"),
)
PLACE = Point(x=0.5, y=0.02)  # On the status bar, where a tap changes nothing.

PEER = """
import json, socket, sys, time
from loguru import logger
logger.remove()
from mysc_core.video import VideoAdapter, VideoKwargs
port, bits = int(sys.argv[1]), int(sys.argv[2])
while True:
    try:
        link = socket.create_connection(("127.0.0.1", port))
        break
    except OSError:
        time.sleep(0.05)
class Connection:
    def recv(self, size):
        data = link.recv(size)
        if not data:
            raise OSError("over")
        return data
seen = []
def update(number, frame):
    array = frame.to_ndarray(format="rgb24")
    now = time.monotonic_ns()
    row, step = array[array.shape[0] // 2], array.shape[1] // bits
    lit = [int(row[step * bit + step // 2].mean()) > 127 for bit in range(bits)]
    seen.append((sum(on << bit for bit, on in enumerate(lit)), now))
video = VideoAdapter(VideoKwargs(), update)
video.codec, video.connection = VideoKwargs.EnumVideoCodec.H264, Connection()
video.is_running = True
video.thread_main()
print(json.dumps(seen))
"""


def main() -> None:
    """Print a table for touches and pictures, and one for decoding."""
    load()
    asyncio.run(_on_a_phone())
    asyncio.run(_decoding())


# --- on a virtual phone ----------


async def _on_a_phone() -> None:
    with tempfile.TemporaryDirectory() as folder:
        server = AdbServer(Path(folder) / "adb")
        phones = VirtualPhones(Path(folder) / "phones", server)
        (serial,) = await phones.start()
        fleet = AdbFleet([server.address])
        await fleet.start()
        try:
            await fleet.wait_for(serial, timeout_s=10)
            async with fleet.lease(serial, "bench") as device:
                await _touches(server, serial, device)
                await _glass_to_frame(fleet, serial, device)
        finally:
            await fleet.close()
            await phones.stop()
            await server.stop()


async def _touches(server: AdbServer, serial: str, warm: Device) -> None:
    assert isinstance(warm, AdbDevice)
    await warm.control()
    cold = AdbDevice(AdbClient(server.address), serial)
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "tap, control socket": lambda: warm.perform(Tap(PLACE)),
        "tap, `input tap`": lambda: cold.tap(PLACE),
        "picture, `screencap -p`": cold.capture,
    }
    times: dict[str, list[float]] = {name: [] for name in calls}
    for name, call in calls.items():
        await call()
        for _ in range(ROUNDS):
            started = time.perf_counter()
            await call()
            times[name].append(time.perf_counter() - started)
    print("| call | p50 ms | p95 ms |\n|---|---|---|")
    for name, taken in times.items():
        print(f"| {name} | {_row(taken)} |", flush=True)


async def _glass_to_frame(fleet: AdbFleet, serial: str, device: Device) -> None:
    """Time from telling the phone to change until a reader has a frame that shows it."""
    assert isinstance(device, AdbDevice)
    control = await device.control()
    frames = fleet.frames(serial, width_px=328, height_px=720, max_hz=FPS)
    newest = asyncio.Event()
    shown: list[tuple[float, bytes, str]] = []

    async def read() -> None:
        async for frame in frames:
            shown.append((time.monotonic(), frame.rgb, f"{frame.source} {frame.status}"))
            del shown[:-4]
            newest.set()

    reading = asyncio.create_task(read())

    async def until(condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not condition():
                newest.clear()
                await newest.wait()

    taken: list[float] = []
    try:
        for change in range(CHANGES):
            await until(lambda: bool(shown) and shown[-1][2] == "scrcpy static")
            before = shown[-1][1]
            started = time.monotonic()
            await (control.expand_notifications() if change % 2 == 0 else control.collapse_panels())
            await until(lambda before=before: shown[-1][1] != before)  # type: ignore[misc]
            taken.append(shown[-1][0] - started)
    finally:
        reading.cancel()
        await asyncio.wait({reading})
    print(f"| change on the phone → frame at a reader, {FPS} Hz | {_row(taken)} |\n", flush=True)


# --- decoding one stream ----------


async def _decoding() -> None:
    peer, why_not = MYSC.interpreter()
    ports = {"switchboard": _free_port()} | ({PEER_NAME: _free_port()} if peer else {})
    context = multiprocessing.get_context("spawn")
    ends: Any = context.Queue()
    sender = context.Process(target=_send, args=(tuple(ports.values()), ends))
    sender.start()
    process = None
    try:
        if peer:
            words = [str(peer), "-c", PEER, str(ports[PEER_NAME]), str(BITS)]
            process = await asyncio.create_subprocess_exec(*words, stdout=subprocess.PIPE)
        ours = await _receive(ports["switchboard"])
        made_ns = await asyncio.to_thread(ends.get, True, 60)
        seen = {"switchboard": ours}
        if process is not None:
            said, _ = await asyncio.wait_for(process.communicate(), 60)
            seen[PEER_NAME] = {number: at for number, at in json.loads(said)}
    finally:
        sender.join(10)
        if process is not None and process.returncode is None:
            process.kill()
    print(f"Generation → RGB array, {SIZE[0]}×{SIZE[1]} at {STREAM_FPS} fps, same stream:\n")
    print("| client | frames | p50 ms | p95 ms |\n|---|---|---|---|")
    for name, found in seen.items():
        taken = [(at - made_ns[number]) / 1e9 for number, at in found.items() if number in made_ns]
        print(f"| {name} | {len(taken)} | {_row(taken[10:])} |")
    if peer is None:
        print(f"| {PEER_NAME} | not installed: {why_not} | | |")


def _send(ports: tuple[int, ...], ends: Any) -> None:
    """Encode numbered pictures at an even pace; the first port gets scrcpy framing."""
    import numpy as np
    from PIL import Image

    from virtual_phone.scrcpy.dialect import dialect as phone_dialect
    from virtual_phone.scrcpy.stream import VideoEncoder, configuration_packet, frame_packet, header

    ways = phone_dialect("3.3.4")
    links = []
    for port in ports:
        with socket.create_server(("127.0.0.1", port)) as listener:
            links.append(listener.accept()[0])
            links[-1].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    framed, *raw = links
    width, height = SIZE
    encoder = VideoEncoder(width, height, bit_rate=4_000_000, max_fps=STREAM_FPS)
    framed.sendall(header(ways, width, height))
    framed.sendall(configuration_packet(ways, encoder.configuration, with_meta=True))
    for link in raw:
        link.sendall(encoder.configuration)
    # Flat blocks with sharp edges, as screens have; every picture is scrolled by two pixels.
    blocks = np.random.default_rng(1).integers(0, 255, (height // 24 + 1, width // 41, 3), np.uint8)
    page = blocks.repeat(24, axis=0)[:height].repeat(41, axis=1)[:, :width]
    made_ns: dict[int, int] = {}
    start = time.monotonic()
    for number in range(1, STREAM_FRAMES + 1):
        time.sleep(max(start + number / STREAM_FPS - time.monotonic(), 0))
        picture = np.roll(page, number * 2, axis=0)
        step = width // BITS
        for bit in range(BITS):
            shade = 255 if number >> bit & 1 else 0
            picture[height // 2 - 16 : height // 2 + 16, step * bit : step * (bit + 1)] = shade
        image = Image.fromarray(picture)
        made_ns[number] = time.monotonic_ns()
        for pts, is_key, data in encoder.encode(image, int((time.monotonic() - start) * 1e6)):
            framed.sendall(frame_packet(ways, pts, data, is_key=is_key, with_meta=True))
            for link in raw:
                link.sendall(data)
    for link in links:
        link.close()
    ends.put(made_ns)


async def _receive(port: int) -> dict[int, int]:
    import numpy as np

    seen: dict[int, int] = {}
    async with asyncio.timeout(60):
        reader, writer = await _connected(port)
        decoder = Decoder()
        loop = asyncio.get_running_loop()

        def decode(packet: VideoPacket) -> bytes | None:
            return decoder.scaled([SIZE])[0] if decoder.decode([packet]) else None

        try:
            async for item in read_video(dialect("3.3.4"), reader.readexactly):
                if not isinstance(item, VideoPacket):
                    continue
                rgb = await loop.run_in_executor(None, decode, item)
                if rgb is not None:
                    now = time.monotonic_ns()
                    array = np.frombuffer(rgb, np.uint8).reshape(SIZE[1], SIZE[0], 3)
                    row, step = array[SIZE[1] // 2], SIZE[0] // BITS
                    bits = (int(row[step * i + step // 2].mean()) > 127 for i in range(BITS))
                    seen[sum(bit << i for i, bit in enumerate(bits))] = now
        except asyncio.IncompleteReadError:
            writer.close()
    return seen


async def _connected(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    while True:
        try:
            return await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _row(taken: list[float]) -> str:
    ordered = sorted(taken)
    return (
        f"{statistics.median(ordered) * 1000:.1f} | {ordered[len(ordered) * 95 // 100] * 1000:.1f}"
    )
