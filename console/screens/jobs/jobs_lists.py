"""The three lists of the Jobs screen: what is on each, read from the core in pages, as rows.

Not the screen. The filter is the Deck's (`widgets.lists.list_filter`): the store looks for its
rarest word, and of what it finds those are listed that hold them all. Invariant: a record that the
picture knows newer than the page is shown as the picture has it.
"""

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from enum import StrEnum
from typing import Any, TypeVar

from agent.core import Core
from agent.errors import UsageError
from agent.placement.needs import parse_needs
from agent.protocol import CommitmentSearch, JobQueue, WatcherList
from agent.records import Commitment, CommitmentStatus, DeviceInfo, Job, Watcher, WatcherStatus
from agent.state.device_names import device_names
from agent.state.reducer import State
from console.steps.pager import Page, Pager
from widgets.base import status
from widgets.base.rows import Parts, Row
from widgets.base.status import Mark
from widgets.lists.job_rows import heading, job_detail, job_rows
from widgets.lists.list_filter import ListFilter
from widgets.lists.watch_rows import (
    commitment_detail,
    commitment_heading,
    commitment_rows,
    watcher_detail,
    watcher_heading,
    watcher_rows,
)

PAGE = 100
Spawn = Callable[[Coroutine[Any, Any, None], str], None]
_Listed = TypeVar("_Listed", Job, Watcher, Commitment)


class Tab(StrEnum):
    """Which list is shown."""

    JOBS = "jobs"
    WATCHERS = "watchers"
    COMMITMENTS = "commitments"


EMPTY = {
    Tab.JOBS: ("No jobs.", "Press n to have something done later, or repeatedly."),
    Tab.WATCHERS: (
        "No watchers.",
        "Press n to be notified when a phone or a page shows something.",
    ),
    Tab.COMMITMENTS: ("No commitments.", "Press n to be reminded of something."),
}
"""What is not there, and what fills the place."""


class JobLists:
    """Jobs, watchers and commitments as far as they are read."""

    def __init__(self, core: Core, spawn: Spawn, changed: Callable[[], None]) -> None:
        self._core = core
        self._jobs: Pager[Job] = Pager(self._read_jobs, spawn, changed)
        self._watchers: Pager[Watcher] = Pager(self._read_watchers, spawn, changed)
        self._commitments: Pager[Commitment] = Pager(self._read_commitments, spawn, changed)
        self._seen: State | None = None

    def pager(self, tab: Tab) -> Pager[Any]:
        shelves: dict[Tab, Pager[Any]] = {
            Tab.JOBS: self._jobs,
            Tab.WATCHERS: self._watchers,
            Tab.COMMITMENTS: self._commitments,
        }
        return shelves[tab]

    def follow(self, state: State) -> None:
        """Note what has changed in the picture since the last time."""
        before, self._seen = self._seen, state
        pairs = (
            (Tab.JOBS, state.jobs, before.jobs if before else None),
            (Tab.WATCHERS, state.watchers, before.watchers if before else None),
            (Tab.COMMITMENTS, state.commitments, before.commitments if before else None),
        )
        for tab, now, then in pairs:
            if then is not None and now is not then:
                self.pager(tab).stale()
            else:
                self.pager(tab).tick()

    # --- rows ----------

    def jobs(self, state: State) -> tuple[Job, ...]:
        return _newest(self._jobs, state.jobs)

    def watchers(self, state: State) -> tuple[Watcher, ...]:
        found = _newest(self._watchers, state.watchers)
        return tuple(
            sorted(found, key=lambda one: 0 if one.unread else _WATCHERS_FIRST[one.status])
        )

    def commitments(self, state: State) -> tuple[Commitment, ...]:
        found = _newest(self._commitments, state.commitments)
        return tuple(sorted(found, key=_commitment_place))

    def heading(self, tab: Tab, width: int) -> Parts:
        match tab:
            case Tab.JOBS:
                return heading(width)
            case Tab.WATCHERS:
                return watcher_heading(width)
            case Tab.COMMITMENTS:
                return commitment_heading(width)

    def rows(self, tab: Tab, state: State, *, now_ms: int, width: int) -> list[Row]:
        match tab:
            case Tab.JOBS:
                return job_rows(self.jobs(state), now_ms=now_ms, width=width)
            case Tab.WATCHERS:
                return watcher_rows(self.watchers(state), now_ms=now_ms, width=width)
            case Tab.COMMITMENTS:
                return commitment_rows(self.commitments(state), now_ms=now_ms, width=width)

    @staticmethod
    def detail(record: Job | Watcher | Commitment, now_ms: int) -> Parts:
        match record:
            case Job():
                return job_detail(record, now_ms)
            case Watcher():
                return watcher_detail(record, now_ms)
            case Commitment():
                return commitment_detail(record, now_ms)

    def find(self, tab: Tab, key: str, state: State) -> Job | Watcher | Commitment | None:
        """Return the record of a row."""
        return next((one for one in self.held(tab, state) if str(one.id) == key), None)

    def held(self, tab: Tab, state: State) -> tuple[Job | Watcher | Commitment, ...]:
        """Return the records of a list, in the order of its rows."""
        match tab:
            case Tab.JOBS:
                return self.jobs(state)
            case Tab.WATCHERS:
                return self.watchers(state)
            case Tab.COMMITMENTS:
                return self.commitments(state)

    # --- reading ----------

    async def _read_jobs(self, text: str, after: str) -> Page[Job]:
        async def read(query: str, after: str) -> Page[Job]:
            reply = await self._core.request(JobQueue(query=query, limit=PAGE, after=after))
            return Page(reply.jobs, reply.after)

        return await self._fitting(text, after, self._jobs, read, status.JOB)

    async def _read_watchers(self, text: str, after: str) -> Page[Watcher]:
        async def read(query: str, after: str) -> Page[Watcher]:
            op = WatcherList(query=query, limit=PAGE, before=int(after or 0))
            found = (await self._core.request(op)).watchers
            return Page(found, str(found[-1].id) if len(found) == PAGE else "")

        return await self._fitting(text, after, self._watchers, read, status.WATCHER)

    async def _read_commitments(self, text: str, after: str) -> Page[Commitment]:
        async def read(query: str, after: str) -> Page[Commitment]:
            op = CommitmentSearch(query=query, limit=PAGE, before=int(after or 0))
            found = (await self._core.request(op)).commitments
            return Page(found, str(found[-1].id) if len(found) == PAGE else "")

        return await self._fitting(text, after, self._commitments, read, status.COMMITMENT)

    async def _fitting(
        self,
        text: str,
        after: str,
        pager: Pager[_Listed],
        read: Callable[[str, str], Awaitable[Page[_Listed]]],
        marks: Mapping[Any, Mark],
    ) -> Page[_Listed]:
        """Read until a page of what holds every word of a filter is full."""
        wanted = ListFilter.of(text)
        # The store knows neither what a state is called here nor what phones are called.
        own = [mark.word for state, mark in marks.items() if mark.word not in state.value]
        names = [name.casefold() for name in device_names(self._devices).values()]
        query = wanted.rarest(unknown=own, unknown_phones=names)
        page = await read(query, after)
        kept = [one for one in page.records if self._fits(wanted, one)]
        while len(kept) < PAGE and page.after and not pager.is_outdated:
            page = await read(query, page.after)
            kept += [one for one in page.records if self._fits(wanted, one)]
        return Page(tuple(kept), page.after)

    def _fits(self, wanted: ListFilter, one: Job | Watcher | Commitment) -> bool:
        known = [self._devices[serial] for serial in one.places if serial in self._devices]
        names = device_names(self._devices)
        called = [names[device.serial] for device in known] if wanted.phones else []

        def tags() -> list[str]:
            named = [place[1:] for place in one.places if place.startswith("#")]
            return [*named, *_needed(one), *(tag for device in known for tag in device.tags)]

        return wanted.fits(" ".join((*one.places, *called)), tags, lambda: _search_text(one))

    @property
    def _devices(self) -> Mapping[str, DeviceInfo]:
        return self._seen.devices if self._seen is not None else {}


def _needed(one: Job | Watcher | Commitment) -> tuple[str, ...]:
    if isinstance(one, Job):
        with suppress(UsageError):
            return parse_needs(str(one.payload_json.get("needs", ""))).tags
    return ()


def _search_text(one: Job | Watcher | Commitment) -> str:
    """Write what the words of a filter are looked for in, beside phones and tags."""
    match one:
        case Job():
            return f"{one.title} {one.prompt} {one.status} {status.JOB[one.status].word}"
        case Watcher():
            prompt = one.delivery_json.get("prompt", "")
            word = status.WATCHER[one.status].word
            return f"{one.title} {one.type} {prompt} {one.status} {word}"
        case Commitment():
            word = status.COMMITMENT[one.status].word
            return f"{one.title} {one.description} {one.status} {word}"


_WATCHERS_FIRST = {WatcherStatus.ACTIVE: 1, WatcherStatus.FIRED: 2, WatcherStatus.STOPPED: 3}


def _commitment_place(one: Commitment) -> tuple[int, int]:
    """Order commitments: what is due, what comes due, what has no time, what is over."""
    if one.status.is_over:
        return (3, -one.updated_at)
    if one.status is CommitmentStatus.FIRED:
        return (0, one.due_at)
    return (1, one.due_at) if one.due_at else (2, -one.id)


def _newest(pager: Pager[Any], known: Mapping[int, Any]) -> tuple[Any, ...]:
    return tuple(known.get(one.id, one) for one in pager.records)
