"""A host for the tests of a fleet: runs what its queue has, and writes down what it did.

`python -m tests.store.fleet.fleet_host DSN_FILE HOST ACTS STEPS PAUSE_MS LEASE_MS HOW DISPATCHER`.
A step is what a session does with its phone: its intent is stored under the lease, then it acts,
which is a line of the file ACTS: session, step, epoch, host. With `unfenced` for HOW, the negative
control and not `fenced`, it acts without having stored anything. With `local` for DISPATCHER it is
asked as a host's core is, by ops of other hosts; with `dbos`, by its queue. `ready` on stdout says
that it serves; it ends by SIGTERM.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from agent.core import ClientInfo
from agent.errors import StoreError
from agent.hosts.peers import Peers
from agent.protocol import Op, Reply, SessionResume, SessionStateChanged, StepStarted
from agent.records import Session, SessionState
from agent.store.dispatch.dispatcher import Handler
from agent.store.dispatch.local_dispatcher import LocalDispatcher
from agent.store.leases import Lease
from agent.store.postgres.dbos_dispatcher import DbosDispatcher
from agent.store.postgres.postgres_store import PostgresStore
from agent.store.store import EventDraft

RETRY_S = 0.2
VERSION = "1.0"


class Asked:
    """Runs the sessions that other hosts ask for."""

    def __init__(self, dispatcher: LocalDispatcher) -> None:
        self._dispatcher = dispatcher

    async def request_as(self, client: ClientInfo, op: Op) -> Reply:
        assert isinstance(op, SessionResume)
        await self._dispatcher.submit(op.session_id)
        return Reply(submission_id="", session_id=op.session_id)

    async def leave(self, client: ClientInfo) -> None:
        """Nothing is a client's alone."""


@asynccontextmanager
async def serving(
    store: PostgresStore, dsn: str, host: str, run: Handler, *, lease_ms: int, dispatcher: str
) -> AsyncIterator[None]:
    """Run what is asked for, by queues or by ops."""
    if dispatcher == "dbos":
        async with DbosDispatcher(store, dsn, lease_ms=lease_ms).serve(host, run):
            yield
        return
    local = LocalDispatcher(store, lease_ms=lease_ms)
    peers = Peers(dsn, store, unhosted="")
    async with (
        store.present(dsn, version=VERSION, phones=tuple),
        local.serve(host, run),
        peers.serve(Asked(local)),
    ):
        yield


async def main(
    dsn: str,
    host: str,
    acts: Path,
    steps: int,
    pause_s: float,
    lease_ms: int,
    *,
    is_fenced: bool,
    dispatcher: str,
) -> None:
    """Serve until SIGTERM; a name that a killed process still has is waited for."""
    ending = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, ending.set)
    file = os.open(acts, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    while True:
        try:
            async with PostgresStore.open(dsn, host) as store:

                async def run(session: Session, lease: Lease, store: PostgresStore = store) -> None:
                    name = session.session_id
                    events = await store.session_events(name)
                    done = [e.msg.step for e in events if isinstance(e.msg, StepStarted)]
                    for step in range(max(done, default=0) + 1, steps + 1):
                        if is_fenced:
                            began_s = loop.time()
                            step_draft = EventDraft(name, StepStarted(step=step))
                            await store.append(step_draft, under=lease)
                            if loop.time() - began_s > lease_ms / 2000:
                                # It stood still, and the phone may be another host's by now.
                                await store.renew_lease(lease, lease_ms)
                        os.write(file, f"{name} {step} {lease.epoch} {host}\n".encode())
                        await asyncio.sleep(pause_s)
                    done_draft = EventDraft(name, SessionStateChanged(state=SessionState.COMPLETED))
                    await store.append(done_draft, under=lease if is_fenced else None)

                how = serving(store, dsn, host, run, lease_ms=lease_ms, dispatcher=dispatcher)
                async with how:
                    print("ready", flush=True)
                    await ending.wait()
                return
        except StoreError as error:
            if "in use" not in error.message:
                raise
            await asyncio.sleep(RETRY_S)


if __name__ == "__main__":
    file_, host_, acts_, steps_, pause_, lease_, how_, by_ = sys.argv[1:9]
    asyncio.run(
        main(
            Path(file_).read_text(encoding="utf-8").strip(),
            host_,
            Path(acts_),
            int(steps_),
            int(pause_) / 1000,
            int(lease_),
            is_fenced=how_ == "fenced",
            dispatcher=by_,
        )
    )
