"""Named tasks whose failure is somebody's business: none is forgotten, none dies in silence.

Not a scheduler. Invariants: every task that the core starts is held here until it ends; an
exception that leaves one is reported under its name; closing ends them all within a bound.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
_log = logging.getLogger(__name__)


class Supervisor:
    """The tasks of one core."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False
        self.report: Callable[[str, Exception], Awaitable[None]] | None = None
        """Told of each failure: the task's name and the exception."""

    def start(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        task = asyncio.create_task(self._supervise(work, name), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # A task that is cancelled before its first step never looks at its work.
        task.add_done_callback(lambda _: work.close())
        if self._closing:
            task.cancel()
        return task

    async def close(self, *, grace_s: float = 2.0) -> tuple[str, ...]:
        """Cancel every task but the caller's and wait for them.

        Returns:
            The names of those that would not end in time.
        """
        self._closing = True
        mine = asyncio.current_task()
        others = {task for task in self._tasks if task is not mine}
        for task in others:
            task.cancel()
        if not others:
            return ()
        _, late = await asyncio.wait(others, timeout=grace_s)
        return tuple(sorted(task.get_name() for task in late))

    async def _supervise(self, work: Coroutine[Any, Any, None], name: str) -> None:
        try:
            await work
        except Exception as error:
            _log.exception("%s failed", name)
            if self.report is not None and not self._closing:
                await self.report(name, error)


async def settled(work: Awaitable[T]) -> T:
    """Wait for work to end however often cancelled meanwhile; the cancellation is raised then.

    For writes whose outcome decides what may be written next.
    """
    task = asyncio.ensure_future(work)
    cancellation: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancellation = error
    if cancellation is None:
        return task.result()
    failure = None if task.cancelled() else task.exception()
    if failure is not None:
        _log.warning("Work that was to settle before a cancellation failed: %s", failure)
    raise cancellation
