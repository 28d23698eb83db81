"""Where a device is listed, what it is called there, and when two listings are one device. Pure.

Not the fleet. Invariants: a name belongs to one device as long as the fleet lives; a serial that
says something only on its own host, such as `emulator-5554`, never stands for one of another host.
"""

import re
from collections.abc import Container
from dataclasses import dataclass

from agent.devices.adb.address import ServerAddress
from agent.records import Transport

MDNS_CONNECT = "_adb-tls-connect._tcp"
_PORT = re.compile(r".+:\d{1,5}")
_MDNS = re.compile(r"adb-.+\._adb(-tls-connect)?\._tcp\.?")
_EMULATOR = re.compile(r"emulator-\d+")
_LOOPBACK = ("127.", "localhost:", "[::1]:")  # What makers left in when they gave no serial.


@dataclass(frozen=True, slots=True)
class Place:
    """One line of one server's list."""

    address: ServerAddress
    serial: str

    @property
    def full_name(self) -> str:
        """The name that tells it from the same serial of another server."""
        return f"{self.serial}@{self.address}"

    def may_move_to(self, other: "Place") -> bool:
        """Whether the same serial elsewhere can be this device, plugged in there."""
        if self.serial != other.serial:
            return False
        return not is_host_relative(self.serial) or self.address.host == other.address.host


def name_for(place: Place, taken: Container[str]) -> str:
    """Name a device that is new: by its serial, while no other device has that."""
    return place.full_name if place.serial in taken else place.serial


def is_host_relative(serial: str) -> bool:
    """Whether a serial says something only on the host of its server."""
    return bool(_EMULATOR.fullmatch(serial)) or serial.startswith(_LOOPBACK)


def is_wireless(serial: str) -> bool:
    """Whether the server reached the device over the network."""
    return bool(_PORT.fullmatch(serial) or _MDNS.fullmatch(serial))


def is_address(serial: str) -> bool:
    """Whether a serial is a host and a port, at which another device may answer another day."""
    return bool(_PORT.fullmatch(serial))


def transport_of(serial: str) -> Transport:
    """Return how a device is reached, as its serial tells."""
    if _EMULATOR.fullmatch(serial):
        return Transport.EMULATOR
    return Transport.TCP if is_wireless(serial) else Transport.USB
