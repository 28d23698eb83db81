"""The text of the phone that a screen shows: what it is made of, and what pressing an entry does.

One belongs to each screen with a phone. Invariants: while a session has the phone its own look is
shown, and nothing is read beside it; what is pressed is found anew on the screen first, and tapped
where it is then, by the way of the wheel.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from textual.widget import Widget

from agent.records import DeviceState, Element, Point
from agent.state.reducer import SessionView, State
from agent.text import one_line
from console.keys.actions import Action
from console.keys.controllers import Controller
from console.screens.device.device_parts import DeviceParts
from console.screens.device.phone_reading import Rereading
from console.screens.device.wheel import WheelController, WheelPlace
from widgets.base.formatting import ago, quoted
from widgets.lists.session_rows import session_title
from widgets.pictures.phone_pane import PhonePane, ScreenText
from widgets.pictures.text_map import TextMap
from widgets.pictures.zoom import FACTORS, Zoom

if TYPE_CHECKING:
    from console.base_app import ConsoleApp

_AWAY = "This phone is away: there is nothing to read."
_READING = "Reading the screen …"
_NOT_LOOKED = "The session has not looked at its screen yet."
_NOTHING = "The screen has no UI tree, and no text was found on it. Use the picture."


def session_on(state: State, serial: str) -> SessionView | None:
    """Return the session that has a turn on a phone, if there is one."""
    for view in state.sessions.values():
        if serial and view.session.serial == serial and view.session.turn_id:
            return view
    return None


class PhonePlace(WheelPlace, Protocol):
    """A screen with a phone that can be looked at closely: as text, or zoomed."""

    @property
    def ops(self) -> "ConsoleApp":
        """Whom the tree is asked through."""

    @property
    def pane(self) -> PhonePane:
        """The picture that hands are on."""

    @property
    def focused(self) -> Widget | None:
        """What has the focus."""

    @property
    def is_live(self) -> bool:
        """Whether the screen is composed and not being taken down."""

    @property
    def is_looked_at(self) -> bool:
        """Whether the screen is the one on top, and the phone is seen on it."""

    def stored_text(self) -> ScreenText | None:
        """Return the text of a stored screen, while one is shown in place of the live one."""

    def parts_of(self, serial: str) -> DeviceParts | None:
        """Return what the screen has read of a phone; None where it reads none."""

    def view_changed(self) -> None:
        """Hear that the phone is shown in another way: as text, or zoomed."""

    def go_to_phone(self) -> None:
        """Put the operator's hands on the phone."""

    def leave_phone(self) -> None:
        """Put the operator's hands elsewhere."""


class PhoneText(Controller):
    """The text of one screen's phone, and the picture from close up.

    Args:
        place: the screen whose phone it is.
        wheel: its wheel.
    """

    def __init__(self, place: PhonePlace, wheel: WheelController) -> None:
        self._place = place
        self._wheel = wheel
        self._rereading = Rereading()
        self._parts: DeviceParts | None = None
        self.asked_place: Callable[[], Point | None] = lambda: None
        """Return where on the picture is what a card asks about; None where none does."""

    def can(self, action_id: str) -> bool:
        match action_id.partition(".")[2]:
            case "closer":
                return bool(self._place.shown_serial()) and not self._place.pane.shows_text
            case "farther":
                return self._place.pane.zoom.factor > 1
            case _:
                return bool(self._place.shown_serial())

    def word(self, action: Action) -> str:
        if action.id != "phone.text":
            return ""
        return "picture" if self._place.pane.wants_text else "text"

    def back(self) -> bool:
        """Show the whole picture again; False where hands are on none that is zoomed."""
        pane = self._place.pane
        if pane.zoom.factor == 1 or self._place.focused is not pane:
            return False
        self._zoom_to(Zoom())
        return True

    def keys(self) -> list[tuple[str, str]]:
        """List the keys of the phone for the footer; empty where the focus is not on it."""
        pane = self._place.pane
        if self._wheel.serial and self._place.focused in (pane, pane.map):
            keys = [("esc", "hand back"), ("F2", "back"), ("F3", "home"), ("F4", "recents")]
            closer = [("F5", "text"), ("F6", "zoom")]
            return [*keys, *([("F5", "picture")] if pane.shows_text else closer)]
        return []

    # --- keys ----------

    def do_phone_text(self) -> None:
        """Show the phone's screen as text, or as a picture."""
        self._toggle()

    def do_phone_closer(self) -> None:
        """Show the picture closer, around what a card asks about; from the closest, whole again."""
        pane = self._place.pane
        if pane.zoom.factor == FACTORS[-1]:
            self._zoom_to(Zoom())
        else:
            self._zoom_to(pane.zoom.closer(1, self.asked_place(), pane.frame.part))

    def do_phone_farther(self) -> None:
        """Show the picture from farther away."""
        pane = self._place.pane
        self._zoom_to(pane.zoom.closer(-1, None, pane.frame.part))

    do_device_text = do_phone_text
    do_device_closer = do_phone_closer
    do_device_farther = do_phone_farther

    def _zoom_to(self, zoom: Zoom) -> None:
        had_focus = self._place.focused is self._place.pane
        self._place.pane.look_at(zoom)
        self._place.view_changed()
        self._place.refresh_all()
        if zoom.factor > 1:
            # The arrows are what moves it.
            self._place.go_to_phone()
        elif had_focus and not self._wheel.serial:
            self._place.leave_phone()

    def on_phone_pane_viewed(self, _event: PhonePane.Viewed) -> None:
        self._place.view_changed()
        self._place.refresh_all()

    def on_text_map_moved(self, _event: TextMap.Moved) -> None:
        self._place.refresh_all()

    def on_text_map_pressed(self, event: TextMap.Pressed) -> None:
        self._press(event.element)

    # --- reading ----------

    def _parts_of(self, serial: str) -> DeviceParts:
        if (own := self._place.parts_of(serial)) is not None:
            return own
        if self._parts is None or self._parts.serial != serial:
            self._parts = DeviceParts(self._place.ops, serial, self._refresh)
        return self._parts

    def _refresh(self) -> None:
        if self._place.is_live:
            self._place.refresh_all()

    # --- showing ----------

    def show(self) -> None:
        """Set the pane's text, and read the tree if that is due."""
        pane = self._place.pane
        if pane.shows_text or pane.wants_text:
            pane.show_text(self._text())

    def _text(self) -> ScreenText | None:
        place, app = self._place, self._place.ops
        stored = place.stored_text()
        if stored is not None:
            return stored
        serial, now_ms = place.shown_serial(), app.now_ms()
        device = app.bridge.state.devices.get(serial)
        if device is None or device.state is not DeviceState.ONLINE:
            return ScreenText((), "", _AWAY if serial else place.pane.empty)
        view = session_on(app.bridge.state, serial)
        if view is not None and not self._wheel.serial and not view.session.paused:
            seen = None if view.session.target_display else view.transcript.observation
            if seen is None:
                return ScreenText((), "", _NOT_LOOKED)
            about = f"as step {view.session.last_step} saw it, {ago(now_ms - seen.ended_ms)}"
            return ScreenText(seen.elements, about, seen.tree_note or _NOTHING)
        parts = self._parts_of(serial)
        is_old = False
        if place.is_looked_at:
            is_old = self.follow(parts)
        failed, look = parts.failed.get("elements", ""), parts.look
        if look is None:
            return ScreenText((), "", failed or _READING)
        note = "reading again …" if is_old and not failed else failed and "not read again"
        about = f"read {ago(now_ms - look.at_ms)}"
        empty = f"{look.note.rstrip('.')}. Use the picture." if look.note else _NOTHING
        remark = look.note if look.elements else ""
        return ScreenText(
            look.elements, about, empty, note=note or "", remark=remark, is_old=is_old
        )

    def follow(self, parts: DeviceParts) -> bool:
        """Read the tree if that is due; returns whether the screen is another than it was read."""
        return self._rereading.follow(parts, self._place.pane.shown)

    def _toggle(self) -> None:
        """Show the screen as text, or as a picture again."""
        place, pane = self._place, self._place.pane
        if pane.has_text_alone:
            place.ops.say("This terminal cannot show pictures, so the screen is always text.")
        elif pane.wants_text:
            had_focus = self._place.focused is pane.map
            pane.want_text(False)
            place.view_changed()
            if had_focus:
                place.go_to_phone()
            place.refresh_all()
            return
        pane.want_text(True)
        place.view_changed()
        place.refresh_all()
        place.go_to_phone()

    # --- pressing ----------

    def _press(self, element: Element) -> None:
        """Press an element: take the wheel where nobody has it, then tap."""
        place, app = self._place, self._place.ops
        serial = place.shown_serial()
        device = app.bridge.state.devices.get(serial)
        if place.stored_text() is not None:
            app.say("This is a stored screen: only elements of a live one can be pressed.")
        elif device is None or device.state is not DeviceState.ONLINE:
            app.say(_AWAY)
        elif self._wheel.serial:
            self._wheel.press_element(element)
        else:
            view = session_on(app.bridge.state, serial)
            what = one_line(element.label, 40)
            sentence = ""
            if view is not None:
                title, label = quoted(session_title(view.session), 30), quoted(what, 60)
                sentence = f"enter again pauses {title}, takes the wheel and presses {label}"
            if not sentence or app.two_presses.confirm("phone.press", element.key, sentence):
                self._wheel.take_and_press(serial, element)
