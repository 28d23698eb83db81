"""`dumpsys` of power, battery and heat, and the command that forces a battery's values.

Their lines are in the tables of those names. Invariant: a value that was forced is told as forced.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from virtual_phone.commands.dumpsys.names import word
from virtual_phone.shell.call import Call, CommandError
from virtual_phone.state.records import Battery

if TYPE_CHECKING:
    from virtual_phone.phone import Phone

CHARGING, DISCHARGING = 2, 3  # BatteryManager.BATTERY_STATUS_*
_SOURCES = ("ac", "usb", "wireless", "dock")
_PLUG_TYPES = {"": 0, "ac": 1, "usb": 2, "wireless": 4, "dock": 8}
_HIGHEST = {"level": 1000, "scale": 1000, "status": 5, "present": 1}


def dump_battery(phone: Phone, words: list[str]) -> str:
    """Return `dumpsys battery`."""
    del words
    record, battery = phone.state_record, phone.state_record.battery
    powered = _powered_by(phone)
    values = {one: word(one == powered) for one in _SOURCES}
    values |= {
        "forced": "yes" if battery.forced else "",
        "current": "500000" if powered else "0",
        "volts": "5000000" if powered else "0",
        "counter": str(39_218 * record.battery_level),
        "status": str(battery.status or (CHARGING if record.battery_charging else DISCHARGING)),
        "health": "2",
        "present": word(battery.present),
        "level": str(record.battery_level),
        "scale": str(battery.scale),
        "voltage": str(3500 + record.battery_level * 700 // battery.scale),
    }
    return "\n".join(phone.form_factor.lines("battery")["battery"].lines(values))


def _powered_by(phone: Phone) -> str:
    record = phone.state_record
    if record.battery.source:
        return record.battery.source
    return phone.form_factor.profile.battery if record.battery_charging else ""


def dump_power(phone: Phone, words: list[str]) -> str:
    """Return `dumpsys power`."""
    del words
    power, awake = phone.power, phone.power.screen_on
    now = power.since_start_ms(phone.now())
    values = {
        "wakefulness": "Awake" if awake else "Asleep",
        "powered": word(bool(_powered_by(phone))),
        "plug_type": str(_PLUG_TYPES[_powered_by(phone)]),
        "level": str(phone.state_record.battery_level),
        "awake": word(awake),
        "stay": phone.settings.get("global", "stay_on_while_plugged_in") or "0",
        "timeout": phone.settings.get("system", "screen_off_timeout") or "60000",
        "display_count": str(int(awake)),
        "screen": "ON" if awake else "OFF",
        "hash": "9d2c1f4",
        "uptime": str(now),
    }
    values["stays_on"] = word(values["powered"] == "true" and values["stay"] != "0")
    for key, at_s in (
        *(("woke", power.woke_s), ("slept", power.slept_s)),
        ("touched", power.used_s),
    ):
        at = power.since_start_ms(at_s)
        values |= {key: str(at), f"{key}_ago": str(max(0, now - at))}
    return "\n".join(phone.form_factor.lines("power")["power"].lines(values))


def dump_thermal(phone: Phone, words: list[str]) -> str:
    """Return `dumpsys thermalservice`: a phone that is never warm."""
    del words
    values = {"forced": "false", "status": "0"}
    return "\n".join(phone.form_factor.lines("thermal")["thermalservice"].lines(values))


async def battery_command(call: Call, words: list[str]) -> int:
    """Run `dumpsys battery set level 5`, `unplug`, `reset` and `get level`, or `cmd battery …`."""
    record = call.phone.state_record
    battery = record.battery
    match [one for one in words if one != "-f"]:
        case ["set", "ac" | "usb" | "wireless" | "dock" as source, "0" | "1" as value]:
            record.battery_charging = value == "1"
            battery.source = source if value == "1" else ""
        case ["set", key, value] if key in _HIGHEST and _fits(key, value):
            _set(call, key, int(value))
        case ["unplug"]:
            record.battery_charging, battery.source, battery.status = False, "", 0
        case ["reset"]:
            record.battery_level, record.battery = 87, Battery()
            record.battery_charging = call.phone.form_factor.profile.charging
            call.phone.invalidate()
            return 0
        case ["get", "level"]:
            await call.line(str(record.battery_level))
            return 0
        case _:
            raise CommandError(f"Unknown set option: {' '.join(words)}", 255)
    battery.forced = True
    call.phone.invalidate()
    return 0


def _fits(key: str, value: str) -> bool:
    return re.fullmatch(r"\d{1,4}", value) is not None and int(value) <= _HIGHEST[key]


def _set(call: Call, key: str, value: int) -> None:
    record = call.phone.state_record
    match key:
        case "level":
            record.battery_level = value
        case "status":
            record.battery.status = value
            record.battery_charging = value == CHARGING
        case "scale":
            record.battery.scale = max(1, value)
        case "present":
            record.battery.present = bool(value)
