"""Reach a core: attach to the process that owns the data directory, or own it and build one.

The one place beside `agent.rpc.rpc_server` that builds a Runtime. Invariants: whoever owns the
store serves the socket; everything that is opened here is closed in the reverse order, however the
work ends, so the phones and the adb server that were started here end here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Literal, cast

import click
import msgspec

from agent.config import Settings
from agent.core import Core
from agent.errors import (
    AdbError,
    DeviceLostError,
    DirectoryInUseError,
    RuntimeDiedError,
    StoreError,
    UsageError,
)
from agent.records import DeviceInfo, DeviceState, host_of, on_host
from console.cli_support.exits import ExitCode, say
from console.core.command_settings import settings_for
from console.core.device_setup import (
    NO_DEVICES,
    Devices,
    EmptyFleet,
    Phones,
    devices_for,
    make_fleet,
)
from console.terminal.signals import StopRequest, run_async

if TYPE_CHECKING:
    from agent.consent.gate import Gate, Proved
    from agent.core import Peers
    from agent.devices.adb.client import ServerAddress
    from agent.devices.fleet.fleet import AdbFleet
    from agent.rpc.remote_core import Client
    from agent.rpc.rpc_messages import FleetStore
    from agent.rpc.rpc_server import Daemon
    from agent.store.dispatch.gate import Gate as StoreGate
    from agent.store.postgres.postgres_store import PostgresStore
    from agent.store.store import Store
    from console.core.stored_core import Records

TAKEOVER_S = 30.0
"""How long the one who has the lock may take until it serves its socket, on a busy computer."""
ATTEMPTS = 6  # How often a command is tried in all if the core that it uses keeps ending.
AGAIN_S = 0.5  # A core that is being killed may still accept a connection.
DEVICE_BOUND_S = 15.0
_APPEAR_S = 5.0
_LOOK_S = 0.05
_log = logging.getLogger(__name__)

Choose = Callable[["Store"], Awaitable[Devices]]


class Host:
    """A core to work with, and what of it belongs to this process.

    Args:
        core: the Runtime of this process, or a client of another's.
        owned: whether the store is this process's.
        phones: the virtual phones of this process, started or not.
        closed: waits for the end of the core; returns whether it closed in order.
        store: ours; None when it is another's.
        daemon: what serves our core to others.
        name: of this host in a fleet, which stands before the names of its phones.
        is_guest: whether another process is this computer's host in the fleet.
        is_far: whether the core is on another computer.
        operator: who has signed in to it; empty where it asked for no sign-in.
        gate: admits what this process asks of a core of its own.
    """

    def __init__(
        self,
        core: Core,
        *,
        phones: Phones,
        closed: Callable[[], Awaitable[bool]],
        store: Store | None = None,
        daemon: Daemon | None = None,
        name: str = "",
        is_guest: bool = False,
        is_far: bool = False,
        operator: str = "",
        gate: Gate | None = None,
    ) -> None:
        self._gate = gate
        self.is_far = is_far
        self.operator = operator
        self.name = name
        self.is_guest = is_guest
        self.core = core
        self.owned = store is not None
        self.closed = closed
        self.daemon = daemon
        self._phones = phones
        self._store = store

    async def speak_for(self, whom: Literal["model", "programs"]) -> None:
        """Say that no person is behind what this process asks of the core."""
        if self._gate is not None:
            self._gate.speaks_for(whom)
        else:
            await cast("Client", self.core).speak_for(whom)

    async def prove(
        self, passphrase: str = "", *, chooses: bool = False, token: str = ""
    ) -> Proved:
        """Show that a person is here; see `Gate.prove`."""
        if self._gate is not None:
            return await asyncio.to_thread(
                self._gate.prove, passphrase, chooses=chooses, token=token
            )
        return await cast("Client", self.core).prove(passphrase, chooses=chooses, token=token)

    async def until_stopped(self, stop: StopRequest) -> bool:
        """Wait until a signal asks to stop or the core is gone; print what the core died of.

        Returns:
            Whether it was a signal.
        """
        asked = asyncio.ensure_future(stop.asked.wait())
        closed = asyncio.ensure_future(self.closed())
        try:
            await asyncio.wait({asked, closed}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            asked.cancel()
            closed.cancel()
        if self.core.death is not None:
            say(str(self.core.death))
        return stop.asked.is_set()

    def trouble(self) -> StoreError | None:
        """Return why our store refused what was to be stored last; None when it did not."""
        return self._store.trouble if self._store is not None else None

    async def start_phone(self) -> str:
        """Return the serial of a virtual phone that the core sees, starting one if there is none.

        Raises:
            AdbError: no adb server can be had, or the phone's port is taken.
            DeviceLostError: the core does not see it.
            UsageError: the core is on another computer.
        """
        online = await self._virtual_ones()
        free = [info.serial for info in online if not info.driver]
        if online:
            return (free or [online[0].serial])[0]
        if self.is_far:
            raise UsageError(
                "Virtual phones can only be started on the core's computer.",
                "Start it there: switchboard daemon start --phones 1",
            )
        return await self.wait_for((await self._phones.start(1))[0])

    async def own_phones(self) -> tuple[str, ...]:
        """Return the serials of the virtual phones of this process, once the core sees them."""
        return tuple([await self.wait_for(serial) for serial in self._phones.serials])

    def own_server(self) -> ServerAddress:
        """Return our adb server, on which the virtual phones of this process hang."""
        return self._phones.server.address

    async def need_a_device(self) -> None:
        """Make sure that there is a phone to work on. Raises UsageError."""
        if not await self._online():
            raise UsageError(
                "No phone is connected.",
                "Plug one in with USB debugging on, or add --virtual for a virtual one; what adb "
                "sees: switchboard devices",
            )

    async def wait_for(self, serial: str) -> str:
        """Wait until the core sees a device; returns its name there. Raises DeviceLostError."""
        deadline = asyncio.get_running_loop().time() + DEVICE_BOUND_S
        while True:
            for info in await self._online():
                if serial in (info.serial, on_host(info.serial)):
                    return info.serial
            if asyncio.get_running_loop().time() > deadline:
                raise DeviceLostError(
                    f"The core did not see {serial} within {DEVICE_BOUND_S:g} s.",
                    "Make sure that it watches the same adb server (adb.server in the settings).",
                )
            await asyncio.sleep(_LOOK_S)

    async def _virtual_ones(self) -> list[DeviceInfo]:
        """List the virtual phones, once it is known of each phone whether it is one.

        Another's core may have been started a moment ago and have looked at none yet: a server
        tells the model of a phone, and only the phone itself its Android and whether it is one.
        """
        began_s = asyncio.get_running_loop().time()
        while True:
            online = [
                info
                for info in await self._online()
                if not self.name or host_of(info.serial) == self.name
            ]
            known = all(info.virtual or info.android for info in online)
            settled = known and bool(online or self.owned)
            bound_s = DEVICE_BOUND_S if online else _APPEAR_S
            if settled or asyncio.get_running_loop().time() - began_s > bound_s:
                return [info for info in online if info.virtual]
            await asyncio.sleep(_LOOK_S)

    async def _online(self) -> list[DeviceInfo]:
        devices = (await self.core.overview()).devices
        return [info for info in devices if info.state is DeviceState.ONLINE]


@asynccontextmanager
async def reach(
    settings: Settings, choose: Choose, *, labels: tuple[str, ...] = (), listens: bool = False
) -> AsyncIterator[Host]:
    """Attach to the owner of the data directory, or become it.

    Args:
        settings: the settings in force.
        choose: says which devices are needed, once the store is ours.
        labels: what the operator calls this host by in a fleet, besides its name.
        listens: whether a core of ours listens for other computers, where the settings say so.

    Raises:
        ConfigError: it cannot listen there.
        StoreError: the directory cannot be used, or its owner does not answer.
        AdbError: no adb server can be had.
    """
    deadline = asyncio.get_running_loop().time() + TAKEOVER_S
    while True:
        async with AsyncExitStack() as stack:
            client = await attach(settings)
            if client is not None:
                stack.push_async_callback(client.close)
                phones = Phones(settings)
                stack.push_async_callback(phones.close)
                is_far = bool(settings.core.address)
                yield Host(
                    client,
                    phones=phones,
                    closed=client.wait_closed,
                    is_far=is_far,
                    operator=client.operator,
                )
                return
            try:
                own = await _own(settings, choose, stack, labels, listens=listens)
            except DirectoryInUseError:
                # Started at once with this one, another took it since we looked: it will serve.
                if asyncio.get_running_loop().time() > deadline:
                    raise
            else:
                yield own
                return
        await asyncio.sleep(_LOOK_S)


async def attach(settings: Settings) -> Client | None:
    """Connect to the process that owns the data directory; None when there is none.

    Raises:
        RuntimeDiedError: the settings name a core on another computer, which is not there.
        StoreError: a process has it and does not answer on its socket.
    """
    from agent.rpc.remote_core import connect_or_none
    from agent.store.database.lock import owner_pid

    deadline = asyncio.get_running_loop().time() + TAKEOVER_S
    while True:
        pid = owner_pid(settings.data_dir)
        try:
            client = await connect_or_none(settings, name=command_name())
        except RuntimeDiedError:
            # A command that owned the directory may have ended while we connected.
            if settings.core.address or pid == owner_pid(settings.data_dir):
                raise
            continue
        if client is not None:
            return client
        pid = owner_pid(settings.data_dir)
        if pid is None:
            return None
        # The owner takes the lock first and serves last, and goes the other way.
        if asyncio.get_running_loop().time() > deadline:
            raise StoreError(
                f"Process {pid} owns the data directory {settings.data_dir} and does not answer.",
                "Wait until it has started or ended, or end it.",
            )
        await asyncio.sleep(_LOOK_S)


def command_name() -> str:
    """Return the command of this process, as `sessions answer`; the console is its own."""
    context = click.get_current_context(silent=True)
    path = "" if context is None else context.command_path
    return path.partition(" ")[2] or "console"


async def _own(
    settings: Settings,
    choose: Choose,
    stack: AsyncExitStack,
    labels: tuple[str, ...] = (),
    *,
    listens: bool = False,
) -> Host:
    from agent.audit.audit_writer import audited
    from agent.consent.gate import Gates
    from agent.consent.gated_core import GatedCore
    from agent.consent.judge import Consent
    from agent.rpc.credentials import script_token
    from agent.store.dispatch.gate import Gate as StoreGate
    from console.core.logs import keep_log
    from console.core.register_choice import follow_register
    from console.core.store_choice import dispatcher, open_store

    fleets: list[AdbFleet | EmptyFleet] = []

    def fleet_devices() -> tuple[DeviceInfo, ...]:
        return fleets[0].devices() if fleets else ()

    gate = StoreGate()
    wires: list[str] = []
    """How this host is reached for pictures, once it is."""
    peers: Peers | None = None
    told: FleetStore | None = None
    whole: Store
    if settings.store.dsn:
        from agent.rpc.fleet_store import fleet_store
        from agent.store.addresses import address
        from agent.store.postgres.host_store import own_part

        fleets_store, peers = await _join(settings, fleet_devices, gate, labels, wires, stack)
        whole, store = fleets_store, own_part(fleets_store)
        told = fleet_store(fleets_store.identity, fleets_store.database, address(settings))

        def may_keep() -> bool:
            presence = fleets_store.presence
            return presence is None or presence.is_heard
    else:

        def may_keep() -> bool:
            return True

        whole = store = await stack.enter_async_context(open_store(settings))
    own_name = "" if peers is None else peers.host
    stack.enter_context(keep_log(settings.data_dir, settings.log.form))
    await stack.enter_async_context(audited(store, settings.data_dir))
    phones = Phones(settings)
    stack.push_async_callback(phones.close)
    devices = await choose(whole)
    from agent.mcp.servers import McpServers
    from agent.models.choice import model_for
    from agent.models.reviewers.reviewer_choice import reviewing_for
    from agent.models.verifier_choice import verifying_for
    from agent.oidc.issuer import issuer_of
    from agent.operators.door import Door
    from agent.rpc.host_door import HostDoor
    from agent.rpc.rpc_messages import socket_path
    from agent.rpc.rpc_server import serve
    from agent.rpc.tls_listener import listening_of
    from agent.runtime.runtime import Runtime
    from agent.tasks.plan import PlanTask
    from agent.tasks.regular import RegularTask

    servers = McpServers(settings.mcp.servers, settings.data_dir)
    if peers is not None and peers.is_guest:
        # The phones of this computer are its host's.
        devices = NO_DEVICES
    fleet: AdbFleet | EmptyFleet
    try:
        fleet = await make_fleet(
            settings, devices, phones, is_owner=True, host=own_name, may_keep=may_keep
        )
    except AdbError as error:
        if peers is None or devices.own_server:
            raise
        # A computer of a fleet may have no phones: those of other hosts are worked with.
        _log.info("This host has no phones: %s", error)
        fleet = EmptyFleet()
    fleets.append(fleet)
    runtime = await Runtime.spawn(
        settings,
        store=store,
        fleet=fleet,
        models=lambda session: model_for(session, settings),
        verifiers=lambda model, session: verifying_for(model, settings, session),
        reviewers=lambda model, session: reviewing_for(model, settings, session),
        task=lambda: RegularTask(without=frozenset(settings.loop.without), servers=servers),
        plan=PlanTask,
        wake_jobs=devices.wakes_jobs,
        dispatcher=dispatcher(store, settings, gate),
        peers=peers,
        whole=whole,
    )
    stack.push_async_callback(runtime.close)
    door = Door(
        runtime,
        await stack.enter_async_context(follow_register(settings)),
        issuer=issuer_of(settings),
        life_s=settings.oidc.life_s,
    )
    runtime.approved_by(door.may_approve)
    if settings.notices.channels:
        from agent.channels.configured import running_channels
        from agent.store.store import wall_clock_ms

        channels = running_channels(settings, runtime, door, runtime.notices, wall_clock_ms)
        await stack.enter_async_context(channels)
    gates = Gates(Consent(settings.data_dir), runtime.default_autonomy)
    own_gate = gates.own()
    if token := script_token(settings):
        own_gate.prove(token=token)
    if peers is not None:
        peers.judged_by(door.judge)
    host_door = None if peers is None or peers.is_guest else HostDoor(peers.host, runtime)
    served = serve(
        runtime,
        socket_path(settings.data_dir),
        data_dir=settings.data_dir,
        role=command_name(),
        door=door,
        host_door=host_door,
        listening=listening_of(settings) if listens else None,
        fleet=told,
        gates=gates,
    )
    daemon = await stack.enter_async_context(served)
    if host_door is not None:
        far = () if daemon.far is None else await daemon.far.addresses()
        wires.append(host_door.wire(f"unix:{daemon.path}", *far))

    async def closed() -> bool:
        await runtime.wait_closed()
        return runtime.death is None

    # On phones that this process made itself there is nothing to ask a person for.
    is_play = devices.own_server and not devices.connected
    return Host(
        runtime if is_play else GatedCore(runtime, own_gate),
        gate=own_gate,
        phones=phones,
        store=whole,
        closed=closed,
        daemon=daemon,
        name=own_name,
        is_guest=peers is not None and peers.is_guest,
    )


async def _join(
    settings: Settings,
    devices: Callable[[], tuple[DeviceInfo, ...]],
    gate: StoreGate,
    labels: tuple[str, ...],
    wires: list[str],
    stack: AsyncExitStack,
) -> tuple[PostgresStore, Peers]:
    """Open a fleet's store, and say there that this host is there. Raises as `open_fleet` does."""
    from agent.hosts.peers import Peers
    from agent.rpc.places import host_place
    from agent.store.addresses import address
    from agent.store.postgres.host_store import host_of_unassigned
    from console.core.store_choice import open_fleet, own_version

    def listed() -> tuple[DeviceInfo, ...]:
        return tuple(msgspec.structs.replace(one, serial=on_host(one.serial)) for one in devices())

    dsn = address(settings)
    store, is_guest = await stack.enter_async_context(open_fleet(settings))
    if not is_guest:
        present = store.present(
            dsn,
            version=own_version(),
            phones=listed,
            gate=gate,
            labels=labels,
            wire=lambda: wires[-1] if wires else "",
        )
        await stack.enter_async_context(present)
    peers = Peers(
        dsn,
        store,
        unhosted=await host_of_unassigned(store),
        is_guest=is_guest,
        by_tls=lambda written: host_place(settings, written),
    )
    return store, peers


def check_is_host(host: Host, settings: Settings) -> None:
    """Refuse to stay where another process is this computer's host. Raises StoreError."""
    from console.core.store_choice import host_name

    if host.is_guest:
        raise StoreError(
            f"The host name {host_name(settings)!r} is in use by another process on this database.",
            "End that one, or give this host another name (store.host).",
        )


# --- how commands come in ----------


def run_with_host(
    settings: Settings,
    devices: Devices,
    work: Callable[[Host, StopRequest], Awaitable[ExitCode]],
    *,
    labels: tuple[str, ...] = (),
    listens: bool = False,
) -> ExitCode:
    """Run a command's work with a core that sees devices; see `reach`."""

    async def choose(_store: Store) -> Devices:
        return devices

    return _run(settings, choose, work, labels, listens=listens)


def run_with_session(
    settings: Settings, session_id: str, work: Callable[[Host, StopRequest], Awaitable[ExitCode]]
) -> ExitCode:
    """Run work that takes a session on: a core of our own sees the phone that it was on.

    Args:
        settings: the settings in force.
        session_id: of the session, or of a question of one.
        work: gets the core that owns the store, or one of our own.
    """

    async def choose(store: Store) -> Devices:
        return await devices_for(store, settings, session_id)

    return _run(settings, choose, work)


def run_with_core(
    ctx: click.Context,
    work: Callable[[Core, bool, StopRequest], Awaitable[ExitCode]],
    *,
    devices: Devices = NO_DEVICES,
    is_repeatable: bool = False,
) -> ExitCode:
    """Run work on the core that owns the store, or on one of our own, and say which it is.

    Args:
        is_repeatable: whether its ops name their request, so that it is done again, without making
            anything twice, where another's core ends before it has answered.
    """

    async def choose(_store: Store) -> Devices:
        return devices

    async def with_host(host: Host, stop: StopRequest) -> ExitCode:
        return await work(host.core, host.owned, stop)

    return _run(settings_for(ctx), choose, with_host, is_repeatable=is_repeatable)


def _run(
    settings: Settings,
    choose: Choose,
    work: Callable[[Host, StopRequest], Awaitable[ExitCode]],
    labels: tuple[str, ...] = (),
    *,
    listens: bool = False,
    is_repeatable: bool = False,
) -> ExitCode:
    async def main(stop: StopRequest) -> ExitCode:
        is_others = False
        for attempts_left in range(ATTEMPTS - 1, -1, -1):
            try:
                async with reach(settings, choose, labels=labels, listens=listens) as host:
                    is_others = not host.owned
                    return await work(host, stop)
            except RuntimeDiedError:
                may_ask_again = is_repeatable and is_others and not stop.asked.is_set()
                if not may_ask_again or not attempts_left:
                    raise
            say("The core ended before it answered; asking again.")
            await asyncio.sleep(AGAIN_S)
        raise AssertionError("the last attempt returns or raises")

    return run_async(main)


def run_with_records(
    ctx: click.Context, work: Callable[[Records], Awaitable[ExitCode]]
) -> ExitCode:
    """Run work that only reads: from the owner, or from the store, which is left as it is."""
    settings = settings_for(ctx)

    async def main(_stop: StopRequest) -> ExitCode:
        async with reading(settings) as records:
            return await work(records)

    return run_async(main)


@asynccontextmanager
async def reading(settings: Settings) -> AsyncIterator[Records]:
    """Lend the owner's records, or those of the store, which is left as it is.

    Raises:
        StoreError: the directory cannot be used, or its owner does not answer.
    """
    from console.core.store_choice import open_stored
    from console.core.stored_core import StoredRecords

    deadline = asyncio.get_running_loop().time() + TAKEOVER_S
    while True:
        client = await attach(settings)
        if client is not None:
            try:
                yield client
            finally:
                await client.close()
            return
        async with AsyncExitStack() as stack:
            try:
                store = await stack.enter_async_context(open_stored(settings))
            except DirectoryInUseError:
                # A core began since we looked.
                if asyncio.get_running_loop().time() > deadline:
                    raise
            else:
                yield StoredRecords(store)
                return
        await asyncio.sleep(_LOOK_S)
