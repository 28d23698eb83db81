"""Load the core's first overview into a console that is already shown.

Invariants: the console is painted before the core is asked, which may take a while; sessions that
had failed before are not announced.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from agent.core import Overview
from console.core.event_bridge import Lost
from console.input.gate import Wait

if TYPE_CHECKING:
    from console.base_app import ConsoleApp

_log = logging.getLogger(__name__)
FirstLook = Callable[[], Awaitable[Overview | None]]
PAINT_BOUND_S = 3.0  # How long the core is not asked because nothing is on the terminal yet.


async def load_first_overview(app: ConsoleApp, replay: str, first_look: FirstLook | None) -> None:
    """Show what is stored, then follow the core.

    Args:
        app: the console.
        replay: the session to replay; empty for the Deck.
        first_look: reads what is stored before the core answers, if that is possible.
    """
    if not replay:
        with suppress(TimeoutError):
            async with asyncio.timeout(PAINT_BOUND_S):
                await app.painted.wait()
    if first_look is not None and not replay:
        app.spawn(_look_ahead(app, first_look), "reading what is stored", Wait.NOT)
    try:
        await app.bridge.start()
    except Exception as error:
        _log.exception("The core did not answer")
        app.post_message(Lost(f"The core did not answer: {error}", final=False))
        return
    _take_failures_as_seen(app)
    if replay:
        from console.screens.history.replay import ReplayScreen

        app.push_screen(ReplayScreen(replay, alone=True))
    app.refresh_top()


async def _look_ahead(app: ConsoleApp, first_look: FirstLook) -> None:
    stored = await first_look()
    if stored is not None:
        app.bridge.look_ahead(stored)
        _take_failures_as_seen(app)


def _take_failures_as_seen(app: ConsoleApp) -> None:
    from agent.state.reducer import attention

    stale = attention(app.bridge.state)
    app.seen = frozenset(a.key for a in stale if a.kind.value == "failed")
