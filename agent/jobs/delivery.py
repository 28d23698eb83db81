"""Tell the operator that a job has run, keeps failing, or ended for want of an answer.

Not the sinks: those are the notices' (`agent.notices`). Invariants: the exact wording wins; a
result or a trace is never in a notification; `silent` and `none` tell nobody, and neither does a
heartbeat; a failure is told from the third in a row on.
"""

import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from secrets import token_hex

from agent.jobs.schedule import FAILURES_BEFORE_ALERT
from agent.records import Job, JobStatus, Notice, NoticeKind, RunOutcome, RunRecord
from agent.sessions.registry.services import Services
from agent.text import one_line

_TITLE_LIMIT_CHARS = 80
_log = logging.getLogger(__name__)

_ENDED_BY_A_REVIEW = {
    RunOutcome.EXPIRED: "Nobody reviewed in time what it wanted to do, so it was not done.",
    RunOutcome.UNKNOWN: "The core ended between your approval and the end of the action. Look at "
    "the phone: it is not done again.",
}


def job_key(job_id: int) -> str:
    """Name the notice of a job among those of sessions."""
    return f"job:{job_id}"


def alert_text(job: Job, run: RunRecord) -> str:
    """Return what the notification of a run that came to nothing says; empty for none."""
    if not job.sends_notices:
        return ""
    if run.outcome in _ENDED_BY_A_REVIEW:
        return _ENDED_BY_A_REVIEW[run.outcome]
    if job.failure_count < FAILURES_BEFORE_ALERT:
        return ""
    times = f"It failed {job.failure_count} times in a row"
    if job.status is JobStatus.FAILED:
        return f"{times} and is given up."
    next_try = datetime.fromtimestamp(job.next_run_at / 1000).astimezone()
    return f"{times}; next try at {next_try:%H:%M}."


def notice_of(job: Job, run: RunRecord, now_ms: int) -> Notice | None:
    """Write the notice of a run that has ended; None when there is nothing to tell."""
    good = run.outcome is RunOutcome.FINISHED
    text = job.notice_text if good else alert_text(job, run)
    if not text:
        return None
    return Notice(
        token=f"n-{token_hex(6)}",
        session_id=job_key(job.id),
        job_id=job.id,
        kind=NoticeKind.COMPLETED if good else NoticeKind.FAILED,
        title=one_line(job.title, _TITLE_LIMIT_CHARS),
        text=text,
        serial=run.serial,
        posted_ms=now_ms,
    )


class Delivery:
    """How the jobs of one core are told of.

    Its `announce` and `withdraw_notice` are set once there is somebody to show notices.
    """

    def __init__(self, parts: Services) -> None:
        self._parts = parts
        self.announce: Callable[[Notice], Awaitable[None]] | None = None
        self.withdraw_notice: Callable[[str], Awaitable[None]] | None = None

    def tell(self, job: Job, run: RunRecord) -> None:
        """Announce a run that has ended; nothing waits for it."""
        notice = notice_of(job, run, self._parts.clock_ms())
        if notice is None:
            return
        if self.announce is None:
            _log.warning("Nobody is there to be told of job %d", job.id)
            return
        self._parts.supervisor.start(self._show(notice), f"notice of job {job.id}")

    async def withdraw(self, job_id: int) -> None:
        """Show the notice of a job no more: the operator has looked at it."""
        if self.withdraw_notice is not None:
            await self.withdraw_notice(job_key(job_id))

    async def _show(self, notice: Notice) -> None:
        assert self.announce is not None, "checked before it was started"
        await self.announce(notice)
