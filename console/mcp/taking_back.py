"""What a call leaves once its client has cancelled it: nothing that the client does not know of.

The SDK cancels the handler of such a call at each of its waits, so that this is done in tasks of
the connection's own. Invariant: each ends within a bound.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress

from agent.core import Core
from agent.direct.calls import direct_session
from agent.errors import SwitchboardError
from agent.protocol import DirectCall, SessionCancel, SessionCreate, SessionFork
from console.mcp.tool import Connection

TAKE_BACK_S = 2.0
"""How long a call that is taken back may need to stop."""


def afterwards(connection: Connection, work: Coroutine[object, object, None]) -> None:
    """Do something for a call that is cancelled, after it."""
    task = asyncio.create_task(work, name="takes back what an MCP client cancelled")
    connection.taking_back.add(task)
    task.add_done_callback(connection.taking_back.discard)


async def take_back(core: Core, session_id: str) -> None:
    """Stop the call of a session that is under way."""
    with suppress(TimeoutError, SwitchboardError):
        async with asyncio.timeout(TAKE_BACK_S):
            await core.request(DirectCall(session_id=session_id, withdraw=True, wait_s=0))


async def end(core: Core, session_id: str) -> None:
    """Cancel a session that nobody wants any more."""
    with suppress(TimeoutError, SwitchboardError):
        async with asyncio.timeout(TAKE_BACK_S):
            await core.request(SessionCancel(session_id=session_id))


async def begin_session(connection: Connection, op: SessionCreate | SessionFork) -> str:
    """Create a session and return its id; one whose call is cancelled meanwhile is cancelled."""
    core = connection.core
    making = asyncio.ensure_future(core.request(op))

    async def undo() -> None:
        with suppress(SwitchboardError):
            await end(core, (await making).session_id)

    try:
        return (await asyncio.shield(making)).session_id
    except asyncio.CancelledError:
        afterwards(connection, undo())
        raise


async def begin_direct_session(connection: Connection, purpose: str, serial: str) -> str:
    """Create a direct session of a client and return its id; see `begin_session`."""
    return await begin_session(connection, direct_session(purpose, serial, connection.program))
