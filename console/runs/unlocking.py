"""Give an op that only a person may give: ask for the operator's passphrase where it is needed.

Invariant: a passphrase is typed unseen at this command's terminal, and is stored nowhere.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from agent.errors import LockedError, NotAllowedError, UsageError
from agent.protocol import Op, Reply
from console.cli_support.exits import say
from console.core.host import Host
from console.core.proving import Provable
from console.terminal.line_input import ask_secret, can_ask

T = TypeVar("T")


async def request(host: Host, op: Op) -> Reply:
    """Carry out an op; where a passphrase is needed and somebody is here, ask for it first.

    Raises:
        NotAllowedError: nobody who may give it is here.
        SwitchboardError: what the op failed with.
    """
    return await once_unlocked(host, lambda: host.core.request(op))


async def once_unlocked(core: object, work: Callable[[], Awaitable[T]]) -> T:
    """Do something; where that needs the passphrase and somebody is here, ask for it first."""
    try:
        return await work()
    except LockedError as error:
        if not can_ask() or not isinstance(core, Provable):
            raise
        say(error.message)
    await unlock(core)
    return await work()


async def unlock(core: Provable) -> None:
    """Ask for the passphrase, or for a new one, until it is right. Raises NotAllowedError."""
    if not (await core.prove()).has_passphrase:
        await _choose(core)
        return
    while True:
        said = await ask_secret("Operator's passphrase")
        try:
            await core.prove(said)
        except NotAllowedError as error:
            if "passphrase" not in error.message or not said:
                raise
            say(str(error))
        else:
            return


async def _choose(core: Provable) -> None:
    say("Choose a passphrase: it tells you from the programs that work for you.")
    while True:
        said = await ask_secret("New passphrase (8 characters or more)")
        if said != await ask_secret("The same again"):
            say("The two differ.")
            continue
        try:
            await core.prove(said, chooses=True)
        except UsageError as error:
            if (await core.prove()).has_passphrase or not said:
                raise
            say(str(error))
        else:
            return
