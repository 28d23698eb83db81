"""A few pages of a long list around where the operator looks, read from the core as they move.

Not a widget: it knows no rows. Invariants: one read at a time, and what is held was read for the
newest wish; no more pages are held than `HELD`, however long the list is.
"""

from collections.abc import Awaitable, Callable, Coroutine
from time import monotonic
from typing import Any, Generic, NamedTuple, TypeVar

R = TypeVar("R")

HELD = 3  # How many pages are held.
_REFRESH_S = 1.0  # How soon a list that changes is read again.


class Page(NamedTuple, Generic[R]):
    """What one read gave."""

    records: tuple[R, ...]
    after: str  # Where the next page begins; empty at the end.


Fetch = Callable[[str, str], Awaitable[Page[R]]]  # Read a page: of a query, from a place.


class Pager(Generic[R]):
    """The pages that are held.

    Args:
        fetch: reads a page of the core.
        spawn: runs a read beside the keys.
        changed: called when other pages are held.
    """

    def __init__(
        self,
        fetch: Fetch[R],
        spawn: Callable[[Coroutine[Any, Any, None], str], None],
        changed: Callable[[], None],
        *,
        clock_s: Callable[[], float] = monotonic,
    ) -> None:
        self._fetch = fetch
        self._spawn = spawn
        self._changed = changed
        self._clock_s = clock_s
        self._starts = [""]
        """Where the held pages begin, and those before them."""
        self._first = 0
        """The held page that comes first."""
        self._pages: list[Page[R]] = []
        self._query = ""
        self._wanted: str | None = ""
        self._is_reading = False
        self._is_stale = False
        self._read_s = float("-inf")

    # --- looking ----------

    @property
    def records(self) -> tuple[R, ...]:
        """What is held, in order."""
        return tuple(record for page in self._pages for record in page.records)

    @property
    def is_read(self) -> bool:
        """Whether anything was read yet."""
        return bool(self._pages)

    @property
    def has_before(self) -> bool:
        return self._first > 0

    @property
    def has_after(self) -> bool:
        return bool(self._pages) and bool(self._pages[-1].after)

    @property
    def is_outdated(self) -> bool:
        """Whether another wish came while a page is read: that page is of no use any more."""
        return self._wanted is not None

    # --- moving ----------

    def wish(self, query: str) -> None:
        """Begin anew with another query."""
        self._wanted = query
        self._work()

    def go_on(self) -> None:
        """Hold the next page too."""
        if self.has_after and not self._is_reading:
            self._run(self._go_on())

    def go_back(self) -> None:
        """Hold the page before too."""
        if self.has_before and not self._is_reading:
            self._run(self._go_back())

    def stale(self) -> None:
        """Note that the list has changed: it is read again, at most once a second."""
        self._is_stale = True
        self.tick()

    async def read_now(self) -> None:
        """Read again at once: the operator changed the list and goes on in it."""
        self._is_stale = True
        if not self._is_reading:
            self._is_reading = True
            await self._reading(self._catch_up())

    def tick(self) -> None:
        """Read again what has changed, if it is time."""
        if self._is_stale and self._clock_s() - self._read_s >= _REFRESH_S:
            self._work()

    # --- reading ----------

    def _work(self) -> None:
        if not self._is_reading:
            self._run(self._catch_up())

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        self._is_reading = True
        self._spawn(self._reading(work), "reading a list")

    async def _reading(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
            await self._catch_up()
        finally:
            self._is_reading = False
            self._read_s = self._clock_s()
        self._changed()

    async def _catch_up(self) -> None:
        """Read what is wished for, until nothing newer is."""
        while self._wanted is not None:
            self._query, self._wanted = self._wanted, None
            self._is_stale = False
            pages = [await self._fetch(self._query, "")]
            if self._wanted is None:
                self._starts, self._first, self._pages = [""], 0, pages
                self._note_next()
        if self._is_stale:
            self._is_stale = False
            await self._read_again()

    async def _read_again(self) -> None:
        count = max(1, len(self._pages))
        pages: list[Page[R]] = []
        start = self._starts[self._first]
        starts = self._starts[: self._first + 1]
        for _ in range(count):
            pages.append(await self._fetch(self._query, start))
            start = pages[-1].after
            if not start:
                break
            starts.append(start)
        if self._wanted is None:
            self._pages, self._starts = pages, starts

    async def _go_on(self) -> None:
        page = await self._fetch(self._query, self._pages[-1].after)
        if self._wanted is not None:
            return
        self._pages.append(page)
        self._note_next()
        if len(self._pages) > HELD:
            self._pages.pop(0)
            self._first += 1

    async def _go_back(self) -> None:
        page = await self._fetch(self._query, self._starts[self._first - 1])
        if self._wanted is not None:
            return
        self._first -= 1
        self._pages = [page, *self._pages[: HELD - 1]]

    def _note_next(self) -> None:
        """Remember where the page after the held ones begins."""
        start = self._pages[-1].after
        at = self._first + len(self._pages)
        if start and at >= len(self._starts):
            self._starts.append(start)
