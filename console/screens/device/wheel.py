"""The wheel on a screen: the operator drives the phone that is shown, and hands it back.

What hands do on the picture becomes ops, one at a time and in order. Invariants: nothing is sent
before the wheel was given; typing that waits is sent as one text; a wheel that was lost is said
and let go of.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, NamedTuple

from agent.errors import (
    DeviceLostError,
    DeviceTimeoutError,
    SwitchboardError,
    WrongStateError,
)
from agent.protocol import (
    DeviceLook,
    Reply,
    WheelAct,
    WheelButton,
    WheelGesture,
    WheelHandBack,
    WheelLongPress,
    WheelPaste,
    WheelSwipe,
    WheelTake,
    WheelTap,
    WheelText,
)
from agent.records import DeviceState, Element, Point
from agent.text import one_line
from console.input.gate import Wait
from console.screens.base import ConsoleScreen
from console.screens.device.device_parts import DeviceParts
from console.screens.device.phone_text import PhoneText
from widgets.base.gesture import Touch
from widgets.lists.session_rows import device_name
from widgets.pictures.phone_pane import PhonePane, ScreenText
from widgets.pictures.text_map import TextMap
from widgets.pictures.zoom import FACTORS, Zoom
from widgets.questions.composer import Composer, Mode, Purpose

MOST_WAITING = 64
"""Gestures that wait for the phone; more hands than that are not listened to."""
_SCROLL_MS = 200


class PressElement(NamedTuple):
    """A tap on an element, wherever it is by then."""

    element: Element


class WheelScreen(ConsoleScreen):
    """A screen with a phone that can be driven."""

    wheel_of = ""
    """The phone that the operator drives from here."""
    notes_back = False
    """Whether the composer asks for the note of handing back."""

    def __init__(self) -> None:
        super().__init__()
        self._gestures: list[tuple[str, WheelGesture | PressElement]] = []
        """What hands did and the phone has not, each with the phone that it is for."""
        self.text = PhoneText(self)
        self._driving: asyncio.Event | None = None
        """Set once all of it was done."""

    # --- what the screen has ----------

    @property
    def phone(self) -> PhonePane:
        """The picture that hands are on."""
        return self.query_one(PhonePane)

    @property
    def note_field(self) -> Composer:
        """Where the note of handing back is written."""
        return self.query_one(Composer)

    def shown_serial(self) -> str:
        """Name the phone whose screen is shown; empty when there is none."""
        return ""

    def has_waiting_session(self) -> bool:
        """Return whether a session waits for the wheel, and so should hear what was done."""
        return False

    def go_to_phone(self) -> None:
        """Put the operator's hands on the phone."""
        self.focus_now(self.phone.hands)

    def go_to_note(self) -> None:
        """Put the operator's hands on the note."""
        self.focus_now(self.note_field.field)

    def leave_phone(self) -> None:
        """Put the operator's hands elsewhere: the phone is not driven any more."""

    def gesture_done(self, gesture: WheelGesture) -> None:
        """Hear that the phone has done a gesture."""

    def stored_text(self) -> ScreenText | None:
        """Return the text of a stored screen, while one is shown in place of the live one."""
        return None

    def parts_of(self, serial: str) -> DeviceParts:
        """Return what is read of a phone here."""
        return self.text.parts(serial)

    def view_changed(self) -> None:
        """Hear that the phone is shown in another way: as text, or zoomed."""

    # --- looking closely ----------

    def toggle_text(self) -> None:
        """Show the phone's screen as text, or as a picture."""
        self.text.toggle()

    def zoom_closer(self) -> None:
        """Show the picture closer; from the closest, whole again."""
        phone = self.phone
        if phone.zoom.factor == FACTORS[-1]:
            self._zoom_to(Zoom())
        else:
            self._zoom_to(phone.zoom.closer(1, None, phone.frame.part))

    def zoom_farther(self) -> None:
        """Show the picture from farther away."""
        self._zoom_to(self.phone.zoom.closer(-1, None, self.phone.frame.part))

    def _zoom_to(self, zoom: Zoom) -> None:
        had_focus = self.focused is self.phone
        self.phone.look_at(zoom)
        self.view_changed()
        self.refresh_all()
        if zoom.factor > 1:
            # The arrows are what moves it.
            self.go_to_phone()
        elif had_focus and not self.wheel_of:
            self.leave_phone()

    def leave_zoom(self) -> bool:
        """Show the whole picture again; False where hands are on none that is zoomed."""
        if self.phone.zoom.factor == 1 or self.focused is not self.phone:
            return False
        self._zoom_to(Zoom())
        return True

    def on_phone_pane_viewed(self, _event: PhonePane.Viewed) -> None:
        self.view_changed()
        self.refresh_all()

    def on_text_map_moved(self, _event: TextMap.Moved) -> None:
        self.refresh_all()

    def on_text_map_pressed(self, event: TextMap.Pressed) -> None:
        self.text.press(event.element)

    def press_element(self, element: Element) -> None:
        """Tap an element at the wheel, where it is once what waits before it is done."""
        self._send(PressElement(element))

    def take_and_press(self, serial: str, element: Element) -> None:
        """Take the wheel of a phone, and tap an element."""

        async def work() -> None:
            await self._take(serial)
            self.press_element(element)

        self.console_app.spawn(work(), "taking the wheel", Wait.OPENS)

    # --- taking and handing back ----------

    def do_wheel_take(self) -> None:
        """Take the wheel of the phone that is shown, or hand it back."""
        if self.wheel_of:
            self.leave_wheel()
            return
        serial = self.shown_serial()
        device = self.console_app.bridge.state.devices.get(serial)
        if device is None or device.state is not DeviceState.ONLINE:
            self.console_app.say("No phone here to drive.")
            return
        self.console_app.spawn(self._take(serial), "taking the wheel", Wait.OPENS)

    async def _take(self, serial: str) -> None:
        if await self.console_app.ask(WheelTake(serial=serial)) is None:
            return
        self.wheel_of = serial
        self.phone.drive(True)
        self.refresh_all()
        self.go_to_phone()

    def leave_wheel(self) -> None:
        """Ask for the note of handing back; a phone that nobody waits for is let go at once."""
        if not self.has_waiting_session():
            self.hand_back("")
            return
        self.notes_back = True
        self.refresh_all()
        self.go_to_note()

    def hand_back(self, note: str) -> None:
        """Give the wheel back, with a note for the session, after the operator's own input."""
        serial, app = self.wheel_of, self.console_app
        # Asked for before anything is shown: the footer says at once what its keys do then.
        asked = app.ask(WheelHandBack(serial=serial, note=note)) if serial else None
        self._leave_wheel()
        if asked is not None:
            app.spawn(self._hand_back(serial, asked), "handing the phone back")

    async def _hand_back(self, serial: str, asked: Coroutine[Any, Any, Reply | None]) -> None:
        app = self.console_app
        try:
            if self._driving is not None:
                await self._driving.wait()
            if await asked is not None:
                app.say(f"{device_name(serial, app.bridge.state.devices)} is handed back.")
        finally:
            asked.close()

    def _let_go(self) -> None:
        self._gestures.clear()
        self._leave_wheel()

    def _leave_wheel(self) -> None:
        self.wheel_of, self.notes_back = "", False
        if self.is_composed:
            self.phone.drive(False)
            self.leave_phone()
            self.refresh_all()

    def aim_note(self) -> bool:
        """Turn the composer to the note, when it is asked for."""
        if self.notes_back:
            self.note_field.aim(Purpose(Mode.NOTE, self.wheel_of))
        return self.notes_back

    def footer_keys(self) -> list[tuple[str, str]]:
        if self.wheel_of and self.focused in (self.phone, self.phone.map):
            keys = [("F2", "back"), ("F3", "home"), ("F4", "recents"), ("esc", "hand back")]
            closer = [("F5", "text"), ("F6", "zoom")]
            return [*keys, *([("F5", "picture")] if self.phone.shows_text else closer)]
        if self.focused is self.phone.map and self.phone.map.entries:
            return [("enter", "press"), *super().footer_keys()]
        return super().footer_keys()

    # --- what hands do ----------

    def on_phone_pane_touched(self, event: PhonePane.Touched) -> None:
        touch: Touch = event.touch
        if touch.is_swipe:
            swipe = WheelSwipe(start=touch.start, end=touch.end, duration_ms=touch.duration_ms)
            self._send(swipe)
        elif touch.is_long:
            self._send(WheelLongPress(at=touch.start))
        else:
            self._send(WheelTap(at=touch.start))

    def on_phone_pane_scrolled(self, event: PhonePane.Scrolled) -> None:
        # Content follows the finger: to see what is below, it goes up.
        reach = 0.25 * event.down
        top = min(0.9, max(0.1, event.at.y + reach / 2))
        end = min(0.9, max(0.1, event.at.y - reach / 2))
        self._send(
            WheelSwipe(
                start=Point(x=event.at.x, y=top),
                end=Point(x=event.at.x, y=end),
                duration_ms=_SCROLL_MS,
            )
        )

    def on_phone_pane_typed(self, event: PhonePane.Typed) -> None:
        serial, last = self._gestures[-1] if self._gestures else ("", None)
        if isinstance(last, WheelText) and serial == self.wheel_of:
            self._gestures[-1] = (serial, WheelText(text=last.text + event.text))
        else:
            self._send(WheelText(text=event.text))

    def on_phone_pane_pasted(self, event: PhonePane.Pasted) -> None:
        self._send(WheelPaste(text=event.text))

    def on_phone_pane_pressed(self, event: PhonePane.Pressed) -> None:
        self._send(WheelButton(button=event.button))

    def on_phone_pane_left(self, _event: PhonePane.Left) -> None:
        self.leave_wheel()

    def send_gesture(self, gesture: WheelGesture) -> None:
        """Do something at the wheel; nothing while nobody has it."""
        self._send(gesture)

    def _send(self, gesture: WheelGesture | PressElement) -> None:
        if not self.wheel_of:
            return
        if self.shown_serial() != self.wheel_of:
            name = device_name(self.wheel_of, self.console_app.bridge.state.devices)
            self.console_app.say(f"You drive {name}, which is not the phone that is shown.")
            return
        if len(self._gestures) >= MOST_WAITING:
            self.console_app.say("The phone cannot keep up with you; wait for it.")
            return
        self._gestures.append((self.wheel_of, gesture))
        if self._driving is None:
            self._driving = asyncio.Event()
            self.console_app.spawn(self._drive(), "driving the phone", Wait.NOT)

    async def _drive(self) -> None:
        driven = self._driving
        assert driven is not None, "what is sent is driven"
        try:
            while self._gestures:
                serial, gesture = self._gestures.pop(0)
                try:
                    if isinstance(gesture, PressElement):
                        found = await self._found(serial, gesture.element)
                        if found is None:
                            label = one_line(gesture.element.label, 60)
                            self.console_app.say(
                                f"“{label}” is no longer on the screen; nothing was pressed.",
                                tone="warning",
                            )
                            continue
                        gesture = found
                    await self._do(serial, gesture)
                    self.gesture_done(gesture)
                except WrongStateError as error:
                    # It was resumed, or taken away otherwise.
                    self.console_app.say(str(error), tone="warning")
                    self._let_go()
                except SwitchboardError as error:
                    self.console_app.say(str(error), tone="error")
        finally:
            self._driving = None
            driven.set()

    async def _found(self, serial: str, element: Element) -> WheelTap | None:
        """Return the tap on an element of the screen as it is now; None where it is gone."""
        look = (await self.console_app.core.request(DeviceLook(serial=serial))).look
        same = [one for one in look.elements if one.key == element.key] if look else []
        if not same:
            return None
        near = min(same, key=lambda one: abs(one.number - element.number))
        return WheelTap(at=near.bounds.center)

    async def _do(self, serial: str, gesture: WheelGesture) -> None:
        core = self.console_app.core
        try:
            await core.request(WheelAct(serial=serial, gesture=gesture))
        except (DeviceLostError, DeviceTimeoutError, WrongStateError):
            # Its outcome is unknown, or the wheel is not ours: nothing is done a second time.
            raise
        except SwitchboardError:
            if not isinstance(gesture, WheelPaste):
                raise
            # There is no way to its clipboard: what cannot be pasted is typed.
            await core.request(WheelAct(serial=serial, gesture=WheelText(text=gesture.text)))
