"""What a planner knows of the phones, and how it sends others off: the Delegation protocol.

Not the planner (`agent.tasks.plan`) and not what carries it out
(`agent.sessions.tree.delegation_host`). Invariant: what a planner is told of a phone was asked of
that phone, or says that it was not.
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from agent.protocol import Target
from agent.records import AppInfo, DeviceInfo


class PhoneView(msgspec.Struct, frozen=True, kw_only=True):
    """One phone as a planner sees it."""

    info: DeviceInfo
    apps: tuple[AppInfo, ...] = ()
    apps_known: bool = True
    """False when it could not be asked: then nothing is known not to be there."""
    local_time: str = ""
    """Its date, time, time zone and language; empty where it does not tell."""
    detach_refusal: str = ""
    """Why it cannot show an app on a display of its own; empty when it can."""


class Delegation(Protocol):
    """One session's way to send others off."""

    async def phones(self) -> tuple[PhoneView, ...]:
        """Look at every phone that is online, its apps included."""

    async def delegate(self, targets: Sequence[Target], reason: str) -> tuple[str, ...]:
        """Store a child for each target, and send them off.

        Returns:
            The ids of the children.
        """
