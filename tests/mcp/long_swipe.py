"""A client over HTTP, in a process that can be killed: it takes a phone and swipes until then.

`python -m tests.mcp.long_swipe URL TOKEN`
"""

import asyncio
import sys

import httpx2
import mcp_types as types
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client


async def swipe_on(url: str, token: str) -> None:
    """Swipe up and down the middle of the phone, without end."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
        streamable_http_client(url, http_client=http) as streams,
        ClientSession(
            streams[0], streams[1], client_info=types.Implementation(name="swiper", version="1")
        ) as session,
    ):
        await session.initialize()
        await session.call_tool("take_phone", {"purpose": "Swipe"})
        ends = ("500,750", "500,300")
        while True:
            start, end = ends
            await session.call_tool("drag", {"start": start, "end": end})
            ends = (end, start)


if __name__ == "__main__":
    asyncio.run(swipe_on(*sys.argv[1:]))
