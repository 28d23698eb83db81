"""What is left of a request's body that nobody reads."""

import asyncio
from contextlib import suppress

from starlette.types import Receive

_DRAIN_S = 1.0
_SHORT_BYTES = 1 << 16


async def drained(receive: Receive, most_bytes: int = _SHORT_BYTES) -> None:
    """Take what is left of a short body: an answer may be lost where it is not read."""
    taken = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_S):
            while taken < most_bytes:
                message = await receive()
                if message["type"] != "http.request" or not message.get("more_body"):
                    return
                taken += len(message["body"])
