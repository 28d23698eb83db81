"""A device is meant by its serial, or by what the operator calls it."""

import pytest

from agent.devices.fleet.fleet import AdbFleet
from agent.devices.fleet.naming import serial_of, with_serials
from agent.errors import UsageError
from agent.protocol import DeviceTag, SessionCreate, SessionStart
from agent.protocol.ops.session_ops import Target
from agent.records import DeviceInfo, DeviceState
from agent.state.device_names import device_names
from tests.devices.conftest import Home


def info(serial: str, name: str = "") -> DeviceInfo:
    return DeviceInfo(serial=serial, state=DeviceState.ONLINE, name=name)


KNOWN = (info("A1", "Desk"), info("B2", "shelf"), info("C3", "twin"), info("D4", "Twin"))


def test_a_name_means_its_device_in_whatever_case() -> None:
    assert serial_of("desk", KNOWN) == "A1"
    assert serial_of(" Shelf ", KNOWN) == "B2"


def test_a_serial_means_its_own_device_whatever_another_is_called() -> None:
    assert serial_of("A1", (info("B2", "A1"), info("A1"))) == "A1"


def test_the_name_that_lists_show_means_its_device_also_as_a_goal_names_it() -> None:
    known = tuple(
        DeviceInfo(serial=serial, state=DeviceState.ONLINE, model="Pixel 8")
        for serial in ("R5A11111", "R5A22222")
    )
    for serial, name in device_names({one.serial: one for one in known}).items():
        assert serial_of(name.upper(), known) == serial
        assert serial_of("@" + "-".join(name.split()), known) == serial
    assert serial_of("Pixel 8", known) == "Pixel 8", "which names both means neither"


def test_what_names_nothing_is_left_as_it_is() -> None:
    assert serial_of("E5", KNOWN) == "E5"
    assert serial_of("", KNOWN) == ""


def test_a_name_of_two_devices_is_refused_with_their_serials() -> None:
    with pytest.raises(UsageError, match="2 devices are called 'TWIN'") as caught:
        serial_of("TWIN", KNOWN)
    assert "C3, D4" in caught.value.remedy


def test_ops_carry_serials_where_the_operator_said_names() -> None:
    tagged = with_serials(DeviceTag(serial="desk", name="Table"), KNOWN)
    assert isinstance(tagged, DeviceTag) and tagged.serial == "A1"
    made = with_serials(
        SessionCreate(goal="g", serial="shelf", targets=(Target(objective="o", serial="desk"),)),
        KNOWN,
    )
    assert isinstance(made, SessionCreate)
    assert (made.serial, made.targets[0].serial) == ("B2", "A1")
    untouched = SessionStart(session_id="s")
    assert with_serials(untouched, KNOWN) is untouched


async def test_a_rack_gives_the_device_that_the_operator_named(fleet: AdbFleet, home: Home) -> None:
    serial = home.phones.serials[1]
    fleet.label(serial, name="Kitchen phone", tags=(), notes="")
    try:
        assert (await fleet.device("kitchen phone")).serial == serial
        assert (await fleet.wait_for("Kitchen phone", timeout_s=30)).serial == serial
    finally:
        fleet.label(serial, name="", tags=(), notes="")
