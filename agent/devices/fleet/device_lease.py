"""Hold the lease on a phone while it is driven: mark it, keep the mark fresh, notice silence.

Not the queue for a phone, which is the fleet's. Invariants: nobody acts on a phone that somebody
else has marked; a driver that was overtaken while it was away is refused before it acts again;
silence of a phone that is driven is noticed within two seconds.
"""

from __future__ import annotations

import asyncio
import logging
import os
import platform
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager

from msgspec.structs import replace

from agent.devices.adb.liveness import EVERY_S, answers
from agent.devices.fleet.device_entry import DeviceEntry
from agent.devices.fleet.device_lease_file import RENEW_EVERY_S, DeviceLeaseFile, Marked, Standing
from agent.devices.fleet.device_registry import DeviceRegistry, away
from agent.errors import DeviceError, DeviceLostError

IDLE_EVERY_S = 5.0
"""How often a phone that nobody drives is asked for a word."""
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
    async def hold(self, slot: DeviceEntry, driver: str) -> AsyncIterator[None]:
        """Hold the lease for the block; the caller is the one driver of this fleet.

        Raises DeviceLostError when another process or host has it, with its owner.
        """
        marker = self._marker(slot, driver)
        looked_s = await self._take(slot, marker)
        slot.taken_by = ""
        slot.mark_looked_s = looked_s
        self._registry.set(slot, replace(slot.info, driver=driver))
        keeping = [
            self._start(self._renew(slot, marker), f"lease of {slot.serial}"),
            self._start(self._listen(slot), f"silence of {slot.serial}"),
        ]
        try:
            yield
        finally:
            for task in keeping:
                task.cancel()
            slot.taken_by = ""
            slot.mark_looked_s = 0.0
            self._registry.set(slot, replace(slot.info, driver=""))
            if not slot.waiting:
                self._giving[slot.serial] = self._start(
                    self._give_back(slot, marker), f"give back {slot.serial}"
                )
            if slot.silent:
                self._start(self._until_it_answers(slot), f"answer of {slot.serial}")

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

    def _marker(self, slot: DeviceEntry, driver: str) -> DeviceLeaseFile:
        owner = f"{driver}@{platform.node()}:{os.getpid()}"
        return DeviceLeaseFile(self._registry.client(slot), slot.serial, owner=owner, key=self._key)

    async def _take(self, slot: DeviceEntry, marker: DeviceLeaseFile) -> float:
        """Mark a phone, if it is not marked from here; returns when that was."""
        giving = self._giving.pop(slot.serial, None)
        if giving is not None:
            # Or it would give back what is taken here.
            await asyncio.wait({giving})
        if not slot.is_online:
            raise away(slot.info)
        if self._registry.is_to_look_at(slot):
            raise DeviceLostError(
                f"{slot.serial} is a phone of an environment, here to be looked at.",
                "Choose another phone.",
            )
        now_s = asyncio.get_running_loop().time()
        if now_s < slot.marked_until_s:
            return slot.marked_until_s - RENEW_EVERY_S
        try:
            marked = await marker.take()
        except DeviceLostError:
            raise
        except DeviceError as error:
            if slot.info.driver.startswith(_ELSEWHERE):
                raise DeviceLostError(
                    f"{slot.serial} was driven {slot.info.driver}, and does not say whether it "
                    "still is.",
                    f"It is asked again. {error.message}",
                ) from error
            # A phone too slow to be marked can still be driven; the mark is tried again.
            _log.info("%s could not be marked as driven: %s", slot.serial, error)
            return now_s
        if marked.standing is not Standing.THEIRS:
            slot.marked_until_s = now_s + RENEW_EVERY_S
            slot.mark_epoch = marked.epoch
            return now_s
        self._registry.set(slot, replace(slot.info, driver=_ELSEWHERE + marked.owner))
        self._start(self._until_free(slot), f"foreign lease of {slot.serial}")
        raise DeviceLostError(
            f"{slot.serial} is driven by {marked.owner}.",
            f"Wait until it is given back; after a kill it is free in {marked.left_s} s.",
        )

    async def _until_free(self, slot: DeviceEntry) -> None:
        """Look now and then whether another process has given a phone back."""
        marker = self._marker(slot, "")
        marked = Marked(Standing.THEIRS, left_s=1)
        while marked.standing is Standing.THEIRS and slot.info.driver.startswith(_ELSEWHERE):
            await asyncio.sleep(min(max(marked.left_s, 1), RENEW_EVERY_S))
            try:
                marked = await marker.look()
            except DeviceError as error:
                _log.debug("%s did not say who drives it: %s", slot.serial, error)
        if slot.info.driver.startswith(_ELSEWHERE):
            self._registry.set(slot, replace(slot.info, driver=""))

    async def _renew(self, slot: DeviceEntry, marker: DeviceLeaseFile) -> None:
        wait_s = RENEW_EVERY_S
        while True:
            await asyncio.sleep(wait_s)
            if not self._may_keep():
                # The mark runs out by itself, and nobody acts from here any more.
                wait_s = _LOOK_S
                continue
            wait_s = RENEW_EVERY_S
            began_s = asyncio.get_running_loop().time()
            try:
                # The phone may be reached through another server by now.
                marker = self._marker(slot, slot.info.driver)
                marked = await marker.take()
            except DeviceError as error:
                _log.debug("The lease on %s was not renewed: %s", slot.serial, error)
                slot.mark_looked_s = began_s
                continue
            if marked.standing is Standing.THEIRS:
                slot.taken_by = marked.owner
            elif marked.epoch > slot.mark_epoch > 0:
                # It ran out, and whoever had it since has given it back: our turn is over.
                slot.taken_by = _MEANWHILE
            else:
                slot.taken_by = ""
                slot.mark_epoch = marked.epoch
            slot.mark_looked_s = began_s

    async def _give_back(self, slot: DeviceEntry, marker: DeviceLeaseFile) -> None:
        slot.marked_until_s = 0.0
        slot.mark_epoch = 0
        try:
            async with asyncio.timeout(_GIVE_BACK_S):
                await marker.give_back()
        except (DeviceError, TimeoutError) as error:
            _log.info("The lease on %s was left to run out: %s", slot.serial, error)

    # --- silence ----------

    async def _listen_to_idle(self) -> None:
        while True:
            await asyncio.sleep(IDLE_EVERY_S)
            idle = [one for one in self._registry.slots if one.is_online and not one.info.driver]
            await asyncio.gather(*(self._hear(slot) for slot in idle))

    async def _hear(self, slot: DeviceEntry) -> None:
        heard = await answers(self._registry.client(slot), slot.serial)
        if heard or slot.info.driver or not slot.is_online:
            return
        self._registry.set_silent(slot, silent=True)
        self._start(self._until_it_answers(slot), f"answer of {slot.serial}")

    async def _listen(self, slot: DeviceEntry) -> None:
        while True:
            await asyncio.sleep(EVERY_S)
            if slot.is_online or slot.silent:
                heard = await answers(self._registry.client(slot), slot.serial)
                self._registry.set_silent(slot, silent=not heard)

    async def _until_it_answers(self, slot: DeviceEntry) -> None:
        while slot.silent:
            heard = await answers(self._registry.client(slot), slot.serial)
            self._registry.set_silent(slot, silent=not heard)
            await asyncio.sleep(EVERY_S)

    def _start(self, work: Coroutine[object, object, None], name: str) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
