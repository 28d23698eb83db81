"""Attach clients to sessions and detach them: watch, drive, take over, disconnect.

`agent.sessions.registry.clients` registers who is attached. Invariants: a session is held exactly
while a client or its planner drives it; deferred state changes are applied on release, also when
the client or the core dies.
"""

from contextlib import suppress

from agent.core import ClientInfo
from agent.errors import UsageError, WrongStateError
from agent.protocol import EventMsg, SessionAttach
from agent.records import SessionState
from agent.sessions.lifecycle.operations import Operations
from agent.sessions.registry.live_session import LiveSession
from agent.sessions.registry.services import Services
from agent.sessions.rules.attached_rules import LET_GO
from agent.sessions.rules.resuming import Move, Resuming

_GONE = "its client went away before it was started"


class Attaching:
    """The attachments of one core's sessions."""

    def __init__(self, parts: Services, operations: Operations) -> None:
        self._parts = parts
        self._clients = parts.clients
        self._operations = operations
        self._resuming = Resuming(parts.assignment)

    async def attach(self, op: SessionAttach, client: ClientInfo, submission_id: str = "") -> str:
        """Attach a client; a new driver replaces the old one, and a draft becomes idle (A5).

        Returns:
            The session's id.

        Raises:
            UsageError: there is no such session.
            WrongStateError: it is settled and cannot be driven.
        """
        async with self._operations.locked_tree(op.session_id, ends_review_turns=op.drive) as (
            top,
            children,
        ):
            record = top.record
            if op.drive and record.state.is_terminal:
                raise WrongStateError(
                    f"Session {top.session_id} is {record.state} and cannot be driven.",
                    f"Watch it, or resume it first: switchboard sessions resume {top.session_id}",
                )
            if op.drive:
                await self._operations.check_parent(top)
            was_driver = self._clients.driver_of(top.session_id) == client
            replaced = self._clients.attach(top.session_id, client, drives=op.drive)
            if not op.drive:
                if was_driver:
                    await self._let_go(top, children, submission_id)
                return top.session_id
            self._clients.drop_hold(top.session_id)
            why = f"attached by {client.name}"
            if replaced is not None:
                why += f", in the place of {replaced.name}"
            moves: list[Move] = []
            for live in (top, *children):
                if live.record.state.is_terminal:
                    continue
                if live is not top and self._clients.driver_of(live.session_id) is not None:
                    continue
                msgs = live.flagging(held=True, driver=client.name, reason=why)
                if live is top and record.state is SessionState.CREATED and not top.delegates:
                    msgs += live.moving(SessionState.WAITING_FOR_USER, "waits for its first prompt")
                moves.append((live, msgs))
            await self._operations.store_and_begin(moves, submission_id)
            return top.session_id

    async def detach(self, session_id: str, client: ClientInfo, submission_id: str = "") -> None:
        """Detach a client from one session, or from all of its own when the id is empty.

        Raises:
            UsageError: there is no such session, or the client is not attached to it.
        """
        if not session_id:
            for attached_id in self._clients.sessions_of(client.client_id):
                # One that is gone by now leaves the others to be let go of.
                with suppress(UsageError):
                    await self._detach(attached_id, client, submission_id)
            return
        found = await self._parts.registry.get(session_id)
        if found.session_id not in self._clients.sessions_of(client.client_id):
            raise UsageError(
                f"You are not attached to session {found.session_id}.", "There is nothing to do."
            )
        await self._detach(found.session_id, client, submission_id)

    async def leave(self, client: ClientInfo) -> None:
        """Release everything that a disconnected or dead client held. Its drafts end (A4)."""
        drafts = self._clients.drafts_of(client.client_id)
        await self.detach("", client)
        for draft_id in drafts:
            with suppress(UsageError):
                await self._operations.cancel(draft_id, reason=_GONE)

    async def release_all(self) -> None:
        """Release every held session after its core died, with its clients.

        A draft that was to end with its client ends (CONTRACTS 1.8).
        """
        for live in self._parts.registry.active():
            if live.record.provisional:
                await self._operations.cancel(live.session_id, reason=_GONE)
                continue
            if live.record.held:
                async with self._operations.locked_tree(live.session_id) as (top, children):
                    await self._let_go(top, children)

    async def _detach(self, session_id: str, client: ClientInfo, submission_id: str) -> None:
        drove = self._clients.driver_of(session_id) == client
        async with self._operations.locked_tree(session_id, ends_review_turns=drove) as (
            top,
            children,
        ):
            self._clients.detach(session_id, client.client_id)
            await self._let_go(top, children, submission_id)

    async def _let_go(
        self, top: LiveSession, children: tuple[LiveSession, ...], submission_id: str = ""
    ) -> None:
        """Release sessions without a driver; all their locks are held."""
        await self._operations.store_and_begin(
            [
                (live, self._letting_go(live))
                for live in (top, *children)
                if live.record.held and not self._is_driven(live)
            ],
            submission_id,
        )

    def _is_driven(self, live: LiveSession) -> bool:
        drivers = (
            self._clients.driver_of(session_id)
            for session_id in (live.session_id, live.record.parent_id)
        )
        return any(driver is not None for driver in drivers)

    def _letting_go(self, live: LiveSession) -> tuple[EventMsg, ...]:
        record = live.record
        let_go = live.flagging(held=False, driver="", reason=LET_GO)
        deferred = record.deferred
        if deferred is None or not live.is_idle:
            return let_go
        if deferred is SessionState.QUEUED:
            return (*let_go, self._resuming.queueing(record))
        return (*let_go, *live.moving(deferred, LET_GO))
