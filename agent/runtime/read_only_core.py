"""A core that only looks: the façade over another one, without what changes anything.

Not a permission of the core's: it binds the process that wraps its own core in it. Invariant: an op
that may change something is refused before it reaches the core.
"""

from agent.core import Core, ForwardingCore
from agent.errors import RuntimeDiedError, WrongStateError
from agent.protocol import Op, Reply


class LookingCore(ForwardingCore):
    """Pass on what looks; refuse what acts.

    Args:
        core: what is looked at.
        remedy: how to get a console that acts, for whoever tries.
    """

    only_looks = True

    def __init__(self, core: Core, *, remedy: str) -> None:
        self._core = core
        self._remedy = remedy

    async def _reach(self) -> Core:
        return self._core

    def _check(self, op: Op) -> None:
        if not op.changes_nothing:
            raise WrongStateError("This console is read-only; nothing was done.", self._remedy)

    async def submit(self, op: Op) -> str:
        """Queue an op that looks; see `Core.submit`. Raises WrongStateError for any other."""
        self._check(op)
        return await self._core.submit(op)

    async def request(self, op: Op) -> Reply:
        """Carry an op out that looks; see `Core.request`. Raises WrongStateError for any other."""
        self._check(op)
        return await self._core.request(op)

    @property
    def death(self) -> RuntimeDiedError | None:
        """Why the core ended by itself; see `Core.death`."""
        return self._core.death
