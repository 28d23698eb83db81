"""Keep the warrants of one core: their records and uses, folded from the store's events.

Invariants: a warrant whose record or uses are not as they were signed allows nothing; a use is
stored under a lease of its warrant before it lets anything pass, so that two sessions, or two cores
with one key, never use the same rest; what was used stays used whatever becomes of the act.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from agent import protocol
from agent.errors import ConfigError, FencedError, UsageError
from agent.records import Effect, Warrant, WarrantStatus, WarrantUse, WarrantView
from agent.safety.warrants.borderline import cases_of
from agent.safety.warrants.reach import Reach, Scene, reach_of
from agent.safety.warrants.signing import signed_use, why_void
from agent.safety.warrants.wording import clause_lines
from agent.store.leases import Lease
from agent.store.store import EventDraft, Store
from agent.warrants.key_file import WarrantKey
from agent.warrants.marks import WarrantMarks

_TYPES = ("warrant_changed", "warrant_used")
_MOST_FACTS = 50_000
_NEWEST_FACTS = 500
_LEASE_MS = 10_000
_TRIES, _TRY_S = 40, 0.05
Gaps = Callable[[Warrant], tuple[str, ...]]


class WarrantStore:
    """The warrants of one core.

    Args:
        store: where their events are.
        data_dir: where the operator's key and the marks are.
        clock_ms: the time by which they end.
        gaps: what the words of a draft leave open.
    """

    def __init__(
        self, store: Store, data_dir: Path, clock_ms: Callable[[], int], gaps: Gaps
    ) -> None:
        self._store = store
        self.key = WarrantKey(data_dir)
        self.marks = WarrantMarks(data_dir)
        self._clock_ms = clock_ms
        self._gaps = gaps
        self._warrants: dict[str, Warrant] = {}
        self._uses: dict[str, list[WarrantUse]] = {}
        self._revoked: set[str] = set()
        self._seen: set[int] = set()
        self._lock = asyncio.Lock()

    async def load(self) -> None:
        """Read what is stored. Raises StoreError."""
        self.on_commit(await self._store.facts(_TYPES, limit=_MOST_FACTS))

    def on_commit(self, events: Iterable[protocol.Event]) -> None:
        """Follow the store; an event that is known is known once."""
        for event in events:
            match event.msg:
                case protocol.WarrantChanged(warrant=warrant) if self._is_new(event):
                    self._warrants[warrant.warrant_id] = warrant
                    if warrant.status is WarrantStatus.REVOKED:
                        self._revoked.add(warrant.warrant_id)
                case protocol.WarrantUsed(use=use) if self._is_new(event):
                    self._uses.setdefault(use.warrant_id, []).append(use)
                case _:
                    pass

    def _is_new(self, event: protocol.Event) -> bool:
        is_new = event.event_id not in self._seen
        self._seen.add(event.event_id)
        return is_new

    def views(self, warrant_id: str = "", limit: int = 50) -> tuple[WarrantView, ...]:
        """List warrants, the newest first; those that a part of an id names."""
        found = [one for one in self._warrants if one.startswith(warrant_id)]
        return tuple(self._view(self._warrants[one]) for one in reversed(found))[: max(limit, 0)]

    def view(self, id_or_prefix: str) -> WarrantView:
        """Find one by its id or a unique prefix. Raises UsageError."""
        found = [one for one in self._warrants if id_or_prefix and one.startswith(id_or_prefix)]
        if len(found) != 1:
            which = "several warrants" if found else "no warrant"
            raise UsageError(
                f"{id_or_prefix[:40]!r} names {which}.", "List them: switchboard warrants list"
            )
        return self._view(self._warrants[found[0]])

    def in_force(self) -> tuple[WarrantView, ...]:
        """List those that allow something now, the oldest first."""
        signed = (one for one in self._warrants.values() if one.mac)
        now_ms = self._clock_ms()
        living = [one for one in signed if one.expires_ms > now_ms]
        views = [self._bare_view(one) for one in living]
        return tuple(one for one in views if not one.trouble)

    async def use(
        self, warrant_id: str, effect: Effect, scene: Scene, *, session: str, call_id: str
    ) -> Reach | None:
        """Store that an act passes, and return by which clause; None: it does not.

        Raises StoreError.
        """
        async with self._lock, self._leased(warrant_id, session) as lease:
            if lease is None:
                return None
            self.on_commit(await self._store.facts(_TYPES, limit=_NEWEST_FACTS))
            now = self._bare_view(self._warrants[warrant_id])
            reach = None if now.trouble else reach_of(effect, now.warrant, now.uses, scene)
            if reach is None or not reach.is_inside:
                return None
            use = WarrantUse(
                warrant_id=warrant_id,
                number=len(now.uses) + 1,
                clause=reach.clause,
                amount=reach.amount,
                session=session,
                call_id=call_id,
            )
            try:
                stored = protocol.WarrantUsed(use=signed_use(use, self.key.read()))
                self.on_commit(await self._store.append(EventDraft("", stored), under=lease))
                self.marks.count(warrant_id, use.number)
            except (FencedError, ConfigError):
                return None
            return reach

    @asynccontextmanager
    async def _leased(self, warrant_id: str, session: str) -> AsyncIterator[Lease | None]:
        """Hold a warrant's lease; None: another core has it for too long."""
        lease = None
        for _ in range(_TRIES):
            lease = await self._store.acquire_lease(f"warrant/{warrant_id}", session, _LEASE_MS)
            if lease is not None:
                break
            await asyncio.sleep(_TRY_S)
        try:
            yield lease
        finally:
            if lease is not None:
                with suppress(FencedError):
                    await self._store.release_lease(lease)

    def _view(self, warrant: Warrant) -> WarrantView:
        now = self._bare_view(warrant)
        is_draft = warrant.status is WarrantStatus.DRAFT
        return WarrantView(
            warrant=warrant,
            uses=now.uses,
            trouble=now.trouble,
            gaps=self._gaps(warrant) if is_draft else (),
            cases=cases_of(warrant),
            lines=clause_lines(warrant, now.uses),
        )

    def _bare_view(self, warrant: Warrant) -> WarrantView:
        uses = tuple(self._uses.get(warrant.warrant_id, ()))
        name = warrant.warrant_id
        try:
            key = self.key.read()
            is_revoked = name in self._revoked or self.marks.is_revoked(name)
            counted = self.marks.used(name)
        except ConfigError as error:
            return WarrantView(warrant=warrant, uses=uses, trouble=error.message.rstrip("."))
        now_ms = self._clock_ms()
        trouble = why_void(warrant, uses, key, now_ms, is_revoked=is_revoked, counted=counted)
        return WarrantView(warrant=warrant, uses=uses, trouble=trouble)
