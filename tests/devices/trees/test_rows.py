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
    samples = (DATA / "scrcpy/adb_devices_and_ip_route_samples.txt").read_text(encoding="utf-8")
    rows = by_serial(samples)
    assert set(rows) == {
        "0123456789abcdef",
        "192.168.1.1:5555",
        "87654321",
        "adb-0123456789AB-CDdefg (2)._adb-tls-connect._tcp",
        "12345678",
    }


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
