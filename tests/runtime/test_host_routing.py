"""Which host of a fleet an op belongs to, and what is said where that host is away."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

import pytest
from msgspec.structs import replace

from agent import protocol, records
from agent.core import OWNER, Carrier, ClientInfo, TextDelta
from agent.devices.fleet.naming import serial_of
from agent.errors import UsageError, WrongStateError
from agent.runtime.host_routing import HostRouting
from agent.store.store import EventDraft
from console.core.device_setup import EmptyFleet
from tests.store.conftest import session_draft
from tests.store.memory import MemoryStore


class Hosts:
    def __init__(self) -> None:
        self.host = self.unhosted = "desk"
        self.is_guest = False
        self.phones: tuple[records.DeviceInfo, ...] = ()
        self.here = {"desk": True, "one": True, "two": False}
        self.asked: list[tuple[str, protocol.Op]] = []
        self.fails: set[str] = set()

    def hosts(self) -> tuple[records.HostInfo, ...]:
        return tuple(
            records.HostInfo(
                name=name,
                state=records.HostState.HERE if here else records.HostState.GONE,
                is_here=name == self.host,
            )
            for name, here in self.here.items()
        )

    def devices(self) -> tuple[records.DeviceInfo, ...]:
        return self.phones

    def is_there(self, host: str) -> bool:
        return self.here.get(host, False)

    async def request(self, host: str, client: ClientInfo, op: protocol.Op) -> protocol.Reply:
        assert client == OWNER
        if host in self.fails:
            raise WrongStateError(f"Host {host} does not answer.")
        self.asked.append((host, op))
        return protocol.Reply(submission_id=f"at {host}")

    async def leave(self, client: ClientInfo) -> None: ...

    def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AbstractAsyncContextManager[AsyncIterator[records.LiveFrame]]:
        raise NotImplementedError

    def deltas(
        self, host: str, session_id: str
    ) -> AbstractAsyncContextManager[AsyncIterator[TextDelta]]:
        raise NotImplementedError

    def serve(self, core: Carrier) -> AbstractAsyncContextManager[None]:
        raise NotImplementedError


def phone(serial: str, *, driver: str = "") -> records.DeviceInfo:
    return records.DeviceInfo(serial=serial, state=records.DeviceState.ONLINE, driver=driver)


async def stored(*hosts: str) -> MemoryStore:
    store = MemoryStore()
    for host in hosts:
        draft = session_draft(f"s-{host}")
        msg = replace(draft.msg, session=replace(draft.msg.session, host=host))  # type: ignore[union-attr]
        await store.append(EventDraft(draft.session_id, msg))
    return store


async def test_an_op_is_carried_to_the_host_that_what_it_names_belongs_to() -> None:
    hosts = Hosts()
    abroad = HostRouting(hosts, await stored("desk", "one", "two"), EmptyFleet())
    for op, host in (
        (protocol.UserInput(session_id="s-one", text="go on"), "one"),
        (protocol.DeviceTag(serial="one/emulator-5554", name="x"), "one"),
        (protocol.SessionCreate(goal="g", serial="one/emulator-5554"), "one"),
        (protocol.SessionReplay(session_id="s-desk", serial="one/emulator-5554"), "one"),
        (protocol.SessionMove(session_id="s-one", serial="desk/emulator-5554"), "one"),
    ):
        reply = await abroad.carry(OWNER, op)
        assert reply is not None
        assert hosts.asked.pop() == (host, op)
    for op in (
        protocol.UserInput(session_id="s-desk", text="go on"),
        protocol.UserInput(session_id="s-nobody", text="go on"),
        protocol.JobList(),
        # A host that is gone gives nothing away: it is taken.
        protocol.SessionMove(session_id="s-two", serial="desk/emulator-5554"),
    ):
        assert await abroad.carry(OWNER, op) is None
    assert not hosts.asked


async def test_a_stop_of_everything_goes_to_every_host_that_is_there() -> None:
    hosts = Hosts()
    abroad = HostRouting(hosts, await stored(), EmptyFleet())
    assert await abroad.carry(OWNER, protocol.Interrupt()) is None
    while abroad.sending:
        await next(iter(abroad.sending))
    assert [host for host, _ in hosts.asked] == ["one"]


async def test_what_clears_away_is_answered_by_every_host_that_is_there() -> None:
    hosts = Hosts()
    abroad = HostRouting(hosts, await stored(), EmptyFleet())
    clear = protocol.SessionClear(all=True)
    assert await abroad.carry(OWNER, clear) is None
    assert not abroad.sending
    found = await abroad.carried_elsewhere(OWNER, clear)
    assert [one.submission_id for one in found] == ["at one"]
    assert hosts.asked == [("one", clear)]
    # One that went in the middle keeps what it has; the others are counted.
    hosts.here["three"] = True
    hosts.fails = {"one"}
    found = await abroad.carried_elsewhere(OWNER, protocol.SessionPrune())
    assert [one.submission_id for one in found] == ["at three"]


async def test_a_session_for_no_phone_goes_where_one_is_free() -> None:
    hosts = Hosts()
    hosts.phones = (phone("one/a", driver="s-one"), phone("two/b"))
    abroad = HostRouting(hosts, await stored(), EmptyFleet())
    assert await abroad.owner(protocol.SessionCreate(goal="g")) == "two"
    hosts.phones = (phone("one/a", driver="s-one"),)
    assert await abroad.owner(protocol.SessionCreate(goal="g")) == "one"
    hosts.phones = ()
    assert await abroad.owner(protocol.SessionCreate(goal="g")) == "desk"


async def test_work_goes_to_the_host_whose_phones_it_needs() -> None:
    hosts = Hosts()
    wall = records.DeviceInfo(
        serial="two/b", state=records.DeviceState.ONLINE, tags=("wall",), android="14"
    )
    hosts.phones = (phone("desk/c"), phone("one/a"), wall)
    abroad = HostRouting(hosts, await stored("one"), EmptyFleet())
    campaign = protocol.JobCreate(title="t", prompt="g", job_type=records.JobType.CAMPAIGN)
    for needs, host in (
        ("tag:wall", "two"),
        ("android>=14", "two"),
        ("tag:wall,app:com.example>=3.2", "two"),
        ("app:com.example", "desk"),
        ("same:s-one", "one"),
        # What cannot be read, and what nobody has, is told here.
        ("nonsense", "desk"),
        ("same:s-nobody", "desk"),
        ("tag:none", "desk"),
    ):
        assert await abroad.owner(protocol.SessionCreate(goal="g", phone_needs=needs)) == host, (
            needs
        )
        job = protocol.JobCreate(title="t", prompt="g", phone_needs=needs)
        assert await abroad.owner(job) == host, needs
        if not needs.startswith("same"):
            each = replace(campaign, campaign=records.Campaign(needs=needs))
            assert await abroad.owner(each) == host, needs
    for phones, host in ((("two/b",), "two"), (("one/a", "two/b"), "desk")):
        named = replace(campaign, campaign=records.Campaign(phones=phones))
        assert await abroad.owner(named) == host


async def test_words_come_from_the_host_that_a_session_is_at() -> None:
    abroad = HostRouting(Hosts(), await stored("desk", "one"), EmptyFleet())
    assert await abroad.host_of_words("s-one") == "one"
    assert await abroad.host_of_words("s-desk") == ""
    with pytest.raises(UsageError):
        await abroad.host_of_words("s-nobody")
    for serial, elsewhere in (("one/a", True), ("emulator-5554", False), ("desk/a", False)):
        assert abroad.is_elsewhere(serial) is elsewhere


@pytest.mark.parametrize(
    ("host", "serial"),
    [
        ("rack-3", "emulator-5554"),
        ("rack 3", "127.0.0.1:5555"),
        ("r", "emulator-5554@localfilesystem:/run/switchboard/rack-2.sock"),
    ],
)
def test_a_phone_is_named_with_its_host(host: str, serial: str) -> None:
    named = records.at_host(host, serial)
    assert (records.host_of(named), records.on_host(named)) == (host, serial)
    assert (records.host_of(serial), records.on_host(serial)) == ("", serial)
    assert records.at_host("", serial) == serial
    assert serial_of(serial, [phone(named)]) == named
    with pytest.raises(UsageError, match="hosts have a phone"):
        serial_of(serial, [phone(named), phone(records.at_host("other", serial))])
