"""Follow what the model of the session on screen writes, where another host of the fleet runs it.

Not the words of the core's own host, which come unasked (`console.core.event_bridge`). Invariant:
at most one session is followed this way, and none that nobody looks at.
"""

import asyncio
import logging
from collections.abc import Callable

from agent.core import Core, TextDelta
from agent.errors import SwitchboardError

_log = logging.getLogger(__name__)
_RETRY_S = 2.0


class RemoteText:
    """The words of one session of another host.

    Args:
        core: whom to ask.
        heard: called with what comes.
    """

    def __init__(self, core: Core, heard: Callable[[TextDelta], None]) -> None:
        self._core = core
        self._heard = heard
        self._wanted = ("", "")
        self._task: asyncio.Task[None] | None = None

    def want(self, session_id: str, host: str) -> None:
        """Follow another session, at a host; an empty host: follow nothing."""
        wanted = (session_id, host) if host else ("", "")
        if wanted == self._wanted:
            return
        self._wanted = wanted
        if self._task is not None:
            self._task.cancel()
            self._task = None
        if host:
            self._task = asyncio.create_task(self._follow(session_id), name="words of a host")

    async def close(self) -> None:
        """Stop following."""
        task, self._task, self._wanted = self._task, None, ("", "")
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _follow(self, session_id: str) -> None:
        while True:
            try:
                async with self._core.deltas(session_id) as deltas:
                    async for delta in deltas:
                        self._heard(delta)
            except SwitchboardError as error:
                # Only what the model is saying is missing; the events tell the rest.
                _log.info("The streamed text of %s is not available: %s", session_id, error)
            except Exception:
                _log.exception("The streamed text of %s ended early", session_id)
            await asyncio.sleep(_RETRY_S)
