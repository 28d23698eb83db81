"""The core as one operator meets it: what is not theirs to do is refused, or is not there.

Not who they are (`agent.operators.door`). Invariants: every op and every look passes here, and
nothing of a phone that is not theirs comes out, in a list, an event, a picture, an error or a
count; each call goes by the rights of that moment, so what is revoked is gone at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, suppress
from typing import Any, Protocol, TypeVar, cast

from msgspec.structs import replace

from agent.core import ClientInfo, CoreBase, Overview, SharedCore, TextDelta
from agent.devices.fleet.naming import with_serials
from agent.errors import NotAllowedError, RuntimeDiedError, UsageError
from agent.operators.operator import Operator
from agent.operators.scope import (
    LISTS,
    Concern,
    concern_of,
    needs_of,
    phone_of_job,
    phone_of_watcher,
)
from agent.protocol import (
    Answer,
    CommitmentChanged,
    DeviceChanged,
    ErrorEvent,
    Event,
    FindSession,
    Interrupt,
    JobChanged,
    JobHistory,
    ListPhonesInUse,
    ListSessions,
    LookUp,
    NoticePosted,
    NoticeReply,
    NoticeWithdrawn,
    Op,
    Reply,
    RunChanged,
    SearchEvents,
    SessionAssigned,
    SessionCreate,
    SessionsDeleted,
    ShutdownComplete,
    UserInputAnswer,
    WatcherChanged,
    WatcherShow,
)
from agent.records import (
    STOPPING,
    Autonomy,
    DeviceInfo,
    Job,
    LiveFrame,
    Notice,
    Question,
    QuestionKind,
    Right,
    SearchHit,
    Session,
)

_PAGE = 200
_KEPT_SUBMISSIONS = 256
_MOST_LOOKED_AT = 10_000
Item = TypeVar("Item")


class GuardedCore(SharedCore, Protocol):
    """A core that says what a door has to know."""

    def phones(self) -> tuple[DeviceInfo, ...]:
        """List the phones as they are now."""
        ...

    @property
    def default_autonomy(self) -> Autonomy:
        """How much a session may do unasked where nobody says."""
        ...

    async def sessions_of_blob(self, digest: str) -> tuple[str, ...]:
        """Name the sessions whose events name a blob."""
        ...


class OperatorCore(CoreBase):
    """A core for one operator; implements `agent.core.SharedCore`.

    Args:
        core: what stands behind the door.
        operator: returns the operator as they are now. Raises NotAllowedError when they may not be
            here any more.
    """

    def __init__(self, core: GuardedCore, operator: Callable[[], Operator]) -> None:
        self._core = core
        self._operator = operator
        self._phone_of: dict[str, str | None] = {}
        """By session: the phone it is on, for the events that are followed."""
        self._submitted: deque[str] = deque(maxlen=_KEPT_SUBMISSIONS)

    # --- rights ----------

    def check_here(self) -> None:
        """Raise NotAllowedError when the operator may not be here any more."""
        self._operator()

    def sees_phone(self, serial: str) -> bool:
        """Whether a phone is one that they may see; an unknown one is not."""
        return self._may((Right.WATCH,), serial)

    def _may(self, needs: Iterable[Right], serial: str) -> bool:
        operator = self._operator()
        if operator.may(needs, None):
            return True
        found = next((one for one in self._core.phones() if one.serial == serial), None)
        return found is not None and operator.may(needs, found.tags)

    def _sees_tagged(self, tags: tuple[str, ...]) -> bool:
        # Whichever phone it is, it has all of the tags, so it has the one that counts.
        return bool(tags) and self._operator().may((Right.WATCH,), tags)

    async def _found(self, session_id: str) -> Session:
        """Find a session that they may see. Raises UsageError as for one that is not there."""
        operator = self._operator()
        if operator.sees_all:
            return await self._core.session(session_id)
        with suppress(UsageError):
            session = await self._core.session(session_id)
            if self.sees_phone(session.serial):
                return session
        raise _no_session(session_id)

    async def _check(self, op: Op) -> None:
        concern = concern_of(op)
        groups = needs_of(op, self._core.default_autonomy)
        if isinstance(op, UserInputAnswer | NoticeReply):
            groups = await self._needs_to_answer(op)
        for needs in groups:
            await self._check_one(op, needs, concern)

    async def _needs_to_answer(
        self, op: UserInputAnswer | NoticeReply
    ) -> tuple[tuple[Right, ...], ...]:
        asked = [
            one
            for one in (await self._core.overview()).questions
            if (isinstance(op, UserInputAnswer) and one.question_id == op.question_id)
            or (isinstance(op, NoticeReply) and one.session_id == op.session_id)
        ]
        approves = any(one.kind is QuestionKind.APPROVAL or one.review for one in asked)
        # One that is not open is refused by the core; nothing is learnt from who asks it.
        return ((Right.APPROVE,),) if approves else (op.needs,)

    async def _check_one(self, op: Op, needs: tuple[Right, ...], concern: Concern) -> None:
        operator = self._operator()
        if operator.may(needs, None):
            return
        if isinstance(op, LISTS) and not concern.is_named:
            if any(operator.may(needs, grant.tags) for grant in operator.grants):
                return
            raise refused(op, needs)
        serials = [*concern.serials]
        session_ids = [*concern.session_ids]
        if concern.question_id:
            asked = (await self._core.overview()).questions
            found = [one for one in asked if one.question_id == concern.question_id]
            if not found or not await self._sees_session(found[0].session_id):
                raise UsageError(
                    f"There is no open question {concern.question_id[:80]!r}.",
                    "List them: switchboard sessions list",
                )
            session_ids.append(found[0].session_id)
        serials += [(await self._found(one)).serial for one in session_ids]
        if concern.job_id:
            job = await self._job(concern.job_id)
            serial, tags = phone_of_job(job)
            if not serial and not operator.may(needs, tags or None):
                raise refused(op, needs)
            serials += [serial] if serial else []
        if concern.watcher_id:
            serials.append(await self._phone_of_watcher(concern.watcher_id))
        if concern.tags and not operator.may(needs, concern.tags):
            raise refused(op, needs)
        if concern.everything or not (concern.is_named or concern.tags):
            raise refused(op, needs)
        for serial in serials:
            if not self.sees_phone(serial):
                raise UsageError(f"There is no device {serial[:80]!r}.", "switchboard devices list")
            if not self._may(needs, serial):
                raise refused(op, needs)

    async def _job(self, job_id: int) -> Job:
        with suppress(UsageError):
            reply = await self._core.request(JobHistory(job_id=job_id, limit=1))
            if reply.job is not None and self._sees_job(reply.job):
                return reply.job
        raise UsageError(f"There is no job {job_id}.", "switchboard jobs list")

    async def _phone_of_watcher(self, watcher_id: int) -> str:
        with suppress(UsageError):
            watcher = (await self._core.request(WatcherShow(watcher_id=watcher_id))).watcher
            if watcher is not None and self.sees_phone(phone_of_watcher(watcher)):
                return phone_of_watcher(watcher)
        raise UsageError(f"There is no watcher {watcher_id}.", "switchboard watchers list")

    # --- ops ----------

    async def submit(self, op: Op) -> str:
        """Refuse: an op of an operator has a client; see `submit_as`."""
        raise NotAllowedError("An op without its client is refused.")

    async def request(self, op: Op) -> Reply:
        """Refuse: an op of an operator has a client; see `request_as`."""
        raise NotAllowedError("An op without its client is refused.")

    async def submit_as(self, client: ClientInfo, op: Op) -> str:
        """Queue an op; see `SharedCore.submit_as`.

        Raises:
            NotAllowedError: they have no right to it.
            UsageError: it names what is not there, or not for them.
        """
        if self._stops_all(op):
            return (await self._stop_own(client)).submission_id
        submission_id = await self._core.submit_as(client, await self._admitted(op))
        self._submitted.append(submission_id)
        return submission_id

    async def request_as(self, client: ClientInfo, op: Op) -> Reply:
        """Carry an op out; see `SharedCore.request_as`. Raises as `submit_as` does."""
        if self._stops_all(op):
            return await self._stop_own(client)
        reply = await self._core.request_as(client, await self._admitted(op))
        return await self._seen_reply(reply)

    async def _admitted(self, op: Op) -> Op:
        op = with_serials(op, self._phones())
        await self._check(op)
        if isinstance(op, SessionCreate) and op.request_id:
            # Else a request of another operator would answer with their session.
            op = replace(op, request_id=f"{self._operator().name}.{op.request_id}")
        return op

    def _stops_all(self, op: Op) -> bool:
        if not isinstance(op, Interrupt) or op.session_id:
            return False
        return not self._operator().may(op.needs, None)

    async def _stop_own(self, client: ClientInfo) -> Reply:
        """Stop all that they may stop: the safe direction is one key for everybody."""
        reply = Reply(submission_id="")
        for one in (await self._core.overview()).sessions:
            if one.turn_id and self._may(STOPPING, one.serial):
                reply = await self._core.request_as(client, Interrupt(session_id=one.session_id))
        if not reply.submission_id:
            raise NotAllowedError("No session is at work that you may stop.")
        return reply

    async def _seen_reply(self, reply: Reply) -> Reply:
        if self._operator().sees_all:
            return reply
        return replace(
            reply,
            jobs=tuple(one for one in reply.jobs if self._sees_job(one)),
            watchers=tuple(one for one in reply.watchers if self.sees_phone(phone_of_watcher(one))),
            commitments=(),
        )

    async def leave(self, client: ClientInfo) -> None:
        """Let go of all that a client had; see `SharedCore.leave`."""
        await self._core.leave(client)

    # --- looking ----------

    def _phones(self) -> tuple[DeviceInfo, ...]:
        return tuple(one for one in self._core.phones() if self.sees_phone(one.serial))

    def _sees_job(self, job: Job) -> bool:
        serial, tags = phone_of_job(job)
        if self._operator().sees_all:
            return True
        return self.sees_phone(serial) if serial else self._sees_tagged(tags)

    async def _sees_session(self, session_id: str) -> bool:
        try:
            await self._found(session_id)
        except UsageError:
            return False
        return True

    async def overview(self) -> Overview:
        """Return the picture of one moment; see `Core.overview`."""
        operator = self._operator()
        found = await self._core.overview()
        if operator.sees_all:
            return found
        sessions = tuple(one for one in found.sessions if self.sees_phone(one.serial))
        return Overview(
            event_id=found.event_id,
            sessions=sessions,
            questions=tuple([one for one in found.questions if await self._sees_asked(one)]),
            devices=tuple(one for one in found.devices if self.sees_phone(one.serial)),
            jobs=tuple(one for one in found.jobs if self._sees_job(one)),
            watchers=tuple(one for one in found.watchers if self.sees_phone(phone_of_watcher(one))),
            notices=tuple([one for one in found.notices if await self._sees_notice(one)]),
        )

    async def _sees_asked(self, question: Question) -> bool:
        return await self._sees_session(question.session_id)

    async def _sees_notice(self, notice: Notice) -> bool:
        if notice.serial and not self.sees_phone(notice.serial):
            return False
        return bool(notice.session_id) and await self._sees_session(notice.session_id)

    async def look_up(self, query: LookUp[Answer]) -> Answer:
        """Answer a look-up; see `Core.look_up`.

        Raises NotAllowedError for one whose answer cannot be parted by phones.
        """
        operator = self._operator()
        if operator.sees_all:
            return await self._core.look_up(query)
        found: Any
        match cast(Any, query):
            case FindSession(session_id=session_id):
                found = await self._found(session_id)
            case ListSessions() as listed:
                found = await self._sessions(listed)
            case SearchEvents() as searched:
                found = await self._hits(searched)
            case ListPhonesInUse() as listed_phones:
                found = tuple(
                    one
                    for one in await self._core.look_up(listed_phones)
                    if self.sees_phone(one.serial)
                )
            case _:
                raise NotAllowedError(
                    f"What {query.method} tells is of all phones, and some are not yours.",
                    "Ask an operator who watches all phones.",
                )
        return cast(Answer, found)

    async def _sessions(self, query: ListSessions) -> tuple[Session, ...]:
        found: list[Session] = []
        before = query.before
        if before and not await self._sees_session(before):
            raise _no_session(before)
        while len(found) < query.limit:
            page = await self._core.look_up(ListSessions(limit=_PAGE, before=before))
            found += [one for one in page if self.sees_phone(one.serial)]
            if len(page) < _PAGE:
                break
            before = page[-1].session_id
        return tuple(found[: max(query.limit, 0)])

    async def _hits(self, query: SearchEvents) -> tuple[SearchHit, ...]:
        many = replace(query, limit=min(max(query.limit, 0) * 20, _MOST_LOOKED_AT))
        hits = await self._core.look_up(many)
        sees: dict[str, bool] = {}
        for one in hits:
            if one.session_id not in sees:
                sees[one.session_id] = await self._sees_session(one.session_id)
        return tuple(one for one in hits if sees[one.session_id])[: max(query.limit, 0)]

    async def history(
        self, session_id: str, *, after_seq: int = 0, before_seq: int = 0, limit: int = 10_000
    ) -> tuple[Event, ...]:
        """Read a session's stored events; see `Core.history`."""
        found = await self._found(session_id)
        return await self._core.history(
            found.session_id, after_seq=after_seq, before_seq=before_seq, limit=limit
        )

    async def blob(self, digest: str) -> bytes:
        """Read a frame, tree, prompt or reply of a session that they may see; see `Core.blob`."""
        if not self._operator().sees_all:
            for session_id in await self._core.sessions_of_blob(digest):
                if await self._sees_session(session_id):
                    break
            else:
                raise UsageError("There is no such picture or text in a session of yours.")
        return await self._core.blob(digest)

    # --- following ----------

    @asynccontextmanager
    async def events(self, *, after: int | None = None) -> AsyncIterator[AsyncIterator[Event]]:
        """Follow events; see `Core.events`. Fails when the operator may not be here any more."""
        self.check_here()
        async with self._core.events(after=after) as events, aclosing(self._seen(events)) as seen:
            yield seen

    async def _seen(self, events: AsyncIterator[Event]) -> AsyncGenerator[Event, None]:
        async for event in events:
            shown = event if self._operator().sees_all else await self._shown(event)
            if shown is not None:
                yield shown

    async def _shown(self, event: Event) -> Event | None:
        """Return an event as they may see it; None where they may not."""
        if event.session_id:
            if isinstance(event.msg, SessionAssigned):
                self._phone_of.pop(event.session_id, None)
            return event if await self._follows(event.session_id) else None
        match event.msg:
            case DeviceChanged(device=device):
                shows = self.sees_phone(device.serial)
            case JobChanged(job=job):
                shows = self._sees_job(job)
            case RunChanged(run=run):
                shows = bool(run.serial) and self.sees_phone(run.serial)
            case WatcherChanged(watcher=watcher):
                shows = self.sees_phone(phone_of_watcher(watcher))
            case NoticePosted(notice=notice):
                shows = await self._sees_notice(notice)
            case NoticeWithdrawn(notice_of=session_id):
                shows = await self._follows(session_id)
            case SessionsDeleted(session_ids=gone):
                theirs = tuple(one for one in gone if self._knew(one))
                return replace(event, msg=SessionsDeleted(session_ids=theirs)) if theirs else None
            case ErrorEvent():
                # What a submission of theirs failed with; others' are of phones that they may not
                # know.
                shows = event.submission_id in self._submitted
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

    async def _follows(self, session_id: str) -> bool:
        """Whether a session is on a phone of theirs; looked up once, until it moves."""
        if self._phone_of.get(session_id) is None:
            try:
                self._phone_of[session_id] = (await self._core.session(session_id)).serial or None
            except UsageError:
                return False
        serial = self._phone_of[session_id]
        return serial is not None and self.sees_phone(serial)

    def deltas(self) -> AbstractAsyncContextManager[AsyncIterator[TextDelta]]:
        """Follow what models write in sessions that they may see; see `Core.deltas`."""
        return self._deltas()

    @asynccontextmanager
    async def _deltas(self) -> AsyncIterator[AsyncIterator[TextDelta]]:
        self.check_here()
        async with self._core.deltas() as deltas, aclosing(self._seen_deltas(deltas)) as seen:
            yield seen

    async def _seen_deltas(
        self, deltas: AsyncIterator[TextDelta]
    ) -> AsyncGenerator[TextDelta, None]:
        async for delta in deltas:
            if self._operator().sees_all or await self._sees_session(delta.session_id):
                yield delta

    @asynccontextmanager
    async def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AsyncIterator[AsyncIterator[LiveFrame]]:
        """Follow the newest picture of a phone of theirs; see `Core.frames`."""
        self._check_phone(serial)
        async with (
            self._core.frames(
                serial, width_px=width_px, height_px=height_px, max_hz=max_hz
            ) as frames,
            aclosing(self._seen_frames(serial, frames)) as seen,
        ):
            yield seen

    async def _seen_frames(
        self, serial: str, frames: AsyncIterator[LiveFrame]
    ) -> AsyncGenerator[LiveFrame, None]:
        async for frame in frames:
            self._check_phone(serial)
            yield frame

    def _check_phone(self, serial: str) -> None:
        if not self.sees_phone(serial):
            raise UsageError(
                f"There is no device {serial[:80]!r}.", "List them: switchboard devices list"
            )

    @property
    def death(self) -> RuntimeDiedError | None:
        """Why the core ended by itself; see `Core.death`."""
        return self._core.death

    async def close(self) -> None:
        """Let go of the core, which goes on."""


def refused(op: Op, needs: Iterable[Right]) -> NotAllowedError:
    """Return the error that says which right is missing."""
    what = str(op.__struct_config__.tag)
    return NotAllowedError(
        f"You may not do this: {what} needs the right to {' or '.join(needs)} there.",
        "Ask whoever runs the core: switchboard operators grant",
    )


def _no_session(session_id: str) -> UsageError:
    return UsageError(
        f"There is no session {session_id[:80]!r}.", "List them with `switchboard sessions list`."
    )
