"""A phone that can be read in any terminal: as text that is pressed, and as a zoomed picture."""

import asyncio
from dataclasses import dataclass, field

import numpy as np
import pytest
from msgspec.structs import replace
from textual.events import Key

from agent.protocol import DeviceLook, Op, Reply, WheelAct, WheelTake, WheelTap, WheelText
from agent.records import Element, Foreground, PhoneLook
from console.screens.device import phone_reading
from console.screens.device.device import DeviceScreen
from tests.console.conftest import Open, Seat, select
from tests.console.fakes import FakeCore, phone
from tests.console.script import configure, elements, run, step


@dataclass
class Phone:
    """What an idle phone shows now, and how often it was read."""

    listed: tuple[Element, ...] = field(default_factory=elements)
    note: str = ""
    reads: int = 0

    def play(self, core: FakeCore) -> None:
        """Put the phone on a core without sessions."""
        from agent.protocol import DeviceChanged

        core.tell(DeviceChanged(device=phone("phone-1")))
        core.picture = np.full((48, 27, 3), 90, dtype=np.uint8)
        core.answers = {DeviceLook: self._look}
        self.core = core

    def _look(self, op: DeviceLook) -> Reply:
        self.reads += 1
        seen = PhoneLook(
            serial=op.serial,
            at_ms=self.core.now_ms,
            foreground=Foreground(package="com.android.settings"),
            elements=self.listed,
            note=self.note,
        )
        return Reply(submission_id="x", look=seen)

    def change(self) -> None:
        assert self.core.picture is not None
        self.core.picture = self.core.picture + 70


def at_work(core: FakeCore) -> None:
    from agent.protocol import DeviceChanged

    core.tell(DeviceChanged(device=phone("phone-1", driver="s1")))
    core.picture = np.full((48, 27, 3), 90, dtype=np.uint8)
    configure(core, "s1", "Open Settings", serial="phone-1")
    run(core, "s1")
    step(core, "s1", 1)


def acts(seat: Seat) -> list[Op]:
    return [op for op in seat.core.ops if not isinstance(op, DeviceLook)]


def taps(seat: Seat) -> list[str]:
    """Name the elements whose middle was tapped."""
    by_place = {element.bounds.center: element.label for element in elements()}
    gestures = [op.gesture for op in seat.core.ops if isinstance(op, WheelAct)]
    return [by_place.get(one.at, str(one.at)) for one in gestures if isinstance(one, WheelTap)]


async def as_text(seat: Seat) -> None:
    await seat.until(lambda: seat.deck.phone.shown is not None, "the phone")
    await seat.press("t")
    await seat.see("4 Pair new device")
    assert seat.deck.focused is seat.deck.phone.map


@pytest.mark.parametrize("size", [(160, 50), (100, 30), (60, 20)])
async def test_a_phone_is_read_and_pressed_as_text_at_every_size(
    console: Open, size: tuple[int, int]
) -> None:
    there = Phone()
    async with console(size=size, play=there.play) as seat:
        if size[0] < 120 and size[1] >= 24:
            await seat.press("tab")
        await seat.until(lambda: seat.app.bridge.state.devices, "the phone")
        await seat.press("t")
        await seat.see("4 Pair new device")
        await seat.see("text read")
        await seat.press("down", "down", "enter")
        await seat.until(lambda: taps(seat), "the tap")
        assert acts(seat)[0] == WheelTake(serial="phone-1"), "the wheel is taken for it"
        assert taps(seat) == ["Connected devices"]
        # What is typed after it goes to the phone, and so does no key of the console.
        await seat.press("h", "i", "t")
        await seat.until(
            lambda: WheelAct(serial="phone-1", gesture=WheelText(text="t")) in acts(seat),
            "the text",
        )
        texts = [
            a.gesture.text
            for a in acts(seat)
            if isinstance(a, WheelAct) and isinstance(a.gesture, WheelText)
        ]
        assert "".join(texts) == "hit"
        await seat.press("f5")
        await seat.until(lambda: not seat.deck.phone.shows_text, "the picture")


async def test_the_mouse_chooses_presses_and_does_not_miss(console: Open) -> None:
    there = Phone()
    async with console(play=there.play) as seat:
        await as_text(seat)
        shown = seat.deck.phone.map
        line = next(one for one in shown.entries if one.element.label == "Bluetooth")
        place = (line.column + 3, line.line)
        await seat.pilot.click(shown, offset=place)
        assert shown.chosen is not None
        assert shown.chosen.label == "Bluetooth"
        assert acts(seat) == [], "one click chooses"
        await seat.pilot.click(shown, offset=place, times=2)
        await seat.until(lambda: taps(seat) == ["Bluetooth"], "the tap")


async def test_what_is_gone_by_then_is_not_pressed(console: Open) -> None:
    there = Phone()
    async with console(play=there.play) as seat:
        await as_text(seat)
        await seat.press("down")
        there.listed = tuple(one for one in elements() if one.label != "Bluetooth")
        await seat.press("enter")
        await seat.see("“Bluetooth” is no longer on the screen")
        assert taps(seat) == []


async def test_what_moved_is_pressed_where_it_is_now(console: Open) -> None:
    there = Phone()
    async with console(play=there.play) as seat:
        await as_text(seat)
        await seat.press("down")
        first, second, *rest = elements()
        # The order of two rows changed since the text was read.
        there.listed = (
            replace(first, bounds=second.bounds),
            replace(second, bounds=first.bounds),
            *rest,
        )
        await seat.press("enter")
        await seat.until(lambda: taps(seat), "the tap")
        assert taps(seat) == ["Back"], "the place where Back was is Bluetooth's now"


async def test_the_text_is_read_anew_when_the_screen_changes(
    console: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(phone_reading, "MOST_S", 600.0)
    there = Phone()
    async with console(play=there.play) as seat:
        await as_text(seat)
        await seat.until(lambda: there.reads == 1, "one reading")
        there.listed = (replace(elements()[0], key="other", label="Another screen"),)
        there.change()
        await seat.see("Another screen")
        await seat.press("t")
        await seat.until(lambda: not seat.deck.phone.shows_text, "the picture")
        before = there.reads
        there.change()
        await seat.see("live")
        assert there.reads == before, "what nobody reads is not read"


async def test_a_screen_without_a_tree_says_so(console: Open) -> None:
    there = Phone(listed=(), note="The window in front hides its content.")
    async with console(play=there.play) as seat:
        await seat.until(lambda: seat.deck.phone.shown is not None, "the phone")
        await seat.press("t")
        await seat.see("The window in front hides")
        assert seat.deck.phone.map.empty.endswith("Use the picture.")


async def test_the_text_of_a_phone_at_work_is_what_its_session_saw(console: Open) -> None:
    async with console(play=at_work) as seat:
        await select(seat, "s1")
        await as_text(seat)
        await seat.see("as step 1 saw it")
        assert not any(isinstance(op, DeviceLook) for op in seat.core.ops)
        await seat.press("enter")
        await seat.see("again pauses")
        assert acts(seat) == [], "a session at work is paused at the second press only"
        seat.core.answers = {
            DeviceLook: lambda op: Reply(
                submission_id="x",
                look=PhoneLook(
                    serial=op.serial,
                    at_ms=0,
                    foreground=Foreground(package=""),
                    elements=elements(),
                ),
            )
        }
        await seat.press("enter")
        await seat.until(lambda: taps(seat) == ["Back"], "the tap")


async def test_without_colours_the_screen_is_text_from_the_start(
    console: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = Phone()
    async with console(play=there.play) as seat:
        seat.app.console._color_system = None
        await seat.see("4 Pair new device")
        assert "▀" not in seat.text()


async def test_taps_on_a_zoomed_picture_go_where_they_point(console: Open) -> None:
    there = Phone()
    async with console(play=there.play) as seat:
        await seat.until(lambda: seat.deck.phone.frame.has_picture, "a picture")
        whole = seat.deck.phone.wanted_px
        await seat.press("z", "z")
        await seat.see("4x, middle")
        await seat.press(*["left"] * 9, *["up"] * 9)
        await seat.see("4x, top left")
        frame = seat.deck.phone.frame
        width, height = seat.deck.phone.wanted_px
        assert width >= 3.5 * whole[0]
        assert height >= 3.5 * whole[1]
        await seat.until(
            lambda: ("phone-1", width, height) in seat.core.frames_asked, "frames that are sharp"
        )
        await seat.press("w")
        await seat.until(lambda: seat.deck.phone.is_driven, "the wheel")
        await seat.see("You drive")
        await seat.pilot.pause()
        columns, rows = frame.size
        seen = frame.part
        await seat.pilot.click(frame, offset=(columns - 1, rows - 1))
        await seat.until(lambda: any(isinstance(op, WheelAct) for op in acts(seat)), "the tap")
        [tap] = [op.gesture for op in acts(seat) if isinstance(op, WheelAct)]
        assert isinstance(tap, WheelTap)
        assert abs(tap.at.x - seen.right) < 0.02
        assert abs(tap.at.y - seen.bottom) < 0.02
        assert seen.right < 0.4


async def test_esc_and_another_phone_show_the_whole_picture_again(console: Open) -> None:
    there = Phone()
    async with console(play=there.play) as seat:
        await seat.until(lambda: seat.deck.phone.frame.has_picture, "a picture")
        await seat.press("z")
        await seat.see("2x, middle")
        await seat.press("escape")
        await seat.until(lambda: seat.deck.phone.zoom.factor == 1, "the whole picture")
        await seat.press("z", "z", "z")
        await seat.see("8x")
        await seat.press("Z")
        await seat.see("4x")
        pane = seat.deck.phone
        pane.show_phone(None, name="another", proportions=(1080, 2400), now_ms=0)
        assert pane.zoom.factor == 1


async def test_the_wheel_of_the_mouse_zooms_where_it_points(console: Open) -> None:
    there = Phone()
    async with console(play=there.play) as seat:
        await seat.until(lambda: seat.deck.phone.frame.has_picture, "a picture")
        frame = seat.deck.phone.frame
        await seat.pilot._post_mouse_events([_scroll_up()], widget=frame, offset=(1, 1), button=0)
        await seat.see("2x, top left")


def _scroll_up() -> type:
    from textual.events import MouseScrollUp

    return MouseScrollUp


async def test_numbers_of_a_phone_large_fade_when_its_screen_is_another(
    console: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(phone_reading, "MOST_S", 600.0)
    monkeypatch.setattr(phone_reading, "LEAST_S", 600.0)
    there = Phone()
    async with console(play=there.play) as seat:
        seat.app.navigation.show_device("phone-1")
        await seat.until(lambda: isinstance(seat.app.top, DeviceScreen), "the device screen")
        screen = seat.app.top
        assert isinstance(screen, DeviceScreen)
        await seat.until(lambda: screen.is_composed and screen.phone.frame._elements, "numbers")
        assert not screen.phone._is_stale
        there.core.now_ms += 60_000
        there.change()
        await seat.see("as they were read")
        assert screen.phone._is_stale


def test_small_changes_count_and_noise_does_not() -> None:
    core = FakeCore()
    core.picture = np.full((208, 96, 3), 90, dtype=np.uint8)
    one = core._frame("phone-1", 96, 208, 0)
    core.picture = core.picture + 3
    assert not phone_reading.differs(one, core._frame("phone-1", 96, 208, 0)), "noise of a codec"
    core.picture = core.picture.copy()
    core.picture[100:105, 80:90] = 250
    assert phone_reading.differs(one, core._frame("phone-1", 96, 208, 0)), "a switch"


async def test_a_picture_is_never_drawn_with_the_marks_of_another(console: Open) -> None:
    there = Phone()
    async with console(play=there.play) as seat:
        await seat.until(lambda: seat.deck.phone.frame.has_picture, "a picture")
        pane = seat.deck.phone
        drawn: list[tuple[int, int]] = []
        draw = pane.frame._draw

        def watched(pixels: np.ndarray) -> object:
            shown = pane.frame._source
            assert shown is not None
            drawn.append((shown.rgb[0], len(pane.frame._elements)))
            return draw(pixels)

        pane.frame._draw = watched  # type: ignore[assignment, method-assign]
        first = pane.shown
        assert first is not None
        # Whatever is told first, one picture is drawn, with what is of it.
        for grey, listed in ((10, elements()), (200, ()), (10, elements())):
            rgb = bytes([grey]) * len(first.rgb)
            pane.show_marks(listed, None)
            pane.show_phone(
                replace(first, rgb=rgb), name=pane._name, proportions=(1080, 2400), now_ms=0
            )
        assert drawn == [(10, 5), (200, 0), (10, 5)]


class SlowlyRead(FakeCore):
    """A core whose phone is read only when that is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.may_read = asyncio.Event()

    async def request(self, op: Op) -> Reply:
        if isinstance(op, DeviceLook):
            await self.may_read.wait()
        return await super().request(op)


async def test_what_is_typed_for_a_text_waits_until_it_was_read(console: Open) -> None:
    idle, core = Phone(), SlowlyRead()
    async with console(core=core, play=idle.play) as seat:
        await seat.until(lambda: seat.deck.phone.shown is not None, "the phone")
        for name, character in (("t", "t"), ("down", None), ("enter", "\r")):
            seat.app.post_message(Key(name, character))
        await seat.until(lambda: seat.app.gate.waiting, "keys that wait")
        core.may_read.set()
        await seat.until(lambda: taps(seat), "the tap")
        assert taps(seat) == ["Bluetooth"]
