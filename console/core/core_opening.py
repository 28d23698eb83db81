"""Open a core behind a console that is on the terminal already, and close it once that is left.

What opens it is `console.core.host`. Invariants: the core's modules are read a part at a time, and
keys are answered in between; the store is opened first, so what is in it can be seen meanwhile;
whatever happens to the console, the core that was opened is closed.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from console.cli_support.exits import say

if TYPE_CHECKING:
    from agent.config import Settings
    from agent.store.store import Store
    from console.core.deferred_core import DeferredCore
    from console.core.device_setup import Devices

_STORE = ("agent.store.embedded.sqlite_store", "agent.rpc.remote_core", "console.core.host")
"""What it takes to attach to another process, or to open the store."""
_CORE = (
    "agent.devices.fleet.fleet",
    "agent.models.choice",
    "agent.tasks.regular",
    "agent.tasks.plan",
    "agent.runtime.runtime",
    "agent.rpc.rpc_server",
)
"""What else a core of this process is made of, in parts of a few dozen milliseconds."""
_BREATH_S = 0.002


async def hold(coming: DeferredCore, settings: Settings, left: asyncio.Event) -> bool:
    """Open a core once it is wanted, and close it when the console has been left.

    Returns:
        Whether it was another process's, and died.

    Raises:
        StoreError, AdbError: there is none to be had; see `console.core.host.reach`.
    """
    await coming.wanted.wait()
    await _read(_STORE)
    from console.core.device_setup import EVERYTHING
    from console.core.host import reach
    from console.core.stored_core import StoredRecords

    async def choose(store: Store) -> Devices:
        coming.set_stored(await StoredRecords(store).overview())
        await _read(_CORE)
        return EVERYTHING

    async with reach(settings, choose) as host:
        coming.set_host(host)
        # What a console is made of stays as long as it does: no collection need look at it again.
        gc.freeze()
        gc.enable()
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


async def flush_pending(coming: DeferredCore, holding: asyncio.Future[bool]) -> None:
    """Carry out what was asked for while the core was being opened, before the console is gone.

    Says on the terminal that it does, what it failed with, and what could not be done.

    Args:
        coming: knows what is owed.
        holding: the opening; when it fails, that is its own to say.
    """
    if not coming.pending_ops:
        return
    say("Pending requests are executed before the console closes.")
    settling = asyncio.ensure_future(coming.settle())
    both: set[asyncio.Future[Any]] = {settling, holding}
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    finally:
        if settling.done():
            for error in settling.result():
                say(str(error))
        else:
            settling.cancel()
            say("Pending requests were not executed: there was no core.")


async def _read(names: Iterable[str]) -> None:
    """Import modules, and let keys be answered after each."""
    for name in names:
        importlib.import_module(name)
        await asyncio.sleep(_BREATH_S)
