"""Follow a campaign without a screen: say how far it is, and at its end what became of each phone.

Invariants: what is printed on stdout is the sum alone; a signal pauses the campaign, and what is at
work goes on to its end in whatever core has it.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from agent.core import Core
from agent.errors import RuntimeDiedError, SwitchboardError
from agent.protocol import Event, JobChanged, JobCreate, JobHistory, JobPause
from agent.records import Job, JobStatus, RunOutcome, RunRecord
from agent.state.terms import term, without_codes
from agent.text import counted, one_line
from console.cli_support import plain
from console.cli_support.exits import ExitCode, say
from console.core.command_settings import to_run
from console.terminal.signals import StopRequest
from widgets.base import formatting

_OVER = frozenset({JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.STOPPED})
_HEAD = ("PHONE", "OUTCOME", "STEPS", "TOOK", "SPENT", "SESSION", "WHY OR RESULT")
_MOST_RUNS = 200


async def pursue_campaign(
    core: Core, op: JobCreate, stop: StopRequest, *, as_json: bool = False, quiet: bool = False
) -> ExitCode:
    """Begin a campaign and follow it to its end, or until a signal pauses it."""
    async with core.events() as feed:
        job = (await core.request(op)).job
        assert job is not None
        if not quiet:
            say(f"campaign {job.id}: {counted(len(_phones(job)), 'phone')}")
        asked = asyncio.ensure_future(stop.asked.wait())
        coming: asyncio.Future[Event] | None = None
        told = ""
        try:
            with stop.graceful():
                while not (job.status in _OVER and job.last_result):
                    if coming is None:
                        coming = asyncio.ensure_future(anext(feed))
                    either: set[asyncio.Future[Any]] = {coming, asked}
                    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                    if asked.done():
                        return await _paused(core, job, stop)
                    try:
                        event, coming = coming.result(), None
                    except StopAsyncIteration:
                        raise RuntimeDiedError(
                            f"The core ended during campaign {job.id}.",
                            "It continues with the next core: switchboard daemon start. Its "
                            f"progress: {to_run(f'jobs show {job.id}')}",
                        ) from None
                    if isinstance(event.msg, JobChanged) and event.msg.job.id == job.id:
                        job = event.msg.job
                        if not quiet and job.progress_text != told:
                            told = job.progress_text
                            await asyncio.to_thread(say, told)
        finally:
            left = [one for one in (asked, coming) if one is not None]
            for one in left:
                one.cancel()
            await asyncio.gather(*left, return_exceptions=True)
    runs = (await core.request(JobHistory(job_id=job.id, limit=_MOST_RUNS))).runs
    if as_json:
        data = [plain.as_builtins(run) for run in runs]
        plain.print_json({"job": plain.as_builtins(job), "runs": data})
    else:
        plain.print_text(campaign_table(_phones(job), runs))
        plain.print_text(job.last_result)
    return ExitCode.DONE if job.status is JobStatus.COMPLETED else ExitCode.FAILED


def campaign_table(phones: Sequence[str], runs: Sequence[RunRecord]) -> str:
    """Return what became of each phone of a campaign, a line each, failures first."""
    by_phone = {run.serial: run for run in runs}
    order = sorted(phones, key=lambda one: _rank(by_phone.get(one)))
    return plain.columns(_HEAD, [_row(serial, by_phone.get(serial)) for serial in order])


def _rank(run: RunRecord | None) -> int:
    if run is None:
        return 3
    if run.outcome is None:
        return 1
    return 2 if run.outcome is RunOutcome.FINISHED else 0


def _row(serial: str, run: RunRecord | None) -> tuple[str, ...]:
    if run is None:
        return (serial, "not started", "-", "-", "-", "-", "-")
    return (
        serial,
        term(run.outcome or run.status),
        str(run.steps),
        plain.span(run.ended_at - run.started_at) if run.ended_at else "-",
        formatting.cost(run.usage) or "-",
        run.session_id or "-",
        one_line(without_codes(run.diagnostics or run.result), 80) or "-",
    )


def _phones(job: Job) -> tuple[str, ...]:
    from agent.records import campaign_of

    return campaign_of(job.payload_json).phones


async def _paused(core: Core, job: Job, stop: StopRequest) -> ExitCode:
    try:
        await core.request(JobPause(job_id=job.id))
    except SwitchboardError as error:
        say(f"switchboard: {error.message}")
    else:
        say(f"Paused: no more phones start. {job.progress_text}".rstrip())
    resume, end = to_run(f"jobs resume {job.id}"), to_run(f"jobs stop {job.id}")
    say(f"Continue: {resume}; end it: {end}")
    return stop.code
