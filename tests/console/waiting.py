"""Wait for a condition on a console, with a bound, and say what did not come."""

import asyncio
from collections.abc import Callable
from typing import Any

from textual.pilot import Pilot

from tests.headless import look

BOUND_S = 30.0
_SOON_S, _LATEST_S = 0.01, 0.1
"""How soon to look again, and how soon at least: a look may draw the whole screen."""


async def wait_for(pilot: Pilot[Any], predicate: Callable[[], object], description: str) -> None:
    """Let the app work until the predicate holds."""
    deadline = asyncio.get_running_loop().time() + BOUND_S
    again_s = _SOON_S
    while True:
        await pilot.pause()
        if predicate():
            look(pilot.app)
            return
        if asyncio.get_running_loop().time() > deadline:
            raise AssertionError(f"Waited {BOUND_S:g} s for {description}.")
        await asyncio.sleep(again_s)
        again_s = min(again_s * 1.2, _LATEST_S)
