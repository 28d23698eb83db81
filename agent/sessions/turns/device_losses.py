"""Flag a session as lost the moment its phone goes away, whatever it is doing, and unflag it.

Not the waiting (`TurnContext.wait_for_device`), which is where a turn stands still: a model call
that is in flight cannot be stopped by a cable, but its answer is not acted upon. Invariants: what
the operator reads says which phone, why, and until when; a session is lost only while it works.
"""

import logging

from agent.errors import StoreError
from agent.protocol import EventMsg
from agent.records import DeviceInfo, DeviceState
from agent.sessions.registry.live_session import LiveSession
from agent.sessions.registry.services import Services

_log = logging.getLogger(__name__)


def losing(live: LiveSession, grace_s: float, now_ms: int, why: str = "") -> tuple[EventMsg, ...]:
    """Return the fact that a session's phone went away; nothing when that is known."""
    reason = f"{live.record.serial} is away; waiting up to {grace_s:g} s"
    return live.flagging(
        lost=True,
        lost_until_ms=now_ms + round(grace_s * 1000),
        reason=f"{reason}. {why}" if why else reason,
    )


class Losses:
    """Keep the flags of sessions true to their phones."""

    def __init__(self, parts: Services) -> None:
        self._parts = parts

    async def run(self) -> None:
        """Follow the fleet until it closes."""
        async for info in self._parts.fleet.changes():
            for live in tuple(self._parts.registry.active()):
                if live.record.serial != info.serial:
                    continue
                try:
                    await self._see(live, info)
                except StoreError as error:
                    # The turn itself meets the same phone and the same store.
                    _log.warning("A loss of %s was not stored: %s", info.serial, error)

    async def _see(self, live: LiveSession, info: DeviceInfo) -> None:
        is_away = info.state is not DeviceState.ONLINE
        async with live.lock:
            turn = live.turn
            if turn is None or turn.finishing or turn.mute or not live.record.turn_id:
                return
            if is_away is live.record.lost:
                return
            now_ms = self._parts.clock_ms()
            live.disturbed_ms = now_ms
            if is_away:
                grace_s = self._parts.settings.recovery.device_grace_s
                msgs = losing(live, grace_s, now_ms, info.note)
            else:
                msgs = live.flagging(lost=False, reason=f"{info.serial} is back")
            await self._parts.registry.append(*live.drafts(*msgs))
