"""Phones ready to be taken and put back, by any number of threads and event loops.

The pool's own work, starting, resetting, checking and replacing phones, is done on an event loop of
its own in one thread, so that whoever takes or puts never waits for a phone but for a free one.
Not a lease between sessions (`agent.devices.fleet.fleet`): a pool's phones are the pool's alone.
Invariants: a phone that is handed over was reset, unless its last taker said that it need not be;
one that does not answer is replaced; `close` releases every waiter.
"""

import asyncio
import logging
import threading
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Self

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.pool.allocation import (
    EntryState,
    PoolAllocation,
    PoolClosedError,
    PooledPhone,
    PoolStats,
)
from agent.devices.pool.entries import PhoneAt, PoolEntry
from agent.errors import DeviceError, UsageError

START_TIMEOUT_S = 300.0
CHECK_INTERVAL_S = 10.0
_RETRY_S = 5.0
_CLOSE_TIMEOUT_S = 30.0
_ANY: frozenset[str] = frozenset()

_log = logging.getLogger(__name__)


class PhonePool:
    """A pool of phones; use it as a context manager, or `open` and `close` it.

    Args:
        entries: where its phones come from.
        check_interval_s: how often the free phones are asked whether they are well.
    """

    def __init__(
        self, entries: Sequence[PoolEntry], *, check_interval_s: float = CHECK_INTERVAL_S
    ) -> None:
        if not entries:
            raise UsageError("A pool needs phones.", "Add entries, or set pool.virtual.")
        self._entries = tuple(entries)
        self._check_interval_s = check_interval_s
        self._allocation = PoolAllocation([entry.tags for entry in entries])
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._work: set[asyncio.Task[None]] = set()

    # --- life ----------

    def open(self, *, timeout_s: float = START_TIMEOUT_S) -> Self:
        """Start every phone, and return when all of them answer. Blocks.

        Raises DeviceError with the first phone's reason when one cannot be started.
        """
        if self._loop is not None or self._allocation.is_closed:
            raise PoolClosedError("A pool can be opened only once.", "Make another one.")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="pool of phones")
        self._thread.start()
        try:
            self._run(self._start_all(), timeout_s)
        except BaseException:
            self.close()
            raise
        return self

    async def open_async(self, *, timeout_s: float = START_TIMEOUT_S) -> Self:
        """Do what `open` does, without blocking the event loop."""
        await asyncio.to_thread(self.open, timeout_s=timeout_s)
        return self

    def close(self) -> None:
        """Release every waiter with PoolClosedError, and let go of the phones; may be repeated."""
        self._allocation.close()
        loop, self._loop = self._loop, None
        thread, self._thread = self._thread, None
        if loop is None or thread is None:
            return
        try:
            asyncio.run_coroutine_threadsafe(self._stop_all(), loop).result(_CLOSE_TIMEOUT_S)
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    async def close_async(self) -> None:
        """Do what `close` does, without blocking the event loop."""
        await asyncio.to_thread(self.close)

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *_raised: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return await self.open_async()

    async def __aexit__(self, *_raised: object) -> None:
        await self.close_async()

    # --- taking and giving back ----------

    def get(self, timeout_s: float | None = None, *, tags: frozenset[str] = _ANY) -> PooledPhone:
        """Take a phone; blocks until one with the tags is free.

        Raises:
            PoolEmptyError: none came free in time.
            PoolClosedError: the pool is not open, or was closed meanwhile.
            UsageError: no phone of the pool has these tags.
        """
        self._check_open()
        return self._allocation.get(tags, timeout_s)

    async def get_async(
        self, timeout_s: float | None = None, *, tags: frozenset[str] = _ANY
    ) -> PooledPhone:
        """Take a phone as `get` does, without blocking the event loop."""
        self._check_open()
        return await self._allocation.get_async(tags, timeout_s)

    def put(self, phone: PooledPhone, *, reset: bool = True) -> None:
        """Give a phone back; never blocks, for the reset is done behind the caller's back.

        After `close` nothing is left to give it to, so nothing happens then.

        Raises UsageError when the phone is not with whoever puts it back.
        """
        loop = self._loop
        if self._allocation.is_closed or loop is None:
            return
        self._allocation.put(phone, EntryState.RESETTING if reset else EntryState.FREE)
        if reset:
            with suppress(RuntimeError):
                # Closed between the two: the loop takes no more work, and the phone is let go of.
                loop.call_soon_threadsafe(self._begin, self._reset(phone.entry))

    @contextmanager
    def phone(
        self, timeout_s: float | None = None, *, tags: frozenset[str] = _ANY
    ) -> Iterator[PooledPhone]:
        """Take a phone for the length of a block."""
        taken = self.get(timeout_s, tags=tags)
        try:
            yield taken
        finally:
            self.put(taken)

    def stats(self) -> PoolStats:
        """Return how many phones are free, taken, being reset or dead, and what was done so far."""
        return self._allocation.stats()

    # --- on the pool's own loop ----------

    def _check_open(self) -> None:
        if self._loop is None:
            raise PoolClosedError("The pool of phones is not open.", "Open it, or make another.")

    def _run(self, work: Coroutine[object, object, None], timeout_s: float) -> None:
        assert self._loop is not None
        running = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            running.result(timeout_s)
        except TimeoutError:
            running.cancel()
            raise DeviceError(
                f"The phones of the pool were not all ready within {timeout_s:g} s.",
                "Look at each with `switchboard devices list`.",
            ) from None

    def _begin(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._work.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._work.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("work on a pool of phones failed", exc_info=error)

    async def _start_all(self) -> None:
        await asyncio.gather(*(self._start(number) for number in range(len(self._entries))))
        self._begin(self._check_often())
        for server in {at[1] for at in self._allocation.free_serials().values()}:
            self._begin(self._watch(server))

    async def _start(self, number: int) -> None:
        self._place(number, await self._entries[number].start())
        await self._entries[number].reset()
        self._allocation.set_state(number, EntryState.FREE)

    async def _stop_all(self) -> None:
        for task in tuple(self._work):
            task.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)
        ended = await asyncio.gather(
            *(entry.stop() for entry in self._entries), return_exceptions=True
        )
        for error in ended:
            if isinstance(error, BaseException):
                _log.error("a phone of a pool was not let go of", exc_info=error)

    async def _reset(self, number: int) -> None:
        try:
            await self._entries[number].reset()
        except DeviceError as error:
            _log.warning("a phone of the pool was not reset and is replaced: %s", error)
            await self._replace(number)
            return
        self._allocation.count("resets")
        self._allocation.set_state(number, EntryState.FREE)

    async def _replace(self, number: int) -> None:
        """Bring another phone into a entry, however often that has to be tried."""
        self._allocation.set_state(number, EntryState.DEAD)
        while True:
            try:
                self._place(number, await self._entries[number].replace())
                await self._entries[number].reset()
            except DeviceError as error:
                _log.warning("a dead phone of the pool was not replaced: %s", error)
                await asyncio.sleep(_RETRY_S)
                continue
            self._allocation.count("replaced")
            self._allocation.set_state(number, EntryState.FREE)
            return

    async def _check_often(self) -> None:
        while True:
            await asyncio.sleep(self._check_interval_s)
            await asyncio.gather(*(self._check(n) for n in self._allocation.free_serials()))

    async def _check(self, number: int) -> None:
        if not self._allocation.claim(number, lambda state: state is EntryState.FREE):
            return
        try:
            await self._entries[number].check()
        except DeviceError as error:
            _log.warning("a free phone of the pool does not answer: %s", error)
            self._begin(self._replace(number))
        else:
            self._allocation.set_state(number, EntryState.FREE)

    async def _watch(self, server: str) -> None:
        """Take phones that the adb server says are away out of the pool at once."""
        client = AdbClient(ServerAddress.parse(server))
        while True:
            try:
                async for rows in client.track_devices():
                    there = {row.serial for row in rows if row.state == "device"}
                    for number, (serial, at) in self._allocation.free_serials().items():
                        if at == server and serial not in there:
                            self._begin(self._check(number))
            except DeviceError as error:
                _log.warning("the adb server of a pool is away: %s", error)
            await asyncio.sleep(_RETRY_S)

    def _place(self, number: int, at: PhoneAt) -> None:
        self._allocation.place(number, at.serial, str(at.address))
