"""The `framebuffer:` service: one frame as raw pixels.

Format: packages/modules/adb, framebuffer_service.cpp, header version 2 (14 u32 LE). The colour
space is 1 (sRGB): adbutils up to 2.12 misreads the header when it is 0.
"""

import asyncio
import struct

from virtual_phone.adbd.stream import Stream
from virtual_phone.display.capture import raw_pixels
from virtual_phone.userland.userland import Userland

HEADER = struct.Struct("<14I")
SRGB = 1


async def serve_framebuffer(userland: Userland, stream: Stream) -> None:
    """Send the header and the pixels of the display, RGBA."""
    stream.accept()
    width, height, pixels = await raw_pixels(userland)
    fields = (2, 32, SRGB, len(pixels), width, height, 0, 8, 16, 8, 8, 8, 24, 8)
    await stream.write(HEADER.pack(*fields))
    view = memoryview(pixels)
    for start in range(0, len(pixels), 1024 * 1024):
        await stream.write(bytes(view[start : start + 1024 * 1024]))
        await asyncio.sleep(0)
