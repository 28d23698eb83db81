"""Wait for a condition on a console, with a bound, and say what did not come."""

import asyncio
from collections.abc import Callable
from typing import Any

from textual.pilot import Pilot

from tests.headless import look

BOUND_S = 30.0


async def wait_for(pilot: Pilot[Any], predicate: Callable[[], object], description: str) -> None:
    """Let the app work until the predicate holds."""
    deadline = asyncio.get_running_loop().time() + BOUND_S
    while True:
        await pilot.pause()
        if predicate():
            look(pilot.app)
            return
        if asyncio.get_running_loop().time() > deadline:
            raise AssertionError(f"Waited {BOUND_S:g} s for {description}.")
        await asyncio.sleep(0.01)
