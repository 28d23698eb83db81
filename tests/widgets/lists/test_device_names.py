"""What phones are called, also when one is renamed, goes, or comes."""

from msgspec.structs import replace

from agent.devices.adb.device_list import parse_rows
from agent.records import DeviceInfo, DeviceState
from agent.state.device_names import device_names
from agent.state.reducer import State, attention
from widgets.attention.attention_rows import attention_rows


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


def test_the_end_of_a_serial_is_a_whole_word_where_that_tells_phones_apart() -> None:
    phones = {one.serial: one for one in (phone("till-1"), phone("till-2"))}
    assert set(device_names(phones).values()) == {"Pixel 8 1", "Pixel 8 2"}
    phones = {one.serial: one for one in (phone("a-1"), phone("b-1"))}
    assert len(set(device_names(phones).values())) == 2


def test_the_same_name_at_two_hosts_is_said_with_the_host() -> None:
    phones = {one.serial: one for one in (phone("a/1", "Till"), phone("b/1", "Till"))}
    assert set(device_names(phones).values()) == {"Till a", "Till b"}


def test_phones_of_a_rack_that_go_at_once_are_told_apart_in_the_queue() -> None:
    gone = {
        one.serial: replace(one, state=DeviceState.OFFLINE, note="It does not answer.")
        for one in (phone("R5A11111"), phone("R5A22222"))
    }
    state = State(devices=gone)
    lines = [
        "".join(text for text, _ in row.lines[0].left)
        for row in attention_rows(attention(state), state, now_ms=0)
    ]
    assert lines == [
        "! Pixel 8 11111 offline: It does not answer.",
        "! Pixel 8 22222 offline: It does not answer.",
    ]


def test_a_virtual_phone_is_called_the_same_before_it_is_asked_and_when_it_has_ended() -> None:
    listing = "127.0.0.1:6001 offline product:vphone model:Virtual_Phone device:vphone\n"
    [row] = parse_rows(listing)
    assert row.is_virtual
    assert row.note.startswith("The virtual phone has ended")
    [real] = parse_rows("10.0.0.7:5555 offline product:husky model:Pixel_8\n")
    assert not real.is_virtual and "adb connect 10.0.0.7:5555" in real.note
