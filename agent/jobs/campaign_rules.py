"""What a campaign does next and what it came to; pure.

Invariants: no phone begins twice; none begins before its time, beyond the number at once, or after
the campaign was halted; it is over when nothing is at work and nothing more is to begin.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from agent import records
from agent.text import counted, one_line

RESULT_LIMIT_CHARS = 4000
_OUTCOMES = {
    records.SessionState.COMPLETED: records.RunOutcome.FINISHED,
    records.SessionState.FAILED: records.RunOutcome.FAILED,
    records.SessionState.CANCELLED: records.RunOutcome.CANCELLED,
}


@dataclass(frozen=True, slots=True)
class CampaignProgress:
    """How far a campaign has come."""

    total: int = 0
    done: int = 0
    failed: int = 0
    cancelled: int = 0
    at_work: int = 0
    usage: records.Usage = field(default_factory=records.Usage)
    newest_ms: int = 0  # When the newest phone began; 0: none has.

    @property
    def left(self) -> int:
        """How many have not begun."""
        return self.total - self.done - self.failed - self.cancelled - self.at_work

    def is_halted(self, campaign: records.Campaign) -> bool:
        """Return whether so many failed that no more begin."""
        return 0 < campaign.stop_after <= self.failed

    @property
    def summary(self) -> str:
        """How it stands, in a line."""
        parts = [f"{self.done} of {self.total} done"]
        parts += [f"{self.failed} failed"] * bool(self.failed)
        parts += [f"{self.cancelled} cancelled"] * bool(self.cancelled)
        parts += [f"{self.at_work} at work"] * bool(self.at_work)
        parts += [f"{self.left} not started"] * bool(self.left)
        tokens = self.usage.input_tokens + self.usage.output_tokens
        spent = [counted(tokens, "token")] * bool(tokens)
        spent += [f"${self.usage.cost_usd:,.2f}"] * bool(self.usage.cost_usd)
        return ", ".join(parts) + (f"; {', '.join(spent)}" if spent else "")


def progress_of(
    campaign: records.Campaign, runs: Mapping[str, records.RunRecord]
) -> CampaignProgress:
    """Return how a campaign stands, by the records of its runs, each by its phone."""
    mine = [runs[serial] for serial in campaign.phones if serial in runs]
    ended = [run for run in mine if run.status is records.RunStatus.ENDED]
    usage = records.Usage()
    for run in ended:
        usage = usage.plus(run.usage)
    done = sum(run.outcome is records.RunOutcome.FINISHED for run in ended)
    cancelled = sum(run.outcome is records.RunOutcome.CANCELLED for run in ended)
    return CampaignProgress(
        total=len(campaign.phones),
        done=done,
        failed=len(ended) - done - cancelled,
        cancelled=cancelled,
        at_work=len(mine) - len(ended),
        usage=usage,
        newest_ms=max((run.started_at for run in mine), default=0),
    )


def begins(
    job: records.Job,
    campaign: records.Campaign,
    runs: Mapping[str, records.RunRecord],
    phones: Mapping[str, bool],
    now_ms: int,
) -> tuple[str, int]:
    """Return the phone that begins now, and when to look again at the latest.

    Args:
        phones: those that are known, and whether nobody uses them: such come before the others.

    Returns:
        The serial, empty for none, and the time of the next begin; 0: not by time.
    """
    stands = progress_of(campaign, runs)
    if job.status is not records.JobStatus.ACTIVE or stands.is_halted(campaign) or not stands.left:
        return "", 0
    if campaign.at_once and stands.at_work >= campaign.at_once:
        return "", 0
    between_ms = round(60_000 / campaign.per_minute) if campaign.per_minute else 0
    # A clock that was set back delays by one pace at most.
    due_ms = min(stands.newest_ms, now_ms) + between_ms if stands.newest_ms else 0
    if due_ms > now_ms:
        return "", due_ms
    left = [one for one in campaign.phones if one not in runs and one in phones]
    return min(left, key=lambda one: not phones[one], default=""), 0


def advanced(
    job: records.Job, campaign: records.Campaign, stands: CampaignProgress, now_ms: int
) -> records.Job | None:
    """Return the record of a campaign's job as it stands now; None where that is stored."""
    progress = replace(
        job,
        progress_text=stands.summary,
        progress_current=stands.total - stands.left - stands.at_work,
        progress_total=stands.total,
    )
    goes_on = stands.left and not stands.is_halted(campaign)
    if job.status is records.JobStatus.ACTIVE and not stands.at_work and not goes_on:
        good = stands.done == stands.total
        halted = f"stopped after {stands.failed} failures: " if stands.left else ""
        progress = replace(
            progress,
            status=records.JobStatus.COMPLETED if good else records.JobStatus.FAILED,
            next_run_at=0,
            unread_result=job.delivery_json.get("mode") != "none",
            last_result=f"{halted}{stands.summary}"[:RESULT_LIMIT_CHARS],
            last_run_at=now_ms,
            failure_count=stands.failed,
        )
    elif job.status is records.JobStatus.STOPPED and not stands.at_work:
        progress = replace(progress, last_result=stands.summary[:RESULT_LIMIT_CHARS])
    return replace(progress, updated_at=now_ms) if progress != job else None


def run_of(job_id: int, serial: str, session: records.Session) -> records.RunRecord:
    """Write the record of one phone's run, from its session."""
    begun = records.RunRecord(
        run_id=f"run-{session.session_id}",
        job_id=job_id,
        due_at=session.created_ms,
        started_at=session.created_ms,
        session_id=session.session_id,
        serial=serial,
    )
    outcome = _OUTCOMES.get(session.state)
    if outcome is None:
        return begun
    if outcome is records.RunOutcome.FINISHED and session.verdict is records.GoalVerdict.NOT_MET:
        outcome = records.RunOutcome.FAILED
    return replace(
        begun,
        status=records.RunStatus.ENDED,
        outcome=outcome,
        ended_at=session.updated_ms,
        result=session.latest_result[:RESULT_LIMIT_CHARS],
        diagnostics=one_line(session.latest_error, 2000),
        steps=session.steps,
        time=session.time,
        usage=session.usage,
        verified_by=session.verified_by,
        verdict=session.verdict,
        result_json=session.result_json,
    )


def refused(job_id: int, serial: str, why: str, now_ms: int) -> records.RunRecord:
    """Write the record of a phone on which no session could be begun."""
    return records.RunRecord(
        run_id=f"run-{job_id}-{serial}",
        job_id=job_id,
        due_at=now_ms,
        started_at=now_ms,
        ended_at=now_ms,
        status=records.RunStatus.ENDED,
        outcome=records.RunOutcome.ERROR,
        serial=serial,
        diagnostics=one_line(why, 2000),
    )
