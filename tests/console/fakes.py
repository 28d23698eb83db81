"""A core that plays a script: what the console's tests listen to instead of phones and models.

It keeps the Core protocol's promises (events have ids and sequence numbers, nothing is repeated)
and records every op it is given.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace

from agent import protocol, records
from agent.core import CoreBase, Overview, TextDelta
from agent.errors import RuntimeDiedError, StoreError, UsageError, WrongStateError
from agent.state.reducer import State, reduce
from tests.spending import spent

T = TypeVar("T")


class FakeCore(CoreBase):
    """Implements `agent.core.Core` in memory."""

    def __init__(self) -> None:
        self.state = State()
        self.stored: list[protocol.Event] = []
        self.ops: list[protocol.Op] = []
        self.reads: list[protocol.Op] = []
        self.runs: dict[int, tuple[records.RunRecord, ...]] = {}
        self.blobs: dict[str, bytes] = {}
        self.listeners: list[asyncio.Queue[protocol.Event]] = []
        self.delta_listeners: list[asyncio.Queue[TextDelta]] = []
        self.far_listeners: dict[str, asyncio.Queue[TextDelta]] = {}
        """Who follows the words of one session, by its id."""
        self.hosts: tuple[records.HostInfo, ...] = ()
        self.frames_asked: list[tuple[str, int, int]] = []
        self.frames_open = 0
        self.picture: np.ndarray | None = None
        self.fails_with: Exception | None = None
        self.answers: dict[type, Callable[[Any], protocol.Reply]] = {}
        """What an op of a type is answered with, where that is more than that it was done."""
        self.looks: dict[type, Any] = {protocol.ListUndoOffers: (), protocol.ListWarrants: ()}
        """What any other look-up is answered with."""
        self.now_ms = 1_760_000_000_000
        self._seqs: dict[str, int] = {}
        self.death: RuntimeDiedError | None = None

    # --- what a test does ----------

    def tell(self, msg: protocol.EventMsg, session_id: str = "") -> protocol.Event:
        seq = 0
        if session_id:
            seq = self._seqs[session_id] = self._seqs.get(session_id, 0) + 1
        self.now_ms += 100
        event = protocol.Event(
            event_id=len(self.stored) + 1,
            session_id=session_id,
            seq=seq,
            ts_ms=self.now_ms,
            msg=msg,
        )
        self.stored.append(event)
        self.state = reduce(self.state, event)
        for queue in self.listeners:
            queue.put_nowait(event)
        return event

    def say(self, session_id: str, text: str) -> None:
        """Stream the model's text."""
        for queue in self.delta_listeners:
            queue.put_nowait(TextDelta(session_id=session_id, turn_id="t", text=text))

    def say_afar(self, session_id: str, text: str) -> None:
        """Stream the text of a model at another host."""
        said = TextDelta(session_id=session_id, turn_id="t", text=text)
        self.far_listeners[session_id].put_nowait(said)

    # --- Core ----------

    async def submit(self, op: protocol.Op) -> str:
        await self.request(op)
        return f"sub-{len(self.ops)}"

    async def request(self, op: protocol.Op) -> protocol.Reply:
        if isinstance(
            op,
            protocol.JobQueue
            | protocol.JobHistory
            | protocol.WatcherList
            | protocol.CommitmentSearch,
        ):
            return self._listed(op)
        # The id is random; what it is good for is the core's to show.
        self.ops.append(
            replace(op, request_id="") if isinstance(op, protocol.SessionCreate) else op
        )
        if self.fails_with is not None:
            raise self.fails_with
        if type(op) in self.answers:
            return self.answers[type(op)](op)
        match op:
            case protocol.UserInputAnswer(question_id=question_id, answer=answer):
                question = self.state.questions.get(question_id)
                if question is None:
                    raise WrongStateError(f"Question {question_id} is not open.")
                self.tell(
                    protocol.QuestionAnswered(question_id=question_id, answer=answer),
                    question.session_id,
                )
            case protocol.SessionCreate(goal=goal, serial=serial):
                made = f"s{len(self.state.sessions) + 1}"
                session = records.Session(
                    session_id=made, goal=goal, created_ms=self.now_ms, serial=serial
                )
                self.tell(protocol.SessionConfigured(session=session), made)
                return protocol.Reply(submission_id="x", session_id=made)
            case protocol.SessionDismiss(session_id=session_id, dismissed=dismissed):
                self.tell(protocol.SessionDismissed(dismissed=dismissed), session_id)
            case protocol.Interrupt():
                pass
            case _:
                pass
        return protocol.Reply(submission_id="x")

    def _listed(
        self,
        op: protocol.JobQueue
        | protocol.JobHistory
        | protocol.WatcherList
        | protocol.CommitmentSearch,
    ) -> protocol.Reply:
        """Return a page of a list; these ask for nothing to be done, and are not noted."""
        self.reads.append(op)
        match op:
            case protocol.JobHistory(job_id=job_id):
                return protocol.Reply(submission_id="x", runs=tuple(self.runs.get(job_id, ())))
            case protocol.JobQueue(query=query, limit=limit, after=after):
                words = query.casefold()
                found = [j for j in self.state.jobs.values() if words in _found_by(j)]
                start = int(after or 0)
                more = str(start + limit) if len(found) > start + limit else ""
                jobs = tuple(found[start : start + limit])
                return protocol.Reply(submission_id="x", jobs=jobs, after=more)
            case protocol.WatcherList(limit=limit, before=before):
                watchers = sorted(self.state.watchers.values(), key=lambda one: -one.id)
                listed = [one for one in watchers if not 0 < before <= one.id]
                return protocol.Reply(submission_id="x", watchers=tuple(listed[:limit]))
            case protocol.CommitmentSearch(limit=limit, before=before):
                all_of_them = sorted(self.state.commitments.values(), key=lambda one: -one.id)
                open_ones = [one for one in all_of_them if not 0 < before <= one.id]
                return protocol.Reply(submission_id="x", commitments=tuple(open_ones[:limit]))

    @asynccontextmanager
    async def events(
        self, *, after: int | None = None
    ) -> AsyncIterator[AsyncIterator[protocol.Event]]:
        queue: asyncio.Queue[protocol.Event] = asyncio.Queue()
        if after is not None:
            for event in self.stored[after:]:
                queue.put_nowait(event)
        self.listeners.append(queue)
        try:
            yield _drain(queue)
        finally:
            self.listeners.remove(queue)

    @asynccontextmanager
    async def deltas(self, session_id: str = "") -> AsyncIterator[AsyncIterator[TextDelta]]:
        queue: asyncio.Queue[TextDelta] = asyncio.Queue()
        if session_id:
            self.far_listeners[session_id] = queue
        else:
            self.delta_listeners.append(queue)
        try:
            yield _drain(queue)
        finally:
            if session_id:
                del self.far_listeners[session_id]
            else:
                self.delta_listeners.remove(queue)

    @asynccontextmanager
    async def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AsyncIterator[AsyncIterator[records.LiveFrame]]:
        self.frames_asked.append((serial, width_px, height_px))
        self.frames_open += 1

        async def follow() -> AsyncIterator[records.LiveFrame]:
            tick = 0
            while True:
                yield self._frame(serial, width_px, height_px, tick)
                tick += 1
                await asyncio.sleep(1 / max_hz)

        try:
            yield follow()
        finally:
            self.frames_open -= 1

    def _frame(self, serial: str, width: int, height: int, tick: int) -> records.LiveFrame:
        if self.picture is not None:
            down = np.arange(height) * self.picture.shape[0] // height
            across = np.arange(width) * self.picture.shape[1] // width
            pixels = self.picture[down][:, across]
        else:
            rows = np.linspace(0, 255, height, dtype=np.uint8)[:, None]
            pixels = np.stack(
                [
                    np.broadcast_to(rows, (height, width)),
                    np.full((height, width), (tick * 8) % 256, dtype=np.uint8),
                    np.broadcast_to(np.linspace(0, 255, width, dtype=np.uint8), (height, width)),
                ],
                axis=-1,
            )
        return records.LiveFrame(
            serial=serial,
            width_px=width,
            height_px=height,
            rgb=np.ascontiguousarray(pixels, dtype=np.uint8).tobytes(),
            captured_ms=self.now_ms,
            source=records.FrameSource.CAPTURE,
            status=records.FrameStatus.LIVE,
        )

    async def overview(self) -> Overview:
        return Overview(
            event_id=self.state.event_id,
            sessions=tuple(view.session for view in self.state.sessions.values()),
            questions=tuple(self.state.questions.values()),
            devices=tuple(self.state.devices.values()),
            jobs=tuple(self.state.jobs.values()),
            watchers=tuple(self.state.watchers.values()),
            commitments=tuple(self.state.commitments.values()),
            notices=tuple(self.state.notices.values()),
            hosts=self.hosts,
        )

    async def look_up(self, query: protocol.LookUp[protocol.Answer]) -> protocol.Answer:
        found: Any
        match query:
            case protocol.ListSessions():
                found = self._sessions(query)
            case protocol.ListHosts():
                found = self.hosts
            case protocol.FindSession():
                found = self._found(query)
            case protocol.SearchEvents():
                found = self._hits(query)
            case protocol.SumSpending():
                sessions = (view.session for view in self.state.sessions.values())
                found = spent(sessions, {}, since_ms=query.since_ms)
            case _:
                found = self.looks[type(query)]
        return found

    def _sessions(self, query: protocol.ListSessions) -> tuple[records.Session, ...]:
        listed = [view.session for view in reversed(self.state.sessions.values())]
        ids = [session.session_id for session in listed]
        listed = listed[ids.index(query.before) + 1 if query.before else 0 :]
        return tuple([one for one in listed if query.wanted.holds(one)][: query.limit])

    def _found(self, query: protocol.FindSession) -> records.Session:
        view = self.state.sessions.get(query.session_id)
        if view is None:
            raise UsageError(f"There is no session {query.session_id}.")
        return view.session

    async def history(
        self, session_id: str, *, after_seq: int = 0, before_seq: int = 0, limit: int = 10_000
    ) -> tuple[protocol.Event, ...]:
        found = [e for e in self.stored if e.session_id == session_id and e.seq > after_seq]
        if before_seq:
            return tuple([e for e in found if e.seq < before_seq][-limit:])
        return tuple(found[:limit])

    def _hits(self, query: protocol.SearchEvents) -> tuple[records.SearchHit, ...]:
        if query.query.startswith("-"):
            raise UsageError("A search needs a word that must occur.")
        word = query.query.rstrip("*").casefold()
        hits: list[records.SearchHit] = []
        for event in reversed(self.stored):
            text = getattr(event.msg, "text", "")
            at = text.casefold().find(word)
            session = self.state.sessions.get(event.session_id)
            if session is not None and at >= 0 and query.wanted.holds(session.session):
                hit = records.SearchHit(
                    session_id=event.session_id,
                    seq=event.seq,
                    ts_ms=event.ts_ms,
                    kind=str(type(event.msg).__struct_config__.tag),
                    snippet=text,
                    matches=((at, at + len(word)),),
                )
                hits.append(hit)
        return tuple(hits[: query.limit])

    async def blob(self, digest: str) -> bytes:
        if digest not in self.blobs:
            raise StoreError(f"Blob {digest} is gone.")
        return self.blobs[digest]

    async def close(self) -> None:
        return None


async def _drain(queue: asyncio.Queue[T]) -> AsyncIterator[T]:
    while True:
        yield await queue.get()


def phone(serial: str = "phone-1", **fields: object) -> records.DeviceInfo:
    known = {
        "state": records.DeviceState.ONLINE,
        "model": f"Pixel {serial[-1]}",
        "width_px": 1080,
        "height_px": 2400,
        **fields,
    }
    return records.DeviceInfo(serial=serial, **known)  # type: ignore[arg-type]


def _found_by(one: records.Job) -> str:
    return f"{one.title}\n{one.prompt}\n{' '.join(one.places)}\n{one.status}".casefold()


def job(number: int, **fields: object) -> records.Job:
    known: dict[str, object] = {
        "title": f"Job {number}",
        "prompt": "check the messages",
        "status": "active",
        "type": "agent_turn",
    }
    known |= fields

    blank = {
        "id": number,
        "payload_json": {},
        "schedule_json": {},
        "session_target": "main",
        "delivery_json": {},
        "created_at": 0,
        "updated_at": 0,
        "next_run_at": 0,
        "running_at": 0,
        "last_run_at": 0,
        "last_result": "",
        "failure_count": 0,
        "failure_alert_at": 0,
    }
    return msgspec.convert({**blank, **known}, records.Job)


def watcher(number: int, **fields: object) -> records.Watcher:
    blank = {
        "id": number,
        "type": "notification",
        "title": f"Watcher {number}",
        "condition_json": {"texts": ["parcel"]},
        "schedule_json": {"interval_ms": 60_000},
        "session_target": "isolated",
        "delivery_json": {},
        "status": "active",
        "last_result_hash": "",
        "failure_count": 0,
        "failure_alert_at": 0,
        "created_at": 1,
        "updated_at": 1,
        "next_run_at": 1,
        "last_run_at": 0,
    }
    return msgspec.convert({**blank, **fields}, records.Watcher)


def commitment(number: int, **fields: object) -> records.Commitment:
    blank = {
        "id": number,
        "title": f"Promise {number}",
        "description": "",
        "trigger_type": "time",
        "trigger_spec_json": {},
        "due_at": 1_760_000_000_000,
        "expires_at": 0,
        "status": "fired",
        "confidence": 0.8,
        "evidence_json": {},
        "created_at": 1,
        "updated_at": 1,
    }
    return msgspec.convert({**blank, **fields}, records.Commitment)
