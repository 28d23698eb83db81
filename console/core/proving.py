"""Show a core that a person is here: what every core that asks for it has."""

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from agent.consent.gate import Proved


@runtime_checkable
class Provable(Protocol):
    """A core, or a host of one, that can be shown that a person is here."""

    async def prove(
        self, passphrase: str = "", *, chooses: bool = False, token: str = ""
    ) -> "Proved":
        """Show what a client has; see `Gate.prove`."""
