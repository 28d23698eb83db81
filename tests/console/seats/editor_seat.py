"""A console whose core goes on all the time, for `test_editor_terminal`.

It counts into the file that is its argument, and takes signals as the real program does.
"""

import asyncio
import sys
from pathlib import Path

from agent.protocol import WarningEvent
from console.app import run_console
from console.cli_support.exits import CommandEnd, ExitCode
from console.keys import two_presses
from console.terminal.signals import StopRequest, run_async
from tests.console.fakes import FakeCore
from tests.console.script import evening

EVERY_S = 0.2


# On a busy machine the second of two acts may come late.
two_presses.ARMED_S = 600.0


async def work(stop: StopRequest) -> ExitCode:
    core = FakeCore()
    evening(core)

    async def go_on() -> None:
        count = 0
        while True:
            await asyncio.sleep(EVERY_S)
            count += 1
            core.tell(WarningEvent(message=f"news {count}"), "s2")
            note(count)

    def note(count: int) -> None:
        Path(sys.argv[1]).write_text(str(count), encoding="ascii")

    going = asyncio.create_task(go_on())
    try:
        code = await run_console(core, title="editor")
        # Textual takes a cancellation as a wish to leave, and returns.
        return stop.code if stop.asked.is_set() else ExitCode(code)
    finally:
        going.cancel()


if __name__ == "__main__":
    try:
        sys.exit(run_async(work))
    except CommandEnd as end:
        sys.exit(end.code)
