"""The peer of `bench env`: pictures as base64 of a JPEG in JSON over HTTP, from its own process.

`python -m bench._env_peer ADB_SERVER SERIAL…` prints its port; `GET /N` is a new picture of the
N-th phone, at full size, as most environments of phones answer a step. It ends with its input.
"""

import asyncio
import base64
import json
import sys

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.adb_device import AdbDevice
from agent.devices.frames.png import jpeg_of, scaled_rgb

QUALITY = 85


async def main() -> None:
    """Serve until the standard input ends."""
    client = AdbClient(ServerAddress.parse(sys.argv[1]))
    devices = [AdbDevice(client, serial) for serial in sys.argv[2:]]

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readline():
            while (await reader.readline()).strip():
                pass
            device = devices[int(head.split()[1][1:])]
            capture = await device.capture()
            size = (capture.frame.width_px, capture.frame.height_px)
            image = await asyncio.to_thread(_encoded, device.serial, capture.data, size)
            body = json.dumps({"screen_image": image, "reward": 0.0, "done": False}).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()
    for device in devices:
        await device.close()


def _encoded(serial: str, png: bytes, size: tuple[int, int]) -> str:
    [rgb] = scaled_rgb(serial, png, (size,))
    return base64.b64encode(jpeg_of(rgb, size, quality=QUALITY)).decode()


if __name__ == "__main__":
    asyncio.run(main())
