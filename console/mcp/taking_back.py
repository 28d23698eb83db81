"""What a call leaves once its client has cancelled it: nothing that the client does not know of.

The SDK cancels the handler of such a call, so that all of this waits within shields. Invariant: it
ends within a bound.
"""

import asyncio
from contextlib import suppress

import anyio

from agent.core import Core
from agent.direct.calls import direct_session
from agent.errors import SwitchboardError
from agent.protocol import DirectCall, SessionCancel, SessionCreate, SessionFork
from console.mcp.tool import Connection

TAKE_BACK_S = 2.0
"""How long a call that is taken back may need to stop."""


async def take_back(core: Core, session_id: str) -> None:
    """Stop a call whose client has cancelled it."""
    with anyio.CancelScope(shield=True), suppress(TimeoutError, SwitchboardError):
        async with asyncio.timeout(TAKE_BACK_S):
            await core.request(DirectCall(session_id=session_id, withdraw=True, wait_s=0))


async def end(core: Core, session_id: str) -> None:
    """Cancel a session that nobody wants any more, though the call itself is cancelled."""
    with anyio.CancelScope(shield=True), suppress(TimeoutError, SwitchboardError):
        async with asyncio.timeout(TAKE_BACK_S):
            await core.request(SessionCancel(session_id=session_id))


async def begun(core: Core, op: SessionCreate | SessionFork) -> str:
    """Create a session and return its id; one whose call is cancelled meanwhile is cancelled."""
    making = asyncio.ensure_future(core.request(op))
    try:
        return (await asyncio.shield(making)).session_id
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True), suppress(TimeoutError, SwitchboardError):
            async with asyncio.timeout(TAKE_BACK_S):
                await end(core, (await making).session_id)
        raise


async def taken(connection: Connection, purpose: str, serial: str) -> str:
    """Create a direct session of a client and return its id; see `begun`."""
    return await begun(connection.core, direct_session(purpose, serial, connection.program))
