"""The official SDK's client, over real pipes: one goal by session tools, one by phone tools.

What it sends is approved in a shell, by the person at the client, and refused, in turn.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
import pytest
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.end_to_end.harness import SWITCHBOARD, Workshop, wait_until
from tests.end_to_end.test_daemon import daemon
from tests.mcp.stand import number_of

pytestmark = pytest.mark.slow

ME = types.Implementation(name="some-agent", version="1")


class Agent:
    """A connected client.

    Args:
        asked: what its person was asked.
    """

    def __init__(self, session: ClientSession, asked: list[str]) -> None:
        self._session = session
        self.asked = asked

    async def call(self, name: str, **arguments: Any) -> str:
        result = await self._session.call_tool(name, arguments)
        text = str(result.content[0].text)
        assert not result.is_error, text
        return text

    async def send(self) -> str:
        """Send Dad a message; returns what the last tap came to."""
        await self.call("take_phone", purpose="Tell Dad hello")
        screen = await self.call("launch_app", app="Messages")
        if "INPUT" not in screen:
            screen = await self.call("click_element", element=number_of(screen, "Dad"))
        field = number_of(screen, "INPUT")
        screen = await self.call("type_text", text="Hello Dad", element=field, clear=True)
        tap = {"element": number_of(screen, '"Send')}
        result = await self._session.call_tool("click_element", tap)
        text = str(result.content[0].text)
        assert result.is_error == text.startswith("FAILED"), text
        return text


@asynccontextmanager
async def connected(workshop: Workshop, *options: str, says: str = "") -> AsyncIterator[Agent]:
    """Start the server as clients do.

    Args:
        says: what the person at the client answers; empty: the client asks nobody.
    """
    asked: list[str] = []

    async def elicit(_context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"answer": says})

    program, *arguments = SWITCHBOARD
    server = StdioServerParameters(
        command=program, args=[*arguments, "mcp", *options], env=workshop.environment
    )
    async with (
        stdio_client(server) as (read, write),
        ClientSession(
            read, write, client_info=ME, elicitation_callback=elicit if says else None
        ) as session,
    ):
        await session.initialize()
        yield Agent(session, asked)


def question_of(workshop: Workshop) -> str:
    """Wait for the question of the session at work; returns the session's id."""

    def asking() -> list[str]:
        listed = workshop.call("sessions", "list", "--json").json["data"]
        return [one["sessionId"] for one in listed if one["stateLabel"] == "WAITING_FOR_USER"]

    wait_until(lambda: bool(asking()), "a question", 60.0)
    return asking()[0]


def test_a_client_gives_a_goal_acts_itself_and_is_approved_and_refused(workshop: Workshop) -> None:
    async def play() -> None:
        async with connected(workshop) as agent:
            text = await agent.call("start_session", goal="Turn on Bluetooth")
            session_id = text.split()[1]
            while "done" not in text and "unverified" not in text:
                text = await agent.call("watch_session", session=session_id, wait_s=30)
                assert "failed" not in text, text
            assert "Bluetooth" in await agent.call("read_transcript", session=session_id)
        for answer, word in (("Approve", "OK"), ("Deny", "rejected")):
            async with connected(workshop) as agent:
                sending = asyncio.create_task(agent.send())
                asked = await asyncio.to_thread(question_of, workshop)
                own = await asyncio.to_thread(workshop.call, "sessions", "answer", asked, "yes")
                assert "works for an agent" in own.err, own
                await asyncio.to_thread(workshop.call_apart, "sessions", "answer", asked, answer)
                assert word in await sending
                await agent.call("release_phone", success=answer == "Approve", summary="Tried")

    workshop.let_scripts_approve()
    with daemon(workshop, "--phones", "1"):
        asyncio.run(play())
        listed = workshop.call("sessions", "list", "--json").json["data"]
    assert [one["goal"] for one in listed].count("Tell Dad hello") == 2
    assert sorted(one["stateLabel"] for one in listed) == ["COMPLETED"] * 2 + ["FAILED"]
