"""`log` and `logcat`: writing to the phone's log and showing it.

How lines look is in `log_lines`. Invariant: who follows the log gets a line each second,
as phones chatter.
"""

import asyncio
import re
from functools import partial

from virtual_phone.commands.log_lines import LEVELS, as_binary, as_line, line_form
from virtual_phone.commands.options import options
from virtual_phone.numbers import is_number
from virtual_phone.shell.call import Call, CommandError, command
from virtual_phone.userland.log import LogEntry


@command("log")
async def log(call: Call) -> int:
    """Write to the phone's log."""
    found = options(call, "p:t:", leading=True)
    level = found.text("p", "i").upper()
    if level not in LEVELS:
        raise CommandError(f"log: bad -p '{found.text('p')}'")
    call.userland.note(level, found.text("t", "log"), " ".join(found.operands), pid=call.pid)
    return 0


@command("logcat")
async def logcat(call: Call) -> int:
    """Show the log: -d, -c, -t N, -v FORMAT, -s, -b BUFFER, --pid, filters TAG:LEVEL."""
    found = options(
        call, "dcgGDLSBsb:v:t:T:e:f:n:r:m:", long=("pid=", "format=", "buffer=", "clear", "help")
    )
    if found.any("c") or "clear" in found:
        call.userland.log.clear()
        return 0
    if "g" in found:
        await call.line(
            "main: ring buffer is 256 KiB (64 KiB consumed, 256 KiB readable), max entry is 5120 "
            "B, max payload is 4068 B"
        )
        return 0
    form = line_form(found.all("v", "format"))
    wanted = _Filter(
        found.operands, silent="s" in found, pid=found.text("pid"), regex=found.text("e")
    )
    ring = call.userland.log
    entries = [entry for entry in ring.since(0) if wanted.passes(entry)]
    count = found.text("t") or found.text("T")
    if is_number(count):
        entries = entries[-int(count[:9]) :] if int(count[:9]) else []
    limit = found.number(call, "m", 2**62)
    booted = call.phone.now() - call.userland.uptime_s()
    show = as_binary if "B" in found else partial(as_line, form=form, booted=booted)
    if ring.since(0) and "B" not in found:
        await call.line("--------- beginning of main")
    sequence = max((entry.sequence for entry in ring.since(0)), default=0)
    for entry in entries[:limit]:
        await call.stdout.write(show(entry))
    limit -= len(entries)
    while not found.any("dt") and limit > 0:
        try:
            async with asyncio.timeout(CHATTER_S):
                grown = await ring.wait(sequence)
        except TimeoutError:
            _chat(call)
            continue
        for entry in grown:
            sequence = entry.sequence
            if wanted.passes(entry) and limit > 0:
                await call.stdout.write(show(entry))
                limit -= 1
        await asyncio.sleep(0)
    return 0


CHATTER_S = 1.0


def _chat(call: Call) -> None:
    """Log what the system has to say now and then; phones chatter, and readers rely on it."""
    phone = call.phone
    call.userland.note(
        "D",
        "SystemHeartbeat",
        f"up {call.userland.uptime_s():.0f} s, frame {phone.compositor.version}, "
        f"top {phone.windows.focused_app}",
    )


class _Filter:
    """Which entries are shown."""

    def __init__(self, specs: list[str], *, silent: bool, pid: str, regex: str) -> None:
        self._tags: dict[str, int] = {}
        self._default = LEVELS.index("S") if silent else 0
        self._pid = int(pid) if is_number(pid) else None
        try:
            self._regex = re.compile(regex)
        except re.error as error:
            raise CommandError(f"logcat: bad regex {regex}") from error
        for spec in specs:
            tag, _, level = spec.partition(":")
            level = "V" if level in ("", "*") else level.upper()[:1]
            if level not in LEVELS:
                raise CommandError(f"Invalid filter expression '{spec}'")
            if tag == "*":
                self._default = LEVELS.index(level)
            else:
                self._tags[tag] = LEVELS.index(level)

    def passes(self, entry: LogEntry) -> bool:
        if self._pid is not None and entry.pid != self._pid:
            return False
        level = self._tags.get(entry.tag, self._default)
        return LEVELS.index(entry.level) >= level and (
            self._regex.search(entry.message) is not None
        )
