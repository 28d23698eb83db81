"""A host for the tests of a fleet: runs what its queue has, and writes down what it did.

`python -m tests.store.fleet.fleet_host DSN_FILE HOST ACTS STEPS PAUSE_MS LEASE_MS HOW`. A step is
what a session does with its phone: its intent is stored under the lease, then it acts, which is a
line of the file ACTS: session, step, epoch, host. With `unfenced` for HOW, the negative control
and not `fenced`, it acts without having stored anything. `ready` on stdout says that it serves; it
ends by SIGTERM.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from agent.errors import StoreError
from agent.protocol import SessionStateChanged, StepStarted
from agent.records import Session, SessionState
from agent.store.leases import Lease
from agent.store.postgres.dbos_dispatcher import DbosDispatcher
from agent.store.postgres.postgres_store import PostgresStore
from agent.store.store import EventDraft

RETRY_S = 0.2


async def main(
    dsn: str, host: str, acts: Path, steps: int, pause_s: float, lease_ms: int, *, is_fenced: bool
) -> None:
    """Serve until SIGTERM; a name that a killed process still has is waited for."""
    ending = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ending.set)
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
                            await store.append(
                                EventDraft(name, StepStarted(step=step)), under=lease
                            )
                        os.write(file, f"{name} {step} {lease.epoch} {host}\n".encode())
                        await asyncio.sleep(pause_s)
                    done_draft = EventDraft(name, SessionStateChanged(state=SessionState.COMPLETED))
                    await store.append(done_draft, under=lease if is_fenced else None)

                dispatcher = DbosDispatcher(store, dsn, lease_ms=lease_ms)
                async with dispatcher.serve(host, run):
                    print("ready", flush=True)
                    await ending.wait()
                return
        except StoreError as error:
            if "in use" not in error.message:
                raise
            await asyncio.sleep(RETRY_S)


if __name__ == "__main__":
    file_, host_, acts_, steps_, pause_, lease_, how_ = sys.argv[1:8]
    asyncio.run(
        main(
            Path(file_).read_text(encoding="utf-8").strip(),
            host_,
            Path(acts_),
            int(steps_),
            int(pause_) / 1000,
            int(lease_),
            is_fenced=how_ == "fenced",
        )
    )
