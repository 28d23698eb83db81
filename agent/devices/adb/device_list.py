"""Read the adb server's list of devices: one line each, `serial state key:value…`.

Not the fleet: a row is what one server says now. Invariant: any text parses; what is not a device
line (a banner of the server, garbage) gives no row.
"""

import re
from dataclasses import dataclass

from agent.records import DeviceState
from agent.text import one_line

_ROW = re.compile(
    r"(?P<serial>\S.*?)[ \t]+(?P<state>device|offline|unauthorized|authorizing|connecting|recovery"
    r"|rescue|sideload|bootloader|host|detached|unknown|no permissions)(?=[\s;(]|$)(?P<rest>.*)"
)
_LINE_LIMIT_CHARS = 2000
_FIELD = re.compile(r"(?<!\S)(\w+):(\S+)")
_REMEDIES = {
    DeviceState.ONLINE: "",
    DeviceState.OFFLINE: "The phone does not answer adb: unplug it and plug it in again, "
    "or switch USB debugging off and on.",
    DeviceState.UNAUTHORIZED: "The phone has not accepted this computer: unlock it and accept the "
    'dialog "Allow USB debugging?"; if none shows, plug it in again.',
    DeviceState.AUTHORIZING: "The phone is checking this computer's key: accept the dialog on it.",
    DeviceState.CONNECTING: "The adb server is still connecting to the phone: wait a moment.",
    DeviceState.NO_PERMISSIONS: "This user may not open the USB device: install the Android udev "
    "rules (package android-sdk-platform-tools-common), join the group plugdev, plug in again.",
    DeviceState.RECOVERY: "The phone is in recovery mode: reboot it into Android.",
    DeviceState.SIDELOAD: "The phone waits for a sideload: reboot it into Android.",
    DeviceState.BOOTLOADER: "The phone is in its bootloader: reboot it into Android.",
    DeviceState.GONE: "The adb server lists it no longer: plug it in again or reconnect it by adb.",
    DeviceState.UNKNOWN: "adb reports a state that Switchboard does not know: reconnect the phone.",
}
_NETWORK = re.compile(r".+:\d{1,5}|.+\._adb-tls-connect\._tcp\.?")
"""Serials of phones that adb reaches by TCP: their address, or their mDNS name (adb's
docs/user/adb_wifi.md)."""
_EMULATOR = re.compile(r"emulator-\d{1,5}")
_WITHOUT_CABLE = {
    DeviceState.OFFLINE: "The phone does not answer adb over the network: see that it is awake and "
    "on the same network, then adb disconnect {serial} and adb connect {serial}.",
    DeviceState.GONE: "The adb server lists it no longer: see that it is on the same network, then "
    "adb connect {serial}.",
    DeviceState.UNAUTHORIZED: "The phone has not accepted this computer: unlock it and accept the "
    'dialog "Allow USB debugging?"; if none shows, pair it again (adb pair).',
}
_OF_AN_EMULATOR = {
    DeviceState.OFFLINE: "The emulator does not answer adb: wait until it has started, or start it "
    "again.",
    DeviceState.GONE: "The adb server lists it no longer: start the emulator again.",
}
_VIRTUAL_PRODUCT = "vphone"  # What a virtual phone of this repository says to be, in adb's listing.
_OF_A_VIRTUAL_PHONE = {
    DeviceState.OFFLINE: "The virtual phone has ended, as it does with the process that started "
    "it: start that again.",
    DeviceState.GONE: "The adb server lists it no longer: start the virtual phone again, or "
    "adb connect {serial} if it still runs.",
}


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """One device as an adb server lists it."""

    serial: str
    state: DeviceState
    model: str = ""
    product: str = ""
    transport_id: int = 0
    said: str = ""  # The server's own words after the state, when they are not key:value pairs.

    @property
    def is_virtual(self) -> bool:
        """Return whether it is a virtual phone, which its listing tells before it is asked."""
        return self.product == _VIRTUAL_PRODUCT

    @property
    def note(self) -> str:
        """Return why the device cannot be used and what to do; empty for one that can."""
        return explain(self.state, self.serial, is_virtual=self.is_virtual)


def explain(state: DeviceState, serial: str, *, is_virtual: bool = False) -> str:
    """Return in a sentence what a state means and what to do about it; empty for a usable device.

    What to do depends on how adb reaches the device, which its serial tells: there is no cable to
    pull from a phone on the network.
    """
    if is_virtual and state in _OF_A_VIRTUAL_PHONE:
        return _OF_A_VIRTUAL_PHONE[state].replace("{serial}", one_line(serial, 80))
    if _EMULATOR.fullmatch(serial):
        return _OF_AN_EMULATOR.get(state, _REMEDIES[state])
    if _NETWORK.fullmatch(serial):
        said = _WITHOUT_CABLE.get(state, _REMEDIES[state])
        return said.replace("{serial}", one_line(serial, 80))
    return _REMEDIES[state]


def parse_rows(listing: str) -> tuple[DeviceRow, ...]:
    """Read a listing; of a serial that is listed twice, the line that can be used wins."""
    rows: dict[str, DeviceRow] = {}
    for line in listing.replace("\r", "").split("\n"):
        found = _ROW.match(line[:_LINE_LIMIT_CHARS])
        if found is None or line.startswith(("*", "List of devices", "adb server")):
            continue
        row = _read(found)
        known = rows.get(row.serial)
        if known is None or known.state != DeviceState.ONLINE:
            rows[row.serial] = row
    return tuple(rows.values())


def _read(found: re.Match[str]) -> DeviceRow:
    try:
        state = DeviceState(found["state"])
    except ValueError:
        recovery = found["state"] == "rescue"
        state = DeviceState.RECOVERY if recovery else DeviceState.UNKNOWN
    rest = found["rest"]
    fields = {} if state is DeviceState.NO_PERMISSIONS else dict(_FIELD.findall(rest))
    transport = fields.get("transport_id", "")
    return DeviceRow(
        serial=found["serial"],
        state=state,
        model=one_line(fields.get("model", "").replace("_", " "), 80),
        product=one_line(fields.get("product", ""), 80),
        transport_id=int(transport) if transport.isascii() and transport.isdigit() else 0,
        said="" if fields else one_line(rest, 200),
    )
