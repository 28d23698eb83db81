"""What sets jobs off beside the clock: a boot, an update, a phone with an app or a tag."""

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from agent.devices.facts.fact import Unknown
from agent.devices.facts.fact import known as known_fact
from agent.devices.shell.versions import PhoneVersions
from agent.jobs.device_snapshots import FILE_NAME, DeviceSnapshots, PhoneSeen
from agent.jobs.schedule import NEVER_MS
from agent.jobs.triggers import updated_packages
from agent.protocol import DeviceChanged
from agent.records import DeviceState, Job, JobStatus, Trigger
from support.patience import until
from tests.fakes import FakeDevice, FakeFleet
from tests.jobs.reviewing import create, ring, runs_of, sessions_of, settled
from tests.stage import Stage

APP = "org.example.app"


class KnownDevice(FakeDevice):
    """A phone that says which boot it is in and which apps it has."""

    def __init__(self, fleet: FakeFleet, serial: str) -> None:
        super().__init__(fleet, serial)
        self.boot_id = "b-1"
        self.packages: Mapping[str, int] = {APP: 1, "org.example.other": 1}
        self.asked = 0
        self.hides = ""

    async def versions(self, *, timeout_s: float = 10.0) -> PhoneVersions:
        self.asked += 1
        return PhoneVersions(
            boot_id=known_fact(self.boot_id, self.boot_id),
            packages=Unknown(reason=self.hides) if self.hides else known_fact(self.packages, "…"),
        )


def known(stage: Stage, serial: str = "phone-1") -> KnownDevice:
    device = KnownDevice(stage.fleet, serial)
    stage.fleet.adopt(device)
    return device


async def come_again(stage: Stage, serial: str = "phone-1") -> None:
    """Unplug a phone and, once that is told, plug it in again."""
    before = await stage.store.last_event_id()
    stage.fleet.unplug(serial)

    async def gone() -> bool | None:
        told = await stage.store.events(after=before, limit=1000)
        news = [event.msg for event in told if isinstance(event.msg, DeviceChanged)]
        return any(one.device.state is DeviceState.GONE for one in news) or None

    await stage.until(gone, "the phone to be gone")
    stage.fleet.plug(serial)


async def due(stage: Stage, job_id: int) -> Job:
    async def there() -> Job | None:
        job = await stage.store.job(job_id)
        return job if job is not None and job.next_run_at < NEVER_MS else None

    return await stage.until(there, f"job {job_id} to be due")


async def seen(stage: Stage, key: str, wanted: PhoneVersions) -> None:
    """Wait until a phone is remembered as it is."""
    seen = PhoneSeen().then(wanted)
    await until(lambda: DeviceSnapshots(stage.directory).last(key) == seen)


async def test_a_phone_that_booted_while_it_was_away_sets_a_job_off_once(stage: Stage) -> None:
    device = known(stage)
    async with stage.play():
        job = await create(stage, on=(Trigger.DEVICE_BOOTED,))
        await seen(stage, "phone-1", await device.versions())
        assert (await stage.store.job(job.id)).next_run_at == NEVER_MS  # type: ignore[union-attr]
        device.boot_id = "b-2"
        await come_again(stage)
        await due(stage, job.id)
        await ring(stage, after_ms=0)

        async def ran() -> bool | None:
            runs = await runs_of(stage, job.id)
            return (len(runs) == 1 and runs[0].ended_at > 0) or None

        await stage.until(ran, "the run")
        await seen(stage, "phone-1", await device.versions())
        asked = device.asked
        await come_again(stage)
        await until(lambda: device.asked > asked)
        assert (await stage.store.job(job.id)).next_run_at == NEVER_MS  # type: ignore[union-attr]


async def test_an_update_while_the_core_was_away_sets_off_the_jobs_of_that_app(
    stage: Stage,
) -> None:
    device = known(stage)
    async with stage.play():
        job = await create(stage, on=(Trigger.APP_UPDATED,), app=APP)
        other = await create(stage, on=(Trigger.APP_UPDATED,), app="org.example.other")
        await seen(stage, "phone-1", await device.versions())
    device.packages = {APP: 2, "org.example.other": 1, "org.example.new": 1}
    async with stage.play():
        await due(stage, job.id)
        assert (await stage.store.job(other.id)).next_run_at == NEVER_MS  # type: ignore[union-attr]


async def test_phones_are_asked_nothing_while_no_job_waits_for_it(stage: Stage) -> None:
    device = known(stage)
    async with stage.play():
        job = await create(stage, on=(Trigger.DEVICE_CONNECTED,))
        await come_again(stage)
        await due(stage, job.id)
    assert device.asked == 0


def test_what_is_new_or_gone_was_not_updated() -> None:
    before = PhoneSeen(packages={"a": 1, "b": 1, "c": 1})
    now = PhoneSeen(packages={"a": 2, "b": 1, "d": 1})
    assert updated_packages(before, now) == {"a"}


def test_a_broken_file_of_sightings_is_put_aside_and_begun_anew(stage: Stage) -> None:
    stage.directory.mkdir()
    (stage.directory / FILE_NAME).write_bytes(b"{")
    snapshots = DeviceSnapshots(stage.directory)
    assert snapshots.last("x") is None
    assert (stage.directory / "phones.broken").read_bytes() == b"{"
    snapshots.remember("x", PhoneSeen(boot_id="b"))
    assert DeviceSnapshots(stage.directory).last("x") == PhoneSeen(boot_id="b")


async def test_a_phone_that_lists_no_apps_still_sets_off_what_waits_for_its_boot(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.jobs.triggers._AGAIN_S", ())
    device = known(stage)
    async with stage.play():
        booted = await create(stage, on=(Trigger.DEVICE_BOOTED,))
        updated = await create(stage, on=(Trigger.APP_UPDATED,), app=APP)
        await seen(stage, "phone-1", await device.versions())
        device.hides, device.boot_id = "`pm list packages` answered: SecurityException", "b-2"
        await come_again(stage)
        await due(stage, booted.id)
        # What it had is remembered, and an update is noticed once it lists its apps again.
        device.hides, device.packages = "", {APP: 2, "org.example.other": 1}
        await come_again(stage)
        await due(stage, updated.id)


async def test_a_job_runs_on_a_phone_with_its_app_and_its_tags(stage: Stage) -> None:
    stage.fleet.plug("phone-2")
    stage.fleet.label("phone-2", name="", tags=("lab", "fast"), notes="")
    async with stage.play():
        job = await create(stage, tags=("lab",), app="Example")
        await ring(stage)
        await settled(stage, job.id, JobStatus.COMPLETED)
        [session] = await sessions_of(stage, job.id)
        assert session.serial == "phone-2"


async def test_a_job_may_call_an_app_what_its_card_calls_it(stage: Stage) -> None:
    cards = stage.settings.config_file.parent / "cards"
    cards.mkdir(parents=True)
    card = 'package = "org.example.app"\napp_name = "The Gadget"\n'
    (cards / "gadget.toml").write_text(card, encoding="utf-8")
    async with stage.play():
        job = await create(stage, app="the gadget")
        await ring(stage)
        await settled(stage, job.id, JobStatus.COMPLETED)


@pytest.mark.parametrize("wanted", [{"app": "org.example.none"}, {"tags": ("moon",)}])
async def test_a_job_whose_phone_is_not_there_fails_and_comes_again(
    stage: Stage, wanted: dict[str, object]
) -> None:
    async with stage.play():
        job = await create(stage, **wanted)
        await ring(stage)

        async def failed() -> Job | None:
            now = await stage.store.job(job.id)
            return now if now is not None and now.failure_count else None

        after = await stage.until(failed, "the failure")
        assert after.status is JobStatus.ACTIVE and "task_start_failed" in after.last_result
        assert await sessions_of(stage, job.id) == []


async def test_a_job_with_a_tag_waits_for_such_a_phone_to_come(stage: Stage) -> None:
    async with stage.play():
        job = await create(stage, on=(Trigger.DEVICE_CONNECTED,), tags=("lab",))
        await come_again(stage)
        info = replace(stage.fleet.infos["phone-1"], serial="phone-2", tags=("lab",))
        stage.fleet.plug("phone-2")
        stage.fleet.tell(replace(info, state=DeviceState.GONE))
        stage.fleet.tell(info)
        await due(stage, job.id)
