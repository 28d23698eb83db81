"""The programs that work for agents, and which other processes belong to them.

Invariants: a program belongs with everything between it and the terminal, or the application, that
it was started from; it stays known after it has gone, since what it started may outlive it.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import msgspec

from agent.consent.processes import Process, ancestry

MOST_PROGRAMS = 1000


class Program(msgspec.Struct, frozen=True):
    """One program, with the processes above it that belong to it."""

    name: str
    members: frozenset[tuple[int, int]]
    sessions: frozenset[int]
    groups: frozenset[int]
    since: int
    """When the first of them started, in clock ticks."""


class Programs:
    """Those that one core has met."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], Program] = {}
        self.has_unseen = False
        """Whether there was one of which the system told nothing."""

    @property
    def since(self) -> int | None:
        """Return when the first of them started; None if there was none."""
        return min((one.since for one in self._known.values()), default=None)

    @property
    def are_any(self) -> bool:
        return bool(self._known) or self.has_unseen

    def note(self, chain: Sequence[Process], name: str) -> None:
        """Remember a program by its process and its ancestors."""
        if not chain:
            self.has_unseen = True
            return
        if chain[0].key in self._known:
            return
        tree = tree_of(chain)
        if len(self._known) >= MOST_PROGRAMS:
            self._known.pop(next(iter(self._known)))
        self._known[chain[0].key] = Program(
            name=name,
            members=frozenset(one.key for one in tree),
            sessions=frozenset(one.session for one in tree if one.terminal),
            groups=frozenset(one.group for one in tree),
            since=min(one.started for one in tree),
        )

    def of(self, chain: Sequence[Process], typed_by: Iterable[Process]) -> str:
        """Return the name of the program that a process belongs to; empty: of none.

        Args:
            chain: the process and its ancestors.
            typed_by: the processes that hold the other end of its terminal.
        """
        keys = {one.key for one in chain}
        for holder in typed_by:
            keys.update(one.key for one in ancestry(holder.pid))
        process = chain[0]
        for program in self._known.values():
            if (
                not program.members.isdisjoint(keys)
                or process.session in program.sessions
                or process.group in program.groups
            ):
                return program.name
        return ""


def tree_of(chain: Sequence[Process]) -> tuple[Process, ...]:
    """Return the part of a process's ancestry that belongs to it.

    It ends with the leader of a terminal, or with what the session manager of the user started.
    """
    tree = [chain[0]]
    for below, above in pairwise(chain):
        if below.leads_terminal or above.pid <= 1 or above.uid != below.uid:
            break
        is_manager = above.parent <= 1 and not above.terminal and above.cgroup != below.cgroup
        if is_manager:
            break
        tree.append(above)
    return tuple(tree)
