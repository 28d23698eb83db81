"""Sessions that name what their phone has to be, on a real core: they wait, say why, and go on."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.devices.facts.fact import Fact, Unknown, known
from agent.devices.shell.capabilities import Capabilities
from agent.errors import DeviceError, UsageError
from agent.protocol import SessionCreate, SessionWaits
from agent.records import DeviceState, Session, SessionState
from tests.fakes import FakeDevice, FakeFleet
from tests.stage import Cue, Stage, waiting_at

COMPLETED, QUEUED = SessionState.COMPLETED, SessionState.QUEUED


class AskedDevice(FakeDevice):
    """A phone that says what it has, and counts how often it was asked."""

    def __init__(self, fleet: FakeFleet, serial: str, **versions: str) -> None:
        super().__init__(fleet, serial)
        self.installed = {f"com.{name}": version for name, version in versions.items()}
        self.asked = 0
        self.fails = False
        self.hides = ""

    async def capabilities(
        self, packages: Iterable[str] = (), *, timeout_s: float = 15.0
    ) -> Capabilities:
        self.asked += 1
        if self.fails:
            raise DeviceError("It says nothing.")
        listed: Fact[frozenset[str]] = known(frozenset(self.installed), "package:…")
        return Capabilities(
            sdk=known(34, "34"),
            locale=known("de-DE", "de-DE"),
            packages=Unknown(reason=self.hides) if self.hides else listed,
            versions={
                one: known(self.installed[one], "versionName=…")
                for one in packages
                if one in self.installed
            },
        )


@pytest.fixture
async def fleet() -> FakeFleet:
    return FakeFleet("phone-1", "phone-2")


@pytest.fixture
async def stage(tmp_path: Path, fleet: FakeFleet) -> Stage:
    return Stage(tmp_path / "data", fleet)


async def until_wait_reason(stage: Stage, session_id: str, part: str) -> Session:
    async def found() -> Session | None:
        session = await stage.core.session(session_id)
        return session if part in session.waits_for else None

    return await stage.until(found, f"{session_id} to say {part!r}")


async def test_a_session_goes_to_the_phone_that_has_what_it_needs(
    stage: Stage, fleet: FakeFleet
) -> None:
    fleet.adopt(AskedDevice(fleet, "phone-1", x="3.1"))
    fleet.adopt(AskedDevice(fleet, "phone-2", x="3.2"))
    async with stage.play():
        session_id = await stage.create("quick", needs="app:com.x>=3.2,locale:de")
        done = await stage.reach(session_id, COMPLETED)
    assert done.serial == "phone-2"
    assert done.waits_for == ""


async def test_it_waits_says_why_and_goes_on_when_a_phone_changes(
    stage: Stage, fleet: FakeFleet
) -> None:
    async with stage.play():
        session_id = await stage.create("quick", needs="tag:wall")
        waits = await until_wait_reason(stage, session_id, "the tag wall")
        assert waits.state is QUEUED
        assert waits.waits_for == "waiting for a phone with the tag wall: none of 2 has it"
        fleet.tell(replace(fleet.infos["phone-2"], tags=("wall",), state=DeviceState.OFFLINE))
        assert (
            "not online" in (await until_wait_reason(stage, session_id, "1 of 2 has it")).waits_for
        )
        news = [msg for msg in await stage.msgs(session_id) if isinstance(msg, SessionWaits)]
        assert news
        fleet.tell(replace(fleet.infos["phone-2"], state=DeviceState.ONLINE))
        assert (await stage.reach(session_id, COMPLETED)).serial == "phone-2"


async def test_phones_are_asked_once_and_not_at_every_look(stage: Stage, fleet: FakeFleet) -> None:
    phones = [AskedDevice(fleet, f"phone-{n}", x="3.1") for n in (1, 2)]
    for one in phones:
        fleet.adopt(one)
    async with stage.play():
        session_id = await stage.create("quick", needs="app:com.x>=4")
        await until_wait_reason(stage, session_id, "none of 2 has it")
        for _ in range(20):
            fleet.tell(fleet.infos["phone-1"])
        other = await stage.create("quick", needs="app:com.x>=5")
        await until_wait_reason(stage, other, "com.x >= 5: none of 2")
        assert [one.asked for one in phones] == [1, 1]
        # A phone that comes again may have something new.
        fleet.unplug("phone-1")
        phones[0].installed["com.x"] = "4.0"
        fleet.plug("phone-1")
        assert (await stage.reach(session_id, COMPLETED)).serial == "phone-1"


async def test_a_phone_that_says_nothing_keeps_nobody_else_waiting(
    stage: Stage, fleet: FakeFleet
) -> None:
    silent = AskedDevice(fleet, "phone-1")
    silent.fails = True
    fleet.adopt(silent)
    fleet.adopt(AskedDevice(fleet, "phone-2", x="3.2"))
    async with stage.play():
        session_id = await stage.create("quick", needs="app:com.x>=3")
        assert (await stage.reach(session_id, COMPLETED)).serial == "phone-2"


async def test_the_same_phone_as_another_session(stage: Stage) -> None:
    async with stage.play():
        first = await stage.create("quick", serial="phone-2")
        await stage.reach(first, COMPLETED)
        second = await stage.create("quick", needs=f"same:{first}")
        assert (await stage.reach(second, COMPLETED)).serial == "phone-2"
        third = await stage.create("quick", needs="same:last")
        assert (await stage.reach(third, COMPLETED)).serial == "phone-2"


@pytest.mark.parametrize(
    ("op", "said"),
    [
        (SessionCreate(goal="quick", phone_needs="tag:wall", serial="phone-1"), "both named"),
        (SessionCreate(goal="quick", phone_needs="same:nobody"), "nobody"),
        (SessionCreate(goal="quick", phone_needs="same:x,tag:wall"), "cannot be combined"),
        (SessionCreate(goal="quick", phone_needs="colour:red"), "'colour:red' is not a field"),
        (SessionCreate(goal="quick", account="two words"), "account is 'two words'"),
    ],
)
async def test_bad_needs_create_nothing(stage: Stage, op: SessionCreate, said: str) -> None:
    async with stage.play():
        with pytest.raises(UsageError) as refused:
            await stage.do(op)
        assert said in refused.value.message
        assert not await stage.core.sessions()


async def test_an_account_has_no_more_phones_than_it_may(stage: Stage) -> None:
    stage.set(run={"max_at_once": 1})
    cue = Cue()
    stage.parts["first"] = waiting_at(cue)
    async with stage.play():
        first = await stage.create("first", account="ana", serial="phone-1")
        await cue.there()
        second = await stage.create("quick", account="ana", serial="phone-2")
        waits = await until_wait_reason(stage, second, "account ana has 1 at work")
        assert waits.state is QUEUED
        other = await stage.create("quick", account="ben", serial="phone-2")
        await stage.reach(other, COMPLETED)
        assert (await stage.core.session(second)).state is QUEUED
        cue.go.set()
        await stage.reach(first, COMPLETED)
        await stage.reach(second, COMPLETED)


async def test_accounts_take_turns_on_one_phone(stage: Stage, fleet: FakeFleet) -> None:
    fleet.unplug("phone-2")
    cue = Cue()
    stage.parts["first"] = waiting_at(cue)
    async with stage.play():
        await stage.create("first", account="ana", serial="phone-1")
        await cue.there()
        many = [await stage.create("quick", account="ana", serial="phone-1") for _ in range(3)]
        late = await stage.create("quick", account="ben", serial="phone-1")
        cue.go.set()
        for one in (*many, late):
            await stage.reach(one, COMPLETED)
    order = [driver for _, driver in fleet.drivers if driver in {*many, late}] or [
        driver for driver, _ in fleet.drivers if driver in {*many, late}
    ]
    assert order[0] == late


async def test_a_phone_that_hides_its_apps_is_said_and_served_once_it_tells(
    stage: Stage, fleet: FakeFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.placement.fact_cache.ASKED_AGAIN_S", 0.0)
    monkeypatch.setattr("agent.sessions.registry.device_assignment._RETRY_S", 0.0)
    hiding = AskedDevice(fleet, "phone-1", x="3.2")
    hiding.hides = "`pm list packages` answered: SecurityException: no access to user 150"
    fleet.adopt(hiding)
    fleet.adopt(AskedDevice(fleet, "phone-2", y="1"))
    async with stage.play():
        session_id = await stage.create("quick", needs="app:com.x")
        waits = await until_wait_reason(stage, session_id, "phone-1 does not say")
        assert "no access to user 150" in waits.waits_for
        hiding.hides = ""
        assert (await stage.reach(session_id, COMPLETED)).serial == "phone-1"
