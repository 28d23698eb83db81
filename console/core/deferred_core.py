"""A core that is still being opened: whoever asks it something waits until it is there.

So the console is on the terminal before the store and the phones are read. Not a core: it does and
keeps nothing of its own. Invariants: a call reaches the opened core unchanged, and none is answered
from here; one that only looks is cancelled with its caller, one that acts is owed until it was
carried out; what is stored can be looked at before, and only that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from agent.core import Fact, ForwardingCore

if TYPE_CHECKING:
    from agent.consent.gate import Proved
    from agent.core import Core, Overview
    from agent.errors import RuntimeDiedError
    from agent.protocol import Op, Reply
    from console.core.host import Host


class DeferredCore(ForwardingCore):
    """Implements `agent.core.Core` by waiting for another; make it in a running loop."""

    def __init__(self) -> None:
        self.wanted = asyncio.Event()
        """Set by the first call: from then on somebody waits."""
        loop = asyncio.get_running_loop()
        self._host: asyncio.Future[Host] = loop.create_future()
        self._stored: asyncio.Future[Overview | None] = loop.create_future()
        self._pending_ops: set[asyncio.Task[Any]] = set()

    @property
    def host(self) -> Host | None:
        """What was opened; None before."""
        return self._host.result() if self._host.done() else None

    def set_host(self, host: Host) -> None:
        """Let every call through that waits, and all that come."""
        if not self._stored.done():
            self._stored.set_result(None)
        self._host.set_result(host)

    def set_stored(self, stored: Overview) -> None:
        """Show what is stored, before there is a core that has looked after it."""
        self._stored.set_result(stored)

    async def first_look(self) -> Overview | None:
        """Wait for what is stored; None when the core is there first, as another process's is."""
        return await asyncio.shield(self._stored)

    @property
    def pending_ops(self) -> int:
        """How many ops were asked for here and are not carried out yet."""
        return len(self._pending_ops)

    async def settle(self) -> tuple[BaseException, ...]:
        """Wait until every op that is owed was carried out; returns what some failed with."""
        ends = await asyncio.gather(*self._pending_ops, return_exceptions=True)
        return tuple(end for end in ends if isinstance(end, BaseException))

    async def start_phone(self) -> str:
        """Return the serial of a virtual phone; see `Host.start_phone`."""
        return await (await self._opened()).start_phone()

    async def _opened(self) -> Host:
        self.wanted.set()
        # One caller that gives up must not take the future from the others.
        return await asyncio.shield(self._host)

    async def _reach(self) -> Core:
        return (await self._opened()).core

    # --- Core ----------

    async def submit(self, op: Op) -> str:
        """Queue an op; see `Core.submit`."""
        return await self._when_ready(op, lambda core: core.submit(op))

    async def request(self, op: Op) -> Reply:
        """Carry an op out; see `Core.request`."""
        return await self._when_ready(op, lambda core: core.request(op))

    async def prove(
        self, passphrase: str = "", *, chooses: bool = False, token: str = ""
    ) -> Proved:
        """Show that a person is here; see `Gate.prove`."""
        return await (await self._opened()).prove(passphrase, chooses=chooses, token=token)

    async def _when_ready(self, op: Op, give: Callable[[Core], Awaitable[Fact]]) -> Fact:
        if self.host is not None:
            return await give(self.host.core)

        async def carry_out() -> Fact:
            return await give(await self._reach())

        if op.changes_nothing:
            return await carry_out()
        task = asyncio.ensure_future(carry_out())
        self._pending_ops.add(task)
        task.add_done_callback(self._pending_ops.discard)
        # Whoever pressed the key may leave before there is a core; a stop still has to be one.
        return await asyncio.shield(task)

    @property
    def death(self) -> RuntimeDiedError | None:
        """Why it ended by itself; see `Core.death`."""
        return None if self.host is None else self.host.core.death
