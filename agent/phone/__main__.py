"""Run virtual phones alone: `python -m agent.phone [--count N] [--port P] [--home DIR]`.

Prints one JSON object a line for each phone that is ready: {"serial": …, "name": …}.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import PhoneError

if TYPE_CHECKING:
    from agent.phone.phone import Phone


def _announce(serial: str, phone: Phone) -> None:
    sys.stdout.write(json.dumps({"serial": serial, "name": phone.name}) + "\n")
    sys.stdout.flush()


def _cancel_at_eof(loop: asyncio.AbstractEventLoop, task: asyncio.Future[None]) -> None:
    # Not through sys.stdin: a thread inside its lock makes the interpreter abort at exit.
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    # The loop may have ended first.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(task.cancel)


async def _serve(home: Path, count: int, port: int, *, until_eof: bool) -> None:
    from agent.phone.serve import serve_forever

    task = asyncio.ensure_future(serve_forever(home, count, port, _announce))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    if until_eof:
        threading.Thread(target=_cancel_at_eof, args=(loop, task), daemon=True).start()
    with contextlib.suppress(asyncio.CancelledError):
        await task


def main(arguments: list[str] | None = None) -> int:
    """Serve phones until SIGINT or SIGTERM; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m agent.phone")
    parser.add_argument("--count", type=int, default=1, help="how many phones")
    parser.add_argument("--port", type=int, default=0, help="port of the first; 0: any free one")
    parser.add_argument("--home", type=Path, help="where the phones keep their state")
    parser.add_argument(
        "--until-eof", action="store_true", help="end when standard input ends, as with a parent"
    )
    options = parser.parse_args(arguments)
    with contextlib.ExitStack() as stack:
        home: Path = options.home or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="switchboard-phone-"))
        )
        try:
            asyncio.run(_serve(home, options.count, options.port, until_eof=options.until_eof))
        except PhoneError as error:
            sys.stderr.write(f"{error}\n")
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
