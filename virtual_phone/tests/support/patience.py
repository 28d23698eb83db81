"""Wait for what nothing announces: state in this process that has no event to await.

Not the wait for a stage's facts (`tests.stage`), nor that for another process
(`tests.end_to_end.harness`).
"""

import asyncio
from collections.abc import Callable

BOUND_S = 30.0
_LOOK_S = 0.005


async def until(condition: Callable[[], object]) -> None:
    """Let the loop run until something is so. Raises TimeoutError after half a minute."""
    async with asyncio.timeout(BOUND_S):
        while not condition():
            await asyncio.sleep(_LOOK_S)
