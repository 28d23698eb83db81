"""An MCP client in a process of its own, as clients are: the official SDK's.

It makes the calls that it is told on stdin and says on stdout when each began and ended, by the
clock that all processes of a machine share.
"""

import asyncio
import contextlib
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import msgspec
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What a client is to do.

    Args:
        command: starts the server.
        environment: of the server.
        token_file: over HTTP, where the token is once the server has said its address; empty where
            it is spoken to over its pipes.
    """

    command: list[str]
    environment: dict[str, str]
    calls: list[tuple[str, dict[str, Any]]]
    token_file: str = ""


class MadeCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call that was made; times in seconds of `time.monotonic`."""

    name: str
    began_s: float
    ended_s: float
    text: str


async def made(order: Order) -> list[MadeCall]:
    """Have a client in a process of its own make calls.

    Raises:
        RuntimeError: one of them failed.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", __name__, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    out, _ = await process.communicate(msgspec.json.encode(order))
    if process.returncode:
        raise RuntimeError(f"the client ended with status {process.returncode}")
    return msgspec.json.decode(out, type=list[MadeCall])


@asynccontextmanager
async def _over_stdio(order: Order) -> AsyncIterator[ClientSession]:
    program, *arguments = order.command
    server = StdioServerParameters(command=program, args=arguments, env=order.environment)
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        yield session


@asynccontextmanager
async def _over_http(order: Order) -> AsyncIterator[ClientSession]:
    server = await asyncio.create_subprocess_exec(
        *order.command, env=order.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        assert server.stdout is not None
        address = (await server.stdout.readline()).decode().strip()
        token = (await asyncio.to_thread(Path(order.token_file).read_text)).strip()
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            streamable_http_client(address, http_client=http) as streams,
            ClientSession(streams[0], streams[1]) as session,
        ):
            yield session
    finally:
        with contextlib.suppress(ProcessLookupError):
            server.terminate()
        await server.wait()


async def _make(order: Order) -> list[MadeCall]:
    found: list[MadeCall] = []
    async with (_over_http if order.token_file else _over_stdio)(order) as session:
        await session.initialize()
        for name, arguments in order.calls:
            began = time.monotonic()
            result = await session.call_tool(name, arguments)
            ended = time.monotonic()
            (first, *_) = result.content
            text = str(getattr(first, "text", ""))
            if result.is_error:
                raise RuntimeError(f"{name}: {text}")
            found.append(MadeCall(name=name, began_s=began, ended_s=ended, text=text))
    return found


if __name__ == "__main__":
    given = msgspec.json.decode(sys.stdin.buffer.read(), type=Order)
    sys.stdout.buffer.write(msgspec.json.encode(asyncio.run(_make(given))))
