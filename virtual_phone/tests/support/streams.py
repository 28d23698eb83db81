"""A stream of a phone through an adb server, as every adb client opens one.

The form is that of adb's SERVICES.TXT: four hexadecimal digits of length before each request, and
`OKAY`, or `FAIL` with a reason, after it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from support.adb import TIMEOUT_S


@asynccontextmanager
async def stream_of(port: int, serial: str, service: str) -> AsyncIterator[asyncio.StreamReader]:
    """Open a service of a phone, by the adb server at a port, until the end of the block."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(TIMEOUT_S):
            for request in (f"host:transport:{serial}", service):
                writer.write(f"{len(request.encode()):04x}{request}".encode())
                await writer.drain()
                said = await reader.readexactly(4)
                assert said == b"OKAY", (request, said)
        yield reader
    finally:
        writer.transport.abort()
