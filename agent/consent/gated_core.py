"""Use a core of this process through a gate: its console and commands are clients like others."""

import asyncio

from agent.consent.gate import Gate, Proved
from agent.core import OWNER, Core, ForwardingCore, SharedCore
from agent.errors import RuntimeDiedError
from agent.protocol import Op, Reply


class GatedCore(ForwardingCore):
    """A core for its own process; implements `agent.core.Core`.

    Args:
        core: carries the ops out.
        gate: admits them.
    """

    def __init__(self, core: SharedCore, gate: Gate) -> None:
        self._core = core
        self.gate = gate

    async def _reach(self) -> Core:
        return self._core

    async def submit(self, op: Op) -> str:
        """Queue an op; see `Core.submit`. Raises NotAllowedError: only a person may."""
        return await self._core.submit_as(OWNER, await self.gate.admitted(op, self._core))

    async def request(self, op: Op) -> Reply:
        """Carry an op out; see `Core.request`. Raises NotAllowedError: only a person may."""
        return await self._core.request_as(OWNER, await self.gate.admitted(op, self._core))

    async def prove(
        self, passphrase: str = "", *, chooses: bool = False, token: str = ""
    ) -> Proved:
        """Show that a person is here; see `Gate.prove`."""
        return await asyncio.to_thread(self.gate.prove, passphrase, chooses=chooses, token=token)

    @property
    def death(self) -> RuntimeDiedError | None:
        """Why the core failed; see `Core.death`."""
        return self._core.death
