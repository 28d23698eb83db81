"""What is wrong and lasts: as long as it does, every screen says so, with the command that helps.

Pure. Not what happened once (a notice says that). Invariant: a trouble stands until it is over; the
command can be pasted into a shell as it is.
"""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from agent.settings import KEYS
from agent.text import one_line
from console.core.connection import ModelRefusals


class Trouble(NamedTuple):
    """One thing that is wrong, and the command that helps or says more."""

    text: str
    command: str


class Followed(Protocol):
    """What is known of the core; the event bridge has it."""

    refusals: ModelRefusals
    ended_why: str

    @property
    def has_ended(self) -> bool:
        """Whether the core is gone for good."""


def troubles(
    followed: Followed,
    servers_away: Mapping[str, str],
    unwritable: str,
    data_dir: Path | None,
    environ: Mapping[str, str],
) -> tuple[Trouble, ...]:
    """List what is wrong and lasts, the worst first.

    Args:
        followed: the connection to the core.
        servers_away: why each adb server does not answer, by its address.
        unwritable: why nothing can be stored; empty while it can.
        data_dir: where the store is; None where that is another computer's business.
        environ: of this process; a shell beside it finds the same store without an option.
    """
    place = ""
    if data_dir is not None and str(data_dir) != environ.get(KEYS["data_dir"].variable):
        place = f" --data-dir {shlex.quote(str(data_dir))}"
    found: list[Trouble] = []
    if followed.has_ended:
        why = one_line(followed.ended_why or "The core has ended.", 200)
        found.append(Trouble(f"{why} Nothing below is current", f"switchboard{place}"))
    if unwritable:
        found.append(
            Trouble(f"Nothing is stored: {one_line(unwritable, 200)}", f"df -h {_folder(data_dir)}")
        )
    found.extend(
        Trouble(f"adb at {address} does not answer: its phones are out of reach", _server(address))
        for address in servers_away
    )
    if followed.refusals.newest:
        why = one_line(followed.refusals.newest, 200)
        found.append(Trouble(f"The model refuses: {why}", f"switchboard{place} models test"))
    return tuple(found)


def _folder(data_dir: Path | None) -> str:
    return shlex.quote(str(data_dir)) if data_dir is not None else "."


def _server(address: str) -> str:
    host, _, port = address.rpartition(":")
    is_here = host in {"127.0.0.1", "localhost", "::1", "[::1]"}
    if is_here and port.isdecimal():
        return f"adb -P {port} start-server"
    return "switchboard doctor"
