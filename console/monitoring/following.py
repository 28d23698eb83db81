"""Follow a core for as long as the command runs: through its ends and its restarts.

Invariants: an event is counted once, also where the core was away in between; of a fleet's events,
those of the core's own host.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from agent.core import Core
from agent.errors import SwitchboardError
from agent.protocol import SessionHosted
from console.monitoring.host_scope import HostScope
from console.monitoring.metrics import Metrics
from console.monitoring.traces import Traces

RETRY_S = 2.0  # How long after a core was found away it is looked for again.


class Follower:
    """Hand the events of a core, and of those that follow it, to metrics and traces.

    Args:
        connect: connects to the core that runs; None when none does.
        say: shows a line to the operator.
        retry_s: see `RETRY_S`.
    """

    def __init__(
        self,
        connect: Callable[[], Awaitable[Core | None]],
        metrics: Metrics,
        traces: Traces,
        *,
        say: Callable[[str], None],
        retry_s: float = RETRY_S,
    ) -> None:
        self._connect = connect
        self._metrics = metrics
        self._traces = traces
        self._say = say
        self._retry_s = retry_s
        self._last: int | None = None
        self._told = ""

    async def run(self) -> None:
        """Follow until it is cancelled."""
        while True:
            try:
                core = await self._connect()
                if core is None:
                    self._tell("No core runs here; waiting for one.")
                else:
                    try:
                        await self._follow(core)
                    finally:
                        self._metrics.is_up = False
                        with suppress(SwitchboardError, OSError):
                            await core.close()
                    self._tell("The core has ended; waiting for the next.")
            except (SwitchboardError, OSError) as error:
                self._tell(f"{error} Waiting for a core.")
            await asyncio.sleep(self._retry_s)

    async def _follow(self, core: Core) -> None:
        own = HostScope(core, await core.overview())
        overview = own.overview
        known = self._last
        if known is None or known > overview.event_id:
            # The first one, or one on another store.
            self._metrics.begin(overview)
            self._traces.begin(overview)
            known = overview.event_id
        async with core.events(after=known) as events:
            self._metrics.is_up = True
            self._tell("Following the core.")
            async for event in events:
                if await own.has(event):
                    self._metrics.take(event, is_live=event.event_id > overview.event_id)
                    self._traces.take(event)
                    if isinstance(event.msg, SessionHosted):
                        self._metrics.move(event.session_id, await own.session(event.session_id))
                self._last = event.event_id

    def _tell(self, line: str) -> None:
        if line != self._told:
            self._told = line
            self._say(line)
