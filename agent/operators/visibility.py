"""Filter what one operator sees: phones, sessions, jobs, events, search hits.

`agent.operators.admission` refuses ops. Invariant: what cannot be traced to a visible phone is
invisible, and indistinguishable from what does not exist.
"""

from collections.abc import Callable, Container, Iterable
from contextlib import suppress
from typing import Protocol

from msgspec.structs import replace

from agent.core import SharedCore
from agent.errors import UsageError
from agent.operators.operator import Operator
from agent.operators.scope import phone_of_watcher, phones_of_job
from agent.placement.needs import parse_needs
from agent.protocol import (
    CommitmentChanged,
    DeviceChanged,
    ErrorEvent,
    Event,
    JobChanged,
    JobHistory,
    ListSessions,
    NoticePosted,
    NoticeWithdrawn,
    OperatorActed,
    RunChanged,
    SearchEvents,
    SessionAssigned,
    SessionConfigured,
    SessionHosted,
    SessionsDeleted,
    SessionStateChanged,
    SessionWaits,
    ShutdownComplete,
    WatcherChanged,
    WatcherShow,
)
from agent.records import Autonomy, DeviceInfo, Job, Notice, Right, SearchHit, Session, SessionState

_PAGE = 200
_MOST_LOOKED_AT = 10_000
_WAITS = "waiting for a phone"
"""Why a session waits, for whoever may not see all phones: the whole reason counts them, and names
who has them."""
_WAITING = frozenset({"session_waits", "session_state_changed"})
"""The events whose text is such a reason; they are not found by its words."""


class GuardedCore(SharedCore, Protocol):
    """A core with the extra queries that filtering needs."""

    def phones(self) -> tuple[DeviceInfo, ...]:
        """List the phones as they are now."""
        ...

    @property
    def default_autonomy(self) -> Autonomy:
        """Return a session's autonomy where the op does not set it."""
        ...

    async def sessions_of_blob(self, digest: str) -> tuple[str, ...]:
        """List the ids of sessions whose events name a blob."""
        ...


class Visibility:
    """What one operator may see of the core.

    Args:
        core: the filtered core.
        operator: returns the operator's current record. Raises NotAllowedError when they may no
            longer use the core.
    """

    def __init__(self, core: GuardedCore, operator: Callable[[], Operator]) -> None:
        self._core = core
        self.operator = operator
        self._phone_of: dict[str, str | None] = {}
        """By session: the phone it is on, for the events that are followed."""

    def sees_phone(self, serial: str) -> bool:
        """Return whether a phone is visible to them; False for an unknown one."""
        return self.may((Right.WATCH,), serial)

    def may(self, needs: Iterable[Right], serial: str) -> bool:
        operator = self.operator()
        if operator.may(needs, None):
            return True
        found = next((one for one in self._core.phones() if one.serial == serial), None)
        return found is not None and operator.may(needs, found.tags)

    def _sees_tagged(self, tags: tuple[str, ...]) -> bool:
        # Whichever phone it is, it has all of the tags, so it has the one that counts.
        return bool(tags) and self.operator().may((Right.WATCH,), tags)

    async def visible(self, session_id: str) -> Session:
        """Find a visible session. Raises the same UsageError as for an unknown one."""
        operator = self.operator()
        if operator.sees_all:
            return await self._core.session(session_id)
        with suppress(UsageError):
            session = await self._core.session(session_id)
            if self.sees(session):
                return bare(session)
        raise _no_session(session_id)

    def sees(self, session: Session) -> bool:
        """Return whether a session's phone is visible to them, or the one that it waits for."""
        return self.may_on((Right.WATCH,), session)

    def may_on(self, needs: Iterable[Right], session: Session) -> bool:
        """Return whether they have one of the rights on a session's phone, or on the one that
        it waits for, which will have all of the tags that the session needs.
        """
        needs = tuple(needs)
        if session.serial:
            return self.may(needs, session.serial)
        if self.operator().may(needs, None):
            return True
        # A copy tells of the phone that the first of it was on.
        tags = () if session.forked_from else tags_of(session)
        return bool(tags) and self.operator().may(needs, tags)

    async def job(self, job_id: int) -> Job:
        """Find a visible job. Raises the same UsageError as for an unknown one."""
        with suppress(UsageError):
            reply = await self._core.request(JobHistory(job_id=job_id, limit=1))
            if reply.job is not None and self.sees_job(reply.job):
                return reply.job
        raise UsageError(f"There is no job {job_id}.", "switchboard jobs list")

    async def phone_of_watcher(self, watcher_id: int) -> str:
        """Return the phone of a visible watcher. Raises UsageError."""
        with suppress(UsageError):
            watcher = (await self._core.request(WatcherShow(watcher_id=watcher_id))).watcher
            if watcher is not None and self.sees_phone(phone_of_watcher(watcher)):
                return phone_of_watcher(watcher)
        raise UsageError(f"There is no watcher {watcher_id}.", "switchboard watchers list")

    def phones(self) -> tuple[DeviceInfo, ...]:
        """List the visible phones."""
        return tuple(one for one in self._core.phones() if self.sees_phone(one.serial))

    def sees_job(self, job: Job) -> bool:
        """Return whether a job is only for visible phones."""
        serials, tags = phones_of_job(job)
        if self.operator().sees_all:
            return True
        return all(map(self.sees_phone, serials)) if serials else self._sees_tagged(tags)

    async def sees_session(self, session_id: str) -> bool:
        """Return whether a session's phone is visible to them."""
        try:
            await self.visible(session_id)
        except UsageError:
            return False
        return True

    async def sees_notice(self, notice: Notice) -> bool:
        """Return whether a notice is of a visible session."""
        if notice.serial and not self.sees_phone(notice.serial):
            return False
        return bool(notice.session_id) and await self.sees_session(notice.session_id)

    async def sessions(self, query: ListSessions) -> tuple[Session, ...]:
        """List visible sessions, as a look-up asks."""
        found: list[Session] = []
        before = query.before
        if before and not await self.sees_session(before):
            raise _no_session(before)
        while len(found) < query.limit:
            page = await self._core.look_up(replace(query, limit=_PAGE, before=before))
            found += [bare(one) for one in page if self.sees(one)]
            if len(page) < _PAGE:
                break
            before = page[-1].session_id
        return tuple(found[: max(query.limit, 0)])

    async def hits(self, query: SearchEvents) -> tuple[SearchHit, ...]:
        """List search hits in visible sessions."""
        many = replace(query, limit=min(max(query.limit, 0) * 20, _MOST_LOOKED_AT))
        hits = await self._core.look_up(many)
        sees: dict[str, bool] = {}
        for one in hits:
            if one.session_id not in sees:
                sees[one.session_id] = await self.sees_session(one.session_id)
        theirs = (one for one in hits if sees[one.session_id] and one.kind not in _WAITING)
        return tuple(theirs)[: max(query.limit, 0)]

    async def shown(self, event: Event, submitted: Container[str]) -> Event | None:
        """Return an event as they may see it; None if they may not.

        Args:
            submitted: their submissions whose failure would be reported.
        """
        if event.session_id:
            if isinstance(event.msg, SessionAssigned | SessionConfigured | SessionHosted):
                # It may be on another phone now.
                self._phone_of.pop(event.session_id, None)
            return bare_event(event) if await self.follows(event.session_id) else None
        match event.msg:
            case DeviceChanged(device=device):
                shows = self.sees_phone(device.serial)
            case JobChanged(job=job):
                shows = self.sees_job(job)
            case RunChanged(run=run):
                shows = bool(run.serial) and self.sees_phone(run.serial)
            case WatcherChanged(watcher=watcher):
                shows = self.sees_phone(phone_of_watcher(watcher))
            case NoticePosted(notice=notice):
                shows = await self.sees_notice(notice)
            case NoticeWithdrawn(notice_of=session_id):
                shows = await self.follows(session_id)
            case SessionsDeleted(session_ids=gone):
                theirs = tuple(one for one in gone if self._knew(one))
                for one in gone:
                    self._phone_of.pop(one, None)
                return replace(event, msg=SessionsDeleted(session_ids=theirs)) if theirs else None
            case ErrorEvent():
                # What a submission of theirs failed with; others' are of phones that they may not
                # know.
                shows = event.submission_id in submitted
            case OperatorActed(serial=serial):
                shows = bool(serial) and self.sees_phone(serial)
            case ShutdownComplete():
                shows = True
            case CommitmentChanged():
                shows = False
            case _:
                # What is added to the protocol is shown to nobody until it is said here.
                shows = False
        return event if shows else None

    def _knew(self, session_id: str) -> bool:
        serial = self._phone_of.get(session_id)
        return serial is not None and self.sees_phone(serial)

    async def follows(self, session_id: str) -> bool:
        """Return whether a session's phone is visible; cached until it moves."""
        if self._phone_of.get(session_id) is None:
            try:
                session = await self._core.session(session_id)
            except UsageError:
                return False
            self._phone_of[session_id] = session.serial or None
            if not session.serial:
                # It waits for one: looked at again until it has it.
                return self.sees(session)
        serial = self._phone_of[session_id]
        return serial is not None and self.sees_phone(serial)


def tags_of(session: Session) -> tuple[str, ...]:
    """Return the tags of a session's phone, or those it will have."""
    try:
        return parse_needs(session.needs).tags
    except UsageError:
        return ()


def bare(session: Session) -> Session:
    """Return a session without data about other operators' phones and sessions."""
    return replace(session, waits_for=_WAITS) if session.waits_for else session


def bare_event(event: Event) -> Event:
    """Return a session's event without data about other operators' phones and sessions."""
    match event.msg:
        case SessionWaits() as msg:
            return replace(event, msg=replace(msg, reason=_WAITS if msg.reason else ""))
        case SessionStateChanged(state=SessionState.QUEUED) as msg if msg.reason:
            return replace(event, msg=replace(msg, reason=_WAITS))
        case _:
            return event


def _no_session(session_id: str) -> UsageError:
    return UsageError(
        f"There is no session {session_id[:80]!r}.", "List them with `switchboard sessions list`."
    )
