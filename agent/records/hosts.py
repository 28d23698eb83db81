"""The hosts of a fleet, as a console shows them."""

from __future__ import annotations

from enum import StrEnum

from agent.records.record import Record


class HostState(StrEnum):
    """Whether a host can be worked with."""

    HERE = "here"
    GONE = "gone"
    """It ended out of turn, stands still, or its network is cut."""
    LEFT = "left"
    """It ended in order."""


class HostInfo(Record, frozen=True, kw_only=True):
    """A host of the fleet."""

    name: str
    state: HostState
    draining: bool = False
    """Whether the operator wants no more turns to begin there."""
    is_here: bool = False
    """Whether it is the one whose core says so."""
