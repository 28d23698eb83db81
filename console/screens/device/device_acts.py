"""What the Device screen's keys do: tabs, reading anew, repairs, taps on elements, other phones.

The half of the screen that acts; the other half draws. Invariant: an element is touched only by
whoever has the wheel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Input, TextArea

from agent.protocol import WheelLongPress, WheelTap
from agent.records import DeviceState
from console.screens.device.wheel import WheelScreen
from widgets.base.formatting import natural
from widgets.base.row_list import RowList
from widgets.questions.composer import Composer, Mode, Purpose

if TYPE_CHECKING:
    from console.screens.device.device import DeviceScreen


class DeviceActs(WheelScreen):
    """The Device screen's actions."""

    @property
    def device_screen(self) -> DeviceScreen:
        """Itself, by its own type."""
        from console.screens.device.device import DeviceScreen

        assert isinstance(self, DeviceScreen)
        return self

    def can(self, action_id: str) -> bool:
        screen = self.device_screen
        match action_id:
            case "device.repair":
                return self._repairable() != ""
            case "device.tap" | "device.press":
                return bool(self.wheel_of) and screen.chosen_element() is not None
            case "device.closer":
                return not self.phone.shows_text
            case "device.farther":
                return self.phone.zoom.factor > 1
            case "device.drive":
                return self._is_online(screen.serial)
            case "device.next" | "device.previous":
                return len(self._serials()) > 1
            case "device.filter":
                return screen.tab.value == "log"
            case _:
                return True

    def _is_online(self, serial: str) -> bool:
        device = self.console_app.bridge.state.devices.get(serial)
        return device is not None and device.state is DeviceState.ONLINE

    # --- tabs ----------

    def do_device_elements(self) -> None:
        """Show what is on the phone's screen."""
        self._show("elements")

    def do_device_log(self) -> None:
        """Show the phone's log."""
        self._show("log")

    def do_device_health(self) -> None:
        """Show how the phone is."""
        self._show("health")

    def _show(self, name: str) -> None:
        from console.screens.device.device import Tab

        self.device_screen.show_tab(Tab(name))

    def do_device_read(self) -> None:
        """Read what the tab shows once more."""
        screen = self.device_screen
        if screen.tab.value == "health":
            screen.parts.examine()
        elif screen.tab.value == "elements" and screen.is_worked_on:
            self.console_app.say("A session works here: its own look is shown. w takes the wheel.")
        else:
            screen.read_tab()
        self.refresh_all()

    def do_device_filter(self) -> None:
        """Filter the log."""
        self._show("log")
        field = self.query_one("#filter", Input)
        field.add_class("-shown")
        self.focus_now(field)

    def on_input_changed(self, event: Input.Changed) -> None:
        self.device_screen.wanted = event.value
        self.refresh_all()

    def on_input_submitted(self, _event: Input.Submitted) -> None:
        self.focus_now(self.device_screen.table)

    # --- repairs ----------

    def _repairable(self) -> str:
        """Name the finding under the cursor, if the core can put it right."""
        screen = self.device_screen
        if screen.tab.value != "health":
            return ""
        key = screen.table.cursor_key
        found = [one for one in screen.parts.findings or () if one.name == key]
        return key if any(one.can_repair for one in found) else ""

    def do_device_repair(self) -> None:
        """Put the finding under the cursor right."""
        name = self._repairable()
        if name:
            self.console_app.say(f"Repairing: {name}.")
            self.device_screen.parts.repair(name)
            self.refresh_all()
        else:
            self.console_app.say("Nothing under the cursor can be repaired here.")

    # --- hands ----------

    def do_device_drive(self) -> None:
        """Take the wheel, or hand it back."""
        self.do_wheel_take()

    def do_device_tap(self) -> None:
        """Tap the element under the cursor."""
        self._touch_chosen(long=False)

    def do_device_press(self) -> None:
        """Press the element under the cursor for long."""
        self._touch_chosen(long=True)

    def _touch_chosen(self, *, long: bool) -> None:
        element = self.device_screen.chosen_element()
        if element is None:
            return
        if not self.wheel_of:
            self.console_app.say("The phone is not driven: press w to take the wheel.")
            return
        at = element.bounds.center
        self.send_gesture(WheelLongPress(at=at) if long else WheelTap(at=at))

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        if event.rows.id == "health":
            self.do_device_repair()
        elif event.rows.id == "elements":
            self._touch_chosen(long=False)

    def aim_nothing(self) -> None:
        """Close the note: there is nothing to write here."""
        self.note_field.aim(Purpose(Mode.NONE, ""), hint="Nothing to write here")

    async def on_composer_sent(self, event: Composer.Sent) -> None:
        if event.purpose.mode is Mode.NOTE:
            self.note_field.forget(event.purpose)
            self.hand_back(event.text)

    # --- other phones ----------

    def _serials(self) -> list[str]:
        devices = self.console_app.bridge.state.devices.values()
        there = (d.serial for d in devices if d.state is not DeviceState.GONE)
        return sorted(there, key=natural)

    def do_device_next(self) -> None:
        """Show the next phone."""
        self._turn(1)

    def do_device_previous(self) -> None:
        """Show the previous phone."""
        self._turn(-1)

    def _turn(self, by: int) -> None:
        serials, screen = self._serials(), self.device_screen
        if self.wheel_of:
            self.console_app.say("Hand the wheel back first: esc on the phone, or w.")
            return
        if not serials:
            return
        at = serials.index(screen.serial) if screen.serial in serials else -1
        screen.serial = serials[(at + by) % len(serials)]
        screen.read_tab()
        self.refresh_all()

    # --- looking ----------

    def do_device_text(self) -> None:
        """Show the phone's screen as text, or as a picture."""
        self.toggle_text()

    def do_device_closer(self) -> None:
        """Show the picture closer."""
        self.zoom_closer()

    def do_device_farther(self) -> None:
        """Show the picture from farther away."""
        self.zoom_farther()

    def do_device_numbers(self) -> None:
        """Show or hide the element numbers."""
        self.phone.frame.show_numbers(not self.phone.frame.numbers_shown)

    def do_device_copy(self) -> None:
        """Copy what is under the cursor, with all that is known of it."""
        from widgets.base.header_line import PartsLine

        screen = self.device_screen
        detail = self.query_one("#device-detail", PartsLine).parts
        finding = next(
            (one for one in screen.parts.findings or () if one.name == screen.table.cursor_key),
            None,
        )
        if screen.tab.value == "health" and finding is not None:
            self.console_app.copy(f"{finding.name}: {finding.detail} {finding.remedy}".strip())
        else:
            text = "".join(text for text, _ in detail)
            self.console_app.copy(text or screen.serial)

    def do_device_next_pane(self) -> None:
        """Go to the next pane."""
        self.device_screen.next_pane(1)

    def do_device_previous_pane(self) -> None:
        """Go to the previous pane."""
        self.device_screen.next_pane(-1)

    def footer_keys(self) -> list[tuple[str, str]]:
        if isinstance(self.focused, Input | TextArea):
            return super().footer_keys()
        screen = self.device_screen
        first: list[tuple[str, str]] = []
        if self.focused is screen.table and screen.tab.value == "elements" and self.wheel_of:
            first = [("enter", "tap"), ("L", "long press")]
        if self.wheel_of and self.focused in (self.phone, self.phone.map):
            first = [("⇧tab", "elements")]
        return first + super().footer_keys()

    def back(self) -> bool:
        screen = self.device_screen
        field = self.query_one("#filter", Input)
        if self.notes_back:
            self.hand_back("")
        elif self.leave_zoom():
            pass
        elif self.wheel_of:
            self.leave_wheel()
        elif self.focused is field or screen.wanted:
            field.value = ""
            field.remove_class("-shown")
            self.focus_now(screen.table)
        else:
            return False
        return True
