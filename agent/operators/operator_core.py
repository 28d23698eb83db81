"""Filter a core for one operator: ops without the right are refused, other phones are hidden.

`agent.operators.door` signs operators in. Invariants: every op and look-up passes here; nothing of
an invisible phone appears in a list, an event, a picture, an error or a count; each call uses the
rights of that moment, so a revocation takes effect at once.
"""

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import aclosing, asynccontextmanager
from typing import Any, cast

from msgspec.structs import replace

from agent.core import ClientInfo, CoreBase, Overview, TextDelta
from agent.errors import NotAllowedError, RuntimeDiedError, UsageError
from agent.operators.admission import Admission
from agent.operators.operator import Operator
from agent.operators.scope import phone_of_watcher
from agent.operators.visibility import GuardedCore, Visibility, bare, bare_event
from agent.protocol import (
    Answer,
    Event,
    FindSession,
    Interrupt,
    ListHosts,
    ListPhonesInUse,
    ListSessions,
    ListUndoOffers,
    LookUp,
    Op,
    Reply,
    SearchEvents,
)
from agent.records import STOPPING, HostInfo, LiveFrame, SessionState, host_of

_KEPT_SUBMISSIONS = 256


class OperatorCore(CoreBase):
    """A core for one operator; implements `agent.core.SharedCore`.

    Args:
        core: the filtered core.
        operator: returns the operator's current record. Raises NotAllowedError when they may no
            longer use the core.
    """

    def __init__(self, core: GuardedCore, operator: Callable[[], Operator]) -> None:
        self._core = core
        self._sight = Visibility(core, operator)
        self._admission = Admission(core, self._sight)
        self._submitted: deque[str] = deque(maxlen=_KEPT_SUBMISSIONS)

    # --- rights ----------

    def sees_phone(self, serial: str) -> bool:
        """Return whether a phone is visible to them; False for an unknown one."""
        return self._sight.sees_phone(serial)

    def check_here(self) -> None:
        """Raise NotAllowedError if the operator may no longer use the core."""
        self._sight.operator()

    # --- ops ----------

    async def submit(self, op: Op) -> str:
        """Refuse: an operator's op needs a client; see `submit_as`."""
        raise NotAllowedError("An op without its client is refused.")

    async def request(self, op: Op) -> Reply:
        """Refuse: an operator's op needs a client; see `request_as`."""
        raise NotAllowedError("An op without its client is refused.")

    async def submit_as(self, client: ClientInfo, op: Op) -> str:
        """Queue an op; see `SharedCore.submit_as`.

        Raises:
            NotAllowedError: the right is missing.
            UsageError: it names something that does not exist, or is not visible to them.
        """
        if self._admission.stops_all(op):
            return (await self._stop_own(client)).submission_id
        submission_id = await self._core.submit_as(client, await self._admission.admitted(op))
        self._submitted.append(submission_id)
        return submission_id

    async def request_as(self, client: ClientInfo, op: Op) -> Reply:
        """Carry out an op; see `SharedCore.request_as`. Raises like `submit_as`."""
        if self._admission.stops_all(op):
            return await self._stop_own(client)
        reply = await self._core.request_as(client, await self._admission.admitted(op))
        return await self._seen_reply(reply)

    async def _stop_own(self, client: ClientInfo) -> Reply:
        """Stop everything that they may stop."""
        reply = Reply(submission_id="")
        found = (await self._core.overview()).sessions
        # Who waits in line first: the phone that a stop frees would be theirs.
        for one in sorted(found, key=lambda one: one.state is not SessionState.QUEUED):
            at_work = bool(one.turn_id) or one.state is SessionState.QUEUED
            if at_work and self._sight.may_on(STOPPING, one):
                reply = await self._core.request_as(client, Interrupt(session_id=one.session_id))
        if not reply.submission_id:
            raise NotAllowedError("There is no running session that you may stop.")
        return reply

    async def _seen_reply(self, reply: Reply) -> Reply:
        if self._sight.operator().sees_all:
            return reply
        return replace(
            reply,
            jobs=tuple(one for one in reply.jobs if self._sight.sees_job(one)),
            watchers=tuple(
                one for one in reply.watchers if self._sight.sees_phone(phone_of_watcher(one))
            ),
            commitments=(),
        )

    async def leave(self, client: ClientInfo) -> None:
        """Release everything that a client held; see `SharedCore.leave`."""
        await self._core.leave(client)

    # --- looking ----------

    async def overview(self) -> Overview:
        """Return the state at one moment; see `Core.overview`."""
        operator = self._sight.operator()
        found = await self._core.overview()
        if operator.sees_all:
            return found
        sessions = tuple(bare(one) for one in found.sessions if self._sight.sees(one))
        return Overview(
            event_id=found.event_id,
            sessions=sessions,
            questions=tuple(
                [one for one in found.questions if await self._sight.sees_session(one.session_id)]
            ),
            devices=tuple(one for one in found.devices if self._sight.sees_phone(one.serial)),
            jobs=tuple(one for one in found.jobs if self._sight.sees_job(one)),
            watchers=tuple(
                one for one in found.watchers if self._sight.sees_phone(phone_of_watcher(one))
            ),
            notices=tuple([one for one in found.notices if await self._sight.sees_notice(one)]),
            hosts=self._seen_hosts(found.hosts),
        )

    async def look_up(self, query: LookUp[Answer]) -> Answer:
        """Answer a look-up; see `Core.look_up`.

        Raises NotAllowedError for one whose answer cannot be filtered by phone.
        """
        operator = self._sight.operator()
        if operator.sees_all:
            return await self._core.look_up(query)
        found: Any
        match cast(Any, query):
            case FindSession(session_id=session_id):
                found = await self._sight.visible(session_id)
            case ListSessions() as listed:
                found = await self._sight.sessions(listed)
            case SearchEvents() as searched:
                found = await self._sight.hits(searched)
            case ListUndoOffers(session_id=session_id):
                seen = await self._sight.visible(session_id)
                found = await self._core.look_up(ListUndoOffers(session_id=seen.session_id))
            case ListPhonesInUse() as listed_phones:
                found = tuple(
                    one
                    for one in await self._core.look_up(listed_phones)
                    if self._sight.sees_phone(one.serial)
                )
            case ListHosts() as listed_hosts:
                hosts: tuple[HostInfo, ...] = await self._core.look_up(listed_hosts)
                found = self._seen_hosts(hosts)
            case _:
                raise NotAllowedError(
                    f"What {query.method} reports covers all phones, and some are not yours.",
                    "Ask an operator who watches all phones.",
                )
        return cast(Answer, found)

    def _seen_hosts(self, hosts: Iterable[HostInfo]) -> tuple[HostInfo, ...]:
        """Return the core's own host, and those with visible phones."""
        theirs = {host_of(one.serial) for one in self._sight.phones()}
        return tuple(one for one in hosts if one.is_here or one.name in theirs)

    async def history(
        self, session_id: str, *, after_seq: int = 0, before_seq: int = 0, limit: int = 10_000
    ) -> tuple[Event, ...]:
        """Read a session's stored events; see `Core.history`."""
        found = await self._sight.visible(session_id)
        events = await self._core.history(
            found.session_id, after_seq=after_seq, before_seq=before_seq, limit=limit
        )
        sees_all = self._sight.operator().sees_all
        return events if sees_all else tuple(map(bare_event, events))

    async def blob(self, digest: str) -> bytes:
        """Read a frame, tree, prompt or reply of a visible session; see `Core.blob`."""
        if not self._sight.operator().sees_all:
            for session_id in await self._core.sessions_of_blob(digest):
                if await self._sight.sees_session(session_id):
                    break
            else:
                raise UsageError("There is no such picture or text in a session of yours.")
        return await self._core.blob(digest)

    # --- following ----------

    @asynccontextmanager
    async def events(self, *, after: int | None = None) -> AsyncIterator[AsyncIterator[Event]]:
        """Follow events; see `Core.events`. Raises when the operator may no longer use the core."""
        self.check_here()
        async with (
            self._core.events(after=after) as events,
            aclosing(self._visible(events)) as seen,
        ):
            yield seen

    async def _visible(self, events: AsyncIterator[Event]) -> AsyncGenerator[Event, None]:
        async for event in events:
            shown = (
                event
                if self._sight.operator().sees_all
                else await self._sight.shown(event, self._submitted)
            )
            if shown is not None:
                yield shown

    @asynccontextmanager
    async def deltas(self, session_id: str = "") -> AsyncIterator[AsyncIterator[TextDelta]]:
        """Follow streamed model output of visible sessions; see `Core.deltas`."""
        self.check_here()
        if session_id:
            session_id = (await self._sight.visible(session_id)).session_id
        async with (
            self._core.deltas(session_id) as deltas,
            aclosing(self._seen_deltas(deltas)) as seen,
        ):
            yield seen

    async def _seen_deltas(
        self, deltas: AsyncIterator[TextDelta]
    ) -> AsyncGenerator[TextDelta, None]:
        async for delta in deltas:
            if self._sight.operator().sees_all or await self._sight.sees_session(delta.session_id):
                yield delta

    @asynccontextmanager
    async def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AsyncIterator[AsyncIterator[LiveFrame]]:
        """Follow the newest picture of a visible phone; see `Core.frames`."""
        self._check_phone(serial)
        async with (
            self._core.frames(
                serial, width_px=width_px, height_px=height_px, max_hz=max_hz
            ) as frames,
            aclosing(self._seen_frames(serial, frames)) as seen,
        ):
            yield seen

    async def _seen_frames(
        self, serial: str, frames: AsyncIterator[LiveFrame]
    ) -> AsyncGenerator[LiveFrame, None]:
        async for frame in frames:
            self._check_phone(serial)
            yield frame

    def _check_phone(self, serial: str) -> None:
        if not self._sight.sees_phone(serial):
            raise UsageError(
                f"There is no device {serial[:80]!r}.", "List them: switchboard devices list"
            )

    @property
    def death(self) -> RuntimeDiedError | None:
        """Return why the core failed; see `Core.death`."""
        return self._core.death

    async def close(self) -> None:
        """Detach from the core, which keeps running."""
