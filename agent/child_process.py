"""Talk to programs that are started here, and end them, even if others hold their pipes.

`asyncio.subprocess.Process.wait` returns once the process has ended and its pipes are closed. A
program may have left a pipe to one of its own children, or filled one that nobody reads: then it
never returns, though the process is gone. What is started here with pipes is therefore ended here.
"""

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress

WITHIN_S = 2.0


async def end_child(
    process: asyncio.subprocess.Process,
    *,
    signals: Sequence[signal.Signals] = (),
    within_s: float = WITHIN_S,
    group: bool = False,
) -> None:
    """End a process and close its pipes; what it wrote and nobody has read is lost.

    Args:
        signals: sent one after the other before it is killed.
        within_s: how long it has after each of them.
        group: whether the signals go to its process group, which it must lead.
    """
    for signum in signals:
        if process.returncode is not None:
            break
        send(process, signum, group=group)
        waiting = asyncio.create_task(process.wait())
        await asyncio.wait({waiting}, timeout=within_s)
        waiting.cancel()
    if process.returncode is None or group:
        # Of a group, what it started may outlive it.
        send(process, signal.SIGKILL, group=group)
    # asyncio has no public way to close the pipes of a process.
    process._transport.close()  # type: ignore[attr-defined]
    await process.wait()
    # The end of a pipe is a callback of the next turn of the loop.
    await asyncio.sleep(0)


async def converse(process: asyncio.subprocess.Process, told: bytes, *, most_bytes: int) -> str:
    """Write to a process that has pipes, and return what it wrote when it has ended.

    Raises:
        OverflowError: it writes more than `most_bytes`; it still runs then.
    """
    assert process.stdin is not None and process.stdout is not None
    with suppress(ConnectionError):
        process.stdin.write(told)
        await process.stdin.drain()
    process.stdin.close()
    said = bytearray()
    while chunk := await process.stdout.read(4096):
        said += chunk
        if len(said) > most_bytes:
            raise OverflowError(f"more than {most_bytes:,} bytes")
    await process.wait()
    return said.decode("utf-8", "replace")


def send(process: asyncio.subprocess.Process, signum: signal.Signals, *, group: bool) -> None:
    """Send a signal to a process, or to its group; nothing happens where it has ended."""
    with suppress(ProcessLookupError, PermissionError):
        if group:
            os.killpg(process.pid, signum)
        elif process.returncode is None:
            process.send_signal(signum)
