"""The displays of a phone that can have none beyond its main one, and why."""

from agent.devices.protocols import Display
from agent.errors import DeviceError


class NoDisplays:
    """The displays of a phone that can have none, and why."""

    def __init__(self, serial: str, why: str) -> None:
        self._serial = serial
        self._why = why

    async def refusal(self, *, timeout_s: float = 5.0) -> str:
        return self._why

    async def open(self, *, width_px: int = 0, height_px: int = 0, dpi: int = 0) -> Display:
        """Raise DeviceError with the reason."""
        raise DeviceError(
            f"{self._serial} cannot open another display: {self._why}",
            "Keep the app on the main display.",
        )

    def opened(self) -> tuple[Display, ...]:
        """List none."""
        return ()
