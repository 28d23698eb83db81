"""Take sessions from one host of a fleet to another: give one away, take one from a host that is
gone, take in one that came.

Not the moving between phones of one host (`agent.sessions.device_control.session_move`).
Invariants: a session belongs to one host at a time, and a host that lost it stores no more of it;
a turn ends before its session is given away; of a host that is gone, the leases on the phones are
taken first.
"""

import asyncio

from agent.core import ClientInfo
from agent.errors import UsageError, WrongStateError
from agent.protocol import AbortReason, SessionHosted
from agent.records import Session, SessionState, at_host, host_of, on_host
from agent.sessions.lifecycle.operations import Operations
from agent.sessions.lifecycle.recovery import repair
from agent.sessions.registry.live_session import LiveSession
from agent.sessions.registry.services import Services
from agent.sessions.tree.app_targets import Targets
from agent.sessions.turns.turns import Turns
from agent.store.store import EventDraft

LEASE_S = 25.0  # How long the lease of a host that is gone is waited for: it runs out after 15 s.
_LOOK_S = 0.25
_LEASE_MS = 15_000


class Rehosting:
    """The moves of sessions to and from one host."""

    def __init__(
        self, parts: Services, turns: Turns, targets: Targets, operations: Operations
    ) -> None:
        self._parts = parts
        self._turns = turns
        self._targets = targets
        self._operations = operations

    def is_to_another_host(self, session: Session, serial: str) -> bool:
        """Return whether a move to a phone is one between hosts."""
        peers = self._parts.peers
        if peers is None:
            return False
        return self._parts.is_elsewhere(session) or host_of(serial) not in ("", peers.host)

    async def move(
        self, session_id: str, serial: str, submission_id: str, *, by: ClientInfo | None
    ) -> str:
        """Take a session to a phone of another host; returns its whole id.

        Raises:
            UsageError: no such session, or no such host.
            WrongStateError: it is settled, part of a tree, or driven by another client; or a host
                does not answer that has to.
        """
        live = await self._parts.registry.get(session_id)
        if live.record.state.is_terminal:
            raise WrongStateError(
                f"Session {live.session_id} is {live.record.state}.",
                "Resume it first, then move it.",
            )
        if self._parts.is_elsewhere(live.record):
            await self._take(live.record, serial, submission_id)
        else:
            await self._give(live, serial, submission_id, by)
        return live.session_id

    async def _give(
        self, live: LiveSession, serial: str, submission_id: str, by: ClientInfo | None
    ) -> None:
        """End the turn of a session of ours, and let another host have it."""
        self._check_there(host_of(serial))
        self._parts.clients.check_driver(live.session_id, by)
        if live.in_tree or live.delegates or live.child_ids:
            raise WrongStateError(
                f"Session {live.session_id} is part of a tree, which stays on one host.",
                "Start it again there, or stop the tree and continue its parts separately.",
            )
        was_working = live.record.state in (SessionState.QUEUED, SessionState.RUNNING)
        reason = f"moved to {serial} by the operator"
        while True:
            if live.turn is not None:
                was_working = True
                await self._turns.abort(
                    live,
                    AbortReason.REPLACED,
                    SessionState.WAITING_FOR_USER,
                    reason,
                    submission_id=submission_id,
                )
            async with live.lock:
                if live.turn is not None:
                    continue  # Somebody else has set it to work meanwhile.
                await self._targets.leave(live)
                hosted = SessionHosted(
                    host=host_of(serial), serial=serial, goes_on=was_working, reason=reason
                )
                await self._parts.registry.append(*live.drafts(hosted, submission_id=submission_id))
                self._parts.registry.forget((live.session_id,))
                self._parts.questions.drop(live.session_id)
                return

    async def _take(self, session: Session, serial: str, submission_id: str) -> None:
        """Have a session of a host that is gone belong to another, with its whole tree."""
        peers = self._parts.peers
        assert peers is not None, "a session elsewhere is another host's"
        if peers.is_there(session.host):
            raise WrongStateError(f"Host {session.host} answers again.", "Try again.")
        host = host_of(serial)
        self._check_there(host)
        store = self._parts.store
        root = session
        while root.parent_id:
            root = await store.session(root.parent_id)
        tree = [root]
        for member in tree:
            tree.extend(await store.children(member.session_id))
        for phone in {one.serial for one in tree if one.serial and not one.state.is_terminal}:
            await self._fence(phone, session.host)
        if peers.is_there(session.host):
            raise WrongStateError(f"Host {session.host} answers again.", "Try again.")
        drafts: list[EventDraft] = []
        for member in tree:
            there = at_host(host, on_host(member.serial)) if member.serial else ""
            if member.session_id == session.session_id:
                there = serial
            hosted = SessionHosted(
                host=host,
                serial=there,
                goes_on=member.state in (SessionState.QUEUED, SessionState.RUNNING),
                reason=f"taken from host {session.host}, which does not answer, by the operator",
            )
            drafts.append(EventDraft(member.session_id, hosted, submission_id))
        await store.append(*drafts)
        self._parts.registry.forget([member.session_id for member in tree])
        if host == peers.host:
            for member in tree:
                self.arrive(member.session_id, goes_on=not member.state.is_terminal)

    async def _fence(self, phone: str, host: str) -> None:
        """Pass the lease of a host on its phone, so that it stores nothing under it any more."""
        peers = self._parts.peers
        assert peers is not None, "leases of other hosts are a fleet's"
        loop = asyncio.get_running_loop()
        end = loop.time() + LEASE_S
        while loop.time() < end:
            taken = await self._parts.store.acquire_lease(phone, peers.host, _LEASE_MS)
            if taken is not None:
                await self._parts.store.release_lease(taken)
                return
            await asyncio.sleep(_LOOK_S)
        raise WrongStateError(f"Host {host} keeps {phone}.", "It seems to be back; try again.")

    def _check_there(self, host: str) -> None:
        """Refuse a host that takes nothing. Raises UsageError, WrongStateError."""
        peers = self._parts.peers
        assert peers is not None, "hosts are a fleet's"
        names = [one.name for one in peers.hosts()]
        if host not in names:
            raise UsageError(
                f"The fleet has no host {host!r}.", f"Its hosts: {', '.join(names) or 'none'}."
            )
        if not peers.is_there(host):
            raise WrongStateError(
                f"Host {host} does not answer; nothing was done.", "Start it, or name another."
            )

    # --- taking in ----------

    def arrive(self, session_id: str, *, goes_on: bool) -> None:
        """Take in a session that belongs to this host from now on."""
        self._parts.supervisor.start(self._arrive(session_id, goes_on), f"arrival of {session_id}")

    async def _arrive(self, session_id: str, goes_on: bool) -> None:
        live = await self._parts.registry.take_in(session_id)
        if self._parts.is_elsewhere(live.record) or live.record.state.is_terminal:
            return
        questions = await self._parts.store.open_questions()
        self._parts.questions.load(q for q in questions if q.session_id == session_id)
        was_under_way = await repair(self._parts, live)
        if not (goes_on or was_under_way) or live.delegates or not live.is_idle:
            return
        if self._parts.questions.of(session_id) or live.record.paused:
            return
        await self._operations.go_on_after_restart(live)
        async with live.lock:
            if live.record.state is SessionState.QUEUED and live.turn is None:
                self._turns.begin(live, recovering=True)
