"""Run virtual phones alone: `python -m agent.phone [--count N] [--port P] [--home DIR]`.

Prints one JSON object a line for each phone that is ready: {"serial": …, "name": …}.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import PhoneError

if TYPE_CHECKING:
    from agent.phone.phone import Phone


def _announce(serial: str, phone: Phone) -> None:
    sys.stdout.write(json.dumps({"serial": serial, "name": phone.name}) + "\n")
    sys.stdout.flush()


async def _serve(home: Path, count: int, port: int) -> None:
    from agent.phone.serve import serve_forever

    task = asyncio.ensure_future(serve_forever(home, count, port, _announce))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task


def main(arguments: list[str] | None = None) -> int:
    """Serve phones until SIGINT or SIGTERM; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m agent.phone")
    parser.add_argument("--count", type=int, default=1, help="how many phones")
    parser.add_argument("--port", type=int, default=0, help="port of the first; 0: any free one")
    parser.add_argument("--home", type=Path, help="where the phones keep their state")
    options = parser.parse_args(arguments)
    with contextlib.ExitStack() as stack:
        home: Path = options.home or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="switchboard-phone-"))
        )
        try:
            asyncio.run(_serve(home, options.count, options.port))
        except PhoneError as error:
            sys.stderr.write(f"{error}\n")
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
