"""Commands on processes: ps, kill, pidof, sleep, sh, env, timeout, id, nc, app_process …"""

import asyncio
import re
import signal

from virtual_phone.commands.options import options
from virtual_phone.numbers import is_number
from virtual_phone.shell.call import TABLE, Call, CommandError, command
from virtual_phone.userland.processes import Process

GROUPS = (
    "2000(shell),1004(input),1007(log),1011(adb),1015(sdcard_rw),1028(sdcard_r),"
    "1078(ext_data_rw),1079(ext_obb_rw),3001(net_bt_admin),3002(net_bt),3003(inet),"
    "3006(net_bw_stats),3009(readproc),3011(uhid),3012(readtracefs)"
)


@command("sleep")
async def sleep(call: Call) -> int:
    """Wait."""
    if not call.args:
        raise CommandError('sleep: Needs 1 argument (see "sleep --help")')
    await asyncio.sleep(sum(duration_s(call, word) for word in call.args))
    return 0


def duration_s(call: Call, text: str) -> float:
    """Return the seconds of `2`, `0.5`, `3m`; raise CommandError."""
    if text in ("inf", "infinity"):
        return 10.0**8
    match = re.fullmatch(r"(\d{0,9}\.?\d{0,9})([smhd]?)", text)
    if match is None or not match.group(1).strip("."):
        raise CommandError(f"{call.name}: bad time '{text}'")
    return float(match.group(1)) * {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}[match.group(2)]


@command("id")
async def identity(call: Call) -> int:
    """Print who runs the shell."""
    found = options(call, "unGgrnZ")
    root = call.files.uid == 0
    name, number = ("root", 0) if root else ("shell", 2000)
    context = "u:r:su:s0" if root else "u:r:shell:s0"
    if found.any("ug"):
        await call.line(name if "n" in found else str(number))
    elif "G" in found:
        await call.line(re.sub(r"\([^)]*\)", "", GROUPS).replace(",", " "))
    elif "Z" in found:
        await call.line(context)
    else:
        await call.line(
            f"uid={number}({name}) gid={number}({name}) groups={GROUPS} context={context}"
        )
    return 0


@command("whoami", inline=True)
async def whoami(call: Call) -> int:
    """Print who runs the shell."""
    await call.line("root" if call.files.uid == 0 else "shell")
    return 0


@command("groups", "tty", inline=True)
async def facts(call: Call) -> int:
    """Print one fact."""
    if call.name == "groups":
        await call.line("shell input log adb")
        return 0
    await call.line("/dev/pts/0" if call.terminal else "not a tty")
    return int(not call.terminal)


PS_USAGE = """usage: ps [-Aaefl] [-o FIELD,] [-p PID,] [-u USER,]

List processes.

-A	All
-e	Synonym for -A
-f	Full listing
-o	Show these FIELDs
-p	Select PIDs
-u	Select users"""
"""Programs look for `-A` here before they use it."""


@command("ps")
async def ps(call: Call) -> int:
    """List processes: -A, -e, -f, -p PID, -o FIELDS."""
    if "--help" in call.args:
        await call.line(PS_USAGE)
        return 0
    found = options(call, "AaeflnTwZo:p:u:t:")
    everyone = call.userland.processes.all(call.phone.processes.all())
    if "p" in found:
        wanted = {int(pid) for pid in re.findall(r"\d{1,9}", found.text("p"))}
        everyone = [one for one in everyone if one.pid in wanted]
    elif found.operands:
        wanted = {int(pid) for pid in found.operands if is_number(pid)}
        everyone = [one for one in everyone if one.pid in wanted]
    elif not found.any("Aaeu"):
        everyone = [one for one in everyone if one.user == "shell" and one.name != "adbd"]
    if "u" in found:
        everyone = [one for one in everyone if one.user == found.text("u")]
    if "o" in found:
        columns = [name.strip().upper() for name in re.split("[, ]", found.text("o")) if name]
        rows = [[_ps_field(one, name.partition("=")[0]) for name in columns] for one in everyone]
        headed = not all("=" in name for name in columns)
        table = [[name.partition("=")[0] for name in columns], *rows] if headed else rows
        for row in _aligned(table):
            await call.line(row)
        return 0
    numbers = f"{'PID':>6}{'PPID':>7}{'VSZ':>11}{'RSS':>7}"
    await call.line(f"{'USER':<13}{numbers} {'WCHAN':<16} ADDR S {'NAME':<27}")
    for one in everyone:
        name = one.args if "f" in found else one.name
        await call.line(
            f"{one.user:<13}{one.pid:>6}{one.ppid:>7}{14_512_340:>11}{98_304:>7} "
            f"{'do_epoll_wait':<16}    0 S {name}"
        )
    return 0 if everyone else 1


def _ps_field(one: Process, name: str) -> str:
    return {
        "PID": str(one.pid),
        "PPID": str(one.ppid),
        "USER": one.user,
        "UID": one.user,
        "NAME": one.name,
        "CMD": one.name,
        "COMM": one.name[:15],
        "ARGS": one.args,
        "CMDLINE": one.args,
        "S": "S",
        "STAT": "S",
        "RSS": "98304",
        "VSZ": "14512340",
    }.get(name, "-")


def _aligned(rows: list[list[str]]) -> list[str]:
    if not rows:
        return []
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        " ".join(field.ljust(width) for field, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


@command("pidof", "pgrep")
async def pidof(call: Call) -> int:
    """Find processes by name."""
    found = options(call, "sxflo:")
    everyone = call.userland.processes.all(call.phone.processes.all())
    pids: list[str] = []
    for word in found.operands:
        for one in everyone:
            if call.name == "pidof":
                hit = one.name == word
            else:
                hit = word in (one.args if "f" in found else one.name) and one.pid != call.pid
            if hit:
                pids.append(f"{one.pid} {one.name}" if "l" in found else str(one.pid))
    if pids:
        await call.line((" " if call.name == "pidof" else "\n").join(pids))
    return int(not pids)


@command("kill", "pkill", "killall", inline=True)
async def kill(call: Call) -> int:
    """Signal processes of the shell."""
    words = list(call.args)
    number: signal.Signals | None = signal.SIGTERM
    if words[:1] == ["-l"]:
        await call.line(" ".join(one.name.removeprefix("SIG") for one in signal.Signals))
        return 0
    if words[:1] == ["-s"] and len(words) > 1:
        words = [f"-{words[1]}", *words[2:]]
    if words and re.fullmatch(r"-(\d{1,2}|[A-Z0-9]+)", words[0]) and words[0] != "-0":
        number = _signal(call, words.pop(0)[1:])
    elif words[:1] == ["-0"]:
        words.pop(0)
        number = None
    if not words:
        raise CommandError(f'{call.name}: Needs 1 argument (see "{call.name} --help")')
    status = 0
    for word in words:
        status |= await _kill_one(call, word, number)
    return status


def _signal(call: Call, text: str) -> signal.Signals:
    try:
        if is_number(text):
            return signal.Signals(int(text))
        return signal.Signals[text if text.startswith("SIG") else f"SIG{text}"]
    except (KeyError, ValueError) as error:
        raise CommandError(f"{call.name}: bad signal '{text}'") from error


async def _kill_one(call: Call, word: str, number: signal.Signals | None) -> int:
    table = call.userland.processes
    everyone = table.all(call.phone.processes.all())
    if call.name == "kill":
        if not re.fullmatch(r"\d{1,9}", word):
            raise CommandError(
                f"/system/bin/sh: kill: {word}: arguments must be jobs or process IDs"
            )
        found = [one for one in everyone if one.pid == int(word)]
    else:
        found = [one for one in everyone if one.name == word and one.pid != call.pid]
    if not found:
        await call.err(
            f"/system/bin/sh: kill: {word}: No such process"
            if call.name == "kill"
            else f"{call.name}: {word}: No such process"
        )
        return 1
    for one in found:
        if number is None:
            continue
        if one.stop is None:
            await call.err(f"/system/bin/sh: kill: {one.pid}: Operation not permitted")
            return 1
        one.stop(number)
        await asyncio.sleep(0)
    return 0


@command("which")
async def which(call: Call) -> int:
    """Find commands."""
    missing = 0
    for word in call.args:
        if TABLE.get(word):
            await call.line(f"/system/bin/{word}")
        else:
            missing = 1
    return missing


@command("free")
async def free(call: Call) -> int:
    """Show memory."""
    await call.line("                total        used        free      shared     buffers")
    await call.line("Mem:       8079282176  6846271488  1233010688    15728640     6402048")
    await call.line("-/+ buffers/cache:     6839869440  1239412736")
    await call.line("Swap:      4294963200   524288000  3770675200")
    return 0


@command("remount", "reboot", "stop", "start", "setenforce")
async def privileged(call: Call) -> int:
    """Reboot; refuse what needs root."""
    if call.name == "reboot":
        if call.userland.on_reboot is None:
            raise CommandError("reboot: the phone cannot reboot now")
        call.userland.on_reboot(call.args[0] if call.args else "")
        await asyncio.sleep(1)
        return 0
    if call.name == "remount":
        raise CommandError('Not running as root. Try "adb root" first.', 1)
    raise CommandError(f"{call.name}: must be root", 1)


@command("bugreportz")
async def bugreportz(call: Call) -> int:
    """Print the version; refuse a report, as there is nothing to pack."""
    if call.args == ["-v"]:
        await call.line("1.2")
        return 0
    await call.line("FAIL:this phone is virtual and makes no bug reports; see dumpsys and logcat")
    return 1
