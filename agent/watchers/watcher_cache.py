"""The watchers and commitments that something may still come of, in memory as the store has them.

Not a timer and not a rule. Invariants: what is here is what was committed last; changes are made
one after the other, each from the newest record, so that none is lost.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping

from agent.errors import UsageError
from agent.protocol import CommitmentChanged, Event, WatcherChanged
from agent.records import Commitment, Watcher, WatcherStatus
from agent.store.store import EventDraft, Store

MOST_LIVE = 10_000  # How many are read at the start: more than can be created.
NEWEST = 50


class WatcherCache:
    """The live ones of one core."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._watchers: dict[int, Watcher] = {}
        self._commitments: dict[int, Commitment] = {}
        self._last_watcher_id = 0
        self._last_commitment_id = 0
        self.changing = asyncio.Lock()
        """Held by whoever makes a record from what is here and stores it."""

    @property
    def watchers(self) -> Mapping[int, Watcher]:
        """Those that are active."""
        return self._watchers

    @property
    def commitments(self) -> Mapping[int, Commitment]:
        return self._commitments

    async def load(self) -> None:
        """Read what the store has. Raises StoreError."""
        watches = self._store.watches
        for watcher in await watches.watchers(limit=MOST_LIVE, live_only=True):
            self._keep(watcher)
        for commitment in await watches.commitments(limit=MOST_LIVE, live_only=True):
            self._keep(commitment)
        for newest in await watches.watchers(limit=1):
            self._last_watcher_id = newest.id
        for latest in await watches.commitments(limit=1):
            self._last_commitment_id = latest.id

    def on_commit(self, events: Iterable[Event]) -> bool:
        """Follow the store; says whether anything changed here."""
        changed = False
        for event in events:
            match event.msg:
                case WatcherChanged(watcher=watcher):
                    self._keep(watcher)
                    changed = True
                case CommitmentChanged(commitment=commitment):
                    self._keep(commitment)
                    changed = True
                case _:
                    pass
        return changed

    def _keep(self, record: Watcher | Commitment) -> None:
        if isinstance(record, Watcher):
            self._last_watcher_id = max(self._last_watcher_id, record.id)
            self._watchers.pop(record.id, None)
            if record.status is WatcherStatus.ACTIVE:
                self._watchers[record.id] = record
        else:
            self._last_commitment_id = max(self._last_commitment_id, record.id)
            self._commitments.pop(record.id, None)
            if not record.status.is_over:
                self._commitments[record.id] = record

    async def requested_watcher(self, request: str) -> Watcher | None:
        """Find the watcher that a request made before, live or one of the newest."""
        if not request:
            return None
        stored = await self._store.watches.watchers(limit=NEWEST)
        found = (one for one in (*self._watchers.values(), *stored) if one.request == request)
        return next(found, None)

    async def requested_commitment(self, request: str) -> Commitment | None:
        """Find the commitment that a request made before; see `requested_watcher`."""
        if not request:
            return None
        stored = await self._store.watches.commitments(limit=NEWEST)
        found = (one for one in (*self._commitments.values(), *stored) if one.request == request)
        return next(found, None)

    async def add_watcher(
        self, build: Callable[[int], Watcher], submission_id: str = ""
    ) -> Watcher:
        """Store a new watcher under the next id. Raises StoreError."""
        async with self.changing:
            number = await self._store.next_number("watcher", self._last_watcher_id)
            watcher = build(number)
            changed = WatcherChanged(watcher=watcher, reason="created")
            await self._store.append(EventDraft("", changed, submission_id))
            return watcher

    async def add_commitment(
        self, build: Callable[[int], Commitment], submission_id: str = ""
    ) -> Commitment:
        """Store a new commitment under the next id. Raises StoreError."""
        async with self.changing:
            number = await self._store.next_number("commitment", self._last_commitment_id)
            commitment = build(number)
            changed = CommitmentChanged(commitment=commitment, reason="created")
            await self._store.append(EventDraft("", changed, submission_id))
            return commitment

    async def change_watcher(
        self,
        watcher_id: int,
        rule: Callable[[Watcher], Watcher | None],
        reason: str,
        submission_id: str = "",
    ) -> Watcher:
        """Apply a rule to a watcher, live or not; one that gives None changes nothing.

        Raises UsageError when there is no such watcher, StoreError.
        """
        async with self.changing:
            stored = await self.watcher(watcher_id)
            changed = rule(stored)
            if changed is None:
                return stored
            msg = WatcherChanged(watcher=changed, reason=reason)
            await self._store.append(EventDraft("", msg, submission_id))
            return changed

    async def change_commitment(
        self,
        commitment_id: int,
        rule: Callable[[Commitment], Commitment | None],
        reason: str,
        submission_id: str = "",
    ) -> Commitment:
        """Apply a rule to a commitment; see `change_watcher`."""
        async with self.changing:
            stored = await self.commitment(commitment_id)
            changed = rule(stored)
            if changed is None:
                return stored
            msg = CommitmentChanged(commitment=changed, reason=reason)
            await self._store.append(EventDraft("", msg, submission_id))
            return changed

    async def commitment(self, commitment_id: int) -> Commitment:
        """Find a commitment, live or not. Raises UsageError, StoreError."""
        found = self._commitments.get(commitment_id)
        found = found or await self._store.watches.commitment(commitment_id)
        if found is None:
            raise UsageError(
                f"There is no commitment {commitment_id}.",
                "List them: switchboard commitments list",
            )
        return found

    async def watcher(self, watcher_id: int) -> Watcher:
        """Find a watcher, live or not. Raises UsageError, StoreError."""
        found = self._watchers.get(watcher_id) or await self._store.watches.watcher(watcher_id)
        if found is None:
            raise UsageError(
                f"There is no watcher {watcher_id}.", "List them: switchboard watchers list"
            )
        return found
