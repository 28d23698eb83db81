"""Where watchers and commitments are handed in, listed, stopped and done with.

Not their timer (`agent.watchers.watcher_scheduler`). Invariant: what is over the limit is refused,
and names it.
"""

from collections.abc import Callable, Iterable
from typing import TypeAlias, assert_never

from msgspec.structs import replace

from agent import protocol
from agent.errors import UsageError
from agent.jobs.creation import SESSION_PREFIX
from agent.jobs.job_service import JobService
from agent.notices.notice_service import NoticeService
from agent.records import Commitment, Evaluator, Session, Watcher
from agent.sessions.registry.services import Services
from agent.sessions.rules.creation import requested_id
from agent.watchers.commitments import planned_commitment, updated
from agent.watchers.creation import planned_watcher
from agent.watchers.origins import evidence_of
from agent.watchers.rules import match_seen, stopped
from agent.watchers.semantic_match import Judge
from agent.watchers.sensors import Sensors
from agent.watchers.watcher_cache import MOST_LIVE, NEWEST, WatcherCache
from agent.watchers.watcher_scheduler import WatcherScheduler

LIST_LIMIT = 200
MOST_COMMITMENTS = 1000

WatchOp: TypeAlias = (
    protocol.WatcherCreate
    | protocol.WatcherList
    | protocol.WatcherShow
    | protocol.WatcherStop
    | protocol.WatcherRead
    | protocol.CommitmentCreate
    | protocol.CommitmentSearch
    | protocol.CommitmentUpdate
)


class WatcherService:
    """The watchers and commitments of one core."""

    def __init__(self, parts: Services, jobs: JobService, notices: NoticeService) -> None:
        self._parts = parts
        self._cache = WatcherCache(parts.store)
        self._judge = Judge(lambda: parts.models(_asker(parts)), parts.clock_ms)
        allow_private = parts.settings.watchers.allow_private
        sight = Sensors(
            parts.fleet,
            self._judge,
            allow_private=allow_private,
            destinations=parts.settings.safety.destinations,
        )
        self.scheduler = WatcherScheduler(parts, self._cache, sight, jobs, notices)

    async def start(self, *, wake: bool = True) -> None:
        """Read what is live, then start the scheduler. Raises StoreError."""
        await self._cache.load()
        if wake:
            self.scheduler.load()
            self._parts.supervisor.start(self.scheduler.run(), "scheduler of watchers")

    def on_commit(self, events: Iterable[protocol.Event]) -> None:
        """Follow the store."""
        events = tuple(events)
        self._cache.on_commit(events)
        self.scheduler.on_commit(events)

    async def shown_watchers(self) -> tuple[Watcher, ...]:
        """Return what a listener starts from: all that are live, and the newest others."""
        watches = self._parts.store.watches
        live = await watches.watchers(limit=MOST_LIVE, live_only=True)
        newest = await watches.watchers(limit=NEWEST)
        return tuple({one.id: one for one in (*newest, *live)}.values())

    async def shown_commitments(self) -> tuple[Commitment, ...]:
        """Return what a listener starts from; see `shown_watchers`."""
        watches = self._parts.store.watches
        live = await watches.commitments(limit=MOST_LIVE, live_only=True)
        newest = await watches.commitments(limit=NEWEST)
        return tuple({one.id: one for one in (*newest, *live)}.values())

    async def check(self, asker: Session, op: WatchOp) -> None:
        """Refuse what `carry_out` would refuse before it reads a phone, and do nothing.

        Raises UsageError, WrongStateError, StoreError.
        """
        match op:
            case protocol.WatcherCreate():
                await self._planned(op, asker)
            case protocol.WatcherList(limit=limit) | protocol.CommitmentSearch(limit=limit):
                _checked_limit(limit)
            case (
                protocol.WatcherShow(watcher_id=watcher_id)
                | protocol.WatcherRead(watcher_id=watcher_id)
            ):
                await self._cache.watcher(watcher_id)
            case protocol.WatcherStop():
                await self._watchers_to_stop(op)
            case protocol.CommitmentCreate():
                self._checked(op, asker)
            case protocol.CommitmentUpdate(commitment_id=commitment_id):
                updated(await self._cache.commitment(commitment_id), op, self._parts.clock_ms())
            case _:
                assert_never(op)

    async def carry_out(
        self, op: WatchOp, submission_id: str = "", *, asker: Session | None = None
    ) -> protocol.Reply:
        """Carry one op out, for a person or for the session that asks for it.

        Raises UsageError, WrongStateError, StoreError, and what a phone or a model fails with.
        """
        now_ms = self._parts.clock_ms()
        match op:
            case protocol.WatcherCreate():
                watcher = await self._create(op, submission_id, asker)
                return protocol.Reply(submission_id=submission_id, watcher=watcher)
            case protocol.WatcherList(query=query, limit=limit, before=before):
                found = await self._parts.store.watches.watchers(
                    query=query, limit=_checked_limit(limit), before=before
                )
                return protocol.Reply(submission_id=submission_id, watchers=found)
            case protocol.WatcherShow(watcher_id=watcher_id):
                watcher = await self._cache.watcher(watcher_id)
                return protocol.Reply(submission_id=submission_id, watcher=watcher)
            case protocol.WatcherStop():
                gone = await self._stop(op, submission_id)
                return protocol.Reply(submission_id=submission_id, watchers=gone)
            case protocol.WatcherRead(watcher_id=watcher_id):
                watcher = await self._cache.change_watcher(
                    watcher_id, lambda one: match_seen(one, now_ms), "seen", submission_id
                )
                return protocol.Reply(submission_id=submission_id, watcher=watcher)
            case protocol.CommitmentCreate():
                commitment = await self._write_down(op, submission_id, asker)
                return protocol.Reply(submission_id=submission_id, commitment=commitment)
            case protocol.CommitmentSearch(query=query, limit=limit, before=before):
                listed = await self._parts.store.watches.commitments(
                    query=query, limit=_checked_limit(limit), before=before
                )
                return protocol.Reply(submission_id=submission_id, commitments=listed)
            case protocol.CommitmentUpdate():
                commitment = await self._cache.change_commitment(
                    op.commitment_id,
                    lambda one: updated(one, op, now_ms),
                    f"{op.status.value} by the operator",
                    submission_id,
                )
                return protocol.Reply(submission_id=submission_id, commitment=commitment)
            case _:
                assert_never(op)

    async def _write_down(
        self, op: protocol.CommitmentCreate, submission_id: str, asker: Session | None
    ) -> Commitment:
        if known := await self._cache.requested_commitment(requested_id(op.request_id)):
            return known
        op = self._checked(op, asker)
        origin = op.origin
        if origin is not None:
            op = replace(
                op, evidence={**op.evidence, **await evidence_of(origin, self._parts.fleet)}
            )
        planned = planned_commitment(op, now_ms=self._parts.clock_ms())
        return await self._cache.add_commitment(planned, submission_id)

    def _checked(
        self, op: protocol.CommitmentCreate, asker: Session | None
    ) -> protocol.CommitmentCreate:
        """Return what is to be written down, its notification's phone named. Raises UsageError."""
        if len(self._cache.commitments) >= MOST_COMMITMENTS:
            raise UsageError(
                f"There are {MOST_COMMITMENTS:,} open commitments.",
                "Complete or dismiss some first.",
            )
        planned_commitment(op, now_ms=self._parts.clock_ms())
        origin = op.origin
        if origin is not None:
            if asker is not None and not origin.serial:
                origin = replace(origin, serial=asker.serial)
            if origin.serial:
                self._parts.assignment.check_known(origin.serial)
            op = replace(op, origin=origin)
        return op

    async def _create(
        self, op: protocol.WatcherCreate, submission_id: str, asker: Session | None
    ) -> Watcher:
        if known := await self._cache.requested_watcher(requested_id(op.request_id)):
            return known
        build = await self._planned(op, asker)
        return await self._cache.add_watcher(build, submission_id)

    async def _planned(
        self, op: protocol.WatcherCreate, asker: Session | None
    ) -> Callable[[int], Watcher]:
        most = self._parts.settings.watchers.most
        if len(self._cache.watchers) >= most:
            raise UsageError(
                f"There are {most} active watchers, the limit of watchers.most.",
                "Stop some first: switchboard watchers stop",
            )
        if op.session_target == "current" and asker is not None:
            op = replace(op, session_target=f"{SESSION_PREFIX}{asker.session_id}")
        build = planned_watcher(
            op, assignment=self._parts.assignment, now_ms=self._parts.clock_ms()
        )
        if op.session_target.startswith(SESSION_PREFIX):
            await self._parts.registry.get(op.session_target.removeprefix(SESSION_PREFIX))
        if op.evaluator is Evaluator.SEMANTIC_MATCH:
            await self._judge.check()
        return build

    async def _stop(self, op: protocol.WatcherStop, submission_id: str) -> tuple[Watcher, ...]:
        now_ms = self._parts.clock_ms()
        wanted = await self._watchers_to_stop(op)
        return tuple(
            [
                await self._cache.change_watcher(
                    one, lambda it: stopped(it, now_ms), "stopped by the operator", submission_id
                )
                for one in wanted
            ]
        )

    async def _watchers_to_stop(self, op: protocol.WatcherStop) -> list[int]:
        if sum((bool(op.watcher_id), bool(op.query.strip()), op.all)) != 1:
            raise UsageError("What to stop is missing.", "Give one: watcher_id, query or all.")
        if op.watcher_id:
            await self._cache.watcher(op.watcher_id)
            return [op.watcher_id]
        words = op.query.strip().casefold()
        return [
            one.id
            for one in self._cache.watchers.values()
            if words in f"{one.title}\n{one.type}".casefold()
        ]


def _asker(parts: Services) -> Session:
    """Return for whom a judging model is made: no session, so it is the model of the settings."""
    return Session(session_id="", goal="", created_ms=0, model=parts.settings.model.name)


def _checked_limit(limit: int) -> int:
    if not 1 <= limit <= LIST_LIMIT:
        raise UsageError(f"limit is {limit}.", f"Use 1 to {LIST_LIMIT}.")
    return limit
