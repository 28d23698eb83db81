"""The live sessions, each as folding its stored events gives it, and the one way to append.

Not the store, which keeps the same records beside the events. Invariants: a record changes only
when its events are committed, in commit order; a state that the tables of `transitions` do not
allow is never stored.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from itertools import groupby
from weakref import WeakValueDictionary

from agent import protocol
from agent.errors import FencedError
from agent.records import Session
from agent.sessions.registry.live_session import LiveSession, may_delegate
from agent.sessions.registry.transitions import check_move
from agent.state.commit import Commit
from agent.store.leases import Lease
from agent.store.store import EventDraft, Store

PAGE_EVENTS = 10_000


class SessionRegistry:
    """Every session that is not settled, and those settled ones that somebody holds."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: WeakValueDictionary[str, LiveSession] = WeakValueDictionary()
        self._active: dict[str, LiveSession] = {}
        self._writing = 0
        self._held_back = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._open = asyncio.Event()
        self._open.set()
        self.on_overtaken: Callable[[FencedError], None] = lambda _: None
        """Told when a newer owner has the store: this core can store nothing any more."""

    async def load(self) -> None:
        """Read the sessions that are not settled. Raises StoreError."""
        for record in await self._store.sessions(limit=1_000_000, active_only=True):
            self._keep(await self._enter(record))

    def active(self) -> tuple[LiveSession, ...]:
        """List the sessions that are not settled, oldest first."""
        return tuple(sorted(self._active.values(), key=lambda live: live.record.created_ms))

    async def get(self, session_id: str) -> LiveSession:
        """Find a session by its id or a unique prefix. Raises UsageError."""
        known = self._known.get(session_id)
        if known is not None:
            return known
        return await self._enter(await self._store.session(session_id))

    def parent_of(self, session_id: str) -> str:
        """Return the parent of a live session; empty when it has none."""
        live = self._known.get(session_id)
        return "" if live is None else live.record.parent_id

    def delegates(self, session_id: str) -> bool:
        """Return whether a session is live and has children that work for it."""
        live = self._known.get(session_id)
        return live is not None and live.delegates

    async def children(self, live: LiveSession) -> tuple[LiveSession, ...]:
        """Return the children of a session, oldest first."""
        return tuple([await self.get(child_id) for child_id in live.child_ids])

    async def events(self, session_id: str, *, after_seq: int = 0) -> tuple[protocol.Event, ...]:
        found: list[protocol.Event] = []
        while page := await self._store.session_events(
            session_id, after_seq=found[-1].seq if found else after_seq, limit=PAGE_EVENTS
        ):
            found.extend(page)
            if len(page) < PAGE_EVENTS:
                break
        return tuple(found)

    async def append(
        self, *drafts: EventDraft, under: Lease | None = None
    ) -> tuple[protocol.Event, ...]:
        """Store facts together, a turn's under the lease on its phone.

        Raises what `Store.append` raises, and WrongStateError for a move that the tables of
        `transitions` do not have.
        """
        if not self._open.is_set():
            self._held_back += 1
            try:
                while not self._open.is_set():
                    await self._open.wait()
            finally:
                self._held_back -= 1
        self._check(drafts)
        self._writing += 1
        self._quiet.clear()
        try:
            return await self._store.append(*drafts, under=under)
        except FencedError as error:
            if under is None:
                # No lease was lost: the whole store has a newer owner.
                self.on_overtaken(error)
            raise
        finally:
            self._writing -= 1
            if self._writing == 0:
                self._quiet.set()

    @asynccontextmanager
    async def still(self) -> AsyncIterator[None]:
        """Hold back appends, so that several reads see one moment."""
        while not self._open.is_set() or self._held_back:
            # Those who were held back come first, or a busy reader would starve every writer.
            await (asyncio.sleep(0) if self._open.is_set() else self._open.wait())
        self._open.clear()
        try:
            await self._quiet.wait()
            yield
        finally:
            self._open.set()

    def on_commit(self, commit: Commit) -> None:
        """Take over the records that committed events made; the store has folded them."""
        for session_id, run in groupby(commit.events, _session_of):
            if session_id:
                self._see(session_id, tuple(run), commit)
                continue
            for event in run:
                if isinstance(event.msg, protocol.SessionsDeleted):
                    self._forget(event.msg.session_ids)

    def forget(self, session_ids: Iterable[str]) -> None:
        """Read these again when they are asked for: another host has them."""
        self._forget(session_ids)

    async def take_in(self, session_id: str) -> LiveSession:
        """Enter a session that came from another host, among the live ones. Raises UsageError."""
        self._forget((session_id,))
        live = await self.get(session_id)
        self._keep(live)
        return live

    def _see(self, session_id: str, run: tuple[protocol.Event, ...], commit: Commit) -> None:
        """Take in a session's events that follow one another, each of which is committed."""
        live = self._known.get(session_id)
        record = commit.record_of(session_id, live.record if live else None, run)
        if record is None:
            return
        if live is None:
            live = self._known[session_id] = LiveSession(record)
            self._tell_parent(live)
        else:
            live.see(record)
            if any(type(event.msg) is protocol.SessionContinued for event in run):
                self._tell_parent(live)
        self._keep(live)

    def _forget(self, session_ids: Iterable[str]) -> None:
        for session_id in session_ids:
            self._known.pop(session_id, None)
            self._active.pop(session_id, None)

    def _keep(self, live: LiveSession) -> None:
        if live.record.state.is_terminal:
            self._active.pop(live.session_id, None)
        else:
            self._active[live.session_id] = live

    def _tell_parent(self, live: LiveSession) -> None:
        parent = self._known.get(live.record.parent_id)
        if parent is None:
            return
        if live.session_id not in parent.child_ids:
            parent.child_ids = (*parent.child_ids, live.session_id)
        parent.newest_children = max(parent.newest_children, live.record.generation)

    async def _enter(self, record: Session) -> LiveSession:
        children: tuple[Session, ...] = ()
        if may_delegate(record):
            children = await self._store.children(record.session_id)
        # Somebody else may have entered it meanwhile; and theirs has followed since.
        known = self._known.get(record.session_id)
        if known is not None:
            return known
        live = LiveSession(
            record,
            tuple(child.session_id for child in children),
            max((child.generation for child in children), default=0),
        )
        self._known[record.session_id] = live
        return live

    def _check(self, drafts: tuple[EventDraft, ...]) -> None:
        resuming: set[str] = set()
        fresh: set[str] = set()
        for draft in drafts:
            live = self._known.get(draft.session_id)
            match draft.msg:
                case protocol.SessionConfigured():
                    fresh.add(draft.session_id)
                case protocol.SessionContinued(generation=generation):
                    if live is not None and generation > live.record.generation:
                        resuming.add(draft.session_id)
                case protocol.SessionStateChanged(state=state):
                    if live is not None and draft.session_id not in fresh:
                        check_move(live.record, state, resuming=draft.session_id in resuming)
                case _:
                    pass


def _session_of(event: protocol.Event) -> str:
    return event.session_id
