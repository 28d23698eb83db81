"""Displays of a phone beyond its main one: where a detached target's app lives, unseen by whoever
holds the phone.

Protocols, and the form of a phone that has none. What opens one is `agent.devices.scrcpy`.
Invariants: a display is gone when it is closed, when its phone goes and when we die; the main
display is never one of these.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Protocol

from agent.errors import DeviceError
from agent.records import LiveFrame

if TYPE_CHECKING:
    from agent.devices.device import Capture, Device

OPEN_TIMEOUT_S = 15.0


class Display(Protocol):
    """One extra display and the app on it. Every call raises as those of `Device` do, and
    DeviceLostError once the display is closed.
    """

    @property
    def number(self) -> int:
        """Android's number of the display; never 0."""
        ...

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        ...

    @property
    def is_open(self) -> bool:
        """Whether the display is still there; false at once when its link broke."""
        ...

    @property
    def device(self) -> Device:
        """The phone as if this were its only screen: pictures, touches, keys and launches go to
        this display.
        """
        ...

    async def start_app(self, package: str, *, timeout_s: float = 10.0) -> None:
        """Start an app here; one that runs on another display moves here.

        Raises DeviceError when the package has nothing to start.
        """
        ...

    async def capture(self, *, timeout_s: float = 10.0) -> Capture:
        """Take a picture of this display."""
        ...

    def frames(self, *, width_px: int, height_px: int, max_hz: float) -> AsyncIterator[LiveFrame]:
        """Follow the newest picture, as `Rack.frames` does for the main display."""
        ...

    async def attach(self, package: str, *, timeout_s: float = 10.0) -> None:
        """Move an app from here to the main display; this display stays open and empty."""
        ...

    async def close(self) -> None:
        """Remove the display; closing twice is fine. Android decides where its apps go."""
        ...


class Displays(Protocol):
    """The extra displays of one phone."""

    async def refusal(self, *, timeout_s: float = 5.0) -> str:
        """Say why this phone cannot open one, with what would help; empty when it can.

        Cheap enough to ask while planning: nothing is opened.
        """
        ...

    async def open(self, *, width_px: int = 0, height_px: int = 0, dpi: int = 0) -> Display:
        """Open a display; zeros take the main display's figures.

        Raises DeviceError with the refusal's words when the phone cannot, DeviceTimeoutError after
        `OPEN_TIMEOUT_S`.
        """
        ...

    def opened(self) -> tuple[Display, ...]:
        """List those that are open, by number."""
        ...


class NoDisplays:
    """The displays of a phone that can have none, and why."""

    def __init__(self, serial: str, why: str) -> None:
        self._serial = serial
        self._why = why

    async def refusal(self, *, timeout_s: float = 5.0) -> str:
        """Say why there is none."""
        return self._why

    async def open(self, *, width_px: int = 0, height_px: int = 0, dpi: int = 0) -> Display:
        """Raise DeviceError with the reason."""
        raise DeviceError(
            f"{self._serial} cannot open another display: {self._why}",
            "Let the target stay on the main display.",
        )

    def opened(self) -> tuple[Display, ...]:
        """List none."""
        return ()
