"""The register of operators, as the door and the commands know it.

Not where it is kept: a file of the data directory (`agent.operators.file_register`), or rows of a
fleet's database (`agent.hosts.fleet_register`). Invariants: one change at a time, each made of what
is there at that moment; a register that cannot be read lets no operator in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from agent.errors import UsageError
from agent.operators.operator import MOST_CREDENTIALS, MOST_GRANTS, Operator

MOST_OPERATORS = 500

Change = Callable[[Mapping[str, Operator]], Operator | None]
"""Takes all operators by name; returns what is kept of the one that changes, None to remove."""


class Register(Protocol):
    """Who the operators are, at this moment."""

    @property
    def is_used(self) -> bool:
        """Whether clients have to sign in: there are operators, or they cannot be known."""
        ...

    def operators(self) -> tuple[Operator, ...]:
        """List the operators by name. Raises ConfigError where they cannot be known."""
        ...

    def find(self, name: str) -> Operator | None:
        """Return an operator; None where there is none, or it cannot be known."""
        ...

    def clock_ms(self) -> int:
        """Return the time by which credentials expire, in milliseconds since the epoch."""
        ...

    async def refresh(self) -> None:
        """Read the register again now. Raises StoreError where it cannot be read."""
        ...

    async def change(self, name: str, change: Change) -> None:
        """Replace one operator by what a function makes of the register.

        Raises:
            ConfigError: the register cannot be used.
            StoreError: it cannot be written.
            UsageError: there would be too many of something, or the function refuses.
        """
        ...


def changed(known: Mapping[str, Operator], name: str, change: Change) -> dict[str, Operator]:
    """Return the operators after a change. Raises UsageError: there would be too many."""
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
