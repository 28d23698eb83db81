"""`/proc`, and `/sys` of the processors: what the kernel tells of the phone, in Linux's formats.

Not a kernel, and nothing of this machine's. Formats: proc(5). Invariant: a process has a directory
exactly while `ps` lists it, and `net/tcp` names the listeners that can be connected to.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from virtual_phone.userland.tree import Directory, GeneratedFile, Growing, Link, Node, Tree

if TYPE_CHECKING:
    from virtual_phone.userland.processes import Process
    from virtual_phone.userland.userland import Userland

CORES = 8
IDLE_CORES = 7.6  # How much of the eight cores has nothing to do, on average.
PROCESSORS = "/sys/devices/system/cpu"
FASTEST_KHZ, SLOWEST_KHZ = 2_850_000, 500_000
TICKS_A_SECOND = 100
BORN_TICKS = 300  # When a process began, after the boot; it is not kept for each.
KERNEL = "6.1.23-android14-4-00257-g7e35917775b8-ab9964412"
RESIDENT_K, VIRTUAL_K, PAGE_K = 98_304, 14_512_340, 4
FIELDS_OF_STAT = 52
MEMORY_K = (
    ("MemTotal", 7_889_924),
    ("MemFree", 1_204_112),
    ("MemAvailable", 4_711_380),
    ("Buffers", 6_252),
    ("Cached", 2_113_556),
    ("SwapCached", 0),
    ("SwapTotal", 4_194_300),
    ("SwapFree", 3_682_300),
)
LISTENING = "0A"


def add_proc(tree: Tree[Userland]) -> None:
    """Put the kernel's files into the phone's tree."""
    tree.add(
        "/proc/version", GeneratedFile(lambda _: f"Linux version {KERNEL} (build@build)\n".encode())
    )
    tree.add("/proc/uptime", GeneratedFile(_uptime))
    tree.add("/proc/stat", GeneratedFile(_stat))
    tree.add("/proc/meminfo", GeneratedFile(_meminfo))
    tree.add("/proc/cpuinfo", GeneratedFile(_cpuinfo))
    tree.add("/proc/loadavg", GeneratedFile(lambda _: b"0.08 0.03 0.01 1/812 4242\n"))
    tree.add("/proc/net/tcp", GeneratedFile(_tcp))
    tree.add("/proc/net/tcp6", GeneratedFile(lambda _: _TCP_HEAD.encode()))
    tree.add("/proc/net/unix", GeneratedFile(_unix))
    for core in range(CORES):
        for name, value in (("cpuinfo_max_freq", FASTEST_KHZ), ("scaling_cur_freq", SLOWEST_KHZ)):
            tree.add(f"{PROCESSORS}/cpu{core}/cpufreq/{name}", _text_file(str(value)))
    for name in ("possible", "present", "online"):
        tree.add(f"{PROCESSORS}/{name}", _text_file(f"0-{CORES - 1}"))
    tree.add_growing("/proc", Growing(_node, _names))


def _text_file(text: str) -> GeneratedFile[Userland]:
    return GeneratedFile(lambda _: f"{text}\n".encode())


def _uptime(land: Userland) -> bytes:
    running_s = max(land.uptime_s(), 0.01)
    return f"{running_s:.2f} {running_s * IDLE_CORES:.2f}\n".encode()


def _stat(land: Userland) -> bytes:
    up = land.uptime_s() * TICKS_A_SECOND
    idle = round(up * IDLE_CORES / CORES)
    busy = round(up * (CORES - IDLE_CORES) / CORES)
    user, system = busy * 2 // 3, busy - busy * 2 // 3
    each = [user, 0, system, idle, 0, 0, 0, 0, 0, 0]
    rows = [f"cpu  {' '.join(str(value * CORES) for value in each)}"]
    rows += [f"cpu{core} {' '.join(map(str, each))}" for core in range(CORES)]
    rows += [
        "intr 0",
        "ctxt 0",
        f"btime {int(land.boot.at)}",
        "processes 4242",
        "procs_running 1",
        "procs_blocked 0",
    ]
    return ("\n".join(rows) + "\n").encode()


def _meminfo(land: Userland) -> bytes:
    del land
    return "".join(f"{name + ':':<16}{value:>8} kB\n" for name, value in MEMORY_K).encode()


def _cpuinfo(land: Userland) -> bytes:
    del land
    rows = "".join(f"processor\t: {n}\nBogoMIPS\t: 49.15\n\n" for n in range(CORES))
    return f"{rows}Hardware\t: Virtual Phone\n".encode()


_TCP_HEAD = (
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode\n"
)


def _tcp(land: Userland) -> bytes:
    rows = [_TCP_HEAD]
    ports = (name.partition(":")[2] for name in land.sockets.names() if name.startswith("tcp:"))
    for number, port in enumerate(ports):
        rows.append(
            f"{number:>4}: 0100007F:{int(port):04X} 00000000:0000 {LISTENING} 00000000:00000000 "
            f"00:00000000 00000000  2000        0 {20_000 + number} 1 0000000000000000 100 0 0 10 0"
            "\n"
        )
    return "".join(rows).encode()


def _unix(land: Userland) -> bytes:
    rows = ["Num       RefCount Protocol Flags    Type St Inode Path\n"]
    for number, name in enumerate(land.sockets.names()):
        kind, _, path = name.partition(":")
        if kind == "tcp":
            continue
        shown = {"localabstract": f"@{path}", "localreserved": f"/dev/socket/{path}"}
        rows.append(
            f"0000000000000000: 00000002 00000000 00010000 0001 01 {30_000 + number} "
            f"{shown.get(kind, path)}\n"
        )
    return "".join(rows).encode()


# -- processes

_OF_PROCESS = re.compile(r"/proc/(\d{1,7})(?:/(task)(?:/(\d{1,7}))?)?(?:/([a-z_]+))?")


def _process(land: Userland, path: str) -> tuple[Process, re.Match[str]] | None:
    matched = _OF_PROCESS.fullmatch(path)
    if matched is None or (matched[3] and matched[3] != matched[1]):
        return None
    pid = int(matched[1])
    everyone = land.processes.all(land.phone.processes.all())
    return next(((one, matched) for one in everyone if one.pid == pid), None)


def _node(land: Userland, path: str) -> Node[Userland] | None:
    found = _process(land, path)
    if found is None:
        return None
    process, matched = found
    name = matched[4]
    if name is None:
        return Directory(0o555)
    if name == "cwd" and not matched[2]:
        return Link("/")
    make = _FILES.get(name)
    if make is None:
        return None
    # The words of a command line are bytes, whether they are text or not.
    return GeneratedFile(lambda land: make(land, process).encode("utf-8", "surrogateescape"))


def _names(land: Userland, path: str) -> set[str]:
    if path == "/proc":
        return {str(one.pid) for one in land.processes.all(land.phone.processes.all())}
    found = _process(land, path)
    if found is None or found[1][4]:
        return set()
    matched = found[1]
    if matched[2] and not matched[3]:
        return {matched[1]}
    return set(_FILES) | (set() if matched[2] else {"task", "cwd"})


def _name(process: Process) -> str:
    """Return the name as the kernel keeps it: 15 characters, of an app the last ones."""
    bare = process.name.strip("[]")
    return bare[-15:] if "." in bare else bare[:15]


def _process_stat(land: Userland, process: Process) -> str:
    del land
    fields = ["0"] * FIELDS_OF_STAT
    fields[:8] = [
        str(process.pid),
        f"({_name(process)})",
        "S",
        str(process.ppid),
        str(process.ppid),
        "0",
        "0",
        "-1",
    ]
    fields[17:20] = ["20", "0", "1"]
    fields[21:24] = [str(BORN_TICKS), str(VIRTUAL_K * 1024), str(RESIDENT_K // PAGE_K)]
    return " ".join(fields) + "\n"


def _process_status(land: Userland, process: Process) -> str:
    uid = next((one.uid for one in land.phone.processes.all() if one.pid == process.pid), None)
    number = uid if uid is not None else {"root": 0, "shell": 2000}.get(process.user, 1000)
    return "".join(
        f"{name}:\t{value}\n"
        for name, value in (
            ("Name", _name(process)),
            ("State", "S (sleeping)"),
            ("Tgid", process.pid),
            ("Pid", process.pid),
            ("PPid", process.ppid),
            ("TracerPid", 0),
            ("Uid", "\t".join([str(number)] * 4)),
            ("Gid", "\t".join([str(number)] * 4)),
            ("VmSize", f"{VIRTUAL_K:>8} kB"),
            ("VmRSS", f"{RESIDENT_K:>8} kB"),
            ("Threads", 1),
        )
    )


_FILES: dict[str, Callable[[Userland, Process], str]] = {
    "stat": _process_stat,
    "status": _process_status,
    "comm": lambda _, process: f"{_name(process)}\n",
    "cmdline": lambda _, process: process.args.replace(" ", "\0") + "\0",
    "statm": lambda _, __: f"{VIRTUAL_K // PAGE_K} {RESIDENT_K // PAGE_K} 0 0 0 0 0\n",
    "oom_score_adj": lambda _, __: "0\n",
    "cgroup": lambda _, process: f"0::/uid_0/pid_{process.pid}\n",
}
