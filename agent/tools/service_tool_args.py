"""The tools that touch no phone and ask the core's services: jobs, watchers, commitments.

Only which of them a call is of. Invariant: each has its op, its replies and its sentence.
"""

from typing import TypeAlias

from agent.errors import UsageError
from agent.protocol import JobCreate, JobList, JobStop, Reply
from agent.text import one_line
from agent.tools import background_jobs as jobs
from agent.tools import watching
from agent.tools.background_jobs import (
    BackgroundJobCreate,
    BackgroundJobList,
    BackgroundJobStop,
    JobArguments,
)
from agent.tools.watching import WatchArguments, WatchOp

ServiceCall: TypeAlias = JobArguments | WatchArguments


def op_of(arguments: ServiceCall) -> JobCreate | JobList | JobStop | WatchOp | str:
    """Make the op of a call, or the reply to a call that lacks something.

    Raises:
        BadArguments: a field that cannot be read.
    """
    if isinstance(arguments, WatchArguments):
        return watching.watch_op(arguments)
    return jobs.job_op(arguments)


def answered(arguments: ServiceCall, came: Reply) -> str:
    """Return the reply to what was done."""
    if isinstance(arguments, WatchArguments):
        return watching.answered(arguments, came)
    return jobs.answered(arguments, came)


def refused(arguments: ServiceCall, error: UsageError) -> str:
    """Return the reply to what was refused."""
    if isinstance(arguments, WatchArguments):
        return watching.refused(arguments, error)
    return jobs.refused(arguments, error)


def only_looks(arguments: ServiceCall) -> bool:
    """Return whether a call changes nothing."""
    if isinstance(arguments, WatchArguments):
        return watching.only_looks(arguments)
    return isinstance(arguments, BackgroundJobList)


def summary_of(arguments: ServiceCall) -> str:
    """Return what would be done, for whoever is asked."""
    match arguments:
        case BackgroundJobCreate(title=title):
            prompt = arguments.prompt or arguments.goal or arguments.task
            return f'Create the job "{one_line(title, 80)}": {one_line(prompt, 300)}'
        case BackgroundJobStop(job_id=job_id):
            return f"Stop job {job_id} for good"
        case BackgroundJobList():
            return "List the jobs"
        case _:
            return watching.summary_of(arguments)
