"""A monitor of one host of a fleet counts what is of that host: sums over hosts count once."""

from typing import cast

import pytest

from agent import protocol, records
from agent.core import Core, Overview
from agent.errors import UsageError
from console.monitoring.host_scope import HostScope
from tests.monitoring.facts import Facts

HERE, THERE = "rack-1", "rack-2"


class Stored:
    """The part of a core that answers for sessions."""

    def __init__(self, **hosts: str) -> None:
        self.hosts = hosts

    async def session(self, session_id: str) -> records.Session:
        if session_id not in self.hosts:
            raise UsageError("There is no such session.")
        return a_session(session_id, self.hosts[session_id])


def a_session(session_id: str, host: str) -> records.Session:
    return records.Session(session_id=session_id, goal="g", created_ms=1, host=host)


def part(overview: Overview, **hosts: str) -> HostScope:
    return HostScope(cast(Core, Stored(**hosts)), overview)


def fleet(*sessions: records.Session) -> Overview:
    hosts = tuple(
        records.HostInfo(name=name, state=records.HostState.HERE, is_here=name == HERE)
        for name in (HERE, THERE)
    )
    phones = tuple(
        records.DeviceInfo(serial=f"{name}/phone", state=records.DeviceState.ONLINE)
        for name in (HERE, THERE)
    )
    return Overview(event_id=1, sessions=sessions, hosts=hosts, devices=phones)


def an_event(session_id: str, msg: protocol.EventMsg) -> protocol.Event:
    [event] = Facts(session_id=session_id).add(msg).events
    return event


STEP = protocol.StepStarted(step=1)


async def test_what_is_of_another_host_is_left_out() -> None:
    own = part(fleet(a_session("s1", HERE), a_session("s2", THERE)), s3=HERE, s4=THERE)
    assert [one.session_id for one in own.overview.sessions] == ["s1"]
    assert [one.serial for one in own.overview.devices] == [f"{HERE}/phone"]
    counted = [
        name for name in ("s1", "s2", "s3", "s4", "s5") if await own.has(an_event(name, STEP))
    ]
    assert counted == ["s1", "s3"]


@pytest.mark.parametrize("host", [HERE, THERE])
async def test_phones_jobs_and_new_sessions_are_their_hosts(host: str) -> None:
    own = part(fleet())
    phone = records.DeviceInfo(serial=f"{host}/phone", state=records.DeviceState.GONE)
    assert await own.has(an_event("", protocol.DeviceChanged(device=phone))) is (host == HERE)
    begun = protocol.SessionConfigured(session=a_session("s9", host))
    assert await own.has(an_event("s9", begun)) is (host == HERE)
    assert await own.has(an_event("s9", STEP)) is (host == HERE)


async def test_a_session_that_moves_is_counted_where_it_is() -> None:
    own = part(fleet(a_session("s1", HERE), a_session("s2", THERE)), s1=THERE, s2=HERE)
    assert await own.has(an_event("s1", protocol.SessionHosted(host=THERE)))
    assert await own.session("s1") is None
    assert not await own.has(an_event("s1", STEP))
    assert await own.has(an_event("s2", protocol.SessionHosted(host=HERE)))
    assert await own.session("s2") is not None
    assert await own.has(an_event("s2", STEP))


async def test_without_a_fleet_everything_is_own() -> None:
    picture = Overview(event_id=1, sessions=(a_session("s1", ""),))
    own = part(picture)
    assert own.overview == picture
    assert await own.has(an_event("s7", STEP))
