"""What is fixed about a phone while it stays connected: features, Android version, display.

Asked once when it comes online, in one shell call. Invariant: a value that the phone does not give
is empty or 0, never guessed.
"""

from dataclasses import dataclass

from agent.devices.adb.client import AdbClient
from agent.devices.facts.fact import value_or_none
from agent.devices.facts.sizes import read_natural_size
from agent.text import one_line

_PROPERTIES = (
    "ro.product.model",
    "ro.build.version.release",
    "ro.build.version.sdk",
    "sys.boot_completed",
    "ro.virtual_phone.name",
    "ro.virtual_phone.unicode_input",
    "ro.serialno",
    "ro.build.fingerprint",
    "ro.product.manufacturer",
    "ro.product.brand",
)
_SIZE = "size"
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
    phone: str = ""
    """The serial number that the phone gives itself."""
    fingerprint: str = ""
    """Of its build: another one after every update."""
    maker: str = ""
    brand: str = ""
    """The name that it is sold under; its maker may have several."""
    natural_size: tuple[int, int] | None = None
    """Width and height in pixels of the display before it is turned."""

    @property
    def captures_unturned(self) -> bool:
        """Whether `screencap` ignores the rotation of the screen (Android before 5)."""
        return 0 < self.sdk < _FIRST_TURNED_SCREENCAP_SDK


async def read_profile(client: AdbClient, serial: str, *, timeout_s: float) -> Profile:
    """Ask a phone what it is. Raises as `AdbClient.shell` does."""
    features = await client.features(serial, timeout_s=timeout_s)
    # Each answer under a heading of its own: a value may have several lines, or none at all.
    asked = "; ".join(f"echo '@{name}'; getprop {name}" for name in _PROPERTIES)
    result = await client.shell(
        serial,
        f"{asked}; echo '@{_SIZE}'; wm size",
        features=features,
        timeout_s=timeout_s,
        limit=1 << 20,
    )
    said = _by_heading(result.text)
    model, android, sdk, booted, virtual, unicode_input, phone, fingerprint, maker, brand = (
        one_line(said.get(name, "").strip(), 200) for name in _PROPERTIES
    )
    return Profile(
        features=features,
        model=model,
        android=android,
        sdk=int(sdk) if sdk.isascii() and sdk.isdigit() else 0,
        booted=booted == "1",
        virtual=bool(virtual),
        unicode_input=unicode_input in {"1", "true"},
        phone=phone,
        fingerprint=fingerprint,
        maker=maker,
        brand=brand,
        natural_size=value_or_none(read_natural_size(said.get(_SIZE, ""))),
    )


def _by_heading(text: str) -> dict[str, str]:
    """Divide what a phone said at the headings that were asked for."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        name = line.removeprefix("@").strip()
        if line.startswith("@") and name in {*_PROPERTIES, _SIZE} and name not in found:
            lines = found[name] = []
        else:
            lines.append(line)
    return {name: "\n".join(lines) for name, lines in found.items()}
