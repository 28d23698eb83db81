"""What is fixed about a phone while it stays connected: features, Android version, display.

Asked once when it comes online, in one shell call. Invariant: a value that the phone does not give
is empty or 0, never guessed.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.devices.client import AdbClient
from agent.devices.focus import parse_natural_size
from agent.text import one_line

_PROPERTIES = (
    "ro.product.model",
    "ro.build.version.release",
    "ro.build.version.sdk",
    "sys.boot_completed",
    "ro.switchboard.name",
    "ro.switchboard.unicode_input",
)
_FIRST_TURNED_SCREENCAP_SDK = 21


@dataclass(frozen=True, slots=True)
class Profile:
    """One connected phone's features and figures."""

    features: frozenset[str]
    model: str = ""
    android: str = ""
    sdk: int = 0
    booted: bool = True
    virtual: bool = False
    unicode_input: bool = False
    """Its `input text` takes every character, as the virtual phone's does."""
    natural_size: tuple[int, int] | None = None
    """Width and height in pixels of the display before it is turned."""

    @property
    def captures_unturned(self) -> bool:
        """Whether `screencap` ignores the rotation of the screen (Android before 5)."""
        return 0 < self.sdk < _FIRST_TURNED_SCREENCAP_SDK


async def read_profile(client: AdbClient, serial: str, *, timeout_s: float) -> Profile:
    """Ask a phone what it is. Raises as `AdbClient.shell` does."""
    features = await client.features(serial, timeout_s=timeout_s)
    asked = "; ".join(f"getprop {name}" for name in _PROPERTIES)
    result = await client.shell(
        serial, f"{asked}; wm size", features=features, timeout_s=timeout_s, limit=1 << 20
    )
    lines = result.text.split("\n")
    values = [one_line(line, 92) for line in lines[: len(_PROPERTIES)]]
    model, android, sdk, booted, virtual, unicode_input = values + [""] * (
        len(_PROPERTIES) - len(values)
    )
    return Profile(
        features=features,
        model=model,
        android=android,
        sdk=int(sdk) if sdk.isascii() and sdk.isdigit() else 0,
        booted=booted == "1",
        virtual=bool(virtual),
        unicode_input=unicode_input in {"1", "true"},
        natural_size=parse_natural_size("\n".join(lines[len(_PROPERTIES) :])),
    )
