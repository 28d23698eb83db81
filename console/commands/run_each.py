"""`switchboard run --each`: one goal for many phones, as a campaign.

Not the carrying out, which is the core's (`agent.jobs.campaigns`).
"""

from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent.config import Settings
from agent.protocol import JobCreate
from agent.records import Autonomy, Budget, Campaign, JobType
from agent.text import one_line
from console.cli_support.exits import ExitCode
from console.commands.output_options import Speech
from console.commands.session_options import Permission
from console.core.device_setup import CONNECTED, Devices
from console.core.host import Host, reach
from console.terminal.signals import StopRequest, run_async

if TYPE_CHECKING:
    from agent.store.store import Store

TITLE_LIMIT_CHARS = 80


class RunOptions(Speech, Permission):
    """What the shared options of `run` say."""


def run_each(
    settings: Settings,
    goal: str,
    needs: str,
    per_minute: float,
    at_once: int,
    stop_after: int,
    account: str,
    model: str | None,
    base_url: str | None,
    given: RunOptions,
) -> ExitCode:
    """Begin a campaign and follow it to its end; return the exit code.

    Args:
        settings: of this process.
        goal: what is to be done on each phone.
        needs: which phones; empty for all.
        per_minute: how many begin in a minute; 0 = all at once.
        at_once: how many are at work at once; 0 = any number.
        stop_after: after so many failures no more begin; 0 = all begin.
        account: whom the use of phones is counted to.
        model: the model to ask; None = the setting.
        base_url: where the operator says that it is asked; None = the setting.
        given: what the shared options say.

    Raises:
        click.UsageError: an option that a campaign does not take.
    """
    import click

    from console.runs.campaign import pursue_campaign

    unheard = {
        "--allow": given["allow"],
        "--answer": given["answers"],
        "--dry-run": given["dry_run"],
        "--let-through": given["let_through"],
        "--mcp": given["tool_servers"],
        "--timeout": given["timeout"],
    }
    for option, value in unheard.items():
        if value:
            raise click.UsageError(f"--each does not take {option}.")
    autonomy = given["autonomy"]
    campaign = Campaign(
        needs=needs,
        per_minute=per_minute,
        at_once=at_once,
        stop_after=stop_after,
        account=account,
        model=model or "",
        max_steps=given["max_steps"] or 0,
        budget=Budget(
            seconds=given["max_seconds"], tokens=given["max_tokens"], cost_usd=given["max_cost"]
        ),
        autonomy=Autonomy(autonomy) if autonomy else None,
    )
    op = JobCreate(
        title=one_line(goal, TITLE_LIMIT_CHARS),
        prompt=goal,
        job_type=JobType.CAMPAIGN,
        campaign=campaign,
        requires=given["require"],
    )

    async def choose(_store: "Store") -> Devices:
        return CONNECTED

    async def work(stop: StopRequest) -> ExitCode:
        async with reach(settings, choose) as host:
            await host.need_a_device()
            endpoint = expected_endpoint(host, settings, model, base_url)
            asked = replace(op, campaign=replace(campaign, endpoint=endpoint))
            return await pursue_campaign(
                host.core, asked, stop, as_json=given["json_lines"], quiet=given["quiet"]
            )

    return run_async(work)


def expected_endpoint(
    host: Host, settings: Settings, model: str | None, base_url: str | None
) -> str:
    """Return where a core of another process has to ask the model, or refuse the request.

    What this process's settings say counts, unless that core is on another computer: there, only
    what the operator wrote. Empty: as the core's settings say.
    """
    if host.owned:
        return ""
    if host.is_far:
        return base_url or ""
    from agent.models.session_endpoint import recorded_address

    return recorded_address(settings, model or settings.model.name)
