"""Which host of a fleet an op belongs to, and the carrying of it there.

Not the carrying out. Invariants: an op on a session, a question, a job or a phone is carried out by
the host that it belongs to, and by no other; without other hosts, nobody asks here.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

from msgspec.structs import asdict

from agent import protocol, records
from agent.core import ClientInfo, Peers, TextDelta
from agent.devices.fleet.naming import with_serials
from agent.devices.protocols import Fleet
from agent.errors import SwitchboardError, UsageError, WrongStateError
from agent.placement.needs import LAST, Needs, parse_needs
from agent.placement.phone_facts import Fit, fit_of
from agent.store.store import EventDraft, Store

_SESSION = "session:"
_log = logging.getLogger(__name__)


class HostRouting:
    """The ops of one core's listeners, among the hosts of its fleet.

    Args:
        peers: the other hosts.
        store: the whole fleet's.
        fleet: this host's phones.
    """

    def __init__(self, peers: Peers, store: Store, fleet: Fleet) -> None:
        self._peers = peers
        self._store = store
        self._fleet = fleet
        self._unhosted = peers.unhosted
        self.sending: set[asyncio.Task[None]] = set()

    async def carry(self, client: ClientInfo, op: protocol.Op) -> protocol.Reply | None:
        """Have an op carried out where it belongs; None where that is here.

        Raises SwitchboardError as the op does there, or where its host does not answer.
        """
        op = self.resolved(op)
        if isinstance(op, protocol.SessionClear | protocol.SessionPrune):
            return None
        if _is_for_all(op):
            for one in self._peers.hosts():
                if one.state is records.HostState.HERE and not one.is_here:
                    task = asyncio.create_task(self._send(one.name, client, op), name="for all")
                    self.sending.add(task)
                    task.add_done_callback(self.sending.discard)
            return None
        host = await self.owner(op)
        if host == self._peers.host:
            return None
        if isinstance(op, protocol.SessionMove) and not self._peers.is_there(host):
            # Nobody there can give it away: it is taken.
            return None
        try:
            return await self._peers.request(host, client, op)
        except WrongStateError:
            if isinstance(op, protocol.SessionMove) and not self._peers.is_there(host):
                # It went while it was asked: whose the session is by now, the taking looks up.
                return None
            raise

    async def carried_elsewhere(
        self, client: ClientInfo, op: protocol.Op
    ) -> tuple[protocol.Reply, ...]:
        """Have every other host that is there carry an op out; return what they answer.

        Who does not answer is logged, and keeps what it has.
        """

        async def ask(host: str) -> protocol.Reply | None:
            try:
                return await self._peers.request(host, client, op)
            except SwitchboardError as error:
                _log.warning("Host %s: %s", host, error)
                return None

        others = [
            one.name
            for one in self._peers.hosts()
            if one.state is records.HostState.HERE and not one.is_here
        ]
        found = await asyncio.gather(*map(ask, others))
        return tuple(one for one in found if one is not None)

    async def _send(self, host: str, client: ClientInfo, op: protocol.Op) -> None:
        """Ask one of all hosts; what is to be stopped here does not wait for it."""
        try:
            await self._peers.request(host, client, op)
        except SwitchboardError as error:
            _log.warning("Host %s: %s", host, error)

    def resolved(self, op: protocol.Op) -> protocol.Op:
        """Return an op whose phones are named in full. Raises UsageError for what names several."""
        return with_serials(with_serials(op, self._fleet.devices()), self.devices())

    def devices(self) -> tuple[records.DeviceInfo, ...]:
        """List the phones of all hosts, this one's first."""
        return (*self._fleet.devices(), *self._peers.devices())

    def is_elsewhere(self, serial: str) -> bool:
        """Return whether a phone is at another host."""
        return records.host_of(serial) not in ("", self._peers.host)

    def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AbstractAsyncContextManager[AsyncIterator[records.LiveFrame]]:
        """Follow the newest picture of another host's phone."""
        return self._peers.frames(serial, width_px=width_px, height_px=height_px, max_hz=max_hz)

    async def host_of_words(self, session_id: str) -> str:
        """Return the other host at which a session is; empty for one that is here.

        Raises UsageError for no session.
        """
        session = await self._store.session(session_id)
        host = session.host or self._unhosted
        return "" if host == self._peers.host else host

    def deltas(
        self, host: str, session_id: str
    ) -> AbstractAsyncContextManager[AsyncIterator[TextDelta]]:
        """Follow what the model of a session at another host writes."""
        return self._peers.deltas(host, session_id)

    async def owner(self, op: protocol.Op) -> str:
        """Return the host that an op belongs to; what names nothing that exists is our own."""
        said = asdict(op)
        try:
            found = await self._named(op, said)
        except UsageError:
            # Whoever carries it out says what is wrong with it.
            return self._peers.host
        return found or (self._peers.host if not _begins(op) else self._place(op, said))

    async def _named(self, op: protocol.Op, said: dict[str, object]) -> str:
        """Return the host of what an op names; empty where it names nothing."""
        store = self._store
        if isinstance(op, protocol.SessionReplay) and records.host_of(op.serial):
            return records.host_of(op.serial)
        if session_id := _text(said, "session_id"):
            return await self._host_of(await store.session(session_id), op)
        if question_id := _text(said, "question_id"):
            question, _ = await store.question(question_id)
            return await self._host_of(await store.session(question.session_id), op)
        for key, find in (
            ("job_id", store.job),
            ("watcher_id", store.watches.watcher),
            ("commitment_id", store.watches.commitment),
        ):
            number = said.get(key)
            if isinstance(number, int) and number:
                record = await find(number)
                return "" if record is None else record.host or self._unhosted
        target = _text(said, "session_target")
        if target.startswith(_SESSION):
            session = await store.session(target.removeprefix(_SESSION))
            return await self._host_of(session, op)
        serials = [_text(said, "serial")]
        if isinstance(op, protocol.SessionCreate):
            serials += [one.serial for one in op.targets]
        if isinstance(op, protocol.JobCreate) and op.campaign is not None:
            serials += op.campaign.phones
        same = _needs(op).same
        if same and same != LAST:
            return await self._host_of(await store.session(same), op)
        named = {records.host_of(serial) for serial in serials} - {""}
        if len(named) > 1:
            raise UsageError(
                f"Its phones are on several hosts: {', '.join(sorted(named))}.",
                "Name phones of one host, or give each its own session.",
            )
        return next(iter(named), "")

    async def _host_of(self, session: records.Session, op: protocol.Op) -> str:
        """Return a session's host; one of before there were hosts is marked as ours, if it is."""
        if session.host or self._unhosted != self._peers.host or op.changes_nothing:
            return session.host or self._unhosted
        host = self._peers.host
        serial = records.at_host(host, session.serial) if session.serial else ""
        await self._store.append(
            EventDraft(session.session_id, protocol.SessionHosted(host=host, serial=serial))
        )
        return host

    def _place(self, op: protocol.Op, said: dict[str, object]) -> str:
        """Return the host for what names no phone: one with a phone that would do and is free,
        ours first. What only a phone itself can say is asked by the host that it is at; a phone
        that does not say what is needed comes after those that do.
        """
        tags = said.get("tags")
        wanted = set(tags) if isinstance(tags, tuple | list) else set()
        needs = _needs(op)
        draining = {one.name for one in self._peers.hosts() if one.draining}
        best, best_rank = self._peers.host, (0, 0, not self._peers.is_guest)
        known: dict[str, list[int]] = {}
        unsaid: dict[str, list[int]] = {}
        for info in self.devices():
            fit = fit_of(needs, info, None)
            if info.state is not records.DeviceState.ONLINE or fit is Fit.NO:
                continue
            if wanted <= set(info.tags):
                counts = unsaid if fit is Fit.UNSAID else known
                count = counts.setdefault(records.host_of(info.serial), [0, 0])
                count[0] += not info.driver
                count[1] += 1
        for host, (free, online) in (known or unsaid).items():
            if host in draining:
                continue
            is_own = host == self._peers.host
            rank = (2 if free and is_own else 1 if free else 0, online, is_own)
            if rank > best_rank:
                best, best_rank = host, rank
        return best


def _needs(op: protocol.Op) -> Needs:
    """Return what the phone of new work has to be. Raises UsageError for what cannot be read."""
    if isinstance(op, protocol.JobCreate) and op.campaign is not None:
        return parse_needs(op.campaign.needs)
    return parse_needs(
        op.phone_needs if isinstance(op, protocol.SessionCreate | protocol.JobCreate) else ""
    )


def _begins(op: protocol.Op) -> bool:
    return isinstance(
        op,
        protocol.SessionCreate
        | protocol.JobCreate
        | protocol.WatcherCreate
        | protocol.CommitmentCreate,
    )


def _is_for_all(op: protocol.Op) -> bool:
    """Whether an op is for every host: it stops, or clears away, whatever there is."""
    match op:
        case protocol.Interrupt(session_id=""):
            return True
        case protocol.WatcherStop(watcher_id=0):
            return True
        case _:
            return False


def _text(said: dict[str, object], key: str) -> str:
    value = said.get(key)
    return value if isinstance(value, str) else ""
