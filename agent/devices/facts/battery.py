"""A phone's battery, as `dumpsys battery` tells of it.

The format is BatteryService.dumpInternal's (AOSP 4 to 16); the numbers are those of
android.os.BatteryManager. Invariants: a level counts against its scale, which is not always 100; a
phone that is plugged in need not charge; what is not printed is unknown.
"""

import re
from collections.abc import Mapping

from agent.devices.facts.dump_text import lines_of
from agent.devices.facts.fact import Fact, Known, Unknown, known
from agent.records.record import Record

BATTERY = "dumpsys battery 2>&1"
_HEADING = "Current Battery Service state"
_FIELD = re.compile(r"\s*([A-Za-z][A-Za-z ]{0,40}?)\s*:\s*(\S.*?)\s*")
_NUMBER = re.compile(r"-?\d{1,9}")
_FORCED = re.compile(r"\(UPDATES STOPPED\b")
"""Printed below the heading while values are set by `dumpsys battery set` or `unplug`."""
_SOURCES = ("ac", "usb", "wireless", "dock")  # The dock since Android 14.
_ALWAYS_PRINTED = ("ac", "usb")
_UNKNOWN_STATUS, _CHARGING, _DISCHARGING, _NOT_CHARGING, _FULL = range(1, 6)
_HEALTH = {2: "good", 3: "overheated", 4: "dead", 5: "over voltage", 6: "failed", 7: "cold"}
_LINES = 400
_NO_BATTERY = Unknown(reason="it says that no battery is present")


class Battery(Record, frozen=True, kw_only=True):
    """A battery at one moment."""

    present: Fact[bool]
    level_percent: Fact[int]
    charging: Fact[bool]
    """Whether it is being charged, or is full while power comes in."""
    plugged: Fact[tuple[str, ...]]
    """Where power comes from: ac, usb, wireless, dock; empty: nothing is plugged in."""
    full: Fact[bool]
    health: Fact[str]
    temperature_c: Fact[float]
    forced: bool = False
    """Whether the values were set by hand, and are not the battery's."""


def read_battery(text: str) -> Fact[Battery]:
    """Read what BATTERY printed."""
    said: dict[str, tuple[str, str]] = {}
    forced = False
    lines = lines_of(text)
    start = next((at for at, line in enumerate(lines) if _HEADING in line), -1)
    for line in lines[start + 1 : start + 1 + _LINES]:
        forced = forced or _FORCED.search(line) is not None
        field = _FIELD.fullmatch(line)
        if field is not None:
            said.setdefault(field[1].casefold(), (field[2], line))
    if not {"level", "status", "present", "ac powered"} & said.keys():
        first = next((line.strip() for line in lines if line.strip()), "nothing")
        return Unknown(reason=f"dumpsys battery answered: {first[:200]}")
    plugged = _plugged(said)
    status = _number(said, "status")
    present = _flag(said, "present")
    if isinstance(present, Known) and not present.value:
        # A television or a car has none, and prints numbers all the same.
        status = _NO_BATTERY
    battery = Battery(
        present=present,
        level_percent=_level(said, status),
        charging=_charging(status, plugged, forced=forced),
        plugged=plugged,
        full=_full(status),
        health=_health(_number(said, "health")),
        temperature_c=_temperature(_number(said, "temperature")),
        forced=forced,
    )
    return known(battery, lines[start] if start >= 0 else next(iter(said.values()))[1])


_Said = Mapping[str, tuple[str, str]]


def _number(said: _Said, name: str) -> Fact[int]:
    value, line = said.get(name, ("", ""))
    if not _NUMBER.fullmatch(value):
        return Unknown(reason=f"it prints no {name}")
    return known(int(value), line)


def _flag(said: _Said, name: str) -> Fact[bool]:
    value, line = said.get(name, ("", ""))
    if value not in ("true", "false"):
        return Unknown(reason=f"it does not print `{name}`")
    return known(value == "true", line)


def _level(said: _Said, status: Fact[int]) -> Fact[int]:
    if status is _NO_BATTERY:
        return _NO_BATTERY
    level, scale = _number(said, "level"), _number(said, "scale")
    if isinstance(level, Unknown):
        return level
    if isinstance(scale, Unknown):
        return scale
    if scale.value <= 0 or not 0 <= level.value <= scale.value:
        return Unknown(reason=f"a level of {level.value} of {scale.value} cannot be")
    if not level.value and isinstance(status, Known) and status.value == _UNKNOWN_STATUS:
        # A phone without a gauge, as emulators and boxes are: one at 0 % would be off.
        return Unknown(reason="it prints level 0 and an unknown status, as without a gauge")
    return known(round(100 * level.value / scale.value), f"{level.line}; {scale.line}")


def _plugged(said: _Said) -> Fact[tuple[str, ...]]:
    ways = {way: _flag(said, f"{way} powered") for way in _SOURCES}
    told = {way: fact for way, fact in ways.items() if isinstance(fact, Known)}
    on = [way for way, fact in told.items() if fact.value]
    if not on and not all(way in told for way in _ALWAYS_PRINTED):
        return Unknown(reason="it does not print whether it is plugged in")
    lines = [told[way].line for way in on or told]
    return known(tuple(on), "; ".join(line.strip() for line in lines))


def _charging(status: Fact[int], plugged: Fact[tuple[str, ...]], *, forced: bool) -> Fact[bool]:
    if isinstance(status, Unknown):
        return status
    no_power = isinstance(plugged, Known) and not plugged.value
    match status.value:
        case value if value == _CHARGING and not (forced and no_power):
            return known(True, status.line)
        case value if value == _CHARGING:
            return Unknown(reason="it was set by hand to charge without power")
        case value if value in (_DISCHARGING, _NOT_CHARGING):
            return known(False, status.line)
        case value if value == _FULL and isinstance(plugged, Known):
            return known(bool(plugged.value), status.line)
        case value:
            return Unknown(reason=f"it prints status {value}")


def _full(status: Fact[int]) -> Fact[bool]:
    if isinstance(status, Unknown):
        return status
    if not _CHARGING <= status.value <= _FULL:
        return Unknown(reason=f"it prints status {status.value}")
    return known(status.value == _FULL, status.line)


def _health(code: Fact[int]) -> Fact[str]:
    if isinstance(code, Unknown):
        return code
    if code.value not in _HEALTH:
        return Unknown(reason=f"it prints health {code.value}")
    return known(_HEALTH[code.value], code.line)


def _temperature(tenths: Fact[int]) -> Fact[float]:
    if isinstance(tenths, Known) and tenths.value == 0:
        return Unknown(reason="it prints temperature 0, as without a gauge")
    return tenths.map(lambda value: value / 10) if isinstance(tenths, Known) else tenths
