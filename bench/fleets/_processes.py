"""What processes cost: CPU, memory, and which belong to a server. Linux only (proc(5))."""

from __future__ import annotations

import os
from collections.abc import Iterable
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


def resident_mb(pid: int) -> float:
    """Return the memory that a process has for itself; what it shares is not counted."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    kept = ("Private_Clean:", "Private_Dirty:")
    return sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith(kept)) / 1e3


def below(pid: int) -> list[int]:
    """Return a process and its children."""
    found = [pid]
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(entry.name))
    return found


def processes_of(server: PostgresServer) -> list[int]:
    """Return the processes of a PostgreSQL server."""
    return below(int((server.directory / "data" / "postmaster.pid").read_text().split()[0]))
