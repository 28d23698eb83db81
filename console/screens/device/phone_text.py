"""The text of the phone that a screen shows: what it is made of, and what pressing an entry does.

One belongs to each screen with a phone. Invariants: while a session has the phone its own look is
shown, and nothing is read beside it; what is pressed is found anew on the screen first, and tapped
where it is then, by the way of the wheel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.records import DeviceState, Element
from agent.state.reducer import SessionView, State
from agent.text import one_line
from console.screens.device.device_parts import DeviceParts
from console.screens.device.phone_reading import Rereading
from widgets.base.formatting import ago
from widgets.lists.session_rows import session_title
from widgets.pictures.phone_pane import ScreenText

if TYPE_CHECKING:
    from console.screens.device.wheel import WheelScreen

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


class PhoneText:
    """The text of one screen's phone.

    Args:
        screen: whose.
    """

    def __init__(self, screen: WheelScreen) -> None:
        self._screen = screen
        self._rereading = Rereading()
        self._parts: DeviceParts | None = None

    def parts(self, serial: str) -> DeviceParts:
        """Return what was read of a phone."""
        if self._parts is None or self._parts.serial != serial:
            self._parts = DeviceParts(self._screen.console_app, serial, self._came)
        return self._parts

    def _came(self) -> None:
        if self._screen.is_running and self._screen.is_attached:
            self._screen.refresh_all()

    # --- showing ----------

    def show(self) -> None:
        """Set the pane's text, and read the tree if that is due."""
        pane = self._screen.phone
        if pane.shows_text or pane.wants_text:
            pane.show_text(self._text())

    def _text(self) -> ScreenText | None:
        screen, app = self._screen, self._screen.console_app
        stored = screen.stored_text()
        if stored is not None:
            return stored
        serial, now_ms = screen.shown_serial(), app.now_ms()
        device = app.bridge.state.devices.get(serial)
        if device is None or device.state is not DeviceState.ONLINE:
            return ScreenText((), "", _AWAY if serial else screen.phone.empty)
        view = session_on(app.bridge.state, serial)
        if view is not None and not screen.wheel_of and not view.session.paused:
            seen = None if view.session.target_display else view.transcript.observation
            if seen is None:
                return ScreenText((), "", _NOT_LOOKED)
            about = f"as step {view.session.last_step} saw it, {ago(now_ms - seen.ended_ms)}"
            return ScreenText(seen.elements, about, seen.tree_note or _NOTHING)
        parts = screen.parts_of(serial)
        is_old = False
        if screen.is_current and screen.phone.is_seen:
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
        return self._rereading.follow(parts, self._screen.phone.shown)

    def toggle(self) -> None:
        """Show the screen as text, or as a picture again."""
        screen, pane = self._screen, self._screen.phone
        if pane.has_text_alone:
            screen.console_app.say("This terminal shows no pictures: the screen is text always.")
        elif pane.wants_text:
            had_focus = screen.focused is pane.map
            pane.want_text(False)
            screen.view_changed()
            if had_focus:
                screen.go_to_phone()
            screen.refresh_all()
            return
        pane.want_text(True)
        screen.view_changed()
        screen.refresh_all()
        screen.go_to_phone()

    # --- pressing ----------

    def press(self, element: Element) -> None:
        """Press an element: take the wheel where nobody has it, then tap."""
        screen, app = self._screen, self._screen.console_app
        serial = screen.shown_serial()
        device = app.bridge.state.devices.get(serial)
        if screen.stored_text() is not None:
            app.say("This is a stored screen: only a live one can be pressed.")
        elif device is None or device.state is not DeviceState.ONLINE:
            app.say(_AWAY)
        elif screen.wheel_of:
            screen.press_element(element)
        else:
            view = session_on(app.bridge.state, serial)
            what = one_line(element.label, 40)
            sentence = ""
            if view is not None:
                title = one_line(session_title(view.session), 30)
                sentence = f"enter again pauses “{title}”, takes the wheel and presses “{what}”"
            if not sentence or app.two_acts.confirm("phone.press", element.key, sentence):
                screen.take_and_press(serial, element)
