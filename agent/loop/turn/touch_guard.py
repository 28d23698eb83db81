"""Pause a session while a person touches its phone.

The wheel, which an operator takes explicitly, is separate. Invariants: only touches on the phone
itself count, never ours; a phone that does not report touches is driven as if there were none.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress

from agent.devices.protocols import Touchable
from agent.errors import DeviceError, DeviceLostError
from agent.loop.observe import Sleep
from agent.loop.task_context import TaskContext

TOUCHED = "somebody touched the phone; resume when they are done"
_AGAIN_S = 5.0


@asynccontextmanager
async def watched(context: TaskContext, sleep: Sleep) -> AsyncIterator[None]:
    """Watch a session's phone for touches for the length of a block, if configured."""
    if not context.limits.pause_on_touch:
        yield
        return
    watch = asyncio.create_task(_watch(context, sleep), name="hands on the phone")
    try:
        yield
    finally:
        watch.cancel()
        with suppress(asyncio.CancelledError):
            await watch


async def _watch(context: TaskContext, sleep: Sleep) -> None:
    while True:
        try:
            device = context.device
            if not isinstance(device, Touchable):
                return
            async with aclosing(device.touches()) as touches:
                async for _touched_ms in touches:
                    if not context.session.paused:
                        await context.pause(TOUCHED)
        except DeviceLostError:
            # It is waited for elsewhere; once it is back, so are its hands.
            await sleep(_AGAIN_S)
        except DeviceError:
            return
        else:
            return
