"""The wheel of a screen: the operator drives the phone that is shown, and hands it back.

What hands do on the picture becomes ops, one at a time and in order. Invariants: nothing is sent
before the wheel was given; typing that waits is sent as one text; a wheel that was lost is said
and let go of.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, NamedTuple, Protocol

from agent import protocol
from agent.core import Core
from agent.errors import DeviceLostError, DeviceTimeoutError, SwitchboardError, WrongStateError
from agent.records import DeviceState, Element, Point
from agent.state.reducer import State
from console.input.gate import Wait
from console.keys.controllers import Controller
from console.screens.op_sender import OpSender
from widgets.base.formatting import quoted
from widgets.base.gesture import Touch
from widgets.base.rows import Parts
from widgets.lists.session_rows import device_name
from widgets.pictures.phone_pane import PhonePane
from widgets.questions.composer import Mode, Purpose

MOST_WAITING = 64  # Gestures that wait for the phone; more hands than that are not listened to.
_SCROLL_MS = 200


class PressElement(NamedTuple):
    """A tap on an element, wherever it is by then."""

    element: Element


class WheelOps(OpSender, Protocol):
    """Where ops and lines go; the app is one."""

    @property
    def core(self) -> Core:
        """Whom gestures are sent to: what they fail with is said in words of their own."""


class WheelPlace(Protocol):
    """A screen with a phone that can be driven, as the wheel sees it."""

    @property
    def ops(self) -> WheelOps:
        """Where ops go."""

    @property
    def state(self) -> State:
        """The picture of the core."""

    def shown_serial(self) -> str:
        """Name the phone whose screen is shown; empty when there is none."""

    def has_waiting_session(self) -> bool:
        """Return whether a session waits for the wheel, and so should hear what was done."""

    def show_driven(self, driven: bool, *, keeps_hands: bool = False) -> None:
        """Show that the phone is driven from here, or put the operator's hands elsewhere.

        Args:
            driven: whether it is.
            keeps_hands: whether they stay where they are: in a note that is being written.
        """

    def go_to_note(self) -> None:
        """Put the operator's hands on the note of handing back."""

    def gesture_done(self, gesture: protocol.WheelGesture) -> None:
        """Hear that the phone has done a gesture."""

    def refresh_all(self) -> None:
        """Show the picture again."""


class WheelController(Controller):
    """The wheel.

    Args:
        place: the screen whose phone is driven.
    """

    def __init__(self, place: WheelPlace) -> None:
        self._place = place
        self.serial = ""
        """The phone that the operator drives from here; empty while it is none."""
        self.asks_note = False
        """Whether the composer asks for the note of handing back."""
        self._gestures: list[tuple[str, protocol.WheelGesture | PressElement]] = []
        """What hands did and the phone has not, each with the phone that it is for."""
        self._driving: asyncio.Event | None = None
        """Set once all of it was done."""

    def can(self, action_id: str) -> bool:
        serial = self._place.shown_serial()
        return self._is_online(serial) if action_id == "device.drive" else bool(serial)

    def _is_online(self, serial: str) -> bool:
        device = self._place.state.devices.get(serial)
        return device is not None and device.state is DeviceState.ONLINE

    def purpose(self) -> tuple[Purpose, Parts] | None:
        return (Purpose(Mode.NOTE, self.serial), ()) if self.asks_note else None

    def leave_note(self) -> bool:
        """Hand the phone back without a note; False when none is asked for."""
        asked = self.asks_note
        if asked:
            self.hand_back("")
        return asked

    def press_element(self, element: Element) -> None:
        """Tap an element at the wheel, where it is once what waits before it is done."""
        self.send(PressElement(element))

    def take_and_press(self, serial: str, element: Element) -> None:
        """Take the wheel of a phone, and tap an element."""

        async def work() -> None:
            await self._take(serial)
            self.press_element(element)

        self._place.ops.spawn(work(), "taking the wheel", Wait.OPENS)

    # --- taking and handing back ----------

    def do_wheel_take(self) -> None:
        """Take the wheel of the phone that is shown, or hand it back."""
        if self.serial:
            self.leave()
            return
        self._place.ops.stray_words.expect()
        serial = self._place.shown_serial()
        if not self._is_online(serial):
            self._place.ops.say("No phone here to drive.")
            return
        self._place.ops.spawn(self._take(serial), "taking the wheel", Wait.OPENS)

    do_device_drive = do_wheel_take

    async def _take(self, serial: str) -> None:
        if await self._place.ops.ask(protocol.WheelTake(serial=serial)) is None:
            return
        self.serial = serial
        self._place.show_driven(True)

    def leave(self) -> None:
        """Ask for the note of handing back; a phone that nobody waits for is let go at once."""
        if not self._place.has_waiting_session():
            self.hand_back("")
            return
        self.asks_note = True
        self._place.refresh_all()
        self._place.go_to_note()

    def hand_back(self, note: str) -> None:
        """Give the wheel back, with a note for the session, after the operator's own input."""
        serial, app = self.serial, self._place.ops
        # Asked for before anything is shown: the footer says at once what its keys do then.
        asked = app.ask(protocol.WheelHandBack(serial=serial, note=note)) if serial else None
        self._leave_wheel()
        if asked is not None:
            app.spawn(self._hand_back(serial, asked), "handing the phone back")

    async def _hand_back(
        self, serial: str, asked: Coroutine[Any, Any, protocol.Reply | None]
    ) -> None:
        app = self._place.ops
        try:
            if self._driving is not None:
                await self._driving.wait()
            if await asked is not None:
                app.say(f"{device_name(serial, self._place.state.devices)} is handed back.")
        finally:
            asked.close()

    def _let_go(self) -> None:
        self._gestures.clear()
        self._leave_wheel(keeps_hands=self.asks_note)

    def _leave_wheel(self, *, keeps_hands: bool = False) -> None:
        self.serial, self.asks_note = "", False
        self._place.show_driven(False, keeps_hands=keeps_hands)

    # --- what hands do ----------

    def on_phone_pane_touched(self, event: PhonePane.Touched) -> None:
        touch: Touch = event.touch
        if touch.is_swipe:
            swipe = protocol.WheelSwipe(
                start=touch.start, end=touch.end, duration_ms=touch.duration_ms
            )
            self.send(swipe)
        elif touch.is_long:
            self.send(protocol.WheelLongPress(at=touch.start))
        else:
            self.send(protocol.WheelTap(at=touch.start))

    def on_phone_pane_scrolled(self, event: PhonePane.Scrolled) -> None:
        # Content follows the finger: to see what is below, it goes up.
        reach = 0.25 * event.down
        top = min(0.9, max(0.1, event.at.y + reach / 2))
        end = min(0.9, max(0.1, event.at.y - reach / 2))
        self.send(
            protocol.WheelSwipe(
                start=Point(x=event.at.x, y=top),
                end=Point(x=event.at.x, y=end),
                duration_ms=_SCROLL_MS,
            )
        )

    def on_phone_pane_typed(self, event: PhonePane.Typed) -> None:
        serial, last = self._gestures[-1] if self._gestures else ("", None)
        if isinstance(last, protocol.WheelText) and serial == self.serial:
            self._gestures[-1] = (serial, protocol.WheelText(text=last.text + event.text))
        else:
            self.send(protocol.WheelText(text=event.text))

    def on_phone_pane_pasted(self, event: PhonePane.Pasted) -> None:
        self.send(protocol.WheelPaste(text=event.text))

    def on_phone_pane_pressed(self, event: PhonePane.Pressed) -> None:
        self.send(protocol.WheelButton(button=event.button))

    def on_phone_pane_hand_back_wanted(self, _event: PhonePane.HandBackWanted) -> None:
        self.leave()

    def send(self, gesture: protocol.WheelGesture | PressElement) -> None:
        """Do something at the wheel; nothing while nobody has it."""
        if not self.serial:
            return
        if self._place.shown_serial() != self.serial:
            name = device_name(self.serial, self._place.state.devices)
            self._place.ops.say(f"You drive {name}, which is not the phone that is shown.")
            return
        if len(self._gestures) >= MOST_WAITING:
            self._place.ops.say("The phone cannot keep up with you; wait for it.")
            return
        self._gestures.append((self.serial, gesture))
        if self._driving is None:
            self._driving = asyncio.Event()
            self._place.ops.spawn(self._drive(), "driving the phone", Wait.NOT)

    async def _drive(self) -> None:
        driven = self._driving
        assert driven is not None, "what is sent is driven"
        try:
            while self._gestures:
                serial, gesture = self._gestures.pop(0)
                try:
                    if isinstance(gesture, PressElement):
                        found = await self._tap_on(serial, gesture.element)
                        if found is None:
                            label = quoted(gesture.element.label, 60)
                            self._place.ops.say(
                                f"{label} is no longer on the screen; nothing was pressed.",
                                tone="warning",
                            )
                            continue
                        gesture = found
                    await self._do(serial, gesture)
                    self._place.gesture_done(gesture)
                except WrongStateError as error:
                    # It was resumed, or taken away otherwise.
                    self._place.ops.say(str(error), tone="warning")
                    self._let_go()
                except SwitchboardError as error:
                    self._place.ops.say(str(error), tone="error")
        finally:
            self._driving = None
            driven.set()

    async def _tap_on(self, serial: str, element: Element) -> protocol.WheelTap | None:
        """Return the tap on an element of the screen as it is now; None where it is gone."""
        look = (await self._place.ops.core.request(protocol.DeviceLook(serial=serial))).look
        same = [one for one in look.elements if one.key == element.key] if look else []
        if not same:
            return None
        near = min(same, key=lambda one: abs(one.number - element.number))
        return protocol.WheelTap(at=near.bounds.center)

    async def _do(self, serial: str, gesture: protocol.WheelGesture) -> None:
        core = self._place.ops.core
        try:
            await core.request(protocol.WheelAct(serial=serial, gesture=gesture))
        except (DeviceLostError, DeviceTimeoutError, WrongStateError):
            # Its outcome is unknown, or the wheel is not ours: nothing is done a second time.
            raise
        except SwitchboardError:
            if not isinstance(gesture, protocol.WheelPaste):
                raise
            # There is no way to its clipboard: what cannot be pasted is typed.
            await core.request(
                protocol.WheelAct(serial=serial, gesture=protocol.WheelText(text=gesture.text))
            )
