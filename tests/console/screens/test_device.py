"""The device screen: one phone large, its elements, log and health, and hands on it."""

import pytest
from msgspec.structs import replace

from agent.errors import DeviceError
from agent.protocol import (
    DeviceChanged,
    DeviceExamine,
    DeviceLog,
    DeviceLook,
    DeviceRepair,
    Reply,
    WheelAct,
    WheelHandBack,
    WheelPaste,
    WheelTake,
    WheelTap,
    WheelText,
)
from agent.records import Foreground, PhoneFinding, PhoneLook
from console.screens.device.device import DeviceScreen
from console.screens.device.side import Tab
from tests.console.conftest import Open, Seat
from tests.console.fakes import FakeCore
from tests.console.script import elements, evening
from widgets.lists.inspector_rows import log_priority, matching

LINES = (
    "11-21 08:07:01.743 655 655 I ActivityManager: Start proc 1200:com.android.systemui",
    "11-21 08:07:02.001 655 655 E AndroidRuntime: FATAL EXCEPTION: main",
    "11-21 08:07:02.001 655 655 E AndroidRuntime: FATAL EXCEPTION: main",
)


def idle_phone(core: FakeCore) -> None:
    """Play the evening on a core that can look at phones."""
    evening(core)

    def look(op: DeviceLook) -> Reply:
        seen = PhoneLook(
            serial=op.serial,
            at_ms=core.now_ms,
            foreground=Foreground(package="com.android.settings"),
            elements=elements(),
        )
        return Reply(submission_id="x", look=seen)

    ill = PhoneFinding(name="screen", ok=False, detail="off", remedy="Wake it.", can_repair=True)
    well = PhoneFinding(name="shell", ok=True, detail="adb shell in 2 ms")
    core.answers = {
        DeviceLook: look,
        DeviceLog: lambda op: Reply(submission_id="x", lines=LINES),
        DeviceExamine: lambda op: Reply(submission_id="x", findings=(well, ill)),
        DeviceRepair: lambda op: Reply(
            submission_id="x", findings=(PhoneFinding(name=op.name, ok=True, detail="on"),)
        ),
    }


async def opened(seat: Seat, serial: str = "phone-3") -> DeviceScreen:
    """Open the screen of a phone that no session works on, and wait for its elements."""
    seat.app.navigation.show_device(serial)
    await seat.until(lambda: isinstance(seat.app.top, DeviceScreen), "the device screen")
    screen = seat.app.top
    assert isinstance(screen, DeviceScreen)
    await seat.until(lambda: screen.is_composed, "its widgets")
    await seat.until(lambda: screen.query_one("#elements").rows, "the elements")  # type: ignore[attr-defined]
    return screen


def with_third_phone(core: FakeCore) -> None:
    from agent.protocol import DeviceChanged
    from tests.console.fakes import phone

    idle_phone(core)
    core.tell(DeviceChanged(device=phone("phone-3", android="15")))


@pytest.mark.parametrize("size", [(160, 50), (100, 30), (60, 20)])
async def test_a_phone_is_shown_with_what_is_on_it(console: Open, size: tuple[int, int]) -> None:
    async with console(size=size, play=with_third_phone) as seat:
        screen = await opened(seat)
        await seat.see("Pair new device")
        await seat.see("read ")
        await seat.press("j", "j", "j")
        await seat.until(
            lambda: (e := screen.side.chosen_element()) is not None and e.number == 4, "the fourth"
        )
        if size[1] >= 24:
            await seat.see("takes  tap")
        await seat.press("h")
        await seat.see("Wake it.")
        await seat.press("l")
        await seat.see("FATAL EXCEPTION")
        await seat.press("escape")
        await seat.until(lambda: seat.app.top is seat.deck, "the Deck")


async def test_while_a_session_works_its_own_look_is_shown(console: Open) -> None:
    async with console(play=idle_phone) as seat:
        await opened(seat, "phone-1")
        await seat.see("session saw it")
        await seat.see("Open Settings and turn on Bluetooth")
        await seat.press("r")
        await seat.see("its own view is shown")
        assert not any(isinstance(op, DeviceLook) for op in seat.core.ops)


async def test_an_element_is_tapped_by_whoever_drives(console: Open) -> None:
    async with console(play=with_third_phone) as seat:
        screen = await opened(seat)
        await seat.press("j", "enter")
        await seat.see("The phone is not driven")
        assert not any(isinstance(op, WheelAct) for op in seat.core.ops)
        await seat.press("w")
        await seat.until(lambda: screen.shown_phone.wheel.serial == "phone-3", "the wheel")
        assert WheelTake(serial="phone-3") in seat.core.ops
        looks = sum(isinstance(op, DeviceLook) for op in seat.core.ops)
        # Tab is the phone's own key while it is driven.
        await seat.press("shift+tab")
        await seat.until(lambda: screen.focused is screen.table, "the list")
        await seat.press("enter")
        chosen = elements()[1].bounds.center
        tap = WheelAct(serial="phone-3", gesture=WheelTap(at=chosen))
        await seat.until(lambda: tap in seat.core.ops, "the tap")
        await seat.until(
            lambda: sum(isinstance(op, DeviceLook) for op in seat.core.ops) > looks,
            "another look at what the tap changed",
        )
        await seat.press("w")
        await seat.until(lambda: WheelHandBack(serial="phone-3") in seat.core.ops, "handed back")


@pytest.mark.parametrize("size", [(160, 50), (100, 30), (60, 20)])
async def test_what_is_wrong_with_a_phone_is_told_to_its_last_word(
    console: Open, size: tuple[int, int]
) -> None:
    wrong = "The phone's UI dump did not come within 8 s, though its shell answers in time."
    failed = f"{wrong} Unlock it by hand, then press r to read THE-SCREEN."
    noted = f"{wrong} Restart it, or unplug it and plug it in again THE-CABLE."

    def unread(_: DeviceLook) -> Reply:
        raise DeviceError(failed)

    async with console(size=size, play=with_third_phone) as seat:
        seat.core.answers[DeviceLook] = unread
        ill = replace(seat.core.state.devices["phone-3"], note=noted)
        seat.core.tell(DeviceChanged(device=ill))
        seat.app.navigation.show_device("phone-3")
        await seat.until(lambda: isinstance(seat.app.top, DeviceScreen), "the device screen")
        await seat.press("e")
        await seat.see("THE-CABLE.")
        await seat.see("THE-SCREEN.")


async def test_a_waiting_session_is_handed_back_with_a_note(console: Open) -> None:
    async with console(play=idle_phone) as seat:
        screen = await opened(seat, "phone-1")
        await seat.press("w")
        await seat.until(lambda: screen.shown_phone.wheel.serial == "phone-1", "the wheel")
        await seat.until(lambda: screen.focused is screen.phone, "the focus")
        await seat.press("escape")
        await seat.until(lambda: screen.focused is screen.note.field, "the note")
        await seat.press(*"logged in", "enter")
        back = WheelHandBack(serial="phone-1", note="logged in")
        await seat.until(lambda: back in seat.core.ops, "handed back")
        await seat.until(lambda: screen.focused is screen.table, "the list")


async def test_what_cannot_be_pasted_is_typed(console: Open) -> None:
    def paste_fails(op: WheelAct) -> Reply:
        if isinstance(op.gesture, WheelPaste):
            raise DeviceError("There is no way to its clipboard.")
        return Reply(submission_id="x")

    async with console(play=with_third_phone) as seat:
        screen = await opened(seat)
        await seat.press("w")
        await seat.until(lambda: screen.shown_phone.wheel.serial == "phone-3", "the wheel")
        seat.core.answers[WheelAct] = paste_fails
        screen.shown_phone.wheel.send(WheelPaste(text="milk"))
        typed = WheelAct(serial="phone-3", gesture=WheelText(text="milk"))
        await seat.until(lambda: typed in seat.core.ops, "typed instead")
        assert WheelAct(serial="phone-3", gesture=WheelPaste(text="milk")) in seat.core.ops


async def test_a_finding_is_put_right_with_one_key(console: Open) -> None:
    async with console(play=with_third_phone) as seat:
        screen = await opened(seat)
        await seat.press("h")
        await seat.see("1 problem")
        await seat.press("G", "f")
        await seat.until(
            lambda: DeviceRepair(serial="phone-3", name="screen") in seat.core.ops, "the repair"
        )
        await seat.see("no problems")
        assert screen.side.tab is Tab.HEALTH


async def test_the_log_is_filtered_and_its_reader_is_not_pulled_away(console: Open) -> None:
    async with console(play=with_third_phone) as seat:
        screen = await opened(seat)
        await seat.press("l")
        await seat.see("3 of 3 lines")
        await seat.press("slash", *"fatal", "enter")
        await seat.see("2 of 3 lines")
        await seat.press("k")
        before = screen.table.cursor_key
        more = (*LINES, LINES[1])
        seat.core.answers[DeviceLog] = lambda op: Reply(submission_id="x", lines=more)
        await seat.press("r")
        await seat.see("3 of 4 lines")
        assert screen.table.cursor_key == before
        await seat.press("escape")
        await seat.see("4 of 4 lines")


async def test_brackets_go_from_phone_to_phone(console: Open) -> None:
    async with console(play=with_third_phone) as seat:
        screen = await opened(seat)
        await seat.press("right_square_bracket")
        await seat.until(lambda: screen.shown_phone.serial == "phone-1", "the first phone")
        await seat.press("left_square_bracket")
        await seat.until(lambda: screen.shown_phone.serial == "phone-3", "the last phone")


async def test_o_opens_the_phone_of_the_selected_session(console: Open) -> None:
    async with console(play=idle_phone) as seat:
        seat.deck.select("s2")
        seat.deck.refresh_all()
        seat.deck.sessions.focus()
        await seat.press("o")
        await seat.until(lambda: isinstance(seat.app.top, DeviceScreen), "the device screen")
        assert isinstance(seat.app.top, DeviceScreen)
        assert seat.app.top.shown_phone.serial == "phone-2"


def test_a_log_line_tells_its_priority_and_is_found_by_words() -> None:
    assert [log_priority(line) for line in LINES] == ["I", "E", "E"]
    assert log_priority("--------- beginning of main") == ""
    assert matching(LINES, "activitymanager !fatal") == [LINES[0]]
    assert matching(LINES, "") == list(LINES)


async def test_the_key_that_hands_back_is_in_the_footer_of_the_smallest_screen(
    console: Open,
) -> None:
    async with console(play=with_third_phone, size=(60, 20)) as seat:
        screen = await opened(seat)
        await seat.press("w")
        await seat.until(lambda: screen.shown_phone.wheel.serial == "phone-3", "the wheel")
        await seat.until(
            lambda: "esc hand back" in seat.text().splitlines()[-1], "the key in the footer"
        )
