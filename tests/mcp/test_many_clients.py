"""Three MCP clients and two of Switchboard's own sessions on five phones, and on three.

Real server over HTTP, the official SDK's clients, virtual phones. Nothing may be left behind: no
lease, no task, no finger on a phone, no connection.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client

from agent.codex_bridge.session_object import held_by
from agent.config import load_settings
from agent.knowledge.library import load
from agent.protocol import SessionCreate
from agent.records import SessionState
from agent.rpc.remote_core import Client as CoreClient
from agent.rpc.rpc_server import serve
from bench.exercises.house import House, house
from console.mcp.clients import HttpClients
from console.mcp.http import serving_http
from console.mcp.server import PhoneServer
from support.patience import until

TOKEN = "a-token-for-this-test"
PROGRAMS = ("claude", "codex", "cursor")
APPS = ("Clock", "Settings", "Notes")


@dataclass
class Floor:
    """Several phones, their core, and a server for clients."""

    at: House
    url: str
    clients: HttpClients

    @asynccontextmanager
    async def client(self, name: str) -> AsyncIterator[Callable[..., Any]]:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=120) as http,
            streamable_http_client(self.url, http_client=http) as streams,
            ClientSession(
                streams[0], streams[1], client_info=types.Implementation(name=name, version="1")
            ) as session,
        ):
            await session.initialize()

            async def call(tool: str, **arguments: Any) -> str:
                result = await session.call_tool(tool, arguments)
                text = str(result.content[0].text)
                assert not result.is_error, text
                return text

            yield call

    async def native(self, goal: str, serial: str) -> str:
        op = SessionCreate(goal=goal, serial=serial)
        return (await self.at.core.request(op)).session_id

    async def end_of(self, session_id: str) -> SessionState:
        core = self.at.core
        async with core.events(after=0) as events:
            async for _ in events:
                state = (await core.session(session_id)).state
                if state.is_terminal:
                    return state
        raise AssertionError("the core ended")

    async def holder_of(self, session_id: str) -> str:
        overview = await self.at.core.overview()
        return held_by(await self.at.core.session(session_id), overview.devices)

    async def until_all_is_left(self) -> None:
        """Wait until nobody holds anything."""
        await until(lambda: len(self.clients) == 0)
        async with self.at.core.events(after=0) as events:
            async for _ in events:
                devices = (await self.at.core.overview()).devices
                states = {one.state for one in await self.at.core.sessions()}
                if all(one.is_terminal for one in states) and not any(d.driver for d in devices):
                    break
        for serial in self.at.serials:
            assert not self.at.host.served(serial).phone.touch.touched


@asynccontextmanager
async def floor(folder: Path, phones: int) -> AsyncIterator[Floor]:
    settings = load_settings(
        overrides={"data_dir": str(folder / "data"), "model.vision": False}, environ={}
    )
    socket = folder / "core.sock"

    async def open_core(program: str, _token: str) -> CoreClient:
        return await CoreClient.connect(socket, name=program)

    async with house(folder, settings, phones=phones) as at, serve(at.core, socket):
        clients = HttpClients(open_core, idle_s=30.0, hung_up_s=0.2)
        server = PhoneServer(clients, load(folder), version="1", sees=False)
        async with serving_http(server, clients, TOKEN, port=0) as url:
            yield Floor(at, url, clients)


@pytest.mark.slow
async def test_five_phones_are_driven_at_once(tmp_path: Path) -> None:
    async with floor(tmp_path, 5) as here:
        serials = here.at.serials

        async def act(program: str, serial: str, app: str) -> None:
            async with here.client(program) as call:
                await call("take_phone", purpose=f"Open {app}", phone=serial)
                assert app in await call("launch_app", app=app)
                await call("press_button", button="HOME")
                await call("release_phone", success=True, summary=f"{app} was open")

        async def everybody(goal: str) -> None:
            own = [await here.native(goal, serial) for serial in serials[3:]]
            async with asyncio.TaskGroup() as group:
                for each in zip(PROGRAMS, serials, APPS, strict=False):
                    group.create_task(act(*each))
            assert [await here.end_of(one) for one in own] == [SessionState.COMPLETED] * 2
            await here.until_all_is_left()

        await everybody("Turn on Bluetooth")
        sessions = await here.at.core.sessions()
        direct = {one.model: one.serial for one in sessions if one.model.startswith("direct:")}
        programs = [f"direct:{program}" for program in PROGRAMS]
        assert direct == dict(zip(programs, serials, strict=False))
        # What reads screens stays with each phone; a second round adds nothing to it.
        warm = len(asyncio.all_tasks())
        await everybody("Turn off Bluetooth")
        await until(lambda: len(asyncio.all_tasks()) <= warm)


async def test_three_phones_are_shared_and_the_queue_says_who_waits_for_whom(
    tmp_path: Path,
) -> None:
    async with floor(tmp_path, 3) as here, AsyncExitStack() as stack:
        serials = here.at.serials
        calls = [await stack.enter_async_context(here.client(name)) for name in PROGRAMS]
        taken = [
            await call("take_phone", purpose="Look around", phone=serial)
            for call, serial in zip(calls, serials, strict=True)
        ]
        holders = [text.split()[1] for text in taken]
        own = [await here.native("Turn on Bluetooth", serial) for serial in serials[:2]]
        for session_id, holder, serial in zip(own, holders, serials, strict=False):
            session = await here.at.core.session(session_id)
            assert session.state is SessionState.QUEUED
            assert await here.holder_of(session_id) == holder
            (line,) = [one for one in (await calls[2]("list_phones")).splitlines() if serial in one]
            assert line.endswith(f"in use by session {holder}")
        # Whoever lets go first, the session that waits for that phone goes on, and no other.
        await calls[1]("release_phone", success=False, summary="Only looked")
        assert await here.end_of(own[1]) is SessionState.COMPLETED
        assert (await here.at.core.session(own[0])).state is SessionState.QUEUED
        await calls[0]("release_phone", success=False, summary="Only looked")
        assert await here.end_of(own[0]) is SessionState.COMPLETED
        await stack.aclose()
        await here.until_all_is_left()


@pytest.mark.slow
async def test_on_five_phones_three_wait_for_each_other_and_two_go_on(tmp_path: Path) -> None:
    async with floor(tmp_path, 5) as here, AsyncExitStack() as stack:
        serials = here.at.serials
        calls = [await stack.enter_async_context(here.client(name)) for name in PROGRAMS]
        taken = [
            await call("take_phone", purpose="Look around", phone=serial)
            for call, serial in zip(calls, serials, strict=False)
        ]
        holders = [text.split()[1] for text in taken]
        # Each client gives a goal for the phone of the next one; two sessions have phones alone.
        begun = [
            await call("start_session", goal="Turn on Bluetooth", phone=serials[(at + 1) % 3])
            for at, call in enumerate(calls)
        ]
        waiting = [text.split()[1] for text in begun]
        own = [await here.native("Turn on Bluetooth", serial) for serial in serials[3:]]
        assert [await here.end_of(one) for one in own] == [SessionState.COMPLETED] * 2
        listed = {line.split()[0]: line for line in (await calls[0]("list_sessions")).splitlines()}
        for at, (call, session_id) in enumerate(zip(calls, waiting, strict=True)):
            expected = f"waits for session {holders[(at + 1) % 3]}"
            assert expected in listed[session_id]
            assert expected in await call("watch_session", session=session_id, wait_s=0)
        assert not any("waits for" in listed[one] for one in (*holders, *own))
        for call in calls:
            await call("release_phone", success=False, summary="Only looked")
        assert [await here.end_of(one) for one in waiting] == [SessionState.COMPLETED] * 3
        assert "waits for" not in await calls[0]("list_sessions")
        await stack.aclose()
        await here.until_all_is_left()


@pytest.mark.parametrize("clients", [2, pytest.param(4, marks=pytest.mark.slow)])
async def test_programs_that_want_one_phone_get_it_one_after_the_other(
    tmp_path: Path, clients: int
) -> None:
    async with floor(tmp_path, 1) as here:
        driving = 0
        most = 0

        async def act(number: int) -> None:
            nonlocal driving, most
            async with here.client(f"program-{number}") as call:
                text = await call("take_phone", purpose="Press HOME")
                while "## Screen State" not in text:
                    assert "in use" in text, text
                    text = await call("look")
                driving += 1
                most = max(most, driving)
                await call("press_button", button="HOME")
                driving -= 1
                await call("release_phone", success=True, summary="Pressed")

        async with asyncio.TaskGroup() as group:
            for number in range(clients):
                group.create_task(act(number))
        assert most == 1
        await here.until_all_is_left()
