"""What each phone is called in lists, all made at once: a rack has hundreds, each row names one."""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping

from agent.records import DeviceInfo, host_of, on_host
from agent.state.memoize import memoize_last
from agent.text import one_line


def device_names(devices: Mapping[str, DeviceInfo]) -> Mapping[str, str]:
    """Name each device shortly, by serial.

    As the operator calls it, else by its model, with the end of its serial where several are
    alike; of two hosts' phones that would be called the same, with the host.
    """
    return _named(devices)


@memoize_last
def _named(devices: Mapping[str, DeviceInfo]) -> Mapping[str, str]:
    alike: dict[Hashable, set[str]] = defaultdict(set)
    hosts: dict[Hashable, set[str]] = defaultdict(set)
    for serial, device in devices.items():
        alike[_look(device)].add(serial)
        hosts[_called(device)].add(host_of(serial))
    last_words = {
        look: Counter(_last_word(one) for one in serials) for look, serials in alike.items()
    }
    names = {}
    for serial, device in devices.items():
        kind = "virtual" if device.virtual else device.model
        host = host_of(serial)
        if device.name:
            name = one_line(device.name, 24)
        elif not kind:
            names[serial] = one_line(serial, 24)
            continue
        elif len(alike[_look(device)]) == 1:
            names[serial] = one_line(kind, 24)
            continue
        else:
            # Of several alike the end of the serial tells which: a port, or its last digits.
            ends = last_words[_look(device)]
            end = _last_word(serial)
            name = f"{one_line(kind, 18)} {end if end and ends[end] == 1 else _end(serial)}"
        is_shared = bool(host) and len(hosts[_called(device)]) > 1
        names[serial] = f"{name} {one_line(host, 24)}" if is_shared else name
    return names


_LONGEST_END = 5  # Characters at the end of a serial that name a phone, about a port.


def _last_word(serial: str) -> str:
    """Return the letters and digits at the end of a serial, such as a port; empty if too many."""
    word = re.split(r"[\W_]+", one_line(on_host(serial)))[-1]
    return word if len(word) <= _LONGEST_END else ""


def _called(device: DeviceInfo) -> Hashable:
    return (device.name,) if device.name else (*_look(device), _end(device.serial))


def _look(device: DeviceInfo) -> tuple[str, bool]:
    return device.model, device.virtual


def _end(serial: str) -> str:
    return one_line(on_host(serial))[-5:].rpartition(":")[2].lstrip("-_. ")
