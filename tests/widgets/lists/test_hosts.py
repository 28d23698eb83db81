"""Lists of a fleet: at which host sessions and phones are, and what became of a host; no screen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.hosts.peers import phones_of
from agent.protocol import DeviceChanged, SessionHosted, SessionStateChanged
from agent.records import DeviceState, HostInfo, HostState, SessionState
from agent.store.postgres.hosts import HostRecord
from console.palette.handles import phone_handle, phone_of
from tests.console.fakes import FakeCore, phone
from tests.console.script import configure
from widgets.base.rows import Row
from widgets.lists.hosts import has_several_hosts, host_away, host_latency, latency
from widgets.lists.kept_listing import Listing
from widgets.lists.session_list import Look, SessionRows, listed_sessions, matches, session_rows
from widgets.lists.session_order import NO_HOST, Group, Sort, ordered
from widgets.lists.session_rows import device_name, device_rows


def fleet() -> FakeCore:
    """Play phones and sessions of three hosts, one of which has two digits."""
    core = FakeCore()
    for host in ("rack-1", "rack-2", "rack-10"):
        for port in (5554, 5556):
            core.tell(
                DeviceChanged(device=phone(f"{host}/emulator-{port}", model="Pixel 8", name=""))
            )
    configure(core, "s1", "read", serial="rack-10/emulator-5554", host="rack-10")
    configure(core, "s2", "read", serial="rack-1/emulator-5554", host="rack-1")
    configure(core, "s3", "read", host="rack-1")
    configure(core, "s4", "read", serial="rack-2/emulator-5556")
    configure(core, "s5", "read")
    core.tell(SessionStateChanged(state=SessionState.COMPLETED), "s3")
    return core


def text(row: Row) -> str:
    return "\n".join(
        "".join(part for part, _ in (*line.left, ("  ", ""), *line.right)) for line in row.lines
    )


def found(core: FakeCore, wanted: str) -> set[str]:
    views = core.state.sessions.items()
    return {key for key, view in views if matches(view, wanted, core.state)}


def test_groups_by_host_are_in_the_order_of_their_numbers_and_end_with_none() -> None:
    state = fleet().state
    listed = ordered(state, Sort.LIVE, Group.HOST, now_ms=1)
    told = [one.heading or (one.view and one.view.session.session_id) for one in listed]
    assert told == ["rack-1", "s2", "s3", "rack-2", "s4", "rack-10", "s1", NO_HOST, "s5"]


def test_sorted_by_host_who_works_stays_first_on_each() -> None:
    state = fleet().state
    for group in (Group.TREE, Group.STATE):
        listed = ordered(state, Sort.HOST, group, now_ms=1)
        ids = [one.view.session.session_id for one in listed if one.view is not None]
        live = [one for one in ids if one != "s3"]
        assert live == ["s2", "s4", "s1", "s5"]
    tree = ordered(state, Sort.HOST, Group.TREE, now_ms=1)
    assert [one.view.session.session_id for one in tree if one.view][:2] == ["s2", "s3"]


def test_a_session_that_moved_stands_under_its_new_host() -> None:
    core = fleet()
    core.tell(SessionHosted(host="rack-2", serial="rack-2/emulator-5554"), "s1")
    assert found(core, "@rack-2/") == {"s1", "s4"}
    headings = [one.heading for one in ordered(core.state, Sort.LIVE, Group.HOST, now_ms=1)]
    assert "rack-10" not in headings


def test_a_filter_knows_hosts_with_and_without_a_phone() -> None:
    core = fleet()
    assert found(core, "@rack-1/") == {"s2", "s3"}
    assert found(core, "@rack-1") == {"s1", "s2", "s3"}
    assert found(core, "rack-10") == {"s1"}
    assert found(core, "@RACK-2 read") == {"s4"}
    assert found(core, "@rack-2/emulator-5556") == {"s4"}


def test_hosts_are_several_only_where_two_have_names() -> None:
    core = FakeCore()
    configure(core, "s1", "read", serial="emulator-5554")
    core.tell(DeviceChanged(device=phone("a@/run/adb.sock/5554")))
    assert not has_several_hosts(core.state)
    configure(core, "s2", "read", host="rack-1")
    assert not has_several_hosts(core.state)
    configure(core, "s3", "read", serial="rack-2/emulator-5554")
    assert has_several_hosts(core.state)
    assert has_several_hosts(fleet().state)


def test_phones_of_two_hosts_are_never_called_the_same() -> None:
    core = fleet()
    core.tell(DeviceChanged(device=phone("rack-1/USB1", name="till 3")))
    core.tell(DeviceChanged(device=phone("rack-2/USB2", name="till 3")))
    devices = core.state.devices
    assert len({device_name(one, devices) for one in devices}) == len(devices)
    assert {phone_of(phone_handle(one, devices), devices) for one in devices} == set(devices)
    assert device_name("rack-2/USB2", devices) == "till 3 rack-2"


def test_a_list_of_phones_says_their_host_where_there_are_several() -> None:
    core = FakeCore()
    core.tell(DeviceChanged(device=phone("rack-1/p1", name="till 1")))
    assert "rack-1" not in text(device_rows(core.state)[0])
    core.tell(DeviceChanged(device=phone("rack-2/p2", name="till 2")))
    assert [text(row) for row in device_rows(core.state)] == [
        "● till 1 rack-1  online",
        "● till 2 rack-2  online",
    ]


@given(state=st.sampled_from(HostState))
def test_a_phone_of_a_host_that_went_is_dimmed_and_says_which(state: HostState) -> None:
    record = HostRecord(
        name="rack-3",
        state=state,
        version="1.0.0",
        labels=(),
        phones=(phone("p3", name="till 3", driver="s1"),),
        since_ms=0,
        silent_ms=0,
        works=True,
    )
    core = FakeCore()
    core.tell(DeviceChanged(device=phone("rack-1/p1", name="till 1")))
    core.tell(DeviceChanged(device=phones_of(record)[0]))
    row = device_rows(core.state)[1]
    name = next(style for part, style in row.lines[0].left if "till 3" in part)
    if state is HostState.HERE:
        assert name == "$foreground" and text(row) == "● till 3 rack-3  s1"
    else:
        said = "host rack-3 is gone" if state is HostState.GONE else "host rack-3 has left"
        assert name == "$faint" and text(row) == f"○ till 3  {said}"


@pytest.mark.parametrize("state", [HostState.GONE, HostState.LEFT])
def test_a_session_that_works_on_a_phone_of_a_host_that_went_says_so(state: HostState) -> None:
    core = fleet()
    core.tell(SessionStateChanged(state=SessionState.RUNNING), "s1")
    kept, look = SessionRows(), Look(width=80)

    def shown(one: str) -> str:
        listing = Listing.of(listed_sessions(core.state, look, now_ms=0))
        rows = kept.show(listing, core.state, look, now_ms=0, asking=frozenset())
        return next(text(row) for row in rows if row.key == one)

    assert "running" in shown("s1")
    away = HostRecord(
        name="rack-10",
        state=state,
        version="1.0.0",
        labels=(),
        phones=(phone("emulator-5554"),),
        since_ms=0,
        silent_ms=0,
        works=True,
    )
    core.tell(DeviceChanged(device=phones_of(away)[0]))
    core.tell(SessionStateChanged(state=SessionState.COMPLETED), "s2")
    assert "host away" in shown("s1") and "running" not in shown("s1")
    assert "host away" not in shown("s2")
    assert found(core, "away") == {"s1"}


@pytest.mark.parametrize(
    ("took_ms", "said"),
    [
        (0.04, "0.0 ms"),
        (0.42, "0.4 ms"),
        (9.94, "9.9 ms"),
        (9.96, "10 ms"),
        (999.4, "999 ms"),
        (999.6, "1.0 s"),
        (4200, "4.2 s"),
    ],
)
def test_a_latency_is_said_in_few_digits(took_ms: float, said: str) -> None:
    assert latency(took_ms) == said


def test_a_host_says_how_fast_it_answers_as_long_as_it_is_there() -> None:
    host = HostInfo(name="rack-3", state=HostState.HERE)
    assert host_latency(host) == ""
    told = replace(host, beat_ms=3.2)
    assert host_latency(told) == "rack-3 reaches the database in 3.2 ms"
    assert host_latency(replace(told, reply_ms=12.4)) == "rack-3 answers in 12 ms"
    assert host_latency(replace(told, reply_ms=12.4, state=HostState.GONE)) == ""


def test_a_phone_that_went_by_itself_blames_no_host() -> None:
    for serial in ("rack-3/p1", "p1"):
        gone = phone(serial, state=DeviceState.GONE, note="Host rack-30 is gone: so it waits.")
        assert host_away(gone) == ""
        assert host_away(phone(serial, state=DeviceState.GONE)) == ""


def test_a_list_of_one_core_is_as_it_was() -> None:
    core = FakeCore()
    core.tell(DeviceChanged(device=phone("emulator-5554", model="Pixel 8")))
    core.tell(DeviceChanged(device=phone("emulator-5556", model="Pixel 8")))
    assert [text(row) for row in device_rows(core.state)] == [
        "● Pixel 8 5554  online",
        "● Pixel 8 5556  online",
    ]
    configure(core, "s1", "read", serial="emulator-5554")
    rows = session_rows(core.state, Look(group=Group.HOST), now_ms=1, asking=frozenset())
    assert [row.key for row in rows] == [f"heading:{NO_HOST}", "s1"]
