"""Name phones, their tags and MCP servers in a typed line: `@phone`, `#tag` and `+server`.

Pure. Invariant: a handle has no space, and means the phone that the lists show under that name, or
the server that the settings have under it; any other word stays a word.
"""

import re
from collections.abc import Collection, Mapping

from agent.records import DeviceInfo, DeviceState
from widgets.base.formatting import natural
from widgets.lists.session_rows import device_name

_WORD = re.compile(r"(?<!\S)([@#])(\S+)")
_NEEDS = re.compile(r"(tag|app|locale|same):|(android|sdk|screen)[:<>=]|spread(,|$)")
_SERVER = re.compile(r"(?<!\S)\+(\S+)")


def phone_handle(serial: str, devices: Mapping[str, DeviceInfo]) -> str:
    """Return a phone's handle: its name in the lists, with hyphens for spaces."""
    return "@" + "-".join(device_name(serial, devices).split())


def phone_of(handle: str, devices: Mapping[str, DeviceInfo]) -> str:
    """Return the serial that a handle or a serial names, in any case; empty for none."""
    wanted = handle.removeprefix("@").casefold()
    for serial in devices:
        names = {phone_handle(serial, devices).removeprefix("@").casefold(), serial.casefold()}
        if wanted in names:
            return serial
    return ""


def handles(devices: Mapping[str, DeviceInfo]) -> list[str]:
    """List the handles of all phones, those online first, then their tags."""
    order = sorted(
        devices,
        key=lambda serial: (devices[serial].state is not DeviceState.ONLINE, natural(serial)),
    )
    tags = sorted({tag for device in devices.values() for tag in device.tags if " " not in tag})
    return [*(phone_handle(serial, devices) for serial in order), *(f"#{tag}" for tag in tags)]


def completions(
    word: str, devices: Mapping[str, DeviceInfo], servers: Collection[str] = ()
) -> list[str]:
    """List the handles that begin with a word, which begins with `@`, `#` or `+`."""
    offered = [*handles(devices), *(f"+{name}" for name in sorted(servers))]
    return [one for one in offered if one.casefold().startswith(word.casefold())]


def servers_in(text: str, servers: Collection[str]) -> tuple[str, tuple[str, ...]]:
    """Read which MCP servers a goal names.

    Args:
        servers: the names that the settings have.

    Returns:
        The goal without these handles, and the names, each once.
    """
    found = [match for match in _SERVER.finditer(text) if match[1].casefold() in servers]
    for match in reversed(found):
        text = f"{text[: match.start()].rstrip()} {text[match.end() :].lstrip()}"
    names = tuple(dict.fromkeys(match[1].casefold() for match in found))
    return (text.strip() if found else text), names


def tagged(tag: str, devices: Mapping[str, DeviceInfo]) -> list[str]:
    """List the serials of the online phones with a tag, free ones first."""
    found = [
        device
        for device in devices.values()
        if device.state is DeviceState.ONLINE
        and tag.casefold() in {one.casefold() for one in device.tags}
    ]
    return [
        one.serial for one in sorted(found, key=lambda one: (bool(one.driver), natural(one.serial)))
    ]


def are_needs(word: str) -> bool:
    """Return whether a handle says what a phone has to be, and names none."""
    return _NEEDS.match(word) is not None


class Placed:
    """A goal without the handles that say where it is pursued.

    Attributes:
        goal: what is left of the text.
        serials: the phones that were named, each once; for several the goal is pursued on each.
        needs: what its phone has to be, as it was typed: `@tag:wall,app:com.example>=3.2`.
        unknown: the tag or phone that was meant as such and is not there; empty where all are.
    """

    def __init__(self, text: str, devices: Mapping[str, DeviceInfo]) -> None:
        self.goal, self.needs, self.unknown = text, "", ""
        self.serials: tuple[str, ...] = ()
        for found in reversed(list(_WORD.finditer(text))):
            if found[1] == "@" and not are_needs(found[2]):
                self._take(found, phone_of(found[2], devices))
        if self.serial:
            return
        for found in _WORD.finditer(text):
            sign, name = found[1], found[2]
            if sign == "@" and are_needs(name):
                self.needs = name
                self.goal = _without(text, found)
                return
            if sign == "#":
                serial = next(iter(tagged(name, devices)), "")
                known = {tag.casefold() for device in devices.values() for tag in device.tags}
                if not serial and name.casefold() in known:
                    self.unknown = found[0]
                if serial:
                    self._take(found, serial)
                    return

    @property
    def serial(self) -> str:
        """Return the phone that was named first; empty where none was."""
        return self.serials[0] if self.serials else ""

    def _take(self, found: re.Match[str], serial: str) -> None:
        """Take a handle out of the goal. The last of several comes first."""
        if serial:
            self.goal = _without(self.goal, found)
            self.serials = (serial, *(one for one in self.serials if one != serial))


def _without(text: str, found: re.Match[str]) -> str:
    rest = f"{text[: found.start()].rstrip()} {text[found.end() :].lstrip()}"
    return rest.strip()
