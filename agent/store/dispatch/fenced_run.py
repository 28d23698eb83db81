"""Run a session on its phone once, under a lease that is renewed meanwhile.

The dispatcher decides who runs what. Invariants: a lease is renewed three times within its
lifetime, and a handler does not outlive its lease; each lease has a higher epoch than the one
before.
"""

import asyncio
import logging
from contextlib import suppress

from agent.errors import FencedError, StoreError
from agent.records import Session
from agent.store.dispatch.dispatcher import Handler
from agent.store.leases import Lease
from agent.store.store import Store

LEASE_MS = 15_000
_log = logging.getLogger(__name__)


async def run_fenced(
    store: Store, host: str, session: Session, serial: str, handler: Handler, *, lease_ms: int
) -> None:
    """Wait for a phone that any host may hold, and run a session on it until its handler ends or
    the lease is lost. A handler's error is logged.

    Args:
        store: where the lease is.
        host: its owner.
        session: passed to the handler.
        serial: the phone; the lease's key.
        handler: what runs.
        lease_ms: how long the phone stays taken when the host dies.
    """
    lease = await _acquire(store, host, serial, lease_ms)
    work = asyncio.ensure_future(handler(session, lease))
    beat = asyncio.create_task(_keep(store, lease, lease_ms), name=f"heartbeat of {serial}")
    try:
        await asyncio.wait({work, beat}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (work, beat):
            task.cancel()
        await asyncio.wait({work, beat})
        with suppress(StoreError):
            await store.release_lease(lease)
    if not work.cancelled() and (error := work.exception()) is not None:
        _log.error("Session %s broke: %s", session.session_id, error, exc_info=error)


async def _acquire(store: Store, host: str, serial: str, lease_ms: int) -> Lease:
    """Wait for the phone, and for a store that can record the lease."""
    while True:
        try:
            # The host's own former lease does not keep it waiting: its epoch is passed.
            lease = await store.acquire_lease(serial, host, lease_ms)
        except StoreError as error:
            _log.warning("The lease on %s could not be stored yet: %s", serial, error)
        else:
            if lease is not None:
                return lease
        await asyncio.sleep(lease_ms / 3000)


async def _keep(store: Store, lease: Lease, lease_ms: int) -> None:
    """Renew the lease until it is lost."""
    while True:
        await asyncio.sleep(lease_ms / 3000)
        try:
            await store.renew_lease(lease, lease_ms)
        except FencedError as error:
            _log.warning("Lost the phone: %s", error)
            return
        except StoreError as error:
            _log.warning("The lease could not be renewed yet: %s", error)
