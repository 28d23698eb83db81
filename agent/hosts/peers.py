"""The other hosts of a fleet: which are there, what is asked of them, and what they ask of us.

Not which host an op belongs to (`agent.runtime.host_routing`). Invariants: an op is carried out at
most once, whatever breaks; who asked is told within seconds of the end of a host that it does not
answer, and whether anything may have been done; pictures never come by the database.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

import msgspec

from agent.core import OWNER, Carrier, ClientInfo
from agent.errors import StoreError, SwitchboardError, UsageError, WrongStateError
from agent.hosts.host_removal import remove_host
from agent.hosts.picture_lines import PictureLines
from agent.protocol import DeviceChanged, HostForget, Op, Reply
from agent.records import DeviceInfo, DeviceState, HostInfo, HostState, at_host
from agent.rpc.places import TlsPlace
from agent.rpc.rpc_messages import Problem, error_of, problem_of
from agent.store.postgres.hosts import HostRecord, hosts
from agent.store.postgres.link import Link
from agent.store.postgres.op_table import HostRequest, OpTable, channel_of
from agent.store.postgres.postgres_store import PostgresStore
from agent.store.store import EventDraft

LOOK_S = 0.5
"""How often it is looked who is there."""
_NOTICE_S = 0.5  # How long an op, or its answer, may go unseen where its notice was lost.
_TIDY_LOOKS = 240
ANSWER_S = 110.0
"""How long an answer is waited for, of a host that is there: clients wait 120 s for theirs."""
_log = logging.getLogger(__name__)


class _Body(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is asked: an op of a client, or without one that the client has left."""

    client_id: str
    name: str
    operator: str = ""
    epoch: int = 0  # Of the opening that asks.
    op: Op | None = None


class _Outcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of it."""

    reply: Reply | None = None
    problem: Problem | None = None


class _Visitor(NamedTuple):
    """A client of another host."""

    client: ClientInfo
    epoch: int  # Of the opening of its host that it came through.


class Peers:
    """The other hosts, as the core of one works with them.

    Args:
        dsn: of the database; it is never told or logged.
        store: open, of this host.
        unhosted: the host to which belongs what is marked as no host's.
        is_guest: whether this process is nobody's host, and only looks and asks.
        by_tls: returns the place of a host on another computer; see `PictureLines`.
    """

    def __init__(
        self,
        dsn: str,
        store: PostgresStore,
        *,
        unhosted: str,
        is_guest: bool = False,
        by_tls: Callable[[str], TlsPlace | None] = lambda _: None,
    ) -> None:
        self.host = store.host
        self._dsn = dsn
        self.unhosted = unhosted
        self.is_guest = is_guest
        self._store = store
        self._links = tuple(Link(dsn, f"{store.host} {name}") for name in ("ops", "asking"))
        self._ops = OpTable(self._links[1])
        self._known: dict[str, HostRecord] = {}
        self._waiting: dict[str, asyncio.Future[str]] = {}
        self._touched: dict[str, set[str]] = {}
        """The hosts that each of our clients has asked something."""
        self._theirs: dict[str, dict[str, _Visitor]] = {}
        """The clients of other hosts that have asked something here, by their hosts."""
        self._work: set[asyncio.Task[None]] = set()
        self._judge: Callable[[str, Op], Awaitable[None]] | None = None
        self._lines = PictureLines(store.host, self.wire, by_tls=by_tls)
        self.frames = self._lines.frames
        self.deltas = self._lines.deltas

    # --- who is there ----------

    def hosts(self) -> tuple[HostInfo, ...]:
        """List the hosts of the fleet, by name."""
        return tuple(
            HostInfo(
                name=one.name,
                state=one.state,
                draining=one.drains,
                is_here=one.name == self.host,
                beat_ms=one.beat_ms,
                reply_ms=self._lines.round_trip_ms(one.name),
            )
            for one in self._known.values()
            if one.works
        )

    def devices(self) -> tuple[DeviceInfo, ...]:
        """List the phones of the other hosts, as these saw them last."""
        return tuple(
            info
            for one in self._known.values()
            if one.works and one.name != self.host
            for info in phones_of(one)
        )

    def is_there(self, host: str) -> bool:
        """Return whether a host answers, as far as is known."""
        found = self._known.get(host)
        return host == self.host or (found is not None and found.state is HostState.HERE)

    def wire(self, host: str) -> str:
        """Return where a host's core is reached for pictures; empty where that is not known."""
        found = self._known.get(host)
        return found.wire if found is not None and found.state is HostState.HERE else ""

    async def refresh(self) -> None:
        """Look who is there now. Raises StoreError."""
        self._known = {one.name: one for one in await hosts(self._links[1])}

    async def forget(self, op: HostForget, submission_id: str, client: ClientInfo) -> None:
        """Remove a host that has left for good; see `agent.hosts.host_removal`."""
        link = Link(self._dsn, f"{self.host} forgetting")
        try:
            await remove_host(link, self._store, op, submission_id, client)
        finally:
            await link.close()
        await self.refresh()

    # --- asking ----------

    async def request(self, host: str, client: ClientInfo, op: Op) -> Reply:
        """Have a host carry an op out.

        Raises:
            WrongStateError: it does not answer; whether anything was done is said.
            SwitchboardError: what the op failed with there.
        """
        self._touched.setdefault(client.client_id, set()).add(host)
        name = "operator" if client == OWNER else client.name
        body = _Body(
            client_id=f"{client.client_id}@{self.host}",
            name=name,
            operator=client.operator,
            epoch=self._store.epoch,
            op=op,
        )
        outcome = msgspec.json.decode(await self._ask(host, body), type=_Outcome)
        if outcome.problem is not None:
            raise error_of(outcome.problem)
        assert outcome.reply is not None, "an outcome is a reply or a problem"
        return outcome.reply

    async def leave(self, client: ClientInfo) -> None:
        """Have the hosts let go of all that a client had there."""
        for host in self._touched.pop(client.client_id, ()):
            body = _Body(client_id=f"{client.client_id}@{self.host}", name=client.name)
            with suppress(SwitchboardError):
                await self._ask(host, body)

    async def _ask(self, host: str, body: _Body) -> str:
        self._check(host)
        op_id = await self._ops.put(host, self.host, msgspec.json.encode(body).decode())
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting[op_id] = answer
        try:
            return await self._answer(host, op_id, answer)
        finally:
            del self._waiting[op_id]
            if answer.done() and not answer.cancelled() and answer.exception() is None:
                with suppress(StoreError):
                    await self._ops.drop(op_id)

    async def _answer(self, host: str, op_id: str, answer: asyncio.Future[str]) -> str:
        loop = asyncio.get_running_loop()
        end = loop.time() + ANSWER_S
        while True:
            done, _ = await asyncio.wait({answer}, timeout=LOOK_S)
            if done:
                return answer.result()
            if self.is_there(host) and loop.time() < end:
                continue
            if await self._ops.withdraw(op_id):
                raise _no_answer(host, "nothing was done")
            if not answer.done():
                raise _no_answer(
                    host, "whether it was done is not known: look before you ask again"
                )

    def _check(self, host: str) -> None:
        """Refuse to ask a host that is not there. Raises UsageError, WrongStateError."""
        if host not in self._known:
            known = ", ".join(sorted(self._known)) or "none"
            raise UsageError(f"The fleet has no host {host!r}.", f"Its hosts: {known}.")
        if not self.is_there(host):
            raise _no_answer(host, "nothing was done")

    # --- being asked ----------

    def judged_by(self, judge: Callable[[str, Op], Awaitable[None]]) -> None:
        """Have each op of an operator of another host judged here too.

        Args:
            judge: takes the operator's name and the op; raises NotAllowedError or UsageError.
        """
        self._judge = judge

    @asynccontextmanager
    async def serve(self, core: Carrier) -> AsyncIterator[None]:
        """Carry out what other hosts ask, and look who is there, for the length of a `with` block.

        Raises StoreError.
        """
        await self.refresh()
        tasks = {
            asyncio.create_task(self._watch(core), name="hosts"),
            asyncio.create_task(self._listen(core), name="ops of hosts"),
        }
        try:
            yield
        finally:
            tasks |= self._work
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            await self._lines.close()
            for link in self._links:
                await link.close()

    async def _listen(self, core: Carrier) -> None:
        listening = self._links[0]
        number = 0
        while True:
            try:
                if listening.number != number or not number:
                    await listening.rows(f"LISTEN {channel_of(self.host)}")
                    number = listening.number
                await self._look(core)
                await listening.notices(_NOTICE_S)
            except StoreError as error:
                _log.warning("What other hosts ask cannot be read yet: %s", error)
                await asyncio.sleep(_NOTICE_S)

    async def _look(self, core: Carrier) -> None:
        """Take what is asked of us, and the answers to what we asked."""
        if not self.is_guest:
            for asked in await self._ops.take(self.host, self._store.epoch):
                task = asyncio.create_task(self._carry_out(core, asked), name="op of a host")
                self._work.add(task)
                task.add_done_callback(self._work.discard)
        waiting = tuple(self._waiting)
        for one in await self._ops.answers(waiting) if waiting else ():
            answer = self._waiting.get(one.op_id)
            if answer is None or answer.done():
                continue
            if one.reply:
                answer.set_result(one.reply)
            elif one.is_lost:
                answer.set_exception(
                    WrongStateError(
                        "The host restarted during the request; it is unknown whether it was done.",
                        "Check before you try again.",
                    )
                )

    async def _carry_out(self, core: Carrier, asked: HostRequest) -> None:
        outcome = _Outcome()
        try:
            body = msgspec.json.decode(asked.body, type=_Body)
            client = ClientInfo(body.client_id, body.name, body.operator)
            theirs = self._theirs.setdefault(asked.from_host, {})
            if body.op is None:
                theirs.pop(client.client_id, None)
                await core.leave(client)
                outcome = _Outcome(reply=Reply(submission_id=""))
            else:
                if client.operator:
                    if self._judge is None:
                        raise WrongStateError("This host is still starting.", "Try again.")
                    await self._judge(client.operator, body.op)
                theirs[client.client_id] = _Visitor(client, body.epoch)
                outcome = _Outcome(reply=await core.request_as(client, body.op))
        except SwitchboardError as error:
            outcome = _Outcome(problem=problem_of(error))
        except msgspec.MsgspecError as error:
            outcome = _Outcome(problem=problem_of(UsageError(f"It cannot be read: {error}.")))
        while True:
            try:
                await self._ops.answer(asked, msgspec.json.encode(outcome).decode())
                return
            except StoreError as error:
                _log.warning("An answer to host %s waits: %s", asked.from_host, error)
                await asyncio.sleep(LOOK_S)

    # --- watching ----------

    async def _watch(self, core: Carrier) -> None:
        looks = 0
        while True:
            await asyncio.sleep(LOOK_S)
            before = self._known
            try:
                await self.refresh()
                looks += 1
                if looks % _TIDY_LOOKS == 1:
                    await self._ops.tidy()
                await self._take_in(core, before)
            except StoreError as error:
                _log.warning("Who is in the fleet cannot be known now: %s", error)

    async def _take_in(self, core: Carrier, before: dict[str, HostRecord]) -> None:
        """Let go of the clients of hosts that went, and tell of the phones of those, once."""
        changed = [
            one
            for one in self._known.values()
            if one.name != self.host
            and one.name in before
            and (one.state is HostState.HERE) is not (before[one.name].state is HostState.HERE)
        ]
        for one in changed:
            if one.state is not HostState.HERE:
                self._lines.hang_up(one.name)
                for visitor in self._theirs.pop(one.name, {}).values():
                    await core.leave(visitor.client)
        for one in self._known.values():
            # A host may begin anew between two looks: who came through the old one is gone.
            theirs = self._theirs.get(one.name, {})
            for client_id, visitor in tuple(theirs.items()):
                if 0 < visitor.epoch < one.epoch:
                    del theirs[client_id]
                    await core.leave(visitor.client)
        here = [one.name for one in self._known.values() if one.state is HostState.HERE]
        if not changed or self.is_guest or min(here, default="") != self.host:
            return
        news = [DeviceChanged(device=info) for one in changed for info in phones_of(one)]
        if news:
            await self._store.append(*(EventDraft("", msg) for msg in news))


def phones_of(one: HostRecord) -> tuple[DeviceInfo, ...]:
    """Return a host's phones as the fleet knows them: away, where the host is."""
    phones = (
        msgspec.structs.replace(info, serial=at_host(one.name, info.serial)) for info in one.phones
    )
    if one.state is HostState.HERE:
        return tuple(phones)
    why = "is gone" if one.state is HostState.GONE else "has left"
    note = f"Host {one.name} {why}: what waits for this phone continues when it is back."
    return tuple(
        msgspec.structs.replace(info, state=DeviceState.GONE, note=note, driver="")
        for info in phones
    )


def _no_answer(host: str, what: str) -> WrongStateError:
    return WrongStateError(
        f"Host {host} does not answer; {what}.",
        "Its sessions wait for it. Start it again, or take one to another host: "
        "switchboard fleet move SESSION HOST",
    )
