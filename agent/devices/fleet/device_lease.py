"""Hold the lease on a phone while it is driven: mark it, keep the mark fresh, notice silence.

Not the queue for a phone, which is the fleet's. Invariants: nobody acts on a phone that somebody
else has marked; a driver that was overtaken while it was away is refused before it acts again;
silence of a phone that is driven is noticed within two seconds.
"""

import asyncio
import logging
import os
import platform
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager

from msgspec.structs import replace

from agent.devices.adb.liveness import EVERY_S, answers
from agent.devices.fleet.device_entry import DeviceEntry
from agent.devices.fleet.device_lease_file import (
    RENEW_EVERY_S,
    DeviceLeaseFile,
    LeaseResult,
    Marked,
)
from agent.devices.fleet.device_registry import DeviceRegistry, unavailable
from agent.errors import DeviceError, DeviceLostError

IDLE_EVERY_S = 5.0  # How often a phone that nobody drives is asked for a word.
_ELSEWHERE = "elsewhere: "
_MEANWHILE = "somebody else, who gave it back"
_GIVE_BACK_S = 3.0
_LOOK_S = 0.5
_log = logging.getLogger(__name__)


class DeviceLeases:
    """The leases that one fleet holds on phones.

    Args:
        key: tells this fleet from every other; its successor on the same data directory has the
            same, and so need not wait until the leases of a killed one run out.
        may_keep: whether this host may keep phones to itself: it may not while it cannot say to
            other hosts that it is there, for they take its sessions then.
    """

    def __init__(
        self, registry: DeviceRegistry, key: str, may_keep: Callable[[], bool] = lambda: True
    ) -> None:
        self._registry = registry
        self._key = key
        self._may_keep = may_keep
        self._tasks: set[asyncio.Task[None]] = set()
        self._giving: dict[str, asyncio.Task[None]] = {}

    @asynccontextmanager
    async def hold(self, entry: DeviceEntry, driver: str) -> AsyncIterator[None]:
        """Hold the lease for the block; the caller is the one driver of this fleet.

        Raises DeviceLostError when another process or host has it, with its owner.
        """
        marker = self._marker(entry, driver)
        looked_s = await self._take(entry, marker)
        entry.taken_by = ""
        entry.mark_looked_s = looked_s
        self._registry.set(entry, replace(entry.info, driver=driver))
        keeping = [
            self._start(self._renew(entry, marker), f"lease of {entry.serial}"),
            self._start(self._listen(entry), f"silence of {entry.serial}"),
        ]
        try:
            yield
        finally:
            for task in keeping:
                task.cancel()
            entry.taken_by = ""
            entry.mark_looked_s = 0.0
            self._registry.set(entry, replace(entry.info, driver=""))
            if not entry.waiting:
                self._giving[entry.serial] = self._start(
                    self._give_back(entry, marker), f"give back {entry.serial}"
                )
            if entry.silent:
                self._start(self._until_it_answers(entry), f"answer of {entry.serial}")

    def watch_idle(self) -> None:
        """Notice also the silence of phones that nobody drives."""
        self._start(self._listen_to_idle(), "silence of idle phones")

    async def close(self) -> None:
        """Give back what is being given back, and stop looking."""
        giving = [task for task in self._tasks if task.get_name().startswith("give back")]
        if giving:
            await asyncio.wait(giving, timeout=_GIVE_BACK_S)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # --- the mark ----------

    def _marker(self, entry: DeviceEntry, driver: str) -> DeviceLeaseFile:
        owner = f"{driver}@{platform.node()}:{os.getpid()}"
        return DeviceLeaseFile(
            self._registry.client(entry), entry.serial, owner=owner, key=self._key
        )

    async def _take(self, entry: DeviceEntry, marker: DeviceLeaseFile) -> float:
        """Mark a phone, if it is not marked from here; returns when that was."""
        giving = self._giving.pop(entry.serial, None)
        if giving is not None:
            # Or it would give back what is taken here.
            await asyncio.wait({giving})
        if not entry.is_online:
            raise unavailable(entry.info)
        if self._registry.is_to_look_at(entry):
            raise DeviceLostError(
                f"{entry.serial} is a phone of an environment and read-only here.",
                "Choose another phone.",
            )
        now_s = asyncio.get_running_loop().time()
        if now_s < entry.marked_until_s:
            return entry.marked_until_s - RENEW_EVERY_S
        try:
            marked = await marker.take()
        except DeviceLostError:
            raise
        except DeviceError as error:
            if entry.info.driver.startswith(_ELSEWHERE):
                raise DeviceLostError(
                    f"{entry.serial} was driven {entry.info.driver}, and its present state is "
                    "unknown.",
                    f"It is asked again. {error.message}",
                ) from error
            # A phone too slow to be marked can still be driven; the mark is tried again.
            _log.info("%s could not be marked as driven: %s", entry.serial, error)
            return now_s
        if marked.standing is not LeaseResult.THEIRS:
            entry.marked_until_s = now_s + RENEW_EVERY_S
            entry.mark_epoch = marked.epoch
            return now_s
        self._registry.set(entry, replace(entry.info, driver=_ELSEWHERE + marked.owner))
        self._start(self._until_free(entry), f"foreign lease of {entry.serial}")
        raise DeviceLostError(
            f"{entry.serial} is driven by {marked.owner}.",
            f"Wait until it is given back; after a kill it is free in {marked.left_s} s.",
        )

    async def _until_free(self, entry: DeviceEntry) -> None:
        """Look now and then whether another process has given a phone back."""
        marker = self._marker(entry, "")
        marked = Marked(LeaseResult.THEIRS, left_s=1)
        while marked.standing is LeaseResult.THEIRS and entry.info.driver.startswith(_ELSEWHERE):
            await asyncio.sleep(min(max(marked.left_s, 1), RENEW_EVERY_S))
            try:
                marked = await marker.look()
            except DeviceError as error:
                _log.debug("%s did not say who drives it: %s", entry.serial, error)
        if entry.info.driver.startswith(_ELSEWHERE):
            self._registry.set(entry, replace(entry.info, driver=""))

    async def _renew(self, entry: DeviceEntry, marker: DeviceLeaseFile) -> None:
        wait_s = RENEW_EVERY_S
        while True:
            await asyncio.sleep(wait_s)
            if not self._may_keep():
                # The mark runs out by itself, and nobody acts from here any more.
                wait_s = _LOOK_S
                continue
            wait_s = RENEW_EVERY_S
            began_s = asyncio.get_running_loop().time()
            if entry.is_doubted:
                # Or another phone would be marked as driven from here.
                entry.mark_looked_s = began_s
                continue
            try:
                # The phone may be reached through another server by now.
                marker = self._marker(entry, entry.info.driver)
                marked = await marker.take()
            except DeviceError as error:
                _log.debug("The lease on %s was not renewed: %s", entry.serial, error)
                entry.mark_looked_s = began_s
                continue
            if marked.standing is LeaseResult.THEIRS:
                entry.taken_by = marked.owner
            elif marked.epoch > entry.mark_epoch > 0:
                # It ran out, and whoever had it since has given it back: our turn is over.
                entry.taken_by = _MEANWHILE
            else:
                entry.taken_by = ""
                entry.mark_epoch = marked.epoch
            entry.mark_looked_s = began_s

    async def _give_back(self, entry: DeviceEntry, marker: DeviceLeaseFile) -> None:
        entry.marked_until_s = 0.0
        entry.mark_epoch = 0
        if entry.is_doubted:
            return
        try:
            async with asyncio.timeout(_GIVE_BACK_S):
                await marker.give_back()
        except (DeviceError, TimeoutError) as error:
            _log.info("The lease on %s was left to run out: %s", entry.serial, error)

    # --- silence ----------

    async def _listen_to_idle(self) -> None:
        while True:
            await asyncio.sleep(IDLE_EVERY_S)
            idle = [one for one in self._registry.entries if one.is_online and not one.info.driver]
            await asyncio.gather(*(self._hear(entry) for entry in idle))

    async def _hear(self, entry: DeviceEntry) -> None:
        heard = await answers(self._registry.client(entry), entry.serial)
        if heard or entry.info.driver or not entry.is_online:
            return
        self._registry.set_silent(entry, silent=True)
        self._start(self._until_it_answers(entry), f"answer of {entry.serial}")

    async def _listen(self, entry: DeviceEntry) -> None:
        while True:
            await asyncio.sleep(EVERY_S)
            if entry.is_online or entry.silent:
                heard = await answers(self._registry.client(entry), entry.serial)
                self._registry.set_silent(entry, silent=not heard)

    async def _until_it_answers(self, entry: DeviceEntry) -> None:
        while entry.silent:
            heard = await answers(self._registry.client(entry), entry.serial)
            self._registry.set_silent(entry, silent=not heard)
            await asyncio.sleep(EVERY_S)

    def _start(self, work: Coroutine[object, object, None], name: str) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
