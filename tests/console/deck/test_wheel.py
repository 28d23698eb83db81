"""The wheel on the Deck: hands on the picture are the phone's until it is handed back."""

from agent import protocol
from tests.console.burst.core import ScriptedCore
from tests.console.conftest import Open, Seat
from widgets.questions.composer import Mode


async def take(seat: Seat) -> None:
    """Take the wheel of the phone of the session at work."""
    seat.deck.select("s1")
    seat.deck.refresh_all()
    await seat.until(lambda: seat.deck.phone.frame.has_picture, "a picture")
    seat.deck.sessions.focus()
    await seat.press("w")
    await seat.until(lambda: seat.deck.phone.is_driven, "the wheel")
    await seat.until(lambda: seat.deck.focused is seat.deck.phone, "the focus")
    # What it says takes lines from the picture, which is smaller from then on.
    await seat.see("You drive")
    box = seat.deck.phone.query_one("#frame-box")
    frame = seat.deck.phone.frame
    await seat.until(lambda: 0 < frame.size.height <= box.size.height, "a picture that fits")


def acts(seat: Seat) -> list[object]:
    return [op.gesture for op in seat.core.ops if isinstance(op, protocol.WheelAct)]


async def test_hands_on_the_picture_are_taps_and_swipes_and_typing_types(console: Open) -> None:
    async with console() as seat:
        await take(seat)
        assert seat.core.ops == [protocol.WheelTake(serial="phone-1")]
        frame = seat.deck.phone.frame
        columns, rows = frame.size
        await seat.pilot.click(frame, offset=(columns // 2, rows // 4))
        await seat.until(lambda: len(acts(seat)) == 1, "the tap")
        [tap] = acts(seat)
        assert isinstance(tap, protocol.WheelTap)
        assert abs(tap.at.x - 0.5) < 1 / columns
        assert abs(tap.at.y - 0.25) < 1 / rows
        await seat.pilot.mouse_down(frame, offset=(3, rows - 2))
        await seat.pilot.mouse_up(frame, offset=(3, 2))
        await seat.until(lambda: len(acts(seat)) == 2, "the swipe")
        swipe = acts(seat)[1]
        assert isinstance(swipe, protocol.WheelSwipe)
        assert swipe.start.y > 0.8 > 0.2 > swipe.end.y
        # The keys of the Deck are letters like any others now.
        await seat.press(*"nix /")
        await seat.press("enter", "f2")
        await seat.until(lambda: acts(seat)[-1:] == [protocol.WheelButton(button="BACK")], "back")
        typed = "".join(one.text for one in acts(seat) if isinstance(one, protocol.WheelText))
        assert typed == "nix /"
        assert protocol.WheelButton(button="ENTER") in acts(seat)
        assert not any(isinstance(op, protocol.Interrupt) for op in seat.core.ops)


async def test_escape_asks_for_the_note_and_enter_hands_back(console: Open) -> None:
    async with console() as seat:
        await take(seat)
        await seat.press("escape")
        await seat.until(lambda: seat.deck.composer.purpose.mode is Mode.NOTE, "the note")
        await seat.press(*"logged in", "enter")
        await seat.until(
            lambda: seat.core.ops[-1] == protocol.WheelHandBack(serial="phone-1", note="logged in"),
            "handed back",
        )
        assert not seat.deck.phone.is_driven
        await seat.press("f2")
        assert acts(seat) == []


async def test_what_hands_did_before_it_is_handed_back_is_done_first(console: Open) -> None:
    core = ScriptedCore(lambda _: None)
    async with console(core=core) as seat:
        await take(seat)
        core.stop()
        await seat.press("h", "i", "enter", "escape", "escape")
        core.go_on()
        await seat.until(lambda: protocol.WheelHandBack(serial="phone-1") in seat.core.ops, "back")
        typed = "".join(one.text for one in acts(seat) if isinstance(one, protocol.WheelText))
        assert typed == "hi"
        assert acts(seat)[-1] == protocol.WheelButton(button="ENTER")
        assert isinstance(seat.core.ops[-1], protocol.WheelHandBack)


async def test_two_escapes_hand_back_without_a_note(console: Open) -> None:
    async with console() as seat:
        await take(seat)
        await seat.press("escape")
        await seat.until(lambda: seat.deck.composer.purpose.mode is Mode.NOTE, "the note")
        await seat.press("escape")
        await seat.until(
            lambda: seat.core.ops[-1] == protocol.WheelHandBack(serial="phone-1"), "back"
        )
        await seat.until(lambda: seat.deck.composer.purpose.mode is Mode.STEER, "steering")


async def test_a_phone_nobody_drives_takes_no_touch(console: Open) -> None:
    async with console() as seat:
        seat.deck.select("s1")
        seat.deck.refresh_all()
        await seat.until(lambda: seat.deck.phone.frame.has_picture, "a picture")
        await seat.pilot.click(seat.deck.phone.frame, offset=(5, 5))
        await seat.press("f2")
        assert seat.core.ops == []


async def test_v_starts_a_virtual_phone_and_says_its_serial(console: Open) -> None:
    async def start() -> str:
        return "127.0.0.1:20123"

    async with console() as seat:
        seat.app.start_phone = start
        await seat.press("v")
        await seat.see("The virtual phone 127.0.0.1:20123 is ready.")
        seat.app.start_phone = None
        await seat.press("v")
        await seat.see("This console cannot start phones")
