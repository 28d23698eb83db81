"""What phones are called, also when one is renamed, goes, or comes."""

from __future__ import annotations

from msgspec.structs import replace

from agent.records import DeviceInfo, DeviceState
from widgets.lists.device_names import device_names


def phone(serial: str, name: str = "", model: str = "Pixel 8") -> DeviceInfo:
    return DeviceInfo(serial=serial, state=DeviceState.ONLINE, name=name, model=model)


def test_a_phone_is_called_by_what_tells_it_from_the_others() -> None:
    phones = {one.serial: one for one in (phone("R5A11111"), phone("R5A22222"))}
    assert dict(device_names(phones)) == {"R5A11111": "Pixel 8 11111", "R5A22222": "Pixel 8 22222"}
    phones = {**phones, "R5A11111": replace(phones["R5A11111"], name="Front")}
    assert device_names(phones)["R5A11111"] == "Front"
    phones = {"R5A11111": phone("R5A11111")}
    assert dict(device_names(phones)) == {"R5A11111": "Pixel 8"}
    phones = {**phones, "b": phone("b", model="")}
    assert device_names(phones)["b"] == "b"


def test_the_same_name_at_two_hosts_is_said_with_the_host() -> None:
    phones = {one.serial: one for one in (phone("a/1", "Till"), phone("b/1", "Till"))}
    assert set(device_names(phones).values()) == {"Till a", "Till b"}
