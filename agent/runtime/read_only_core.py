"""A core that only looks: the façade over another one, without what changes anything.

Not a permission of the core's: it binds the process that wraps its own core in it. Invariant: an op
that may change something is refused before it reaches the core.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

from agent.core import Core, CoreBase, Overview, TextDelta
from agent.errors import RuntimeDiedError, WrongStateError
from agent.protocol import Answer, Event, LookUp, Op, Reply
from agent.records import LiveFrame
from agent.state.commit import Commit


class LookingCore(CoreBase):
    """Pass on what looks; refuse what acts.

    Args:
        core: what is looked at.
        remedy: how to get a console that acts, for whoever tries.
    """

    def __init__(self, core: Core, *, remedy: str) -> None:
        self._core = core
        self._remedy = remedy

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

    def events(
        self, *, after: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        """Follow events; see `Core.events`."""
        return self._core.events(after=after)

    def commits(
        self, *, after: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[Commit]]:
        """Follow commits; see `Core.commits`."""
        return self._core.commits(after=after)

    def deltas(self, session_id: str = "") -> AbstractAsyncContextManager[AsyncIterator[TextDelta]]:
        """Follow what models write; see `Core.deltas`."""
        return self._core.deltas(session_id)

    def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AbstractAsyncContextManager[AsyncIterator[LiveFrame]]:
        """Follow the newest picture of a device; see `Core.frames`."""
        return self._core.frames(serial, width_px=width_px, height_px=height_px, max_hz=max_hz)

    async def overview(self) -> Overview:
        """Return the picture of one moment; see `Core.overview`."""
        return await self._core.overview()

    async def look_up(self, query: LookUp[Answer]) -> Answer:
        """Answer a look-up; see `Core.look_up`."""
        return await self._core.look_up(query)

    async def history(
        self, session_id: str, *, after_seq: int = 0, before_seq: int = 0, limit: int = 10_000
    ) -> tuple[Event, ...]:
        """Read a session's stored events; see `Core.history`."""
        return await self._core.history(
            session_id, after_seq=after_seq, before_seq=before_seq, limit=limit
        )

    async def blob(self, digest: str) -> bytes:
        """Read a frame, tree, prompt or reply; see `Core.blob`."""
        return await self._core.blob(digest)

    @property
    def death(self) -> RuntimeDiedError | None:
        """Why the core ended by itself; see `Core.death`."""
        return self._core.death

    async def close(self) -> None:
        """Let go of the core."""
        await self._core.close()
