"""The console on a core with fifty sessions that changes by ops alone; for a terminal.

`python -m tests.console.seats.fifty_seat FILE` writes each op to FILE, a line of JSON.
"""

import asyncio
import sys
import time
from pathlib import Path

import msgspec
import numpy as np

from agent.config import load_settings
from agent.protocol import Op, Reply
from console.app import run_console
from console.keys import two_presses
from tests.console.burst.core import ScriptedCore
from tests.console.fifty import play


class _WrittenCore(ScriptedCore):
    def __init__(self, place: Path | None) -> None:
        super().__init__(play, now_ms=int(time.time() * 1000) - 60_000)
        self._place = place
        self.picture = np.full((48, 27, 3), 90, dtype=np.uint8)

    async def request(self, op: Op) -> Reply:
        if self._place is not None and not op.changes_nothing:
            with self._place.open("ab") as file:
                file.write(msgspec.json.encode(op) + b"\n")
        return await super().request(op)


async def main() -> int:
    # On a busy machine the second of two acts may come late; `test_two_acts` minds the time.
    two_presses.ARMED_S = 600.0
    place = Path(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1] else None
    settings = load_settings()
    core = _WrittenCore(place)
    return await run_console(core, settings=settings, title="fifty")


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
