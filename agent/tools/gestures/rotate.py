"""Turn the screen."""

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

import msgspec

from agent.devices.protocols import Device, TurnsScreen
from agent.errors import DeviceError
from agent.records import Observation, Session
from agent.safety.effects.acts import Act, ActKind
from agent.tools.planned_action import PhoneTool, ResolvedAction

_LOOKS = 5
"""Pictures that are taken at most until one is turned; a phone turns within a second or two."""


AUTO_ROTATE = "Auto-rotate"
_NOTE = re.compile(rf"{AUTO_ROTATE} is (on|off) now\.")


def noted_auto_rotate(said: str) -> str:
    """Return what a result says that auto-rotate became: on, off; empty where it stayed."""
    found = _NOTE.search(said)
    return found[1] if found else ""


class RotateScreen(PhoneTool, frozen=True, kw_only=True):
    """Turn the screen."""

    tool_name = "rotate"
    moves_view = True
    verbs: ClassVar[Mapping[str, str]] = {"Turned": "Turn"}

    to: Annotated[
        Literal["landscape", "portrait", "auto"],
        msgspec.Meta(description="auto: as the phone is held."),
    ]

    def resolve(self, screen: Observation) -> ResolvedAction:
        how = "to follow how the phone is held" if self.to == "auto" else f"to {self.to}"
        return ResolvedAction(action=self, said=f"Turned the screen {how}")

    async def perform(self, resolved: ResolvedAction, device: Device, session: Session) -> str:
        if not isinstance(device, TurnsScreen):
            raise DeviceError(
                f"This display of {device.serial} cannot be turned.", "Work with it as it is."
            )
        follows = self.to == "auto"
        had_followed = await device.rotate(self.to)
        turned = "" if follows else await self._turned(device)
        if had_followed in (None, follows):
            return turned
        return f"{turned} {AUTO_ROTATE} is {'on' if follows else 'off'} now.".strip()

    async def _turned(self, device: Device) -> str:
        """Look until the picture is turned. Raises DeviceError where it does not turn."""
        width = height = 0
        for _ in range(_LOOKS):
            try:
                frame = (await device.capture()).frame
            except DeviceError:
                # The turn was sent; the observation that follows says whether the phone is there.
                return "Its picture cannot be read."
            width, height = frame.width_px, frame.height_px
            if (width > height) == (self.to == "landscape"):
                return f"The picture is {width}×{height} now."
        raise DeviceError(
            f"The app keeps the screen of {device.serial} as it was: {width}×{height}.",
            "Work with it as it is.",
        )

    def acts(self, resolved: ResolvedAction) -> tuple[Act, ...]:
        return (Act(kind=ActKind.VIEW),)
