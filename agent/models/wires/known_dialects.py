"""What refusals taught about endpoints: which plainer dialect of a wire each of them takes.

Not the dialects, which belong to their wires.
"""

from typing import Generic, Protocol, TypeVar


class AnyDialect(Protocol):
    """What the dialects of all wires have."""

    @property
    def pictures(self) -> bool:
        """Whether pictures are sent, where the request has any."""


D = TypeVar("D", bound=AnyDialect)


class KnownDialects(Generic[D]):
    """Dialects by endpoint, for as long as the process lives: a client lives for one turn."""

    _LIMIT = 1000

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], D] = {}

    def get(self, key: tuple[str, ...], first: D) -> D:
        """Return what is known; `first` before anything was refused."""
        return self._known.get(key, first)

    def put(self, key: tuple[str, ...], dialect: D) -> None:
        """Keep what a refusal taught; the oldest entry goes when there are too many."""
        self._known[key] = dialect
        if len(self._known) > self._LIMIT:
            del self._known[next(iter(self._known))]
