"""Layer changes over known rows, for a ledger and its trials.

Invariant: only the top layer is ever written, so a dropped trial leaves no trace.
"""

from collections import ChainMap
from typing import TypeVar, overload

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")


class Layers(ChainMap[K, V]):
    """A ChainMap with a one-pass look-up: every stored event looks up its session."""

    @overload
    def get(self, key: K, default: None = None) -> V | None: ...
    @overload
    def get(self, key: K, default: V) -> V: ...
    @overload
    def get(self, key: K, default: D) -> V | D: ...
    def get(self, key: K, default: V | D | None = None) -> V | D | None:
        """Return the uppermost value of a key."""
        for layer in self.maps:
            if key in layer:
                return layer[key]
        return default

    def stored(self, key: K) -> V | None:
        """Return a key's value below the top layer: its value before the change."""
        for layer in self.maps[1:]:
            if key in layer:
                return layer[key]
        return None
