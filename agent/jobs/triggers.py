"""What makes jobs due beside the clock: phones that come, boot or get apps, and the core's start.

Not the wake. Nothing is polled: a phone is looked at when it comes, and its boot and its apps are
compared with what was seen of it before. So an app that is updated while its phone stays connected
is noticed when the phone comes next, or when a session on it begins. Invariant: what happened once
makes a job due once.
"""

from __future__ import annotations

from collections.abc import Iterable

from agent.jobs.records import JobRecords
from agent.jobs.schedule import set_off, waits_for
from agent.protocol import DeviceChanged, Event
from agent.records import DeviceInfo, DeviceState, Trigger
from agent.sessions.parts import Parts


class Triggers:
    """The events of one core that jobs wait for."""

    def __init__(self, parts: Parts, records: JobRecords) -> None:
        self._parts = parts
        self._records = records
        self._begun = False
        self._online: dict[str, bool] = {}

    def begin(self) -> None:
        """Set off what waits for the start of the core, and listen from now on."""
        self._begun = True
        self._start(Trigger.CONSOLE_START, None)

    def on_commit(self, events: Iterable[Event]) -> None:
        """Follow what is told of phones."""
        for event in events:
            match event.msg:
                case DeviceChanged(device=device):
                    was = self._online.get(device.serial, False)
                    self._online[device.serial] = device.state is DeviceState.ONLINE
                    if self._online[device.serial] and not was and self._begun:
                        self._start(Trigger.DEVICE_CONNECTED, device)
                case _:
                    pass

    def _start(self, trigger: Trigger, device: DeviceInfo | None) -> None:
        self._parts.crew.start(self._set_off(trigger, device), f"jobs on {trigger}")

    async def _set_off(
        self, trigger: Trigger, device: DeviceInfo | None, packages: frozenset[str] = frozenset()
    ) -> None:
        """Make every job due that waits for what happened."""
        now_ms = self._parts.clock_ms()
        for job in await self._parts.store.jobs_on(trigger):
            if waits_for(job, trigger, device, packages):
                await self._records.change(
                    job.id, lambda stored: set_off(stored, now_ms), f"on {trigger}"
                )
