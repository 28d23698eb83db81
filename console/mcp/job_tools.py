"""The job tools: a client has work stored that goes on without it, and stops what it stored.

Invariants: a job is stored as a model of ours stores one, by a call of a direct session, so that
the operator is asked before it stands; a client stops only the jobs that it stored.
"""

import asyncio
import json
import math
from collections.abc import Mapping
from typing import Annotated

import msgspec

from agent.core import Core
from agent.direct.calls import call, release_arguments
from agent.errors import SwitchboardError, UsageError
from agent.jobs.creation import checked_job
from agent.jobs.job_service import LIST_LIMIT
from agent.protocol import JobCreate, JobList, JobStop
from agent.records import DeviceState, DirectStatus, DirectView
from agent.store.store import wall_clock_ms
from agent.text import counted, one_line
from agent.tools.arguments import Arguments, BadArguments
from agent.tools.background_jobs import BackgroundJobCreate, job_op
from console.mcp.phone_tools import PATIENCE_S, ask_here
from console.mcp.taking_back import afterwards, begin_direct_session, end
from console.mcp.tool import LOOKS, Answer, Asker, Connection, Hints, McpTool, op_of, tool_of

_SLICE_S = 1.0
_AT_ONCE = 8  # How many jobs of one client may wait for the operator.


class CreateJob(Arguments, frozen=True, kw_only=True):
    title: Annotated[str, msgspec.Meta(description="A short name.", min_length=1)]
    prompt: Annotated[str, msgspec.Meta(description="Goal of each run.", min_length=1)]
    next_run_at: Annotated[int, msgspec.Meta(description="First run, ms since the epoch.")] = 0
    interval_ms: Annotated[int, msgspec.Meta(description="0 = once; at least 15000.")] = 0
    cron: Annotated[str, msgspec.Meta(description="Five fields, instead of an interval.")] = ""
    timezone: Annotated[str, msgspec.Meta(description="Of cron, as Europe/Berlin.")] = ""


class ListJobs(Arguments, frozen=True, kw_only=True):
    pass


class StopJob(Arguments, frozen=True, kw_only=True):
    job_id: Annotated[int, msgspec.Meta(description="Its number.")]


async def _create(connection: Connection, asker: Asker, given: CreateJob) -> Answer:
    # Before a phone is taken for it: what cannot run is refused at once.
    _check(_arguments(given, connection.program))
    waiting = [key for key, task in connection.storing.items() if not task.done()]
    if len(waiting) >= _AT_ONCE:
        raise UsageError(
            f"{counted(_AT_ONCE, 'job')} of yours are waiting for the operator.", "Wait for them."
        )
    connection.storing = {key: connection.storing[key] for key in waiting}
    purpose = f"Store a job: {one_line(given.title, 60)}"
    serial = await _a_phone(connection.core)
    session_id = await begin_direct_session(connection, purpose, serial)
    storing = asyncio.create_task(_outcome(connection, session_id, given), name="stores a job")
    connection.storing[session_id] = storing
    connection.at_end.callback(storing.cancel)
    try:
        return await _until_stored(connection, asker, session_id)
    except asyncio.CancelledError:
        connection.storing.pop(session_id).cancel()
        afterwards(connection, end(connection.core, session_id))
        raise


async def _a_phone(core: Core) -> str:
    """Return the serial of a phone that is free, or else of one that is there.

    Raises:
        UsageError: none is connected.
    """
    devices = (await core.overview()).devices
    online = [one for one in devices if one.state is DeviceState.ONLINE]
    if not online:
        raise UsageError("No phone is connected.", "Have the operator connect one.")
    return min(online, key=lambda one: bool(one.driver)).serial


async def _outcome(connection: Connection, session_id: str, given: CreateJob) -> Answer:
    """Store the job; what is refused, and the end of the core, are an answer too."""
    try:
        return await _stored(connection, session_id, given)
    except SwitchboardError as error:
        return Answer(text=f"{error.message} {error.remedy}".strip(), failed=True)


async def _stored(connection: Connection, session_id: str, given: CreateJob) -> Answer:
    """Have the session store the job, however long the operator takes; returns what came of it."""

    async def quiet(_waited_s: float, _why: str) -> None:
        pass

    async def called(tool: str, arguments: dict[str, object]) -> DirectView:
        return await call(
            connection.core, session_id, tool, arguments, patience_s=math.inf, on_wait=quiet
        )

    view = await called("", {})
    if view.status is not DirectStatus.OVER:
        view = await called("background_job_create", _arguments(given, connection.program))
    # The screen stands below; the first part is the call's own result.
    told = view.text.partition("\n\n")[0]
    job_id = _job_in(told)
    if job_id:
        connection.jobs.add(job_id)
    if view.status is not DirectStatus.OVER:
        summary = f"Stored job {job_id}." if job_id else "Stored no job."
        await called(*release_arguments(bool(job_id), summary))
    if job_id:
        return Answer(text=f"Job {job_id} is stored. stop_job ends it.")
    return Answer(text=told, failed=True)


def _arguments(given: CreateJob, program: str) -> dict[str, object]:
    found: dict[str, object] = {
        "title": given.title,
        "prompt": given.prompt,
        "reason": f"{program} asks for it.",
        "next_run_at": given.next_run_at,
        "interval_ms": given.interval_ms,
    }
    if given.cron:
        found["schedule"] = {"cron": given.cron, "timezone": given.timezone}
    return found


def _check(arguments: Mapping[str, object]) -> None:
    """Raise UsageError where the job could not run."""
    try:
        op = job_op(msgspec.convert(arguments, BackgroundJobCreate))
    except (BadArguments, msgspec.ValidationError) as error:
        raise UsageError(str(error), "Correct that field.") from error
    if not isinstance(op, JobCreate):
        raise UsageError("The title or the prompt is empty.", "Give both.")
    checked_job(op, now_ms=wall_clock_ms())


def _job_in(told: str) -> int:
    """Return the number of the job that a result says was stored; 0 for none."""
    try:
        said = json.loads(told)
    except ValueError:
        return 0
    if not isinstance(said, dict) or said.get("status") != "background_job.created":
        return 0
    return int(said["job_id"])


async def _until_stored(connection: Connection, asker: Asker, session_id: str) -> Answer:
    """Wait for what the operator says, who may be the person at the client."""
    storing = connection.storing.get(session_id)
    if storing is None:
        raise UsageError(f"No job of session {session_id} is waiting.", "See list_jobs.")
    waited_s = 0.0
    while waited_s < PATIENCE_S:
        await asyncio.wait({storing}, timeout=_SLICE_S)
        if storing.done():
            connection.storing.pop(session_id, None)
            return storing.result()
        waited_s += _SLICE_S
        await asker.progress(waited_s, "The operator is asked whether the job is stored.")
        await ask_here(connection, asker, session_id)
    return Answer(text="The operator is asked. list_jobs names the job once it is stored.")


async def _list(connection: Connection, _asker: Asker, _given: ListJobs) -> Answer:
    jobs = (await connection.core.request(JobList(query="", limit=LIST_LIMIT))).jobs
    lines = [f"{job.id}  {job.status.value}  {one_line(job.title, 120)}" for job in jobs]
    return Answer(text="\n".join(lines) or "There are no jobs.")


async def _stop(connection: Connection, _asker: Asker, given: StopJob) -> Answer:
    if given.job_id not in connection.jobs:
        raise UsageError(
            f"Job {given.job_id} was not created by you.",
            f"The operator stops it: switchboard jobs stop {given.job_id}",
        )
    await connection.core.request(op_of(JobStop, given))
    return Answer(text=f"Job {given.job_id} is stopped.")


JOB_TOOLS: tuple[McpTool, ...] = (  # type: ignore[type-arg]
    tool_of(
        "create_job",
        "Create a job",
        JobCreate,
        CreateJob,
        _create,
        " The operator is asked first.",
        hints=Hints(destroys=True, is_open=True),
        go_on=_until_stored,
    ),
    tool_of("list_jobs", "List jobs", JobList, ListJobs, _list, hints=LOOKS),
    tool_of(
        "stop_job",
        "Stop a job",
        JobStop,
        StopJob,
        _stop,
        hints=Hints(destroys=True, is_idempotent=True),
    ),
)
