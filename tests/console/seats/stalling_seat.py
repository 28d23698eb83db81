"""A console on a terminal that stops taking output, for `test_stalled_terminal`.

It counts its ticks into the file that is its argument, and ends on SIGTERM.
"""

import asyncio
import signal
import sys
from pathlib import Path

from console.app import SwitchboardApp
from tests.console.fakes import FakeCore
from tests.console.seats.hostile_seat import play

FLOOD = 200
LAST = "news that the terminal missed"


async def main() -> int:
    core = FakeCore()
    play(core)
    app = SwitchboardApp(core, title="stalling")
    ticks = 0

    def tick() -> None:
        nonlocal ticks
        ticks += 1
        if ticks <= FLOOD:
            # A whole screen each time, far more than a terminal and Textual's queue hold.
            app.place = f"tick {ticks}"
            app.screen.refresh()
        if ticks == FLOOD:
            app.place = LAST
        Path(sys.argv[1]).write_text(str(ticks), encoding="ascii")

    async def begin() -> None:
        app.set_interval(0.02, tick)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, app.exit)

    app.call_later(begin)
    try:
        await app.run_async()
    finally:
        await app.close()
    return app.return_code or 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
