"""Find a phone's directory, and hold a phone that nobody serves.

Invariant: a phone that another process serves is changed by that process alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from virtual_phone.cli.ending import program
from virtual_phone.errors import PhoneError, UsageError

if TYPE_CHECKING:
    from virtual_phone.server.channel import Answer, Request
    from virtual_phone.server.served_phone import ServedPhone

FILES = ("phone.json", "claim")  # What tells a phone's directory.


def home_of(homes: Path, name: str) -> Path:
    """Return a phone's directory. Raises UsageError for a name that there is not."""
    # A phone that has just begun has a claim, and no state yet.
    known = sorted({path.parent.name for file in FILES for path in homes.glob(f"*/{file}")})
    if name in known:
        return homes / name
    if known:
        raise UsageError(f"There is no phone {name!r} in {homes}.", f"Known: {', '.join(known)}.")
    raise UsageError(
        f"There is no virtual phone in {homes} yet.", f"Start one with: {program()} serve"
    )


def ask_served(homes: Path, request: Request) -> Answer:
    """Have the process that serves a phone do something. Raises PhoneError when there is none."""
    from virtual_phone.server.remote import NotServedError, ask

    try:
        return ask(homes, request)
    except NotServedError as error:
        raise PhoneError(error.message, f"Start them with: {program()} serve") from error


def request_to(homes: Path, request: Request) -> Answer | None:
    """Have the process that serves a phone do something; None when there is none."""
    from virtual_phone.server.remote import NotServedError, ask

    home_of(homes, request.phone)
    try:
        return ask(homes, request)
    except NotServedError:
        return None


@contextmanager
def unserved(homes: Path, name: str) -> Iterator[ServedPhone]:
    """Hold a phone that nobody serves; nobody can begin to until the block has ended."""
    from virtual_phone.server.served_phone import ServedPhone
    from virtual_phone.state.home_lock import Claim

    home = home_of(homes, name)
    # A phone that comes to life meanwhile would write its own state over the new one.
    claim = Claim(home)
    try:
        yield ServedPhone(home, name)
    finally:
        claim.release()
