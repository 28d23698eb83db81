"""Open a core behind a console that is on the terminal already, and close it once that is left.

What opens it is `console.host`. Invariants: the core's modules are read a part at a time, and keys
are answered in between; whatever happens to the console, the core that was opened is closed.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.config import Settings
    from agent.store.store import Store
    from console.coming import ComingCore
    from console.rack import Devices

_CORE = (
    "agent.store.sqlite",
    "agent.client",
    "console.host",
    "agent.devices.rack",
    "agent.models.choice",
    "agent.tasks.regular",
    "agent.tasks.plan",
    "agent.runtime",
    "agent.daemon",
)
"""What a core of this process is made of, in parts of a few dozen milliseconds."""
_BREATH_S = 0.002


async def hold(coming: ComingCore, settings: Settings, left: asyncio.Event) -> bool:
    """Open a core once it is wanted, and close it when the console has been left.

    Returns:
        Whether it was another process's, and died.

    Raises:
        StoreError, AdbError: there is none to be had; see `console.host.reach`.
    """
    await coming.wanted.wait()
    await _read_core(settings)
    from console.host import reach
    from console.rack import EVERYTHING

    async def choose(_store: Store) -> Devices:
        return EVERYTHING

    async with reach(settings, choose) as host:
        coming.came(host)
        leaving = asyncio.ensure_future(left.wait())
        closing = asyncio.ensure_future(host.closed())
        try:
            await asyncio.wait({leaving, closing}, return_when=asyncio.FIRST_COMPLETED)
            if not leaving.done() and not host.owned and not closing.result():
                return True
            await leaving
            return False
        finally:
            leaving.cancel()
            closing.cancel()


async def _read_core(settings: Settings) -> None:
    """Import what a core takes, if it will be ours, and begin to collect garbage."""
    from agent.store.lock import owner_pid

    if owner_pid(settings.data_dir) is None:
        for name in _CORE:
            importlib.import_module(name)
            await asyncio.sleep(_BREATH_S)
    # What a console is made of stays as long as it does: no collection need look at it again.
    gc.freeze()
    gc.enable()
