"""Post notices on the phone itself: `cmd notification post`, which the shell may do, without reply.

Not a channel back: a notification that the shell posts can carry no reply. Invariants: one notice a
session, for the tag is the session's; a phone that is away or refuses is no failure of the core.
"""

import logging
from typing import Protocol, runtime_checkable

from agent.devices.protocols import Fleet
from agent.errors import SwitchboardError
from agent.records import Notice

TIMEOUT_S = 10.0
_log = logging.getLogger(__name__)


@runtime_checkable
class CanNotify(Protocol):
    """A device that can show a notification."""

    async def notify(self, tag: str, title: str, text: str, *, timeout_s: float = 10.0) -> None:
        """Post a notification, in the place of one with the same tag. Raises DeviceError."""


class PhoneSink:
    """The phones that sessions are on."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    async def post(self, notice: Notice) -> str:
        """Post a notice on its session's phone; there is never a reply."""
        if notice.serial:
            try:
                device = await self._fleet.device(notice.serial)
                if isinstance(device, CanNotify):
                    await device.notify(
                        f"switchboard-{notice.session_id or notice.token}",
                        notice.title,
                        notice.text or notice.title,
                        timeout_s=TIMEOUT_S,
                    )
            except SwitchboardError as error:
                _log.warning("A notice could not be posted on %s: %s", notice.serial, error)
        return ""

    def withdraw(self, notice: Notice) -> None:
        """Leave it there: the shell can post notifications, and cannot take them away."""
