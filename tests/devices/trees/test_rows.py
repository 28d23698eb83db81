"""Listings of adb servers, recorded and corrupt."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.devices.adb.device_list import DeviceRow, explain, parse_rows
from agent.records import DeviceState

DATA = Path(__file__).parent.parent.parent / "data" / "devices"


def by_serial(listing: str) -> dict[str, DeviceRow]:
    return {row.serial: row for row in parse_rows(listing)}


def test_a_recorded_listing_gives_its_phones() -> None:
    recorded = DATA / "android-4.4.2/adb_devices_l_with_unauthorized_android11.txt"
    rows = by_serial(recorded.read_text(encoding="utf-8"))
    assert rows["127.0.0.1:15555"].state is DeviceState.ONLINE
    assert rows["127.0.0.1:15555"].model == "Nexus 5"
    assert rows["127.0.0.1:15555"].transport_id == 1
    assert rows["127.0.0.1:16555"].state is DeviceState.UNAUTHORIZED
    assert "Allow USB debugging" in rows["127.0.0.1:16555"].note


def test_other_listings_give_only_their_phones() -> None:
    samples = (DATA / "adb/listings.txt").read_text(encoding="utf-8")
    rows = by_serial(samples)
    assert {serial: row.state for serial, row in rows.items()} == {
        "R58N30ABCDE": DeviceState.ONLINE,
        "emulator-5556": DeviceState.OFFLINE,
        "192.0.2.17:5555": DeviceState.ONLINE,
        "98765432": DeviceState.ONLINE,
        "adb-98765432-qWeRtY (3)._adb-tls-connect._tcp": DeviceState.ONLINE,
        "23456789": DeviceState.ONLINE,
    }
    assert (rows["23456789"].port, rows["23456789"].transport_id) == ("1-2.1", 7)


@pytest.mark.parametrize(
    ("line", "serial", "state", "said"),
    [
        ("XY            authorizing usb:1-1 transport_id:3", "XY", DeviceState.AUTHORIZING, ""),
        ("XY            recovery usb:1-1 product:p transport_id:3", "XY", DeviceState.RECOVERY, ""),
        ("XY            rescue usb:1-1 transport_id:3", "XY", DeviceState.RECOVERY, ""),
        ("XY            sideload usb:1-1 product:p transport_id:3", "XY", DeviceState.SIDELOAD, ""),
        ("XY\tbootloader", "XY", DeviceState.BOOTLOADER, ""),
        ("XY            connecting transport_id:3", "XY", DeviceState.CONNECTING, ""),
        ("XY            detached usb:1-1 transport_id:3", "XY", DeviceState.UNKNOWN, "detached"),
        ("XY            host transport_id:3", "XY", DeviceState.UNKNOWN, "host"),
        ("XY            pondering usb:1-1 transport_id:3", "XY", DeviceState.UNKNOWN, "pondering"),
        ("XY          half awake usb:1-1 transport_id:3", "XY", DeviceState.UNKNOWN, "half awake"),
        ("my device     device usb:1-1 transport_id:3", "my device", DeviceState.ONLINE, ""),
        ("two  blanks   device usb:1-1 transport_id:3", "two  blanks", DeviceState.ONLINE, ""),
        ("  XY          device usb:1-1 transport_id:3", "XY", DeviceState.ONLINE, ""),
        (
            "(no serial number)     device usb:1-1 transport_id:3",
            "(no serial number)",
            "device",
            "",
        ),
        ("XY            no permissions usb:1-1 transport_id:3", "XY", "no permissions", ""),
        (
            "XY            no permissions (missing udev rules? user is in the plugdev group); "
            "see [http://developer.android.com/tools/device.html] usb:1-1 transport_id:3",
            "XY",
            DeviceState.NO_PERMISSIONS,
            "(missing udev rules? user is in the plugdev group); "
            "see [http://developer.android.com/tools/device.html]",
        ),
    ],
)
def test_every_state_of_adb_is_read_with_its_words(
    line: str, serial: str, state: str, said: str
) -> None:
    (row,) = parse_rows(f"List of devices attached\r\n{line}\r\n\r\n")
    assert (row.serial, row.state, row.said) == (serial, state, said)
    assert bool(row.note) == (row.state is not DeviceState.ONLINE)
    if "transport_id" in line:
        assert row.transport_id == 3
    if "usb:" in line:
        assert row.port == "usb:1-1"


def test_a_serial_that_names_no_phone_to_the_server_is_kept_as_it_stands() -> None:
    rows = parse_rows(" XY   device transport_id:3\n(no serial number) device transport_id:4\n")
    assert [row.listed for row in rows] == [" XY", "(no serial number)"]
    (row,) = parse_rows("XY   device transport_id:3\n")
    assert row.listed == ""


def test_missing_permissions_are_told_apart_and_explained() -> None:
    line = (
        "0a388e93 no permissions (user in plugdev group; are your udev rules wrong?); "
        "see [http://developer.android.com/tools/device.html] usb:1-1 transport_id:3"
    )
    (row,) = parse_rows(line)
    assert row.state is DeviceState.NO_PERMISSIONS
    assert "udev" in row.note
    assert "plugdev" in row.said


def test_a_serial_that_is_listed_twice_counts_by_its_usable_line() -> None:
    rows = parse_rows("a offline transport_id:1\na device transport_id:2\na offline")
    assert [(row.state, row.transport_id) for row in rows] == [(DeviceState.ONLINE, 2)]


@pytest.mark.parametrize("state", [state for state in DeviceState if state != DeviceState.ONLINE])
def test_every_state_but_online_has_a_remedy(state: DeviceState) -> None:
    for serial in ("0a388e93", "192.168.1.20:5555", "emulator-5554"):
        assert explain(state, serial)


@pytest.mark.parametrize("serial", ["192.168.1.20:5555", "adb-0a38-Yw._adb-tls-connect._tcp"])
def test_nobody_is_told_to_pull_a_cable_that_is_not_there(serial: str) -> None:
    for state in DeviceState:
        if state is not DeviceState.NO_PERMISSIONS:
            assert "plug" not in explain(state, serial)
    (row,) = parse_rows(f"{serial} offline transport_id:4")
    assert f"adb connect {serial}" in row.note
    assert "unplug" in explain(DeviceState.OFFLINE, "0a388e93")
    assert "start it again" in explain(DeviceState.OFFLINE, "emulator-5554")


@given(st.text())
def test_any_text_is_read_without_failing(listing: str) -> None:
    for row in parse_rows(listing):
        assert row.serial


def test_a_line_of_blanks_without_end_costs_nothing() -> None:
    started_s = time.thread_time()
    assert parse_rows("a" + " " * 60_000 + "b\nphone device") == (
        DeviceRow(serial="phone", state=DeviceState.ONLINE),
    )
    # A few hundredths; were the blanks tried one by one it would be half a minute.
    assert time.thread_time() - started_s < 10
