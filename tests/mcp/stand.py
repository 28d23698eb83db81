"""A core with one virtual phone, and MCP clients that act on it."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp import Client
from mcp.client.session import ClientSession
from mcp.shared.memory import create_client_server_memory_streams

from agent import protocol
from agent.knowledge.library import load
from agent.records import Question
from agent.rpc.remote_core import Client as CoreClient
from bench.exercises.house import House
from console.mcp.clients import OneClient
from console.mcp.server import PhoneServer
from console.mcp.tool import Connection

ME = types.Implementation(name="test-agent", version="1")


@dataclass
class Agent:
    """An MCP client, and the core client of its server."""

    call_tool: Callable[[str, dict[str, Any]], Any]
    core: CoreClient
    connection: Connection
    asked: list[str] = field(default_factory=list)
    client: Any = None  # The SDK's own client.
    heard: list[Any] = field(default_factory=list)  # The notifications that it got.

    async def call(self, name: str, **arguments: Any) -> str:
        """Call a tool that is to succeed; returns its text."""
        result = await self.call_tool(name, arguments)
        text = str(result.content[0].text)
        assert not result.is_error, text
        return text

    async def refused(self, name: str, **arguments: Any) -> str:
        result = await self.call_tool(name, arguments)
        assert result.is_error, result.content[0].text
        return str(result.content[0].text)

    @property
    def session_id(self) -> str:
        (held,) = self.connection.phones
        return held


@dataclass
class Stand:
    """A core with one virtual phone, its socket, and what agents are made with."""

    at: House
    socket: Path

    @property
    def phone(self) -> Any:
        return self.at.host.served(self.at.serials[0]).phone

    @asynccontextmanager
    async def agent(self, *, era: str = "handshake", answer: str = "") -> AsyncIterator[Agent]:
        """Connect a client.

        Args:
            answer: what its person says to a question; empty: nobody can be asked there.
        """
        core = await CoreClient.connect(self.socket, name="mcp")
        connection = Connection(core, exports=self.socket.parent / "exports")
        served = PhoneServer(
            OneClient(connection), load(self.socket.parent / "cards"), version="1", sees=False
        )
        asked: list[str] = []

        heard: list[Any] = []

        async def hear(message: Any) -> None:
            heard.append(message)

        async def elicit(_context: Any, params: Any) -> types.ElicitResult:
            asked.append(params.message)
            return types.ElicitResult(action="accept", content={"answer": answer})

        callback = elicit if answer else None
        async with AsyncExitStack() as stack:
            stack.push_async_callback(core.close)
            if era == "handshake":
                streams = create_client_server_memory_streams()
                (read, write), theirs = await stack.enter_async_context(streams)
                group = await stack.enter_async_context(anyio.create_task_group())
                stack.callback(group.cancel_scope.cancel)
                options = served.server.create_initialization_options()
                group.start_soon(served.server.run, *theirs, options)
                session = ClientSession(
                    read, write, elicitation_callback=callback, client_info=ME, message_handler=hear
                )
                await stack.enter_async_context(session)
                await session.initialize()
                yield Agent(session.call_tool, core, connection, asked, session, heard)
            else:
                client = Client(served.server, elicitation_callback=callback, client_info=ME)
                await stack.enter_async_context(client)
                yield Agent(client.call_tool, core, connection, asked, client, heard)

    async def question(self) -> Question:
        """Wait for the next question to the operator."""
        async with self.at.core.events(after=0) as events:
            async for event in events:
                if isinstance(event.msg, protocol.RequestUserInput):
                    return event.msg.question
        raise AssertionError("the core ended")

    async def operator_answers(self, answer: str) -> Question:
        question = await self.question()
        op = protocol.UserInputAnswer(question_id=question.question_id, answer=answer)
        await self.at.core.request(op)
        return question


def number_of(screen: str, label: str) -> int:
    """Return the number of the element whose line names a label."""
    lines = [line.strip() for line in screen.splitlines() if label in line]
    found = [line for line in lines if line.startswith("[")]
    assert found, screen
    return int(found[0][1 : found[0].index("]")])


async def until_send(agent: Agent) -> int:
    """Go to where the next tap sends a message to Dad; returns the number to tap."""
    await agent.call("take_phone", purpose="Tell Dad hello")
    screen = await agent.call("launch_app", app="Messages")
    screen = await agent.call("click_element", element=number_of(screen, "Dad"))
    input_at = number_of(screen, "INPUT")
    screen = await agent.call("type_text", text="Hello Dad", element=input_at)
    return number_of(screen, '"Send')


def sent(stand: Stand) -> bool:
    return "Hello Dad" in json.dumps(stand.phone.state()["apps"]["com.android.messaging"])
