"""The core's façade: submit ops, follow events, look things up, close.

It knows every room and does the work of none. Invariants: an event is stored before anybody sees
it; ops are carried out one after the other, in the order they came; once the core has ended, by
closing or by dying, every call says so instead of hanging.
"""

import asyncio
import logging
import platform
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    aclosing,
    asynccontextmanager,
    suppress,
)
from typing import Self

from msgspec.structs import replace

from agent import protocol
from agent.core import OWNER, ClientInfo, Overview, Peers, TextDelta
from agent.devices.protocols import Fleet
from agent.direct.programs import Programs, verifiers_of
from agent.errors import (
    ErrorKind,
    FencedError,
    RuntimeDiedError,
    StoreError,
    StoreGoneError,
    SwitchboardError,
)
from agent.jobs.job_service import JobService
from agent.knowledge.library import DIRECTORY, load
from agent.knowledge.navigation_map import NavigationMap
from agent.loop.task_context import JobOp, ServiceOp, SessionTask
from agent.models.model import Model
from agent.models.reviewers.reviewing import Reviewing
from agent.models.verifying import Verifying
from agent.notices.notice_service import NoticeService, sinks_of
from agent.records import Autonomy, Commitment, DeviceInfo, Job, LiveFrame, Session, Watcher
from agent.runtime.handlers.device_handlers import DeviceHandlers
from agent.runtime.handlers.job_handlers import JobHandlers, StandingHandlers
from agent.runtime.handlers.record_handlers import RecordHandlers
from agent.runtime.handlers.session_handlers import SessionHandlers
from agent.runtime.handlers.warrant_handlers import WarrantHandlers
from agent.runtime.host_adoption import adopt_unhosted
from agent.runtime.host_routing import HostRouting
from agent.runtime.op_queue import OpQueue, Submission
from agent.runtime.op_worker import OpWorker
from agent.runtime.operator_notes import OperatorNotes
from agent.runtime.queries import StoredLookUps
from agent.runtime.router import Router
from agent.sessions.device_control.device_events import DeviceNews
from agent.sessions.device_control.device_queries import Looks
from agent.sessions.device_control.rehosting import Rehosting
from agent.sessions.device_control.undoing import Undoing
from agent.sessions.device_control.wheel import Wheel
from agent.sessions.lifecycle.archive import Archive
from agent.sessions.lifecycle.attaching import Attaching
from agent.sessions.lifecycle.direct_calls import DirectCalls
from agent.sessions.lifecycle.operations import Operations
from agent.sessions.lifecycle.pruning import Pruning
from agent.sessions.lifecycle.recovery import recover
from agent.sessions.lifecycle.replaying import Replaying
from agent.sessions.questions.answering import Answering
from agent.sessions.questions.deadlines import Deadlines
from agent.sessions.questions.steering import Steerings
from agent.sessions.registry.clients import Clients
from agent.sessions.registry.device_assignment import Assignment
from agent.sessions.registry.followers import Followers
from agent.sessions.registry.listeners import DeltaListeners, EventListeners
from agent.sessions.registry.live_session import error_event
from agent.sessions.registry.open_questions import Questions
from agent.sessions.registry.services import Services
from agent.sessions.registry.session_registry import SessionRegistry
from agent.sessions.registry.supervisor import Supervisor
from agent.sessions.tree.app_targets import Targets
from agent.sessions.tree.session_tree import Tree
from agent.sessions.turns.device_losses import Losses
from agent.sessions.turns.dispatcher_host import DispatcherHost
from agent.sessions.turns.job_turns import JobTurns
from agent.sessions.turns.review_turns import ReviewTurns
from agent.sessions.turns.turns import Turns
from agent.sessions.turns.wait_reasons import WaitReasons
from agent.settings import Settings
from agent.state.commit import Commit
from agent.store.dispatch.dispatcher import Dispatcher
from agent.store.dispatch.local_dispatcher import LocalDispatcher
from agent.store.store import EventDraft, Store, wall_clock_ms
from agent.tasks.delegation import Delegation
from agent.text import one_line
from agent.vault.vault import Vault
from agent.warrants.warrant_service import WarrantService
from agent.watchers.watcher_service import WatcherService

OVERVIEW_TREES = 200
_ESSENTIAL = frozenset(
    {
        "ops",
        "roll-up",
        "device watch",
        "question deadlines",
        "scheduler of jobs",
        "scheduler of watchers",
    }
)
"""The tasks that a core cannot do without: when one breaks, the core ends and says so."""
STORE_LOOK_S = 1.0
"""How often the core looks whether the store is still its own; it writes nothing while idle."""
_log = logging.getLogger(__name__)


class Runtime(StoredLookUps):
    """The embedded core; implements `agent.core.Core`."""

    def __init__(
        self, parts: Services, dispatcher: Dispatcher, programs: Programs, whole: Store
    ) -> None:
        super().__init__(whole)
        self._parts = parts
        self._registry = parts.registry
        self._supervisor = parts.supervisor
        self._op_queue = OpQueue()
        self._listeners = EventListeners(
            lambda after, limit: self.store.events(after=after, limit=limit)
        )
        self._host_routing = (
            None if parts.peers is None else HostRouting(parts.peers, whole, parts.fleet)
        )
        targets = self._targets = Targets(parts)
        self._tree = Tree(parts.registry, targets, parts.supervisor)
        own_name = parts.settings.store.host or platform.node() or "localhost"
        self._dispatcher_host = DispatcherHost(
            dispatcher, parts.peers.host if parts.peers else own_name
        )
        self._serving = AsyncExitStack()
        turns = Turns(parts, targets, self._dispatcher_host)
        operations = self._operations = Operations(parts, turns)
        self._rehosting = Rehosting(parts, turns, targets, operations)
        self._job_service = JobService(parts, operations, JobTurns(parts, turns))
        answering = Answering(parts, turns, self._job_service.reviews.answer)
        archive = Archive(parts, operations, targets)
        self._pruning = Pruning(archive)
        self._deadlines = Deadlines(parts, answering.expire)
        self._attaching = Attaching(parts, operations)
        self._direct_calls = DirectCalls(parts, programs, operations)
        self._notices = NoticeService(
            parts, operations, answering, sinks_of(parts.settings, parts.fleet), targets.release
        )
        self.notices = self._notices
        """What shows notices, by sinks that may be added."""
        self._watches = WatcherService(parts, self._job_service, self._notices)
        self._warrants = WarrantService(parts)
        parts.door.carry_out = self._serve
        parts.door.warrants = self._warrants.store
        parts.door.answer = answering.answer
        parts.door.check = self._check
        self._job_service.delivery.announce = self._notices.announce
        self._job_service.delivery.withdraw_notice = self._notices.withdraw
        wheel = Wheel(parts)
        rooms = (
            SessionHandlers(
                parts,
                operations,
                self._attaching,
                answering,
                Steerings(parts),
                ReviewTurns(parts, turns),
                Replaying(parts, operations),
                self._direct_calls,
            ),
            RecordHandlers(parts, archive, self._notices),
            DeviceHandlers(
                parts,
                turns,
                targets,
                wheel,
                Undoing(parts, wheel),
                Looks(parts),
                self._direct_calls,
                self._rehosting,
            ),
            JobHandlers(self._job_service),
            StandingHandlers(self._notices, self._watches),
            WarrantHandlers(self._warrants),
        )
        self._router = Router(parts.fleet, rooms)
        self.answer_all(rooms)
        self._op_worker = OpWorker(
            self._op_queue,
            self._router,
            self._supervisor,
            self._tell_error,
            self._shut_down,
            self.store.last_event_id,
            OperatorNotes(parts.store, parts.questions).before,
        )
        self._followers = Followers(
            self._registry.on_commit,
            (
                parts.questions.on_commit,
                parts.clients.on_commit,
                self._deadlines.on_commit,
                self._notices.on_commit,
                self._tree.on_commit,
                self._targets.on_commit,
                self._pruning.on_commit,
                self._job_service.on_commit,
                self._watches.on_commit,
                self._warrants.on_commit,
            ),
            self._listeners.publish,
            None if parts.peers is None else self._on_elsewhere,
        )
        self._unsubscribe: Callable[[], None] | None = None
        self._device_news = DeviceNews(parts, self._tell_error)
        self._closing: asyncio.Task[None] | None = None
        self._death: RuntimeDiedError | None = None
        self._ended = asyncio.Event()

    @classmethod
    async def spawn(
        cls,
        settings: Settings,
        *,
        store: Store,
        fleet: Fleet,
        models: Callable[[Session], Model],
        verifiers: Callable[[Model, Session], Verifying] = lambda _model, _session: Verifying(),
        reviewers: Callable[[Model, Session], Reviewing] = lambda _model, _session: Reviewing(),
        task: Callable[[], SessionTask],
        plan: Callable[[Delegation], SessionTask] | None = None,
        clock: Callable[[], int] = wall_clock_ms,
        wake_jobs: bool = True,
        dispatcher: Dispatcher | None = None,
        peers: Peers | None = None,
        whole: Store | None = None,
    ) -> Self:
        """Start a core on an open store: repair what a dead one left, then take ops.

        Args:
            settings: the settings in force.
            store: open, and closed by the caller after the core.
            fleet: started and closed by the core.
            models: makes the model of a session, for one turn.
            verifiers: says who looks whether a claim of success is true; nobody by default.
            reviewers: says who reads the acts of a model before they are done; nobody by default.
            task: makes what a session does in a regular turn.
            plan: makes what divides a goal among several phones; None: every session works itself.
            clock: milliseconds since the epoch.
            wake_jobs: whether due jobs run here; not in a core that lives for one errand only.
            dispatcher: says which session may have its phone when; None: one for this process.
            peers: the other hosts of a fleet; None: this core has the store to itself.
            whole: the store of the whole fleet, where `store` is a host's part of it.

        Raises:
            AdbError: no adb server runs and none starts.
            StoreError: the store cannot be read or written.
        """
        supervisor = Supervisor()
        programs = Programs()
        parts = Services(
            settings=settings,
            store=store,
            fleet=fleet,
            registry=SessionRegistry(store),
            questions=Questions(),
            clients=Clients(),
            assignment=Assignment(
                fleet,
                called=lambda name: load(settings.config_file.parent / DIRECTORY).called(name),
                most=settings.run.max_at_once,
            ),
            deltas=DeltaListeners(),
            supervisor=supervisor,
            models=programs.models(models, sees=settings.model.vision),
            verifiers=verifiers_of(verifiers),
            reviewers=reviewers,
            task=task,
            plan=plan,
            clock_ms=clock,
            navigation=NavigationMap(settings.data_dir, clock),
            vault=Vault(settings.data_dir, clock),
            peers=peers,
        )
        runtime = cls(parts, dispatcher or LocalDispatcher(store), programs, whole or store)
        supervisor.report = runtime._report
        try:
            await runtime._start(wake_jobs=wake_jobs)
        except BaseException:
            await runtime.close()
            raise
        return runtime

    # --- Core ----------

    async def submit(self, op: protocol.Op) -> str:
        """Queue an op; see `Core.submit`. What it fails with becomes an ErrorEvent."""
        return await self.submit_as(OWNER, op)

    async def request(self, op: protocol.Op) -> protocol.Reply:
        """Carry an op out; see `Core.request`."""
        return await self.request_as(OWNER, op)

    async def submit_as(self, client: ClientInfo, op: protocol.Op) -> str:
        """Queue an op of a client; see `SharedCore.submit_as`."""
        submission = Submission(op, client, answered=False)
        if self._host_routing is not None:
            sending = self._carry(self._host_routing, submission)
            self._supervisor.start(sending, f"op {submission.submission_id}")
        else:
            await self._op_queue.put(submission)
        return submission.submission_id

    async def _carry(self, abroad: HostRouting, submission: Submission) -> None:
        """Have an op that nobody waits for carried out where it belongs."""
        try:
            if await abroad.carry(submission.client, submission.op) is None:
                await self._op_queue.put(submission)
                if _is_counted(submission.op):
                    await abroad.carried_elsewhere(submission.client, submission.op)
        except SwitchboardError as error:
            await self._tell_error(error_event(error), submission.submission_id)

    async def request_as(self, client: ClientInfo, op: protocol.Op) -> protocol.Reply:
        """Carry an op of a client out; see `SharedCore.request_as`."""
        if self._host_routing is not None:
            reply = await self._host_routing.carry(client, op)
            if reply is not None:
                return reply
        reply = await self.request_here(client, op)
        if self._host_routing is not None and _is_counted(op):
            others = await self._host_routing.carried_elsewhere(client, op)
            return _summed(reply, others)
        return reply

    async def request_here(self, client: ClientInfo, op: protocol.Op) -> protocol.Reply:
        """Carry an op of a client out on this host, whichever it belongs to."""
        submission = Submission(op, client, answered=True)
        await self._op_queue.put(submission)
        assert submission.reply is not None
        return await submission.reply

    async def leave(self, client: ClientInfo) -> None:
        """Let go of all that a client had; see `SharedCore.leave`."""
        if self._closing is None:
            await asyncio.shield(
                self._supervisor.start(self._let_go(client), f"leaving of {client.client_id}")
            )

    async def _let_go(self, client: ClientInfo) -> None:
        # What it drove settles first to what it came to: a goal that failed was not cancelled.
        try:
            await self._attaching.leave(client)
        finally:
            await self._direct_calls.leave(client)
            if self._parts.peers is not None:
                await self._parts.peers.leave(client)

    def events(
        self, *, after: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[protocol.Event]]:
        """Follow events; see `Core.events`. Ends when the core closes; fails when it dies."""
        return self._listeners.follow(after)

    def commits(
        self, *, after: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[Commit]]:
        """Follow commits; see `Core.commits`."""
        return self._listeners.follow_commits(after)

    @asynccontextmanager
    async def deltas(self, session_id: str = "") -> AsyncIterator[AsyncIterator[TextDelta]]:
        """Follow what models write; see `Core.deltas`. Raises UsageError for no session."""
        host = ""
        if session_id and self._host_routing is not None:
            host = await self._host_routing.host_of_words(session_id)
        following = (
            self._host_routing.deltas(host, session_id)
            if self._host_routing is not None and host
            else self.deltas_here(session_id)
        )
        async with following as deltas:
            yield deltas

    def deltas_here(self, session_id: str) -> AbstractAsyncContextManager[AsyncIterator[TextDelta]]:
        """Follow what the models of this host's sessions write; of one, or with "" of all."""
        return self._parts.deltas.follow(session_id)

    def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AbstractAsyncContextManager[AsyncIterator[LiveFrame]]:
        """Follow the newest picture of a device; see `Core.frames`."""
        abroad = self._host_routing
        is_elsewhere = abroad is not None and abroad.is_elsewhere(serial)
        follow = abroad.frames if abroad is not None and is_elsewhere else self.frames_here
        return follow(serial, width_px=width_px, height_px=height_px, max_hz=max_hz)

    @asynccontextmanager
    async def frames_here(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AsyncIterator[AsyncIterator[LiveFrame]]:
        """Follow the newest picture of one of this host's phones. Raises UsageError."""
        frames = self._parts.fleet.frames(
            serial, width_px=width_px, height_px=height_px, max_hz=max_hz
        )
        if isinstance(frames, AsyncGenerator):
            async with aclosing(frames):
                yield frames
        else:
            yield frames

    async def overview(self) -> Overview:
        """Return the picture of one moment, for a listener to follow on from."""
        async with self._registry.still():
            return Overview(
                event_id=await self.store.last_event_id(),
                sessions=await self.store.trees(limit=OVERVIEW_TREES),
                questions=await self.store.open_questions(),
                devices=self.phones(),
                servers_away=self._parts.fleet.servers_away(),
                jobs=await self.store.jobs(),
                watchers=await self._watches.shown_watchers(),
                commitments=await self._watches.shown_commitments(),
                notices=self._notices.shown,
                hosts=() if self._parts.peers is None else self._parts.peers.hosts(),
            )

    def phones(self) -> tuple[DeviceInfo, ...]:
        """List the phones as they are now."""
        return (
            self._parts.fleet.devices()
            if self._host_routing is None
            else self._host_routing.devices()
        )

    @property
    def default_autonomy(self) -> Autonomy:
        """How much a session may do unasked where nobody says."""
        return Autonomy(self._parts.settings.safety.autonomy)

    def approved_by(self, may_approve: Callable[[str, str], bool]) -> None:
        """Have a door say which operators may approve on a phone; see `Approvers`."""
        self._parts.approvers.may_approve = may_approve

    async def sessions_of_blob(self, digest: str) -> tuple[str, ...]:
        """Name the sessions whose events name a blob."""
        return await self.store.blobs.sessions_of(digest)

    async def close(self) -> None:
        """End the core: turns in flight stay open in the store. Calling it again does nothing."""
        await asyncio.shield(self._shut_down())

    async def wait_closed(self) -> None:
        """Wait until the core has ended, by closing or by dying."""
        await self._ended.wait()

    @property
    def death(self) -> RuntimeDiedError | None:
        """Why the core ended by itself; see `Core.death`."""
        return self._death

    # --- life ----------

    async def _start(self, *, wake_jobs: bool) -> None:
        self._unsubscribe = self.store.subscribe(self._followers.on_commit)
        self._registry.on_overtaken = lambda error: self._die("its hold on the store", error)
        if self._parts.peers is not None:
            await adopt_unhosted(self.store, self._parts.store, self._parts.peers)
        await self._registry.load()
        await self._warrants.store.load()
        self._parts.questions.load(await self._parts.store.open_questions())
        resumable = await recover(self._parts)
        await self._attaching.release_all()
        self._tree.look_at_all()
        await self._parts.fleet.start()
        await self._device_news.tell()
        self._supervisor.start(self._device_news.run(), "device watch")
        self._supervisor.start(self._parts.assignment.run(), "phones that work waits for")
        self._supervisor.start(WaitReasons(self._parts).run(), "why work waits")
        self._supervisor.start(Losses(self._parts).run(), "loss watch")
        self._supervisor.start(self._watch_store(), "store watch")
        self._supervisor.start(self._tree.run(), "roll-up")
        self._supervisor.start(self._targets.run(), "displays")
        self._supervisor.start(self._op_worker.run(), "ops")
        self._supervisor.start(self._pruning.run(), "retention")
        self._supervisor.start(self._deadlines.run(), "question deadlines")
        self._supervisor.start(self._notices.run(), "notices")
        await self._notices.take_over()
        await self._job_service.start(wake=wake_jobs)
        await self._watches.start(wake=wake_jobs)
        # A core that lives for one errand leaves the work to the one that will stay.
        if wake_jobs and self._parts.settings.recovery.auto_resume:
            for live in resumable:
                await self._operations.go_on_after_restart(live)
        # Last: it begins what was left to be run, in the order of creation.
        await self._serving.enter_async_context(
            self._dispatcher_host.serve(self._operations.begin_pending)
        )
        if self._parts.peers is not None:
            await self._serving.enter_async_context(self._parts.peers.serve(_Here(self)))

    async def _close(self, death: RuntimeDiedError | None) -> None:
        ended = death or RuntimeDiedError("The core has been closed.", "Start it again.")
        self._op_queue.close(ended)
        if death is None:
            await self._job_service.finish()
        for name in await self._supervisor.close():
            _log.warning("%s did not end in time", name)
        try:
            await self._serving.aclose()
            if death is None:
                with suppress(StoreError):
                    await self.store.append(EventDraft("", protocol.ShutdownComplete()))
        finally:
            if self._unsubscribe is not None:
                self._unsubscribe()
            self._listeners.end(death)
            self._parts.deltas.end()
            await self._targets.close()
            try:
                await self._parts.fleet.close()
            finally:
                self._ended.set()

    def _on_elsewhere(self, commit: Commit) -> None:
        """Take in what concerns this host of what another one stored."""
        peers = self._parts.peers
        assert peers is not None, "what is stored elsewhere is a fleet's"
        self._registry.forget({event.session_id for event in commit.events if event.session_id})
        self._notices.on_elsewhere(commit.events)
        for event in commit.events:
            match event.msg:
                case protocol.SessionHosted(host=peers.host, goes_on=goes_on):
                    self._rehosting.arrive(event.session_id, goes_on=goes_on)
                case protocol.SessionHosted():
                    self._parts.questions.drop(event.session_id)
                case protocol.JobChanged(job=Job(host=peers.host)):
                    self._job_service.on_commit((event,))
                case (
                    protocol.WatcherChanged(watcher=Watcher(host=peers.host))
                    | protocol.CommitmentChanged(commitment=Commitment(host=peers.host))
                ):
                    self._watches.on_commit((event,))
                case _:
                    pass

    def _die(self, name: str, error: Exception) -> None:
        """End the core because a part of it that it cannot do without has failed."""
        said = one_line(f"The core died: {name} failed: {type(error).__name__}: {error}", 500)
        death = RuntimeDiedError(
            said if said.endswith(".") else f"{said}.",
            "Start it again; sessions that were at work can be resumed.",
        )
        death.__cause__ = error
        _log.error("%s", death.message)
        self._shut_down(death)

    async def _watch_store(self) -> None:
        """End the core once the store is not its own any more."""
        while True:
            await asyncio.sleep(STORE_LOOK_S)
            try:
                await self.store.check_owned()
            except (FencedError, StoreGoneError) as error:
                self._die("its hold on the store", error)
                return
            except StoreError as error:
                # A disk that fails for a moment is told of by whatever has to be stored.
                _log.info("Whether the store is ours cannot be known now: %s", error)

    async def _report(self, name: str, error: Exception) -> None:
        if name in _ESSENTIAL:
            self._die(name, error)
            return
        await self._tell_error(
            protocol.ErrorEvent(
                message=one_line(f"{name} failed: {type(error).__name__}: {error}", 1000),
                kind=error.kind if isinstance(error, SwitchboardError) else ErrorKind.INTERNAL,
                remedy=error.remedy if isinstance(error, SwitchboardError) else "",
            )
        )

    # --- ops ----------

    async def _serve(self, session: Session, op: ServiceOp) -> protocol.Reply:
        if isinstance(op, JobOp):
            return await self._job_service.carry_out(session, op)
        return await self._watches.carry_out(op, asker=session)

    async def _check(self, session: Session, op: ServiceOp) -> None:
        """Refuse what the work itself would refuse. Raises SwitchboardError."""
        if isinstance(op, JobOp):
            await self._job_service.check(session, op)
        else:
            await self._watches.check(session, op)

    def _shut_down(self, death: RuntimeDiedError | None = None) -> asyncio.Task[None]:
        if self._closing is None:
            self._death = death
            name = "core closing" if death is None else "core dying"
            self._closing = asyncio.create_task(self._close(death), name=name)
        return self._closing

    async def _tell_error(self, error: protocol.ErrorEvent, submission_id: str = "") -> None:
        try:
            await self.store.append(EventDraft("", error, submission_id))
        except StoreError as unstored:
            _log.error("%s (and it could not be stored: %s)", error.message, unstored)


def _is_counted(op: protocol.Op) -> bool:
    """Whether every host carries an op out, and answers with what it came to there."""
    return isinstance(op, protocol.SessionClear | protocol.SessionPrune)


def _summed(reply: protocol.Reply, others: Iterable[protocol.Reply]) -> protocol.Reply:
    replies = (reply, *others)
    return replace(
        reply,
        session_ids=tuple(one for each in replies for one in each.session_ids),
        failed_ids={key: why for each in replies for key, why in each.failed_ids.items()},
        remaining_ids=tuple(one for each in replies for one in each.remaining_ids),
    )


class _Here:
    """A core as other hosts ask it: whatever they ask belongs here."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def request_as(self, client: ClientInfo, op: protocol.Op) -> protocol.Reply:
        """Carry an op out on this host."""
        return await self._runtime.request_here(client, op)

    async def leave(self, client: ClientInfo) -> None:
        """Let go of all that a client had."""
        await self._runtime.leave(client)
