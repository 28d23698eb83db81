"""Who has which phone of a pool, and who waits for one: the bookkeeping, without any phone.

Not the phones' life (`agent.devices.pool.pool`). Every method is short, takes one lock and may be
called from any thread or event loop. Invariants: a phone is with at most one taker; waiters are
served in the order they came, as far as tags allow; a wait that ends
early gives back a phone that was already handed over; after `close` nobody waits.
"""

import asyncio
import itertools
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.adb_device import AdbDevice
from agent.devices.scrcpy.link import ScrcpySettings
from agent.errors import DeviceTimeoutError, UsageError, WrongStateError

_CLOSED = "The pool of phones is closed."


class PoolEmptyError(DeviceTimeoutError, queue.Empty):
    """No phone came free in time; also `queue.Empty`, for those who know pools of that kind."""


class PoolClosedError(WrongStateError, RuntimeError):
    """The pool has ended; also a RuntimeError, for the same reason."""


class EntryState(StrEnum):
    """Where one phone of a pool is."""

    FREE = "free"
    TAKEN = "taken"
    RESETTING = "resetting"
    DEAD = "dead"


class PoolStats(msgspec.Struct, frozen=True, kw_only=True):
    """A pool at one moment, and what it has done so far."""

    size: int
    free: int
    taken: int
    resetting: int
    dead: int
    waiting: int
    gets: int
    puts: int
    resets: int
    replaced: int


@dataclass(frozen=True, slots=True)
class PooledPhone:
    """A phone that was taken from a pool; it is put back once."""

    serial: str
    server: str  # Its adb server, as host:port.
    tags: frozenset[str]
    entry: int
    ticket: int  # Which taking this was, so that an old one cannot be put back again.

    def device(self, scrcpy: ScrcpySettings | None = None) -> AdbDevice:
        """Return the phone to drive, in the caller's event loop; the caller closes it.

        Args:
            scrcpy: how to use a scrcpy server; None: not at all, so only one finger acts.
        """
        client = AdbClient(ServerAddress.parse(self.server))
        return AdbDevice(client, self.serial, scrcpy=scrcpy)


@dataclass(slots=True)
class _Entry:
    tags: frozenset[str]
    state: EntryState = EntryState.DEAD
    serial: str = ""
    server: str = ""
    ticket: int = 0


@dataclass(slots=True, eq=False)
class _Waiter:
    tags: frozenset[str]
    served: Future[PooledPhone]


class PoolAllocation:
    """The entries of one pool.

    Args:
        tags: one set for each entry.
    """

    def __init__(self, tags: list[frozenset[str]]) -> None:
        self._lock = threading.Lock()
        self._entries = [_Entry(frozenset(one)) for one in tags]
        self._waiters: list[_Waiter] = []
        self._tickets = itertools.count(1)
        self._closed = False
        self._counts = dict.fromkeys(("gets", "puts", "resets", "replaced"), 0)

    # --- taking ----------

    def get(self, tags: frozenset[str], timeout_s: float | None) -> PooledPhone:
        """Take a phone that has the tags; blocks the calling thread.

        Raises:
            PoolEmptyError: none came free in time.
            PoolClosedError: the pool is closed, or was while this waited.
            UsageError: no phone of the pool has these tags.
        """
        taken = self._take(tags)
        if isinstance(taken, PooledPhone):
            return taken
        try:
            return taken.served.result(timeout_s)
        except TimeoutError:
            given = self._leave(taken)
            if given is not None:
                return given
            raise _empty(tags, timeout_s) from None
        except BaseException:
            # An interrupt while it waited: what was handed over meanwhile goes to the next.
            given = self._leave(taken)
            if given is not None:
                self.give_back(given)
            raise

    async def get_async(self, tags: frozenset[str], timeout_s: float | None) -> PooledPhone:
        """Take a phone as `get` does, without blocking the event loop."""
        taken = self._take(tags)
        if isinstance(taken, PooledPhone):
            return taken
        try:
            async with asyncio.timeout(timeout_s):
                return await asyncio.shield(asyncio.wrap_future(taken.served))
        except TimeoutError:
            given = self._leave(taken)
            if given is not None:
                return given
            raise _empty(tags, timeout_s) from None
        except BaseException:
            given = self._leave(taken)
            if given is not None:
                self.give_back(given)
            raise

    def _take(self, tags: frozenset[str]) -> PooledPhone | _Waiter:
        with self._lock:
            if self._closed:
                raise PoolClosedError(_CLOSED, "Open another one.")
            if not any(tags <= entry.tags for entry in self._entries):
                raise UsageError(
                    f"No phone of the pool has the tags {', '.join(sorted(tags)) or '(none)'}.",
                    "Ask for other tags, or add such a phone to the pool.",
                )
            self._counts["gets"] += 1
            for number, entry in enumerate(self._entries):
                if entry.state is EntryState.FREE and tags <= entry.tags:
                    return self._hand_over(number)
            waiter = _Waiter(tags, Future())
            self._waiters.append(waiter)
            return waiter

    def _leave(self, waiter: _Waiter) -> PooledPhone | None:
        """Stop waiting; returns the phone that was handed over just before."""
        with self._lock:
            if waiter in self._waiters:
                self._waiters.remove(waiter)
                return None
        return None if waiter.served.exception() is not None else waiter.served.result()

    # --- giving back ----------

    def put(self, phone: PooledPhone, state: EntryState) -> None:
        """Take a phone back, free or to be reset first.

        Raises UsageError when it is not with the one who gives it back.
        """
        with self._lock:
            entry = self._entries[phone.entry] if 0 <= phone.entry < len(self._entries) else None
            if entry is None or entry.ticket != phone.ticket or entry.state is not EntryState.TAKEN:
                raise UsageError(
                    f"{phone.serial} was not taken from this pool.",
                    "Return each phone once, to the pool it came from.",
                )
            self._counts["puts"] += 1
            self._set(phone.entry, state)

    def give_back(self, phone: PooledPhone) -> None:
        """Make a phone free again that its taker never got."""
        with self._lock:
            self._counts["gets"] -= 1
            self._set(phone.entry, EntryState.FREE)

    def set_state(self, number: int, state: EntryState) -> None:
        """Set where a phone is; a free one goes to the first who waits."""
        with self._lock:
            self._set(number, state)

    def place(self, number: int, serial: str, server: str) -> None:
        """Set which phone stands in a entry."""
        with self._lock:
            self._entries[number].serial, self._entries[number].server = serial, server

    def claim(self, number: int, only: Callable[[EntryState], bool]) -> bool:
        """Take a entry out of circulation for work on it, if its state allows."""
        with self._lock:
            entry = self._entries[number]
            if self._closed or not only(entry.state):
                return False
            entry.state = EntryState.RESETTING
            return True

    def count(self, what: str) -> None:
        """Count something that was done: `resets` or `replaced`."""
        with self._lock:
            self._counts[what] += 1

    def free_serials(self) -> dict[int, tuple[str, str]]:
        """Return serial and server of every free entry, by its number."""
        with self._lock:
            return {
                number: (entry.serial, entry.server)
                for number, entry in enumerate(self._entries)
                if entry.state is EntryState.FREE
            }

    def stats(self) -> PoolStats:
        """Count the entries by state."""
        with self._lock:
            states = [entry.state for entry in self._entries]
            return PoolStats(
                size=len(states),
                free=states.count(EntryState.FREE),
                taken=states.count(EntryState.TAKEN),
                resetting=states.count(EntryState.RESETTING),
                dead=states.count(EntryState.DEAD),
                waiting=len(self._waiters),
                **self._counts,
            )

    def close(self) -> bool:
        """End it; every waiter gets PoolClosedError. Says whether this was the first time."""
        with self._lock:
            first, self._closed = not self._closed, True
            waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            waiter.served.set_exception(PoolClosedError(_CLOSED, "Open another one."))
        return first

    @property
    def is_closed(self) -> bool:
        return self._closed

    def _set(self, number: int, state: EntryState) -> None:
        entry = self._entries[number]
        entry.state = state
        if state is not EntryState.FREE or self._closed:
            return
        for waiter in self._waiters:
            if waiter.tags <= entry.tags:
                self._waiters.remove(waiter)
                waiter.served.set_result(self._hand_over(number))
                return

    def _hand_over(self, number: int) -> PooledPhone:
        entry = self._entries[number]
        entry.state, entry.ticket = EntryState.TAKEN, next(self._tickets)
        return PooledPhone(entry.serial, entry.server, entry.tags, number, entry.ticket)


def _empty(tags: frozenset[str], timeout_s: float | None) -> PoolEmptyError:
    wanted = f" with {', '.join(sorted(tags))}" if tags else ""
    return PoolEmptyError(
        f"No phone{wanted} came free within {timeout_s or 0:g} s.",
        "Return phones sooner, or make the pool larger.",
    )
