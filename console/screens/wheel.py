"""The wheel on a screen: the operator drives the phone that is shown, and hands it back.

What hands do on the picture becomes ops, one at a time and in order. Invariants: nothing is sent
before the wheel was given; typing that waits is sent as one text; a wheel that was lost is said
and let go of.
"""

from __future__ import annotations

from agent.errors import (
    DeviceLostError,
    DeviceTimeoutError,
    SwitchboardError,
    WrongStateError,
)
from agent.protocol import (
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
from agent.records import DeviceState, Point
from console.screens.base import ConsoleScreen
from widgets.composer import Composer, Mode, Purpose
from widgets.phone_pane import PhonePane
from widgets.session_rows import device_name
from widgets.touch import Touch

MOST_WAITING = 64
"""Gestures that wait for the phone; more hands than that are not listened to."""
_SCROLL_MS = 200


class WheelScreen(ConsoleScreen):
    """A screen with a phone that can be driven."""

    wheel_of = ""
    """The phone that the operator drives from here."""
    notes_back = False
    """Whether the composer asks for the note of handing back."""

    def __init__(self) -> None:
        super().__init__()
        self._gestures: list[WheelGesture] = []
        self._is_sending = False

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
        """Say whether a session waits for the wheel, and so should hear what was done."""
        return False

    def go_to_phone(self) -> None:
        """Put the operator's hands on the phone."""
        self.focus_now(self.phone)

    def go_to_note(self) -> None:
        """Put the operator's hands on the note."""
        self.focus_now(self.note_field.field)

    def leave_phone(self) -> None:
        """Put the operator's hands elsewhere: the phone is not driven any more."""

    def gesture_done(self, gesture: WheelGesture) -> None:
        """Hear that the phone has done a gesture."""

    # --- taking and handing back ----------

    def do_wheel_take(self) -> None:
        """Take the wheel of the phone that is shown, or hand it back."""
        if self.wheel_of:
            self.leave_wheel()
            return
        serial = self.shown_serial()
        device = self.console_app.bridge.state.devices.get(serial)
        if device is None or device.state is not DeviceState.ONLINE:
            self.console_app.say("There is no phone here to drive.")
            return
        self.console_app.spawn(self._take(serial), "taking the wheel")

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
        """Give the wheel back, with what the session should know."""
        serial = self.wheel_of
        self._let_go()
        if serial:
            name = device_name(serial, self.console_app.bridge.state.devices)
            self.console_app.request(
                WheelHandBack(serial=serial, note=note), done=f"{name} is handed back."
            )

    def _let_go(self) -> None:
        self.wheel_of, self.notes_back = "", False
        self._gestures.clear()
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
        if self.wheel_of and self.focused is self.phone:
            return [("F2", "back"), ("F3", "home"), ("F4", "recents"), ("esc", "hand back")]
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
        last = self._gestures[-1] if self._gestures else None
        if isinstance(last, WheelText):
            self._gestures[-1] = WheelText(text=last.text + event.text)
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

    def _send(self, gesture: WheelGesture) -> None:
        if not self.wheel_of:
            return
        if len(self._gestures) >= MOST_WAITING:
            self.console_app.say("The phone is slower than your hands; wait for it.")
            return
        self._gestures.append(gesture)
        if not self._is_sending:
            self._is_sending = True
            self.console_app.spawn(self._drive(), "driving the phone")

    async def _drive(self) -> None:
        try:
            while self._gestures and self.wheel_of:
                gesture = self._gestures.pop(0)
                try:
                    await self._do(gesture)
                    self.gesture_done(gesture)
                except WrongStateError as error:
                    # It was resumed, or taken away otherwise.
                    self.console_app.say(str(error), tone="warning")
                    self._let_go()
                except SwitchboardError as error:
                    self.console_app.say(str(error), tone="error")
        finally:
            self._is_sending = False

    async def _do(self, gesture: WheelGesture) -> None:
        core, serial = self.console_app.core, self.wheel_of
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
