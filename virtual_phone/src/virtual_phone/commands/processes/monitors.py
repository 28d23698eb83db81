"""`top`, `vmstat`, `netstat`, `ss`, `bugreportz`: what runs and listens on the phone, to look at.

Not a measurement of this machine. Formats: toybox's top and netstat, iproute2's ss. Invariant:
every process and every listener named is one that `ps` and `adb forward` also know.
"""

from __future__ import annotations

import asyncio

from virtual_phone.commands.options import options
from virtual_phone.shell.call import Call, CommandError, command

TOP_PAUSE_S = 3.0
LONGEST_PAUSE_S = 3600.0
MOST_ROUNDS = 10**6
TOTAL_K, USED_K, SWAP_K = 7_889_924, 6_685_812, 4_194_300
"""Memory as `free` shows it."""
RESIDENT_K = 98_304
CORES = 8


@command("top")
async def top(call: Call) -> int:
    """Show processes, -n times, every -d seconds; -b is what a pipe gets anyway."""
    found = options(call, "Hbqn:d:m:s:o:p:u:k:")
    rounds = _bounded(found.text("n") if "n" in found else "", MOST_ROUNDS)
    pause_s = _bounded(found.text("d") if "d" in found else "", LONGEST_PAUSE_S) or TOP_PAUSE_S
    most = int(_bounded(found.text("m") if "m" in found else "", MOST_ROUNDS)) or None
    done = 0
    while not rounds or done < rounds:
        if done:
            await asyncio.sleep(pause_s)
        await call.line(_top(call, most, headed="q" not in found))
        done += 1
    return 0


def _bounded(text: str, most: float) -> float:
    try:
        number = float(text or 0)
    except ValueError:
        raise CommandError(f"top: not integer: {text[:40]}") from None
    return min(number, most) if number > 0 else 0.0


def _top(call: Call, most: int | None, *, headed: bool) -> str:
    everyone = call.userland.processes.all(call.phone.processes.all())
    front = call.phone.focused_app.partition("/")[0]
    everyone.sort(key=lambda one: (one.name != front, one.pid))
    rows = []
    if headed:
        rows = [
            f"Tasks: {len(everyone)} total,   1 running, {len(everyone) - 1:>3} sleeping,   "
            "0 stopped,   0 zombie",
            f"  Mem: {TOTAL_K:>9}K total, {USED_K:>9}K used, {TOTAL_K - USED_K:>9}K free, "
            f"{6_252:>9}K buffers",
            f" Swap: {SWAP_K:>9}K total, {512_000:>9}K used, {SWAP_K - 512_000:>9}K free, "
            f"{2_113_556:>9}K cached",
            f"{CORES * 100}%cpu   1%user   0%nice   1%sys {CORES * 100 - 2}%idle   0%iow   0%irq"
            "   0%sirq   0%host",
        ]
    rows.append("  PID USER         PR  NI VIRT  RES  SHR S[%CPU] %MEM     TIME+ ARGS")
    share = RESIDENT_K * 100 / TOTAL_K
    for one in everyone[:most]:
        rows.append(
            f"{one.pid:>5} {one.user:<12} 20   0  14G  96M  64M S  0.0 {share:>5.1f}   0:00.00 "
            f"{one.args}"
        )
    return "\n".join(rows)


@command("vmstat")
async def vmstat(call: Call) -> int:
    """Show memory and load: once, or every DELAY seconds COUNT times; -n heads once."""
    found = options(call, "n")
    pause_s = _bounded(found.operands[0], LONGEST_PAUSE_S) if found.operands else 0.0
    rounds = _bounded(found.operands[1], MOST_ROUNDS) if len(found.operands) > 1 else 0.0
    await call.line(
        "procs ------------memory------------ ----swap--- -----io---- ---system-- ----cpu----"
    )
    await call.line(
        " r  b    swpd    free   buff   cache    si    so    bi    bo    in    cs us sy id wa"
    )
    done = 0
    while True:
        await call.line(
            f" 1  0 {512_000:>7} {TOTAL_K - USED_K:>7} {6_252:>6} {2_113_556:>7} "
            f"{0:>5} {0:>5} {0:>5} {0:>5} {0:>5} {0:>5}  3  2 95  0"
        )
        done += 1
        if not pause_s or (rounds and done >= rounds):
            return 0
        await asyncio.sleep(pause_s)


def _listeners(call: Call, kind: str) -> list[str]:
    return [
        name.partition(":")[2] for name in call.userland.sockets.names() if name.startswith(kind)
    ]


@command("netstat")
async def netstat(call: Call) -> int:
    """Show the phone's listening sockets with -a or -l; none is connected to the world."""
    found = options(call, "Wrpealntuwx")
    wanted = {kind for kind in "tux" if kind in found} or set("tux")
    servers = "a" in found or "l" in found
    kinds = "only servers" if "l" in found else "servers and established" if servers else None
    if wanted & set("tu"):
        await call.line(f"Active Internet connections ({kinds or 'w/o servers'})")
        await call.line("Proto Recv-Q Send-Q Local Address           Foreign Address         State")
        for port in _listeners(call, "tcp:") if servers and "t" in wanted else []:
            await call.line(
                f"tcp        0      0 {'127.0.0.1:' + port:<23} {'0.0.0.0:*':<23} LISTEN"
            )
    if "x" in wanted:
        await call.line(f"Active UNIX domain sockets ({kinds or 'w/o servers'})")
        await call.line("Proto RefCnt Flags       Type       State           I-Node Path")
        for number, name in enumerate(_listeners(call, "local") if servers else []):
            await call.line(
                f"unix  2      [ ACC ]     STREAM     LISTENING {20_000 + number:>12} @{name}"
            )
    return 0


@command("ss")
async def ss(call: Call) -> int:
    """Show the phone's listening TCP sockets with -l or -a."""
    found = options(call, "natuxlpHeoims46")
    if "H" not in found:
        await call.line("State   Recv-Q  Send-Q   Local Address:Port     Peer Address:Port")
    for port in _listeners(call, "tcp:") if "l" in found or "a" in found else []:
        await call.line(f"LISTEN  0       128          127.0.0.1:{port:<12} 0.0.0.0:*")
    return 0


@command("bugreportz")
async def bugreportz(call: Call) -> int:
    """Print the version; refuse a report, as there is nothing to pack."""
    if call.args == ["-v"]:
        await call.line("1.2")
        return 0
    await call.line("FAIL:this phone is virtual and makes no bug reports; see dumpsys and logcat")
    return 1
