"""Find phones that adb does not list yet: pairing, mDNS, and wireless phones on a new port.

Not the list of devices (`agent.devices.fleet.fleet`). Invariant: what is read from a server is
foreign text, and whatever it says, parses; nothing is connected to that was neither named nor
paired.

The services are those of AOSP `packages/modules/adb/SERVICES.TXT` and `client/mdns_utils`, the QR
code that of `adb_wifi.md`.
"""

import re
import secrets
import string
from dataclasses import dataclass

from agent.devices.adb.client import AdbClient
from agent.devices.adb.places import MDNS_CONNECT
from agent.errors import AdbError, DeviceError, UsageError
from agent.records import identifies
from agent.text import one_line

MDNS_PAIRING = "_adb-tls-pairing._tcp"
PAIR_TIMEOUT_S = 20.0
_MDNS_TIMEOUT_S = 5.0
_LINE_LIMIT_CHARS = 500
_SERVICE = re.compile(
    r"(?P<name>\S.*?)\t\s*(?P<kind>_adb[\w-]*\._tcp)\.?\s+(?P<target>\S+:\d{1,5})\s*"
)
_CODE = re.compile(r"[0-9]{6}")
_TARGET = re.compile(r"[^\s:]+:\d{1,5}|\[[0-9A-Fa-f:.%\w]+\]:\d{1,5}")
_SECRET_LETTERS = string.ascii_letters + string.digits


@dataclass(frozen=True, slots=True)
class Service:
    """One phone that announces itself by mDNS."""

    name: str
    kind: str
    target: str  # host:port.

    @property
    def pairs(self) -> bool:
        return self.kind == MDNS_PAIRING


@dataclass(frozen=True, slots=True)
class QrOffer:
    """A pairing that a phone accepts by reading a QR code: the name it will announce, the code."""

    name: str
    code: str

    @classmethod
    def new(cls) -> "QrOffer":
        """Make an offer that nobody can guess."""
        return cls(f"studio-{_random(10)}", _random(12))

    @property
    def payload(self) -> str:
        return f"WIFI:T:ADB;S:{self.name};P:{self.code};;"


def _random(length: int) -> str:
    return "".join(secrets.choice(_SECRET_LETTERS) for _ in range(length))


def parse_services(listing: str) -> tuple[Service, ...]:
    """Read the answer to `host:mdns:services`: name, kind and target on each line."""
    found: dict[tuple[str, str], Service] = {}
    for line in listing.replace("\r", "").split("\n"):
        row = _SERVICE.fullmatch(line[:_LINE_LIMIT_CHARS])
        if row is not None:
            service = Service(one_line(row["name"], 120), row["kind"], row["target"])
            found.setdefault((service.name, service.kind), service)
    return tuple(found.values())


async def services(client: AdbClient) -> tuple[Service, ...]:
    """List the phones that announce themselves.

    Raises DeviceError when the server has no mDNS.
    """
    try:
        return parse_services(await client.host("host:mdns:services", _MDNS_TIMEOUT_S))
    except DeviceError as error:
        raise DeviceError(
            f"The adb server at {client.address} does not discover phones by mDNS: {error.message}",
            "Name the phone's address and port: they are under Wireless debugging in its developer "
            "options.",
        ) from error


async def pair(client: AdbClient, target: str, code: str) -> str:
    """Pair with a phone that waits for it at `host:port`; returns what the server says.

    Raises UsageError for what cannot be a code or a target, DeviceError when the phone refused.
    """
    if not _TARGET.fullmatch(target):
        raise UsageError(
            f"{one_line(target, 80)!r} is not a phone's address.",
            "Give host:port as the phone shows it under `Pair device with pairing code`.",
        )
    if not (_CODE.fullmatch(code) or re.fullmatch(r"[A-Za-z0-9]{8,32}", code)):
        raise UsageError("That is not a pairing code.", "Type the six digits that the phone shows.")
    try:
        said = (await client.host(f"host:pair:{code}:{target}", PAIR_TIMEOUT_S)).strip()
    except AdbError:
        raise
    except DeviceError as error:
        # What the server itself says follows what we make of a refusal: it is reached, the phone
        # was not.
        said = error.message.partition(": ")[2].rstrip(".") or error.message
    if not said.startswith("Successfully paired"):
        raise DeviceError(
            f"{target} was not paired: {one_line(said, 200) or 'no reason given'}.",
            "Open `Pair device with pairing code` on the phone again: its code and port are new "
            "each time.",
        )
    return one_line(said, 200)


async def find_again(client: AdbClient, hardware_serial: str) -> str:
    """Look where a wireless phone announces itself now; empty when it does not."""
    if not identifies(hardware_serial):
        return ""
    prefix = f"adb-{hardware_serial}-"
    for service in await services(client):
        if service.kind == MDNS_CONNECT and service.name.startswith(prefix):
            return service.target
    return ""


async def hardware_serial(client: AdbClient, serial: str, *, timeout_s: float) -> str:
    """Ask a phone for its own serial; empty when it has none to tell."""
    asked = "getprop ro.serialno; getprop ro.boot.serialno"
    features = await client.features(serial, timeout_s=timeout_s)
    result = await client.shell(serial, asked, features=features, timeout_s=timeout_s, limit=4096)
    said = (one_line(line, 92).strip() for line in result.text.splitlines())
    return next((line for line in said if line), "")
