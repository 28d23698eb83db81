"""What processes cost: CPU, memory, and which belong to a server. Linux only (proc(5))."""

import os
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from tests.store.postgres_server import PostgresServer

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_s(pids: Iterable[int]) -> float:
    """Return the CPU that processes used, those that are gone left out."""
    total = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += int(fields[11]) + int(fields[12])
    return total / _TICKS


def own_mb(pid: int) -> float:
    """Return the memory that a process has for itself; what it shares is not counted."""
    return _memory_mb(pid, "Private_Clean:", "Private_Dirty:")


def memory_mb(pids: Iterable[int]) -> float:
    """Return the memory of processes, what several share counted once; those gone left out."""
    total = 0.0
    for pid in pids:
        with suppress(OSError):
            total += _memory_mb(pid, "Pss:")
    return total


def _memory_mb(pid: int, *kinds: str) -> float:
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith(kinds)) / 1e3


def below(*pids: int) -> list[int]:
    children: dict[int, list[int]] = defaultdict(list)
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            children[int(fields[1])].append(int(entry.name))
    found = list(pids)
    for pid in found:
        found += children[pid]
    return found


def processes_of(server: PostgresServer) -> list[int]:
    return below(int((server.directory / "data" / "postmaster.pid").read_text().split()[0]))
