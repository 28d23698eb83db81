"""Phones that send video, as far as a console sees them: one socket each, scrcpy's framing.

A program: it prints the port it listens on, sends each caller the scene, size and rate that the
caller asks for, over and over, and ends with its standard input.
"""

import asyncio
import os
import struct
import sys

from bench.frames import scenes
from virtual_phone.scrcpy.dialect import dialect
from virtual_phone.scrcpy.stream import frame_packet, header

VERSION = "3.3.4"
HZ = 30
ASK = struct.Struct("!BHB")  # Scene, longer side in pixels, pictures a second.
NAMES = ("feed", "list", "static")
_SPREAD = 17  # Phones do not take their pictures at the same moment.


async def main() -> None:
    """Serve until standard input ends."""
    ways = dialect(VERSION)
    count = 0

    async def send(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal count
        name, side_px, hz = ASK.unpack(await reader.readexactly(ASK.size))
        scene = scenes.encoded(NAMES[name], side_px, hz)
        loop = asyncio.get_running_loop()
        began_s = loop.time() + count % _SPREAD / _SPREAD / hz
        count += 1
        writer.write(header(ways, *scenes.size_px(side_px)))
        number = 0
        while not writer.is_closing():
            await asyncio.sleep(max(began_s + number / hz - loop.time(), 0))
            is_key, data = scene[number % len(scene)]
            pts_us = number * 1_000_000 // hz
            writer.write(frame_packet(ways, pts_us, data, is_key=is_key, with_meta=True))
            await writer.drain()
            number += 1

    server = await asyncio.start_server(send, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    # Senders that wait for a time would hold up an orderly end.
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
