"""Define the interface of the register of operators.

Implemented by a file of the data directory (`agent.operators.file_register`) and by rows of a
fleet's database (`agent.hosts.fleet_register`). Invariants: changes happen one at a time, each
based on the current register; an unreadable register lets no operator in.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from agent.errors import UsageError
from agent.operators.operator import MOST_CREDENTIALS, MOST_GRANTS, Operator

MOST_OPERATORS = 500

Change = Callable[[Mapping[str, Operator]], Operator | None]
"""Takes all operators by name; returns what is kept of the one that changes, None to remove."""


class Register(Protocol):
    """The current operators."""

    @property
    def is_used(self) -> bool:
        """Return whether clients must sign in: there are operators, or the register is
        unreadable.
        """
        ...

    def operators(self) -> tuple[Operator, ...]:
        """List the operators by name. Raises ConfigError if the register is unreadable."""
        ...

    def find(self, name: str) -> Operator | None:
        """Return an operator; None if there is none, or the register is unreadable."""
        ...

    def clock_ms(self) -> int:
        """Return the time by which credentials expire, in milliseconds since the epoch."""
        ...

    async def refresh(self) -> None:
        """Read the register again. Raises StoreError if it is unreadable."""
        ...

    async def change(self, name: str, change: Change) -> None:
        """Replace one operator by the result of a function of the register.

        Raises:
            ConfigError: the register cannot be used.
            StoreError: it cannot be written.
            UsageError: a limit would be exceeded, or the function refuses.
        """
        ...


def changed(known: Mapping[str, Operator], name: str, change: Change) -> dict[str, Operator]:
    """Return the operators after a change. Raises UsageError if a limit would be exceeded."""
    kept = dict(known)
    new = change(known)
    if new is None:
        kept.pop(name, None)
        return kept
    kept[name] = new
    if len(kept) > MOST_OPERATORS:
        raise UsageError(f"There would be more than {MOST_OPERATORS} operators.", "Remove some.")
    if len(new.grants) > MOST_GRANTS:
        raise UsageError(f"{name} would have more than {MOST_GRANTS} grants.", "Revoke some.")
    if max(len(new.keys), len(new.tokens), len(new.identities)) > MOST_CREDENTIALS:
        raise UsageError(
            f"{name} would have more than {MOST_CREDENTIALS} keys, tokens or identities.",
            "Revoke some.",
        )
    return kept
