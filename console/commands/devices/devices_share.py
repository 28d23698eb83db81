"""`switchboard devices share`: a phone's live frames in shared memory, for other programs.

Invariant: ctrl+c ends it and removes the memory; nothing is done to the phone, so one that a
session drives can be shared as well.
"""

import asyncio

import click

from console.cli_support.exits import ExitCode, end, say
from console.core.command_settings import settings_for
from console.terminal.signals import StopRequest, run_async


@click.command(
    epilog="""\b
Read it in Python, in any process, without a copy:
  from agent.devices.frames.shared_memory import FrameReader
  with FrameReader("shm://switchboard-…") as reader, reader.looking() as frame:
      print(frame.pixels.shape, frame.captured_ms)
"""
)
@click.argument("serial")
@click.option(
    "--side",
    default=1080,
    show_default=True,
    type=click.IntRange(16, 4096),
    help="Longest side of the frames in pixels.",
)
@click.option(
    "--hz",
    default=30.0,
    show_default=True,
    type=click.FloatRange(0.1, 60),
    help="Maximum frames per second.",
)
@click.pass_context
def share(ctx: click.Context, serial: str, side: int, hz: float) -> None:
    """Write live frames of the phone SERIAL to shared memory until ctrl+c; print its address."""
    from console.commands.devices.devices_reach import reached

    settings = settings_for(ctx)

    async def main(stop: StopRequest) -> ExitCode:
        from agent.devices.frames.shared_view import share as share_frames

        async with reached(settings, serial, drives=False, watches=True) as phone:
            frames = phone.fleet.frames(phone.info.serial, width_px=side, height_px=side, max_hz=hz)
            with stop.graceful():
                sharing = asyncio.create_task(
                    share_frames(frames, on_address=click.echo, on_trouble=say)
                )
                stopping = asyncio.create_task(stop.asked.wait())
                await asyncio.wait({sharing, stopping}, return_when=asyncio.FIRST_COMPLETED)
                for task in (sharing, stopping):
                    task.cancel()
                await asyncio.wait({sharing, stopping})
        if not sharing.cancelled():
            sharing.result()
        return ExitCode.DONE

    end(run_async(main))
