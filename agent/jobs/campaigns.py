"""Carry campaigns out: begin a session on each phone at the campaign's pace, and keep the count.

Not the rules (`agent.jobs.campaign_rules`). Invariants: what has begun is told by the sessions,
whose ids follow from the job and the phone, so a core that dies at any moment begins none twice; a
job is changed only where what it says has changed.
"""

import asyncio
import logging
from collections.abc import Iterable

from msgspec.structs import replace

from agent import protocol
from agent.errors import StoreError, SwitchboardError, UsageError
from agent.jobs.campaign_rules import advanced, begins, progress_of, refused, run_of
from agent.jobs.records import JobRecords
from agent.jobs.tool_calls import requires_of
from agent.models.session_endpoint import check_asked_there, recorded_address
from agent.placement.needs import parse_needs
from agent.records import (
    AtLimit,
    Campaign,
    Job,
    JobStatus,
    JobType,
    RunRecord,
    RunStatus,
    Session,
    campaign_of,
)
from agent.records.jobs import MOST_PHONES
from agent.sessions.lifecycle.operations import Operations
from agent.sessions.registry.services import Services
from agent.sessions.rules.creation import planned_sessions, requested_id
from agent.store.store import EventDraft

_RETRY_S = 2.0
_MOST_JOBS = 10_000
_LONGEST_S = 60.0
_OPEN = frozenset({JobStatus.ACTIVE, JobStatus.PAUSED})
_log = logging.getLogger(__name__)


class Campaigns:
    """The campaigns of one core."""

    def __init__(self, parts: Services, operations: Operations, records: JobRecords) -> None:
        self._parts = parts
        self._operations = operations
        self._records = records
        self._jobs: set[int] = set()
        """Those that go on here."""
        self._sessions: set[str] = set()
        """Theirs that are at work."""
        self._changed = asyncio.Event()

    async def recover(self) -> None:
        """Take up what an earlier core left. Raises StoreError."""
        for job in await self._parts.store.jobs(limit=_MOST_JOBS):
            if job.type is JobType.CAMPAIGN and (
                job.status in _OPEN or job.status is JobStatus.STOPPED
            ):
                self._jobs.add(job.id)
        self._changed.set()

    def on_commit(self, events: Iterable[protocol.Event]) -> None:
        """Look again when a campaign changed, one of its sessions ended, or a phone came."""
        for event in events:
            match event.msg:
                case protocol.JobChanged(job=Job(type=JobType.CAMPAIGN) as job):
                    self._jobs.add(job.id)
                    self._changed.set()
                case protocol.SessionStateChanged(state=state) if state.is_terminal:
                    if event.session_id in self._sessions:
                        self._changed.set()
                case protocol.DeviceChanged() if self._jobs:
                    self._changed.set()
                case _:
                    pass

    async def run(self) -> None:
        """Carry campaigns out, for ever."""
        while True:
            wait_s = _RETRY_S
            try:
                wait_s = await self._look()
            except SwitchboardError as error:
                _log.warning("Campaigns could not be carried on: %s", error)
            try:
                async with asyncio.timeout(wait_s):
                    await self._changed.wait()
            except TimeoutError:
                continue

    async def phones(self, campaign: Campaign) -> Campaign:
        """Return a campaign with the phones that it is for, and where its model is asked.

        Raises:
            UsageError: none fits, too many do, or one is not known; or its client expects its
                model to be asked elsewhere.
        """
        needs = parse_needs(campaign.needs)
        if needs.same or needs.spread:
            raise UsageError(
                "needs: a campaign runs on every matching phone.", "Omit same and spread."
            )
        serials = tuple(dict.fromkeys(campaign.phones))
        for serial in serials:
            self._parts.assignment.check_known(serial)
        if not serials:
            found = await self._parts.assignment.fitting(needs)
            serials = tuple(info.serial for info in found)
        if not serials:
            what = f" with {needs.shown}" if needs.restricts else ""
            raise UsageError(
                f"No phone{what} is online.", "Connect one, or look: switchboard devices list"
            )
        if len(serials) > MOST_PHONES:
            raise UsageError(
                f"{len(serials)} phones fit.",
                f"A campaign takes at most {MOST_PHONES}: narrow them by a tag.",
            )
        settings = self._parts.settings
        model = campaign.model or settings.model.name
        check_asked_there(campaign.endpoint, settings, model)
        address = recorded_address(settings, model)
        return replace(campaign, phones=serials, model=model, endpoint=address)

    # --- how ----------

    async def _look(self) -> float:
        """Do what is to be done now; return the seconds until something is due."""
        self._changed.clear()
        self._sessions = set()
        due: list[int] = []
        for job_id in sorted(self._jobs):
            try:
                due.append(await self._advance(job_id))
            except SwitchboardError as error:
                # The others go on; this one is tried again.
                _log.warning("Campaign %d could not be carried on: %s", job_id, error)
                due.append(self._parts.clock_ms() + round(_RETRY_S * 1000))
        soonest = min((at_ms for at_ms in due if at_ms), default=0)
        if not soonest:
            return _LONGEST_S
        left_s = (soonest - self._parts.clock_ms()) / 1000
        return min(max(left_s, 0.0), _LONGEST_S)

    async def _advance(self, job_id: int) -> int:
        """Carry one campaign on; return when its next phone is due, 0 where no time makes it."""
        job = await self._parts.store.job(job_id)
        peers = self._parts.peers
        if job is None or (peers is not None and job.host != peers.host):
            # It is gone, or another host's.
            self._jobs.discard(job_id)
            return 0
        campaign = campaign_of(job.payload_json)
        runs = await self._updated_runs(job, campaign)
        if job.status is JobStatus.STOPPED and await self._cancel(runs.values()):
            runs = await self._updated_runs(job, campaign)
        phones = {
            info.serial: self._parts.assignment.is_free(info)
            for info in self._parts.fleet.devices()
        }
        while True:
            now_ms = self._parts.clock_ms()
            serial, due_ms = begins(job, campaign, runs, phones, now_ms)
            if not serial:
                break
            # As it is stored now: it may have been paused or stopped a moment ago.
            now = await self._parts.store.job(job_id)
            if now is None or now.status is not JobStatus.ACTIVE:
                return 0  # The change of the job has us look again.
            runs[serial] = await self._begin(job, campaign, serial)
        stands = progress_of(campaign, runs)

        def as_it_stands(stored: Job) -> Job | None:
            return advanced(stored, campaign, stands, now_ms)

        job, _ = await self._records.change(job_id, as_it_stands, "campaign")
        if job.status not in _OPEN and not stands.at_work:
            self._jobs.discard(job_id)
            return 0
        return due_ms

    async def _updated_runs(self, job: Job, campaign: Campaign) -> dict[str, RunRecord]:
        """Return the runs of a campaign by phone, once the store has them as sessions tell them."""
        stored = {
            run.serial: run for run in await self._parts.store.job_runs.runs(job.id, limit=1000)
        }
        news: list[EventDraft] = []
        for serial in campaign.phones:
            before = stored.get(serial)
            if before is not None and before.status is RunStatus.ENDED:
                continue
            session = await self._session(_request_id(job.id, serial))
            if session is None:
                if before is not None:
                    # Its session was deleted under it.
                    why = "its session is gone"
                    gone = refused(job.id, serial, why, self._parts.clock_ms())
                    stored[serial] = replace(gone, run_id=before.run_id)
                    news.append(EventDraft("", protocol.RunChanged(run=stored[serial])))
                continue
            run = run_of(job.id, serial, session)
            if run != before:
                stored[serial] = run
                news.append(EventDraft("", protocol.RunChanged(run=run)))
            if run.status is not RunStatus.ENDED:
                self._sessions.add(session.session_id)
        if news:
            await self._parts.registry.append(*news)
        return stored

    async def _session(self, request_id: str) -> Session | None:
        try:
            return (await self._parts.registry.get(requested_id(request_id))).record
        except UsageError:
            return None

    async def _begin(self, job: Job, campaign: Campaign, serial: str) -> RunRecord:
        """Begin one phone's session; return the record of its run, which is stored."""
        op = protocol.SessionCreate(
            goal=job.prompt,
            title=job.title,
            serial=serial,
            account=campaign.account,
            model=campaign.model,
            max_steps=campaign.max_steps,
            budget=campaign.budget,
            autonomy=campaign.autonomy,
            at_limit=AtLimit.STOP,
            requires=requires_of(job.payload_json),
            request_id=_request_id(job.id, serial),
        )
        try:
            planned = planned_sessions(
                op,
                settings=self._parts.settings,
                assignment=self._parts.assignment,
                now_ms=self._parts.clock_ms(),
                endpoint=campaign.endpoint,
            )
            # It is the operator's goal on each phone, not a background turn.
            sessions = tuple(replace(one, job_id=job.id) for one in planned)
            await self._operations.enter(sessions, start=True)
            run = run_of(job.id, serial, sessions[0])
            self._sessions.add(run.session_id)
        except StoreError:
            raise
        except SwitchboardError as error:
            run = refused(job.id, serial, f"{error}", self._parts.clock_ms())
        await self._parts.registry.append(EventDraft("", protocol.RunChanged(run=run)))
        return run

    async def _cancel(self, runs: Iterable[RunRecord]) -> bool:
        """End the sessions of a campaign that was stopped; return whether there were any."""
        open_ones = [run.session_id for run in runs if run.status is not RunStatus.ENDED]
        for session_id in open_ones:
            await self._operations.cancel(session_id, reason="its campaign was stopped")
        return bool(open_ones)


def _request_id(job_id: int, serial: str) -> str:
    return f"campaign-{job_id}-{serial}"
