"""What changes, laid over what is known: the tables of a ledger, and its trials.

Not a table. Invariant: only the top layer is ever written, so that a trial which is dropped leaves
no trace.
"""

from __future__ import annotations

from collections import ChainMap
from typing import TypeVar, overload

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")


class Layers(ChainMap[K, V]):
    """A ChainMap that looks a key up in one pass: every stored event asks for its session."""

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
        """Return what a key has below the top layer: what it is about to be changed from."""
        for layer in self.maps[1:]:
            if key in layer:
                return layer[key]
        return None
