"""Probe the link to a phone: how long its shell takes, how fast files go there and back.

Invariant: the one file that is written is temporary, compared byte for byte, and removed.
"""

import statistics
import time
from secrets import token_bytes, token_hex

from agent.devices.adb.sync import pull, push
from agent.devices.passport.passport import Area, Row
from agent.devices.qualify.probe import Probe, fails, works
from agent.devices.resources.resource_ledger import ResourceKind
from agent.devices.shell.phone_shell import PhoneShell

FILE_BYTES = 1 << 20
SLOW_SHELL_MS = 500
SLOW_BYTES_S = 256 * 1024
"""A picture by `screencap` is 0.5 to 2 MB; below this a look takes seconds."""
_CALLS = 5
_TIMEOUT_S = 5.0
_CABLE = "Use a better cable or network, or restart the phone."


def shell_probe(shell: PhoneShell) -> Probe:
    """Return the probe that comes first: without an answer nothing else is asked."""

    async def ask() -> list[Row]:
        times: list[float] = []
        for _ in range(_CALLS):
            began_s = time.monotonic()
            await shell.checked("echo", _TIMEOUT_S)
            times.append(time.monotonic() - began_s)
        took_ms = max(1, round(statistics.median(times) * 1000))
        what = f"a command in {took_ms} ms, the first in {round(times[0] * 1000)} ms"
        remedy = _CABLE if took_ms > SLOW_SHELL_MS else ""
        return [works(Area.LINK, "shell", what, took_ms=took_ms, remedy=remedy)]

    return Probe(Area.LINK, "shell", _TIMEOUT_S, ask)


def throughput_probe(shell: PhoneShell) -> Probe:
    """Return the probe of files."""

    async def ask() -> list[Row]:
        data = token_bytes(FILE_BYTES)
        place = f"/data/local/tmp/switchboard-passport-{token_hex(6)}"
        file = shell.resources.take(ResourceKind.FILE, place, serial=shell.serial)
        try:
            began_s = time.monotonic()
            await push(shell.client, shell.serial, data, place, timeout_s=_TIMEOUT_S)
            pushed_s = time.monotonic()
            back = await pull(shell.client, shell.serial, place, timeout_s=_TIMEOUT_S)
            pulled_s = time.monotonic()
        finally:
            try:
                await shell.run(f"rm -f {place}", _TIMEOUT_S)
            except BaseException:
                shell.resources.abandon(file)
                raise
            shell.resources.settle(file)
        there = FILE_BYTES / max(pushed_s - began_s, 1e-6)
        here = FILE_BYTES / max(pulled_s - pushed_s, 1e-6)
        what = f"push {_rate(there)}, pull {_rate(here)}"
        if back != data:
            return [fails(Area.LINK, "files", "a file came back changed", _CABLE)]
        remedy = _CABLE if min(there, here) < SLOW_BYTES_S else ""
        return [works(Area.LINK, "files", what, remedy=remedy)]

    return Probe(Area.LINK, "files", 2 * _TIMEOUT_S, ask)


def _rate(bytes_s: float) -> str:
    return f"{bytes_s / 1e6:.1f} MB/s"
