"""The Device screen's phone: its picture, whose look is marked on it, when frames are asked for.

Invariants: while a session has the phone, its own observation is shown and nothing is read beside
it; frames are asked for only while the picture can be seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.protocol import WheelGesture
from agent.records import DeviceState, Element, LiveFrame, TimeSplit
from agent.state.reducer import SessionView
from console.frames.frame_feed import FeedTarget
from console.frames.look_reader import learn_look
from console.frames.stills import Source
from console.keys.controllers import Controller
from console.screens.device.device_parts import DeviceParts
from console.screens.device.phone_screen import ShownPhone
from console.screens.device.phone_text import session_on
from console.steps.stored_frames import FrameReader
from widgets.base.formatting import ago, natural
from widgets.lists.session_rows import device_name
from widgets.pictures.mark_age import LookRef
from widgets.pictures.phone_pane import PhonePane

if TYPE_CHECKING:
    from console.screens.device.context import BaseDevice

GONE = "This phone is away. esc goes back, ] shows the next one."


class DevicePhone(ShownPhone):
    """The phone that is shown.

    Args:
        screen: where.
        serial: which at first.
    """

    def __init__(self, screen: BaseDevice, serial: str) -> None:
        super().__init__(screen)
        self._screen = screen
        self.serial = serial
        self._parts: DeviceParts | None = None
        self._frames = FrameReader(self._refresh)

    def shown_serial(self) -> str:
        return self.serial

    def has_waiting_session(self) -> bool:
        return self.view() is not None

    def go_to_phone(self) -> None:
        self._screen.side.go_to(self.pane.hands)

    def go_to_note(self) -> None:
        self._screen.side.go_to(self._screen.note.field)

    def leave_phone(self) -> None:
        self._screen.side.go_to(self._screen.table)

    def gesture_done(self, gesture: WheelGesture) -> None:
        self._screen.side.read_changed()

    def parts_of(self, serial: str) -> DeviceParts | None:
        return self.parts if serial == self.serial else None

    # --- what there is ----------

    @property
    def parts(self) -> DeviceParts:
        """What is known of the phone that is shown."""
        if self._parts is None or self._parts.serial != self.serial:
            self._parts = DeviceParts(self.ops, self.serial, self._refresh)
        return self._parts

    def _refresh(self) -> None:
        if self.is_live:
            self.refresh_all()

    def view(self) -> SessionView | None:
        """Return the session that has a turn on this phone, if there is one."""
        return session_on(self.state, self.serial)

    @property
    def is_worked_on(self) -> bool:
        """Whether a session, and not the operator, has the phone now."""
        view = self.view()
        return view is not None and not self.wheel.serial and not view.session.paused

    @property
    def is_there(self) -> bool:
        device = self.state.devices.get(self.serial)
        return device is not None and device.state is DeviceState.ONLINE

    def elements(self) -> tuple[tuple[Element, ...], str]:
        """Return the newest elements, and whose look they are."""
        look, view = self.parts.look, self.view()
        seen = view.transcript.observation if view and not view.session.target_display else None
        if seen is not None and (look is None or look.at_ms < seen.ended_ms):
            return seen.elements, f"session saw it {self._ago(seen.ended_ms)}"
        if look is None:
            return (), ""
        told = f"read {self._ago(look.at_ms)} · {look.foreground.package}"
        return look.elements, look.note or told

    def _look(self) -> LookRef | None:
        """Return which look the newest elements are of."""
        look, view = self.parts.look, self.view()
        seen = view.transcript.observation if view and not view.session.target_display else None
        if view is not None and seen is not None and (look is None or look.at_ms < seen.ended_ms):
            return LookRef(view.session.last_step, seen.ended_ms)
        return LookRef(0, look.at_ms) if look is not None else None

    def _ago(self, at_ms: int) -> str:
        return ago(self.ops.now_ms() - at_ms)

    # --- showing ----------

    def show_marks(self, chosen: Element | None) -> None:
        """Show the elements on the picture, with the chosen one."""
        listed, _ = self.elements()
        look, view = self._look(), self.view()
        self.pane.show_marks(listed, None, seen=look)
        seen = view.transcript.observation if view is not None else None
        if look is not None and seen is not None and look.ended_ms == seen.ended_ms and seen.frame:
            learn_look(self._frames, self.ops, self.pane, look, seen.frame)
        self.pane.frame.show_chosen(chosen.bounds if chosen else None)

    def show_frame(self, *, lists_elements: bool) -> None:
        """Show the newest frame, and read the tree anew while it is listed beside it."""
        app = self.ops
        device = self.state.devices.get(self.serial)
        frame: LiveFrame | None = app.feed.newest
        if frame is not None and frame.serial != self.serial:
            frame = None
        self.pane.empty = "No picture yet." if self.is_there else GONE
        self.text.show()
        if self.is_there and lists_elements and not self.pane.shows_text and not self.is_worked_on:
            self.text.follow(self.parts)
        self.pane.show_phone(
            frame,
            name=device_name(self.serial, self.state.devices),
            proportions=(device.width_px, device.height_px) if device else (0, 0),
            now_ms=app.now_ms(),
        )
        self.pane.show_time(TimeSplit(), "", app.now_ms())

    def still(self) -> Source:
        """Return the picture that may be drawn as an image while it rests."""
        return Source(self.pane.frame, self.ops.feed.one)

    def want_frames(self) -> None:
        """Follow the phone at the size it is drawn; nothing while nobody sees it."""
        width_px, height_px = self.pane.wanted_px
        seen = self.is_looked_at and width_px > 1
        wanted = FeedTarget(self.serial, width_px, height_px) if seen and self.is_there else None
        self.ops.feed.want(wanted)
        self.ops.beside.show(self.serial)

    def on_phone_pane_wants(self, _event: PhonePane.Wants) -> None:
        self.want_frames()

    def do_device_numbers(self) -> None:
        """Show or hide the element numbers."""
        self.pane.frame.show_numbers(not self.pane.frame.numbers_shown)


class TurnController(Controller):
    """The way to other phones.

    Args:
        screen: where they are shown.
        phone: the one that is.
    """

    def __init__(self, screen: BaseDevice, phone: DevicePhone) -> None:
        self._screen = screen
        self._phone = phone

    def tells_hosts(self) -> bool:
        return True

    def can(self, action_id: str) -> bool:
        return len(self._serials()) > 1

    def _serials(self) -> list[str]:
        there = (
            d.serial for d in self._phone.state.devices.values() if d.state is not DeviceState.GONE
        )
        return sorted(there, key=natural)

    def do_device_next(self) -> None:
        self._turn(1)

    def do_device_previous(self) -> None:
        self._turn(-1)

    def _turn(self, by: int) -> None:
        serials = self._serials()
        if self._phone.wheel.serial:
            self._phone.ops.say("Hand the wheel back first: esc on the phone, or w.")
            return
        if not serials:
            return
        at = serials.index(self._phone.serial) if self._phone.serial in serials else -1
        self._phone.serial = serials[(at + by) % len(serials)]
        self._screen.side.read()
        self._screen.refresh_all()
