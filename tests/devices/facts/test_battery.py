"""Batteries as BatteryService prints them, Android 4 to 16, and what the doctor makes of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.devices.facts.battery import Battery, read_battery
from agent.devices.facts.fact import Fact, Known, Unknown
from agent.devices.health.state_findings import battery_finding


def dump(**said: object) -> str:
    """Print what BatteryService.dumpInternal does (AOSP android-14); `dock` came with 14."""
    rows: dict[str, object] = {
        "AC powered": "false",
        "USB powered": "false",
        "Wireless powered": "false",
        "Dock powered": "false",
        "Max charging current": 0,
        "Max charging voltage": 0,
        "Charge counter": 2483000,
        "status": 3,
        "health": 2,
        "present": "true",
        "level": 67,
        "scale": 100,
        "voltage": 3964,
        "temperature": 337,
        "technology": "Li-poly",
    }
    forced = "  (UPDATES STOPPED -- use 'reset' to restart)\n" if said.pop("forced", False) else ""
    names = {"ac": "AC powered", "usb": "USB powered", "dock": "Dock powered"}
    rows |= {names.get(name, name): value for name, value in said.items()}
    lines = (f"  {name}: {value}\n" for name, value in rows.items() if value is not None)
    return f"Current Battery Service state:\n{forced}{''.join(lines)}"


def read(text: str) -> Battery:
    fact = read_battery(text)
    assert isinstance(fact, Known), fact
    return fact.value


def value(fact: Fact[object]) -> object:
    return fact.value if isinstance(fact, Known) else None


@pytest.mark.parametrize(
    ("said", "charging", "plugged"),
    [
        ({}, False, ()),
        ({"usb": "true", "status": 2}, True, ("usb",)),
        ({"ac": "true", "usb": "true", "status": 2}, True, ("ac", "usb")),
        ({"dock": "true", "status": 2}, True, ("dock",)),
        ({"usb": "true", "status": 5}, True, ("usb",)),
        ({"status": 5}, False, ()),
        ({"ac": "true", "status": 4}, False, ("ac",)),
        ({"usb": "true", "status": 3}, False, ("usb",)),
        # The dock of an Android before 14 is not among the ways, and the status tells.
        ({"status": 2, "dock": None}, True, ()),
        ({"status": 1}, None, ()),
        ({"status": None, "usb": "true"}, None, ("usb",)),
        ({"status": 2, "forced": True}, None, ()),
        ({"ac": None}, False, None),
    ],
)
def test_charging_and_being_plugged_in_are_two_facts(
    said: dict[str, object], charging: bool | None, plugged: tuple[str, ...] | None
) -> None:
    battery = read(dump(**said))
    assert value(battery.charging) == charging
    assert value(battery.plugged) == plugged


@pytest.mark.parametrize(
    ("level", "scale", "percent"),
    [(67, 100, 67), (100, 200, 50), (3, 10, 30), (67, 0, None), (67, None, None), (101, 100, None)],
)
def test_a_level_counts_against_its_scale(
    level: int, scale: int | None, percent: int | None
) -> None:
    assert value(read(dump(level=level, scale=scale)).level_percent) == percent


@pytest.mark.parametrize(
    ("said", "ok", "words", "remedy"),
    [
        ({}, True, "67 %, not charging", ""),
        ({"level": 9}, False, "9 %, not charging", "Charge the phone"),
        ({"level": 9, "usb": "true", "status": 2}, True, "9 %, charging by USB", ""),
        ({"level": 9, "dock": "true", "status": 2}, True, "9 %, charging by a dock", ""),
        ({"level": 100, "usb": "true", "status": 5}, True, "100 %, full and plugged in", ""),
        (
            {"level": 80, "ac": "true", "status": 4},
            True,
            "80 %, plugged in (the mains) and not charging",
            "",
        ),
        (
            {"level": 9, "usb": "true", "status": 3},
            False,
            "9 %, plugged in (USB) and not charging",
            "another charger",
        ),
        ({"level": 18, "scale": 200}, False, "9 %, not charging", "Charge the phone"),
        ({"level": 5, "forced": True}, False, "set by hand", "dumpsys battery reset"),
        ({"health": 3}, False, "its health is overheated", "rest"),
        ({"present": "false", "level": 0}, True, "it has none", ""),
        ({"level": 0, "status": 1}, False, "does not report", "Look at the phone"),
        ({"level": None}, False, "does not report", "Look at the phone"),
    ],
)
def test_the_doctors_advice_fits_what_the_phone_says(
    said: dict[str, object], ok: bool, words: str, remedy: str
) -> None:
    finding = battery_finding(read_battery(dump(**said)))
    assert (finding.ok, finding.repair) == (ok, None)
    assert words in finding.detail
    assert remedy in finding.remedy
    assert bool(finding.remedy) != ok


@pytest.mark.parametrize(
    "text",
    ["", "Can't find service: battery\n", "Permission Denial: can't dump\n", "  voltage: 3\n"],
)
def test_what_is_no_battery_is_unknown_and_not_well(text: str) -> None:
    assert isinstance(read_battery(text), Unknown)
    assert not battery_finding(read_battery(text)).ok


@given(st.data())
def test_whatever_happens_to_the_lines_no_wrong_level_is_read(data: st.DataObject) -> None:
    lines = dump(level=30, scale=200, usb="true", status=2).splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines) - 1))
    ends = data.draw(st.sampled_from(["\n", "\r\n", "\r\r\n"]))
    match data.draw(st.sampled_from(["cut", "drop", "double", "warn"])):
        case "cut":
            lines = lines[:at]
        case "drop":
            lines = lines[:at] + lines[at + 1 :]
        case "double":
            lines = [*lines[: at + 1], *lines[at:]]
        case _:
            lines.insert(at, "WARNING: linker: unused DT entry: level: 99\n")
    fact = read_battery("".join(lines).replace("\n", ends))
    if isinstance(fact, Known):
        assert value(fact.value.level_percent) in (15, None)
        assert value(fact.value.charging) in (True, None)
        assert value(fact.value.plugged) in (("usb",), None)
