"""Warm environments that many threads share, and several such pools by name.

After `emulator_pool.py` of android_env (docs/contracts.md, 3.3), without its hazards: who waits for
a pool that closes is told, an environment is put back once and into its own pool, and one whose
phone was lost gets another phone with its next reset.
"""

import logging
import queue
import threading
import time
from typing import Any, Self, TypedDict

from agent.errors import SwitchboardError, UsageError
from console.android_env.environment import VIRTUAL, AndroidEnvironment, make_phones
from console.evaluation.suites import BUILT_IN

_log = logging.getLogger(__name__)


class PoolClosedError(RuntimeError):
    """The pool is closed."""


class Stats(TypedDict):
    """A pool at one moment."""

    pool_size: int
    available: int
    in_use: int


class EmulatorPool:
    """Environments that are reset and ready, from when it is made until `close`.

    Args:
        pool_size: how many.
        task_path, avd_name, over_adb: as `AndroidEnvironment`'s.
        options: the other arguments of `AndroidEnvironment`, for each.

    Raises:
        UsageError: an argument.
        DeviceError: phones cannot be started.
    """

    def __init__(
        self,
        pool_size: int = 64,
        task_path: str = BUILT_IN,
        avd_name: str = VIRTUAL,
        *,
        over_adb: bool = False,
        **options: Any,
    ) -> None:
        if pool_size < 1:
            raise UsageError(f"pool_size is {pool_size}.", "Give 1 or more.")
        self._changed = threading.Condition()
        self._is_closed = False
        self._phones = make_phones(pool_size, task_path, avd_name, over_adb=over_adb)
        self._all: list[AndroidEnvironment] = []
        self._free: list[AndroidEnvironment] = []
        self._taken: set[AndroidEnvironment] = set()
        try:
            self._phones.open()
            for _ in range(pool_size):
                env = AndroidEnvironment(phones=self._phones, **options)
                self._all.append(env)
                env.reset()
        except BaseException:
            self.close()
            raise
        self._free += self._all

    def get(self, timeout: float | None = None) -> AndroidEnvironment:
        """Return an environment that nobody has; wait for one, without an end by default.

        Raises:
            queue.Empty: none came free in `timeout` seconds.
            PoolClosedError: the pool is closed, or was while this waited.
        """
        until = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while not self._is_closed and not self._free:
                left = None if until is None else until - time.monotonic()
                if left is not None and left <= 0:
                    raise queue.Empty
                self._changed.wait(left)
            if self._is_closed:
                raise PoolClosedError("The pool is closed. Make another one.")
            env = self._free.pop()
            self._taken.add(env)
            return env

    def put(self, env: AndroidEnvironment, reset: bool = True) -> None:
        """Put an environment back; nothing where the pool is closed.

        Args:
            reset: begin an episode anew first, as a phone that somebody else gets should be.

        Raises:
            UsageError: it is not of this pool, or already exists.
        """
        with self._changed:
            if self._is_closed:
                return
            if env not in self._taken:
                raise UsageError(
                    "The environment was not taken from this pool.",
                    "Return each environment once, to the pool it came from.",
                )
            self._taken.remove(env)
        if reset:
            try:
                env.reset()
            except SwitchboardError as error:
                # Its next reset has another phone.
                _log.warning("an environment of a pool was not reset: %s", error)
        with self._changed:
            if not self._is_closed:
                self._free.append(env)
                self._changed.notify()

    def get_stats(self) -> Stats:
        """Count the environments."""
        with self._changed:
            size, free = len(self._all), len(self._free)
        return {"pool_size": size, "available": free, "in_use": size - free}

    def close(self) -> None:
        """End every environment and the phones; may be repeated. Who waits is told."""
        with self._changed:
            self._is_closed = True
            ended, self._all, self._free = self._all, [], []
            self._changed.notify_all()
        try:
            for env in ended:
                env.close()
        finally:
            self._phones.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()


class EmulatorPoolManager:
    """Several pools by name, such as one for each suite."""

    def __init__(self) -> None:
        self._pools: dict[str, EmulatorPool] = {}
        self._lock = threading.Lock()

    def create_pool(self, name: str, **options: Any) -> EmulatorPool:
        """Make a pool; arguments as `EmulatorPool`'s. Raises ValueError: there is one already."""
        with self._lock:
            if name in self._pools:
                raise ValueError(f"There is already a pool {name!r}. Choose another name.")
            made = self._pools[name] = EmulatorPool(**options)
        return made

    def get(self, name: str, timeout: float | None = None) -> AndroidEnvironment:
        """Return an environment of a pool. Raises ValueError: there is none of that name."""
        return self._pool(name).get(timeout)

    def put(self, name: str, env: AndroidEnvironment, reset: bool = True) -> None:
        """Put an environment back into a pool. Raises ValueError, UsageError."""
        self._pool(name).put(env, reset)

    def get_stats(self, name: str) -> Stats:
        """Count the environments of a pool. Raises ValueError."""
        return self._pool(name).get_stats()

    def close(self, name: str | None = None) -> None:
        """End a pool, or all of them. Raises ValueError: there is none of that name."""
        if name is not None:
            self._pool(name)
        with self._lock:
            names = list(self._pools) if name is None else [name]
            ended = [pool for one in names if (pool := self._pools.pop(one, None)) is not None]
        for pool in ended:
            pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def _pool(self, name: str) -> EmulatorPool:
        with self._lock:
            if name not in self._pools:
                raise ValueError(f"There is no pool {name!r}.")
            return self._pools[name]
