"""`switchboard devices record`: a phone's screen as an MP4 file.

Invariant: ctrl+c ends the recording and leaves a file that plays; nothing is done to the phone, so
one that a session drives can be recorded as well.
"""

from pathlib import Path

import click

from agent.text import counted
from console.cli_support.exits import ExitCode, end, say
from console.core.command_settings import settings_for
from console.terminal.signals import StopRequest, run_async


@click.command(
    epilog="""\b
Examples:
  switchboard devices record R5CT1234 walk.mp4
  switchboard devices record R5CT1234 walk.mp4 --seconds 30
"""
)
@click.argument("serial")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--seconds", type=click.FloatRange(min=0.1, max=86_400), help="Stop after this long.")
@click.pass_context
def record(ctx: click.Context, serial: str, file: Path, seconds: float | None) -> None:
    """Record the screen of the phone SERIAL to FILE, an MP4, until ctrl+c."""
    from console.commands.devices.devices_reach import reached

    settings = settings_for(ctx)

    async def main(stop: StopRequest) -> ExitCode:
        from agent.devices.scrcpy.link import ScrcpyLink, ScrcpySettings
        from agent.devices.scrcpy.recorder import check_name
        from agent.devices.scrcpy.recorder import record as record_video
        from agent.devices.shell.phone_shell import PhoneShell

        check_name(file)
        async with reached(settings, serial, drives=False) as phone:
            link = ScrcpyLink(
                PhoneShell(phone.client, phone.serial),
                ScrcpySettings(server=settings.scrcpy.server),
            )
            say(f"Recording {phone.serial}. End it with ctrl+c.")
            with stop.graceful():
                recorded = await record_video(link, file, stop=stop.asked, seconds=seconds)
        if recorded.ended_early:
            say(f"It ended early: {recorded.ended_early}")
        names = ", ".join(str(path) for path in recorded.files) or "nothing"
        pictures = counted(recorded.pictures, "picture")
        say(f"{names}: {recorded.seconds:.1f} s, {pictures}.")
        return ExitCode.DONE if recorded.files else ExitCode.FAILED

    end(run_async(main))
