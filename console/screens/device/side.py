"""What stands beside the Device screen's picture: elements, log or health, and what is done there.

Invariants: an element is touched only by whoever has the wheel; a log is asked for only while it is
seen.
"""

from typing import TYPE_CHECKING

from textual.events import DescendantFocus, ScreenResume
from textual.widget import Widget
from textual.widgets import Input

from agent.protocol import WheelLongPress, WheelTap
from agent.records import Element
from agent.text import counted
from console.keys.controllers import Controller
from console.screens.device.context import Tab
from console.screens.device.device_phone import DevicePhone
from widgets.base.header_line import PartsLine
from widgets.base.row_list import RowList
from widgets.base.rows import Parts
from widgets.lists.inspector_rows import (
    element_detail,
    element_rows,
    finding_rows,
    log_detail,
    log_rows,
    matching,
)

if TYPE_CHECKING:
    from console.screens.device.context import BaseDevice


class SideController(Controller):
    """The lists.

    Args:
        screen: where they stand.
        phone: what they are of.
    """

    def __init__(self, screen: "BaseDevice", phone: DevicePhone) -> None:
        self._screen = screen
        self._phone = phone
        self.tab = Tab.ELEMENTS
        self.wanted = ""
        """The words of the log's filter."""
        self._is_seen = True

    @property
    def _table(self) -> RowList:
        return self._screen.table

    @property
    def _filter(self) -> Input:
        return self._screen.query_one("#filter", Input)

    def can(self, action_id: str) -> bool:
        match action_id:
            case "device.repair":
                return self._repairable() != ""
            case "device.tap" | "device.press":
                return bool(self._phone.wheel.serial) and self.chosen_element() is not None
            case "device.filter":
                return self.tab is Tab.LOG
            case _:
                return True

    # --- showing ----------

    def show(self) -> None:
        """Show the list of the tab, and what is under its cursor."""
        table, known, told = self._table, self._phone.parts, ""
        detail: Parts = ()
        at_end = not table.rows or table.cursor_key == table.rows[-1].key
        match self.tab:
            case Tab.ELEMENTS:
                listed, told = self._phone.elements()
                table.show_rows(element_rows(listed, width=table.text_width))
                element = self.chosen_element()
                detail = element_detail(element) if element else ()
            case Tab.LOG:
                lines = matching(known.log or (), self.wanted)
                table.show_rows(log_rows(lines))
                if at_end and table.rows:
                    table.move_to(table.rows[-1].key)
                told = f"{len(lines)} of {counted(len(known.log or ()), 'line')}"
                line = table.cursor_key.partition(":")[2]
                detail = log_detail(line) if line else ()
            case Tab.HEALTH:
                table.show_rows(finding_rows(known.findings or ()))
                ill = sum(not one.ok for one in known.findings or ())
                told = (counted(ill, "problem") if ill else "no problems") if known.findings else ""
        if self.tab.value in known.busy and self.tab is not Tab.LOG:
            told = "asking the phone…"
        failed = known.failed.get(self.tab.value, "")
        self._show_tabs(failed or told, "$warn" if failed else "$faint")
        self._screen.query_one("#device-detail", PartsLine).show(detail)

    def _show_tabs(self, told: str, style: str) -> None:
        parts: list[tuple[str, str]] = []
        for tab in Tab:
            here = tab is self.tab
            parts.append((f" {self._screen.key_of(f'device.{tab.value}')} ", "$faint"))
            parts.append((f"{tab.value} ", "bold $foreground on $cursor" if here else "$muted"))
        parts.append((f"  {told}", style))
        self._screen.query_one("#device-tabs", PartsLine).show(tuple(parts))

    def chosen_element(self) -> Element | None:
        """Return the element under the cursor."""
        if self.tab is not Tab.ELEMENTS:
            return None
        key = self._screen.query_one("#elements", RowList).cursor_key
        listed, _ = self._phone.elements()
        return next((e for e in listed if f"{e.number}:{e.key}" == key), None)

    def on_row_list_highlighted(self, _event: RowList.Highlighted) -> None:
        self._screen.refresh_all()

    # --- reading ----------

    def read(self) -> None:
        """Read what the tab shows, if that can be read now."""
        match self.tab:
            case Tab.ELEMENTS:
                if not self._phone.is_worked_on:
                    self._phone.parts.read_elements()
            case Tab.LOG:
                self._phone.parts.read_log()
            case Tab.HEALTH:
                if self._phone.parts.findings is None:
                    self._phone.parts.examine()

    def read_changed(self) -> None:
        """Read the elements after something was done on the phone."""
        if self.tab is Tab.ELEMENTS:
            self._phone.parts.read_elements()

    def read_log(self) -> None:
        """Read the log while it is seen."""
        if self.tab is Tab.LOG and self._screen.is_current and self._is_seen:
            self._phone.parts.read_log()

    def on_screen_resume(self, _event: ScreenResume) -> None:
        self.read()

    def do_device_read(self) -> None:
        """Read what the tab shows once more."""
        if self.tab is Tab.HEALTH:
            self._phone.parts.examine()
        elif self.tab is Tab.ELEMENTS and self._phone.is_worked_on:
            self._phone.ops.say(
                "A session is working here: its own view is shown. w takes the wheel."
            )
        else:
            self.read()
        self._screen.refresh_all()

    # --- tabs and panes ----------

    def show_tab(self, tab: Tab) -> None:
        """Show the elements, the log or the findings, and put the cursor there."""
        self.tab = tab
        for one in Tab:
            self._screen.query_one(f"#{one.value}", RowList).display = one is tab
        self.go_to(self._table)
        self.read()
        self._screen.refresh_all()

    def do_device_elements(self) -> None:
        """Show what is on the phone's screen."""
        self.show_tab(Tab.ELEMENTS)

    def do_device_log(self) -> None:
        """Show the phone's log."""
        self.show_tab(Tab.LOG)

    def do_device_health(self) -> None:
        self.show_tab(Tab.HEALTH)

    def do_device_next_pane(self) -> None:
        self._go_by(1)

    def do_device_previous_pane(self) -> None:
        self._go_by(-1)

    def _go_by(self, by: int) -> None:
        stops: list[Widget] = [self._table, self._phone.pane.hands]
        if not self._screen.note.field.disabled:
            stops.append(self._screen.note.field)
        focused = self._screen.focused
        at = stops.index(focused) if focused in stops else 0
        self.go_to(stops[(at + by) % len(stops)])

    def go_to(self, widget: Widget) -> None:
        """Focus the list, the phone or the note, and show the pane that it is in."""
        self._go_to_side(widget is self._table)
        self._screen.focus_now(widget)

    def _go_to_side(self, side: bool) -> None:
        self._is_seen = side or not self._screen.has_class("-narrow")
        self._screen.set_class(side, "-at-side")

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        if self._screen.is_composed:
            self._go_to_side(event.widget in (self._table, self._filter))

    # --- the log's filter ----------

    def do_device_filter(self) -> None:
        self.show_tab(Tab.LOG)
        self._filter.add_class("-shown")
        self._screen.focus_now(self._filter)

    def on_input_changed(self, event: Input.Changed) -> None:
        self.wanted = event.value
        self._screen.refresh_all()

    def on_input_submitted(self, _event: Input.Submitted) -> None:
        self._screen.focus_now(self._table)

    def back(self) -> bool:
        if self._screen.focused is not self._filter and not self.wanted:
            return False
        self._filter.value = ""
        self._filter.remove_class("-shown")
        self._screen.focus_now(self._table)
        return True

    # --- what is done with a row ----------

    def _repairable(self) -> str:
        """Name the finding under the cursor, if the core can put it right."""
        if self.tab is not Tab.HEALTH:
            return ""
        key = self._table.cursor_key
        found = [one for one in self._phone.parts.findings or () if one.name == key]
        return key if any(one.can_repair for one in found) else ""

    def do_device_repair(self) -> None:
        """Put the finding under the cursor right."""
        name = self._repairable()
        if name:
            self._phone.ops.say(f"Repairing: {name}.")
            self._phone.parts.repair(name)
            self._screen.refresh_all()
        else:
            self._phone.ops.say("Nothing under the cursor can be repaired here.")

    def do_device_tap(self) -> None:
        """Tap the element under the cursor."""
        self._touch_chosen(long=False)

    def do_device_press(self) -> None:
        """Press the element under the cursor for long."""
        self._touch_chosen(long=True)

    def _touch_chosen(self, *, long: bool) -> None:
        element = self.chosen_element()
        if element is None:
            return
        if not self._phone.wheel.serial:
            self._phone.ops.say("The phone is not driven: press w to take the wheel.")
            return
        at = element.bounds.center
        self._phone.wheel.send(WheelLongPress(at=at) if long else WheelTap(at=at))

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        if event.rows.id == "health":
            self.do_device_repair()
        elif event.rows.id == "elements":
            self._touch_chosen(long=False)

    def do_device_copy(self) -> None:
        """Copy what is under the cursor, with all that is known of it."""
        app, known = self._phone.ops, self._phone.parts.findings or ()
        finding = next((one for one in known if one.name == self._table.cursor_key), None)
        if self.tab is Tab.HEALTH and finding is not None:
            app.copy(f"{finding.name}: {finding.detail} {finding.remedy}".strip())
            return
        detail = self._screen.query_one("#device-detail", PartsLine).parts
        app.copy("".join(text for text, _ in detail) or self._phone.serial)
