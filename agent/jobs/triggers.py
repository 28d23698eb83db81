"""What makes jobs due beside the clock: phones that come, boot or get apps, and the core's start.

Not the wake. Nothing is polled: while a job waits for a boot or an update, each phone is looked at
when it comes, when such a job is handed in, and when a turn on it begins; its boot and its apps are
compared with what was seen of it before. So an update on a phone that stays connected, and that no
session works on, is noticed when it comes again. Invariant: a phone that is seen for the first time
has neither booted nor been updated.
"""

import asyncio
import logging
from collections.abc import Iterable

from agent.devices.facts.fact import Known
from agent.devices.shell.versions import PhoneVersions, TellsVersions
from agent.errors import DeviceError, StoreError, UsageError
from agent.jobs.device_snapshots import DeviceSnapshots, PhoneSeen
from agent.jobs.records import JobRecords
from agent.jobs.schedule import set_off, waits_for
from agent.protocol import DeviceChanged, Event, JobChanged, TaskStarted
from agent.records import DeviceInfo, DeviceState, JobStatus, Trigger, identifies
from agent.schedules import lenient_schedule
from agent.sessions.registry.services import Services

_LOOKED_FOR = frozenset({Trigger.DEVICE_BOOTED, Trigger.APP_UPDATED})
_AGAIN_S = (2.0, 5.0, 15.0, 30.0)
"""A phone that boots has no package manager at first; after these waits it is asked again."""
_log = logging.getLogger(__name__)


class Triggers:
    """The events of one core that jobs wait for."""

    def __init__(self, parts: Services, records: JobRecords) -> None:
        self._parts = parts
        self._records = records
        self._snapshots = DeviceSnapshots(parts.settings.data_dir)
        self._one_look = asyncio.Lock()
        self._begun = False
        self._online: dict[str, bool] = {}

    def begin(self) -> None:
        """Set off what waits for the start of the core, and listen from now on."""
        self._begun = True
        self._start(Trigger.CONSOLE_START, None)
        self._look_at_all()

    def on_commit(self, events: Iterable[Event]) -> None:
        """Follow what is told of phones, of jobs and of turns."""
        for event in events:
            match event.msg:
                case DeviceChanged(device=device):
                    was = self._online.get(device.serial, False)
                    self._online[device.serial] = device.state is DeviceState.ONLINE
                    if self._online[device.serial] and not was and self._begun:
                        self._start(Trigger.DEVICE_CONNECTED, device)
                        self._look(device)
                case JobChanged(job=job, reason="created") if job.status is JobStatus.ACTIVE:
                    if self._begun and _LOOKED_FOR & set(lenient_schedule(job.schedule_json).on):
                        self._look_at_all()
                case TaskStarted() if self._begun:
                    self._look_of(event.session_id)
                case _:
                    pass

    # --- looking ----------

    def _look_at_all(self) -> None:
        for device in self._parts.fleet.devices():
            if device.state is DeviceState.ONLINE:
                self._look(device)

    def _look_of(self, session_id: str) -> None:
        serial = next(
            (
                one.record.serial
                for one in self._parts.registry.active()
                if one.session_id == session_id
            ),
            "",
        )
        for device in self._parts.fleet.devices():
            if serial and device.serial == serial:
                self._look(device)

    def _look(self, device: DeviceInfo) -> None:
        self._parts.supervisor.start(self._compare(device), f"look at {device.serial}")

    async def _compare(self, device: DeviceInfo) -> None:
        """Set off what waits for how a phone differs from when it was last seen."""
        store = self._parts.store
        if not any([await store.jobs_on(trigger) for trigger in _LOOKED_FOR]):
            return
        async with self._one_look:
            seen = await self._ask(device.serial)
            if seen is None:
                return
            key = device.hardware_serial if identifies(device.hardware_serial) else device.serial
            before = self._snapshots.last(key)
            now = (before or PhoneSeen()).then(seen)
            if before is not None:
                if before.boot_id and now.boot_id != before.boot_id:
                    await self._set_off(Trigger.DEVICE_BOOTED, device)
                updated = updated_packages(before, now)
                if updated:
                    await self._set_off(Trigger.APP_UPDATED, device, updated)
            self._snapshots.remember(key, now)

    async def _ask(self, serial: str) -> PhoneVersions | None:
        """Ask a phone, again for a while when it has just booted; None when it says nothing.

        A phone that does not list its packages has said which boot it is in.
        """
        said: PhoneVersions | None = None
        for wait_s in (*_AGAIN_S, None):
            try:
                device = await self._parts.fleet.device(serial)
                if not isinstance(device, TellsVersions):
                    return None
                said = await device.versions()
                if isinstance(said.packages, Known):
                    return said
                _log.info("%s does not say which apps it has: %s", serial, said.packages.reason)
            except (DeviceError, UsageError) as error:
                _log.info("%s does not say which apps it has: %s", serial, error)
            if wait_s is None or not self._online.get(serial, True):
                break
            await asyncio.sleep(wait_s)
        return said

    # --- setting off ----------

    def _start(self, trigger: Trigger, device: DeviceInfo | None) -> None:
        self._parts.supervisor.start(self._set_off(trigger, device), f"jobs on {trigger}")

    async def _set_off(
        self, trigger: Trigger, device: DeviceInfo | None, packages: frozenset[str] = frozenset()
    ) -> None:
        now_ms = self._parts.clock_ms()
        for job in await self._parts.store.jobs_on(trigger):
            if not waits_for(job, trigger, device, packages):
                continue
            try:
                await self._records.change(
                    job.id, lambda stored: set_off(stored, now_ms), f"on {trigger}"
                )
            except (UsageError, StoreError) as error:
                _log.warning("Job %d could not be set off: %s", job.id, error)


def updated_packages(before: PhoneSeen, now: PhoneSeen) -> frozenset[str]:
    """Name the apps that have another version than before; what is new was not updated."""
    return frozenset(
        package
        for package, version in now.packages.items()
        if before.packages.get(package, version) != version
    )
