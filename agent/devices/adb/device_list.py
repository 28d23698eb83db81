"""Read the adb server's list of devices: one line each, `serial state key:value…`.

Not the fleet: a row is what one server says now. Invariant: any text parses; what is not a device
line (a banner of the server, garbage) gives no row.
"""

import re
from dataclasses import dataclass

from agent.records import DeviceState
from agent.text import one_line

_STATES = re.compile(
    r"[ \t]+(device|offline|unauthorized|authorizing|connecting|recovery|rescue|sideload|bootloader"
    r"|host|detached|unknown|no permissions)(?=[\s;(]|$)"
)
_KNOWN_END = re.compile(
    r"[ \t]+(?:(?:usb|product|model|device):\S+[ \t]+)*transport_id:\d{1,18}\s*$"
)
"""A line that ends in a transport's number is a device, whatever its state."""
_PADDING = re.compile(r"[ \t]{2,}|\t")
_FIELDS = re.compile(r"\s*\S*(?:\s+\w+:.*)?")
_NOT_ROWS = ("*", "List of ", "adb server", "adb: ", "error: ")
_NO_SERIAL = "(no serial number)"  # How adb lists a device that gave none.
_MOST_SPLITS = 8
_COLUMN = 22  # `%-22s` of append_transport in AOSP's adb/transport.cpp.
_LINE_LIMIT_CHARS = 2000
_FIELD = re.compile(r"(?<!\S)(product|model|device|transport_id):(\S+)")
_PORT = re.compile(r"\s*(usb:\S+|\d+-[\d.]+|\d+X)(?=\s|$)")
"""Where it is plugged in: `usb:1-2.3` on Linux, `usb:1114112X` on macOS, `1-2.3` by libusb."""
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
    DeviceState.OFFLINE: "The virtual phone has ended with the process that started it: restart "
    "that process.",
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
    port: str = ""  # Where it is plugged in, as `usb:1-2`; empty for what has no cable.
    listed: str = ""
    """Its serial as the server has it, where that does not name it: several phones have it, it
    begins with a blank, or there is none. The phone is then reached by its transport's number."""
    said: str = ""  # The server's own words after the state, when they are not key:value pairs.

    @property
    def is_virtual(self) -> bool:
        """Return whether it is a virtual phone, which its listing tells before it is asked."""
        return self.product == _VIRTUAL_PRODUCT

    @property
    def note(self) -> str:
        """Return why the device cannot be used and what to do; empty for one that can."""
        if self.state is DeviceState.UNKNOWN and self.said.startswith("detached"):
            return f"The adb server has let the phone go: adb -t {self.transport_id} attach."
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
    """Read a listing (`append_transport` in AOSP's adb/transport.cpp).

    Of a serial that is listed twice on one port, or without a port, the line that can be used wins.
    Several lines of one serial remain where several phones have it.
    """
    rows: dict[str, list[DeviceRow]] = {}
    for line in listing.replace("\r", "").split("\n"):
        row = _row(line[:_LINE_LIMIT_CHARS])
        if row is not None:
            same = rows.setdefault(row.serial, [])
            doubled = next((at for at, one in enumerate(same) if _is_same(one, row)), None)
            if doubled is None:
                same.append(row)
            elif same[doubled].state is not DeviceState.ONLINE:
                same[doubled] = row
    return tuple(row for same in rows.values() for row in same)


def _is_same(one: DeviceRow, other: DeviceRow) -> bool:
    """Return whether two lines of one serial are one phone."""
    if one.transport_id == other.transport_id or not (one.transport_id and other.transport_id):
        return True
    if one.port and other.port:
        return one.port == other.port
    return one.state is not DeviceState.ONLINE or other.state is not DeviceState.ONLINE


def _row(line: str) -> DeviceRow | None:
    stripped = line.strip()
    if not stripped or stripped.startswith(_NOT_ROWS):
        return None
    split = _split(line)
    if split is None:
        return None
    exact, word, rest = split
    try:
        state = DeviceState(word)
    except ValueError:
        state = DeviceState.RECOVERY if word == "rescue" else DeviceState.UNKNOWN
    # What stands in parentheses explains the state, and may hold anything.
    explains = state is DeviceState.NO_PERMISSIONS
    end = max(rest.rfind("]"), rest.rfind(")")) + 1 if explains else 0
    plain = rest[end:]
    fields = dict(_FIELD.findall(plain))
    transport = fields.get("transport_id", "")
    port = _PORT.match(plain)
    serial = exact.strip()
    words = rest[:end] if explains or fields or port else rest
    said = one_line(words, 200).strip()
    return DeviceRow(
        serial=serial,
        state=state,
        model=one_line(fields.get("model", "").replace("_", " "), 80),
        product=one_line(fields.get("product", ""), 80),
        transport_id=int(transport) if re.fullmatch("[0-9]{1,18}", transport) else 0,
        port=port[1] if port else "",
        listed=exact if exact != serial or serial == _NO_SERIAL else "",
        said=f"{word} {said}".strip() if state is DeviceState.UNKNOWN else said,
    )


def _split(line: str) -> tuple[str, str, str] | None:
    """Return the serial with the blanks before it, the state and what follows; None: no device.

    A serial may hold blanks and even the word of a state, so the first place at which fields follow
    is taken, and if there is none the first word of a state.
    """
    first: tuple[str, str, str] | None = None
    found = _STATES.finditer(line)
    for _, state in zip(range(_MOST_SPLITS), found, strict=False):
        exact, rest = line[: state.start()].rstrip(), line[state.end() :]
        if not exact.strip() or _is_prose(line, exact, state):
            continue
        first = first or (exact, state[1], rest)
        if _FIELDS.fullmatch(rest) and not _STATES.match(f" {rest.strip()}"):
            return exact, state[1], rest
    return first or _split_unknown(line)


def _is_prose(line: str, exact: str, state: re.Match[str]) -> bool:
    """Return whether a sentence holds the word of a state: adb fills short serials up to a column.

    So where one blank stands behind a short one, it holds none, and no more words follow.
    """
    serial, rest = exact.strip(), line[state.end() :]
    if serial == _NO_SERIAL or len(serial) >= _COLUMN or line[len(exact) : state.start(1)] != " ":
        return False
    return " " in serial or not (_FIELDS.fullmatch(rest) or rest.lstrip().startswith(("(", ";")))


def _split_unknown(line: str) -> tuple[str, str, str] | None:
    """Split a line with a state that adb does not have today."""
    end = _KNOWN_END.search(line)
    head = line[: end.start()] if end is not None else ""
    parts = _PADDING.split(head.strip(), maxsplit=1)
    if len(parts) < 2:
        parts = head.strip().rsplit(" ", 1)
    if end is None or len(parts) < 2 or " " in parts[0].strip() or _FIELD.search(head):
        return None
    blanks = head[: len(head) - len(head.lstrip())]
    return f"{blanks}{parts[0]}", parts[1].strip(), end[0]
