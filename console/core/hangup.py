"""Keep a core going whose terminal has gone, until its work is done.

Not a daemon: it ends by itself. Invariants: nothing is written to a terminal that is not there any
more; who attaches meanwhile is not cut off; a second signal ends it in order.
"""

import asyncio
import logging
import os
from typing import TYPE_CHECKING

from agent.core import Core
from console.core.active_sessions import is_under_way

if TYPE_CHECKING:
    from console.core.host import Host

_LOOK_S = 1.0
_log = logging.getLogger(__name__)


async def run_without_terminal(host: "Host") -> None:
    """Work on without a terminal until no session is under way and nobody is attached."""
    task = asyncio.current_task()
    while task is not None and task.cancelling():
        task.uncancel()
    if host.daemon is not None:
        host.daemon.role = "console without a terminal"
    _log.info("The terminal has gone; the work continues without it.")
    closing = asyncio.ensure_future(host.closed())
    try:
        while not closing.done() and (await _is_busy(host.core) or _is_watched(host)):
            await asyncio.wait({closing}, timeout=_LOOK_S)
    finally:
        closing.cancel()


async def _is_busy(core: Core) -> bool:
    return any(is_under_way(session) for session in (await core.overview()).sessions)


def _is_watched(host: "Host") -> bool:
    return host.daemon is not None and host.daemon.clients > 0


def leave_terminal() -> None:
    """Read from and write to nowhere from now on: a terminal that has gone refuses every write."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)
