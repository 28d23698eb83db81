"""A host of a fleet as it is, that also writes down what it does, for the tests that break hosts.

`python -m tests.end_to_end.chaos.recorded_host FILE HOW WORD…` is `switchboard WORD…`. Each line
of FILE is an act on a phone, written when nothing stands before it any more:
`act HOST PROCESS SERIAL SESSION CALL`; or an event that was acknowledged:
`ack HOST PROCESS EVENT SESSION SEQ TYPE`. What is not known is `-`. With `unfenced` for HOW, the
negative control and not `fenced`, neither leases nor marks nor the owner of a session keep it from
anything.
"""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from agent.devices.adb_device import AdbDevice
from agent.devices.fleet import device_registry
from agent.loop.acting.executor import Executor
from agent.records import on_host
from agent.sessions.turns.turns import Turns
from agent.store.postgres.postgres_store import PostgresStore
from agent.store.postgres.writer import Writer
from agent.store.record_store import RecordStore

_call: ContextVar[str] = ContextVar("call", default="- -")


def record(path: Path) -> None:
    """Write down acts and acknowledged events from now on."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    host = os.environ["SWITCHBOARD_STORE_HOST"]
    do, acting, append = Executor.do, AdbDevice._acting, RecordStore.append

    def write(kind: str, *words: object) -> None:
        line = " ".join(map(str, (kind, host, os.getpid(), *words)))
        os.write(file, f"{line}\n".encode())

    async def recorded_do(self: Executor, action: Any, screen: Any, call: Any, **how: Any) -> Any:
        token = _call.set(f"{self.context.session.session_id} {call.call_id}")
        try:
            return await do(self, action, screen, call, **how)
        finally:
            _call.reset(token)

    @asynccontextmanager
    async def recorded_acting(self: AdbDevice) -> AsyncIterator[None]:
        async with acting(self):
            write("act", on_host(self.serial), _call.get())
            yield

    async def recorded_append(self: RecordStore, *drafts: Any, **how: Any) -> Any:
        events = await append(self, *drafts, **how)
        for event in events:
            kind = type(event.msg).__struct_config__.tag
            write("ack", event.event_id, event.session_id or "-", event.seq, kind)
        return events

    Executor.do = recorded_do  # type: ignore[method-assign,assignment]
    AdbDevice._acting = recorded_acting  # type: ignore[method-assign]
    RecordStore.append = recorded_append  # type: ignore[method-assign,assignment]


def unfence() -> None:
    """Take every fence away from this process."""
    append = PostgresStore.append

    async def under_nothing(self: PostgresStore, *drafts: Any, under: Any = None) -> Any:
        return await append(self, *drafts)

    PostgresStore.append = under_nothing  # type: ignore[method-assign]
    Writer._check_own = lambda *_: None  # type: ignore[assignment,method-assign]
    Turns._abandon = lambda *_: None  # type: ignore[assignment,method-assign]
    device_registry._check_unfenced = lambda _: None


if __name__ == "__main__":
    record(Path(sys.argv[1]))
    if sys.argv[2] == "unfenced":
        unfence()
    sys.argv = ["switchboard", *sys.argv[3:]]
    from console.cli import main

    main()
