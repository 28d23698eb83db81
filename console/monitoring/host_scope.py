"""What of a fleet is a core's own: its host's sessions, jobs and phones.

In a fleet every core hears of all hosts. Each host is measured by its own monitor, so what is of
another is left out, and sums over hosts count everything once. Invariant: without a fleet
everything is own.
"""

from msgspec.structs import replace

from agent import protocol
from agent.core import Core, Overview
from agent.errors import UsageError
from agent.records import DeviceInfo, Question, Session, host_of


class HostScope:
    """Tells what is a core's own.

    Args:
        core: asked for the hosts of sessions that are not known yet.
        overview: of that core.
    """

    def __init__(self, core: Core, overview: Overview) -> None:
        self._core = core
        self._host = next((one.name for one in overview.hosts if one.is_here), "")
        self._is_alone = not overview.hosts
        self._sessions = {one.session_id: one.host for one in overview.sessions}
        self._jobs = {one.id: one.host for one in overview.jobs}
        self.overview = overview if self._is_alone else self._own(overview)
        """The core's, without what is of other hosts."""

    def _own(self, overview: Overview) -> Overview:
        return replace(
            overview,
            sessions=tuple(one for one in overview.sessions if one.host == self._host),
            jobs=tuple(one for one in overview.jobs if one.host == self._host),
            devices=tuple(filter(self._has_phone, overview.devices)),
            questions=tuple(filter(self._has_question, overview.questions)),
        )

    def _has_phone(self, device: DeviceInfo) -> bool:
        return host_of(device.serial) in ("", self._host)

    def _has_question(self, question: Question) -> bool:
        return self._sessions.get(question.session_id, self._host) == self._host

    async def has(self, event: protocol.Event) -> bool:
        """Return whether an event is of this host. Raises RuntimeDiedError."""
        if self._is_alone:
            return True
        session_id = event.session_id
        match event.msg:
            case protocol.SessionConfigured(session=session):
                self._sessions[session_id] = session.host
            case protocol.SessionHosted(host=host):
                was_own = self._sessions.get(session_id) == self._host
                self._sessions[session_id] = host
                return was_own or host == self._host
            case protocol.SessionsDeleted(session_ids=gone):
                for one in gone:
                    self._sessions.pop(one, None)
                return True
            case protocol.DeviceChanged(device=device):
                return self._has_phone(device)
            case protocol.JobChanged(job=job):
                self._jobs[job.id] = job.host
                return job.host == self._host
            case protocol.RunChanged(run=run):
                return self._jobs.get(run.job_id, "") == self._host
            case _:
                pass
        if not session_id:
            return True
        if session_id not in self._sessions:
            try:
                self._sessions[session_id] = (await self._core.session(session_id)).host
            except UsageError:
                return False
        return self._sessions[session_id] == self._host

    async def session(self, session_id: str) -> Session | None:
        """Return a session of this host; None when it is another's, or gone."""
        try:
            found = await self._core.session(session_id)
        except UsageError:
            return None
        return found if found.host == self._host else None
