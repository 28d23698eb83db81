"""`switchboard jobs pause|resume|run|read|stop`: what is done with a job that is stored.

Invariant: each is an op of the core; what cannot be done is its error.
"""

import click

from agent.core import Core
from agent.protocol import JobPause, JobRead, JobResume, JobRun, JobStop
from console.cli_support.exits import ExitCode, end, say
from console.core.host import run_with_core
from console.terminal.signals import StopRequest


@click.command()
@click.argument("job_id", type=click.IntRange(1), metavar="JOB")
@click.pass_context
def read(ctx: click.Context, job_id: int) -> None:
    """Mark a job's newest result as read and dismiss its notice."""
    _move(ctx, JobRead(job_id=job_id), f"Job {job_id} is read.", tells_when=False)


@click.command()
@click.argument("job_id", type=click.IntRange(1), metavar="JOB")
@click.pass_context
def stop(ctx: click.Context, job_id: int) -> None:
    """Stop a job for good, interrupting its run."""

    async def work(core: Core, _owned: bool, _stop: StopRequest) -> ExitCode:
        await core.request(JobStop(job_id=job_id))
        say(f"Stopped job {job_id}.")
        return ExitCode.DONE

    end(run_with_core(ctx, work))


@click.command()
@click.argument("job_id", type=click.IntRange(1), metavar="JOB")
@click.pass_context
def pause(ctx: click.Context, job_id: int) -> None:
    """Keep a job from running until it is resumed."""
    _move(ctx, JobPause(job_id=job_id), f"Paused job {job_id}.")


@click.command()
@click.argument("job_id", type=click.IntRange(1), metavar="JOB")
@click.pass_context
def resume(ctx: click.Context, job_id: int) -> None:
    """Let a paused job run again."""
    _move(ctx, JobResume(job_id=job_id), f"Resumed job {job_id}.")


@click.command()
@click.argument("job_id", type=click.IntRange(1), metavar="JOB")
@click.pass_context
def run(ctx: click.Context, job_id: int) -> None:
    """Make a job due now; its schedule continues afterwards."""
    _move(ctx, JobRun(job_id=job_id), f"Job {job_id} is due now.")


def _move(
    ctx: click.Context,
    op: JobPause | JobResume | JobRun | JobRead,
    said: str,
    *,
    tells_when: bool = True,
) -> None:
    async def work(core: Core, owned: bool, _stop: StopRequest) -> ExitCode:
        await core.request(op)
        say(said)
        if owned and tells_when:
            say("Jobs run while a console or the daemon is running.")
        return ExitCode.DONE

    end(run_with_core(ctx, work))
