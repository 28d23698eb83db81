"""A tab of `switchboard web` whose server or network goes: it says so, and comes back if it can."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from urllib.parse import urlsplit

import pytest

from support.adb import free_port
from tests.end_to_end.harness import Workshop
from tests.end_to_end.servers.test_web import needs_chromium, serving, tab
from tests.end_to_end.servers.test_web_phone import until

pytestmark = [pytest.mark.slow, needs_chromium]

WHY = "document.getElementById('ended').textContent"
STATUS = "document.getElementById('phone-status').textContent"
CLOSED = "document.body.classList.contains('-closed')"


class Link:
    """A link to a server, which can be cut and joined again."""

    def __init__(self, server_port: int) -> None:
        self.port = free_port()
        self._server_port = server_port
        self._writers: set[asyncio.StreamWriter] = set()
        self._listener: asyncio.Server | None = None
        self.passes = asyncio.Event()
        """Whether bytes get through; what comes meanwhile waits."""
        self.passes.set()

    async def join(self) -> None:
        self._listener = await asyncio.start_server(self._pass, "127.0.0.1", self.port)

    async def cut(self) -> None:
        assert self._listener is not None
        self._listener.close()
        for writer in self._writers:
            writer.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._server_port)
        ends = {writer, back}
        self._writers |= ends
        try:
            await asyncio.gather(self._copy(reader, back), self._copy(there, writer))
        finally:
            self._writers -= ends
            for end in ends:
                end.close()

    async def _copy(self, source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65_536):
                await self.passes.wait()
                to.write(data)
                await to.drain()
        except ConnectionError:
            pass
        finally:
            to.close()


@asynccontextmanager
async def linked(address: str) -> AsyncIterator[tuple[Link, str]]:
    parts = urlsplit(address)
    assert parts.port is not None
    link = Link(parts.port)
    await link.join()
    try:
        yield link, parts._replace(netloc=f"127.0.0.1:{link.port}").geturl()
    finally:
        await link.cut()


async def test_a_tab_comes_back_by_itself_after_its_network_was_cut(workshop: Workshop) -> None:
    with serving(workshop) as address:
        async with linked(address) as (link, through), tab(f"{through}&fontsize=20") as console:
            await console.wait_for("No sessions yet")
            columns = console.columns
            # A link that only stalls: the picture does not pass for live, and is so again after.
            await console.page.click("#phone-open")
            await until(console.page, f"{STATUS}.startsWith('live')")
            link.passes.clear()
            await until(console.page, f"{STATUS}.startsWith('not live')")
            link.passes.set()
            await until(console.page, f"{STATUS}.startsWith('live')")
            await console.page.click("#phone-close")
            await link.cut()
            await until(console.page, f"{WHY}.startsWith('No connection')")
            console.restart()
            await link.join()
            await console.wait_for("No sessions yet")
            assert console.columns == columns, "in the letters that were asked for"
            assert not await console.page.evaluate(CLOSED)
            # One that is left is left: it stays as it is until it is opened again.
            await console.page.keyboard.press("Control+q")
            await until(console.page, CLOSED)
            assert await console.page.evaluate(WHY) == "The console has ended."
            console.restart()
            await console.page.click("#again")
            await console.wait_for("No sessions yet")


async def test_a_tab_of_a_server_that_was_started_again_says_which_address_to_open(
    workshop: Workshop,
) -> None:
    port = str(free_port())
    with ExitStack() as first:
        address = first.enter_context(serving(workshop, "--port", port))
        async with tab(address) as console:
            await console.wait_for("No sessions yet")
            await asyncio.to_thread(first.close)
            await until(console.page, f"{WHY}.startsWith('No connection')")
            with serving(workshop, "--port", port) as address:
                await until(console.page, f"{WHY}.endsWith('Open the address that it prints now.')")
                console.restart()
                await console.page.goto(address)
                await console.wait_for("No sessions yet")
