"""Judge whether a person sits at a client of the core, by its process and its terminal.

Facts are from `agent.consent.processes`; which ops need a person, `agent.consent.gate` knows.
Invariants: a program that works for an agent, and everything started from its terminal or by it, is
never a person; where the system cannot tell, the answer is no; a terminal is unlocked for as long
as its session leader lives, in this core alone.
"""

import logging
import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from agent.consent.paired_phones import PairedPhones
from agent.consent.passphrase import Passphrase
from agent.consent.processes import TELLS, Process, ancestry, look_at, opened_by
from agent.consent.programs import Programs
from agent.consent.script_tokens import ScriptTokens
from agent.errors import NotAllowedError, UsageError

UNLOCK = "switchboard operators unlock"
_AT_A_TERMINAL = (
    "Answer at a terminal or a console; a script needs a token: switchboard tokens create"
)
_log = logging.getLogger(__name__)


class ClientKind(StrEnum):
    """Who is at a client."""

    PERSON = "person"
    PROGRAM = "program"
    """A program that works for an agent, or something that belongs to one."""
    UNKNOWN = "unknown"
    """A script, or a client that looks like one."""


class Verdict(NamedTuple):
    """Who is at a client, and why it is not a person."""

    kind: ClientKind
    why: str = ""
    remedy: str = ""
    can_unlock: bool = False
    """Whether the operator's passphrase would make it a person."""


PERSON = Verdict(ClientKind.PERSON)


class Consent:
    """What one core knows of persons and programs.

    Args:
        data_dir: where the passphrase, the tokens and the paired phones are kept.
        clock_ms: the time by which tokens end.
    """

    def __init__(
        self, data_dir: Path, *, clock_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    ) -> None:
        self.passphrase = Passphrase(data_dir)
        self.tokens = ScriptTokens(data_dir)
        self.phones = PairedPhones(data_dir)
        self.programs = Programs()
        self.clock_ms = clock_ms
        self._unlocked: set[tuple[int, int]] = set()
        """The session leaders of the terminals that were unlocked."""

    def judge(self, chain: Sequence[Process], *, for_program: bool) -> Verdict:
        """Judge a client by its process and ancestors, as they were when it connected.

        Args:
            for_program: whether a program began what is asked.
        """
        place = self._place(chain)
        if isinstance(place, Verdict):
            return place
        process, leader = place
        if leader.key in self._unlocked:
            return PERSON
        if self.passphrase.is_set:
            return _locked("this terminal is not unlocked", f"Unlock it first: {UNLOCK}")
        if for_program or self.programs.are_any or not _is_own_job(process, leader, chain):
            return _locked(
                "a program may have typed it, and no passphrase was chosen",
                f"Choose one in this terminal: {UNLOCK}",
            )
        return PERSON

    def unlock(self, chain: Sequence[Process], said: str, *, chooses: bool) -> bool:
        """Take a passphrase from a client, or a new one, and unlock its terminal.

        Returns:
            Whether it has one; without, the passphrase counts for its connection.

        Raises:
            NotAllowedError: it is wrong, or nobody can be at that client.
            UsageError: there is none yet, or there is one already.
        """
        place = self._place(chain)
        if isinstance(place, Verdict) and not place.can_unlock:
            raise NotAllowedError(f"This cannot be unlocked: {place.why}.", place.remedy)
        leader = None if isinstance(place, Verdict) else place[1]
        if chooses:
            if not self._may_choose(place, chain):
                raise NotAllowedError(
                    "A program that works for an agent may have opened this terminal.",
                    "Choose the passphrase in a terminal that was open before, or while no such "
                    "program is connected.",
                )
            self.passphrase.choose(said)
            _log.warning("An operator's passphrase was chosen.")
        elif not self.passphrase.is_set:
            raise UsageError("No passphrase was chosen yet.", f"Choose one: {UNLOCK}")
        else:
            self.passphrase.check(said)
        if leader is not None:
            self._unlocked.add(leader.key)
        return leader is not None

    def _may_choose(
        self, place: "tuple[Process, Process] | Verdict", chain: Sequence[Process]
    ) -> bool:
        if isinstance(place, Verdict):
            # Where the system tells nothing of processes, a terminal cannot be asked for.
            return not chain and not TELLS and not self.programs.are_any
        process, leader = place
        began = self.programs.since
        is_older = not self.programs.has_unseen and (began is None or leader.started < began)
        return is_older and _is_own_job(process, leader, chain)

    def _place(self, chain: Sequence[Process]) -> tuple[Process, Process] | Verdict:
        """Return a client's process and the leader of its terminal; else who it is instead."""
        if not chain:
            return _locked("the system does not tell which process asks", _AT_A_TERMINAL)
        process = look_at(chain[0].pid)
        if process is None or process.key != chain[0].key:
            return Verdict(ClientKind.UNKNOWN, "the process that asked has ended", _AT_A_TERMINAL)
        # Where it has been moved meanwhile, what it was counts too.
        whole = (*chain, *ancestry(process.pid))
        typed_by = tuple(opened_by(process.terminal, process.uid)) if process.terminal else ()
        name = self.programs.of((process, *whole), typed_by)
        if name:
            return Verdict(
                ClientKind.PROGRAM,
                f"{name} works for an agent, and this was started by it or from its terminal",
                "Only a person may, at another terminal or console.",
            )
        if not process.has_keyboard:
            return _locked("nobody types here: it does not have a keyboard", _AT_A_TERMINAL)
        leader = look_at(process.session)
        if leader is None or not leader.leads_terminal or leader.terminal != process.terminal:
            return Verdict(ClientKind.UNKNOWN, "the shell of its terminal has gone", _AT_A_TERMINAL)
        return process, leader


def _locked(why: str, remedy: str) -> Verdict:
    return Verdict(ClientKind.UNKNOWN, why, remedy, can_unlock=True)


def _is_own_job(process: Process, leader: Process, chain: Sequence[Process]) -> bool:
    """Return whether the shell of a terminal started a process itself, and no other is above.

    What an agent's program runs is the program's job, or stands in a terminal that it opened.
    """
    by_id = {one.pid: one for one in chain}
    head = by_id.get(process.group)
    is_job = process.pid == leader.pid or (head is not None and head.parent == leader.pid)
    above = leader
    while (found := by_id.get(above.parent)) is not None:
        if found.terminal:
            return False
        above = found
    return is_job and (process.pid == process.group or process.pid == leader.pid)
