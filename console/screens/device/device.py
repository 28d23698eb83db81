"""The device screen: one phone large, what is on its screen, its log, how it is; and the wheel.

Shows a phone whether or not a session works on it. Invariants: while a session has the phone, its
own observation is shown and nothing is read beside it, for two readers of a tree disturb each
other; frames and logs are asked for only while they are seen.
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.events import DescendantFocus, Resize, ScreenResume, ScreenSuspend
from textual.widget import Widget
from textual.widgets import Input

from agent.protocol import WheelGesture
from agent.records import DeviceState, Element, LiveFrame, TimeSplit
from agent.state.reducer import SessionView, State
from agent.text import one_line
from console.frames.frame_feed import Wanted
from console.frames.stills import Source
from console.keys import actions
from console.screens.device.device_acts import DeviceActs
from console.screens.device.device_parts import DeviceParts
from console.screens.device.phone_text import session_on
from widgets.base.formatting import ago
from widgets.base.header_line import PartsLine
from widgets.base.rich_parts import Parts
from widgets.base.row_list import RowList
from widgets.lists.inspector_rows import (
    element_detail,
    element_rows,
    finding_rows,
    log_detail,
    log_rows,
    matching,
)
from widgets.lists.session_rows import device_name, session_title
from widgets.pictures.mark_age import Seen
from widgets.pictures.phone_pane import PhonePane
from widgets.plots.latency_line import pulse_line
from widgets.questions.composer import Composer

_LOG_EVERY_S = 2.0
_NOTE_CHARS = 600
"""As much as says what is wrong with a phone and what to do."""
_GONE = "This phone is away. esc goes back, ] shows the next one."


class Tab(StrEnum):
    """What stands beside the picture."""

    ELEMENTS = "elements"
    LOG = "log"
    HEALTH = "health"


_EMPTY = {
    Tab.ELEMENTS: "No elements were read yet. Press r to read the screen.",
    Tab.LOG: "The log is empty, or nothing of it matches. / changes the filter.",
    Tab.HEALTH: "Press r to examine the phone; it takes some seconds.",
}


class DeviceScreen(DeviceActs):
    """One phone.

    Args:
        serial: which.
    """

    WHERE = actions.Where.DEVICE
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings(actions.Where.DEVICE)]
    AUTO_FOCUS = "#elements"

    def __init__(self, serial: str) -> None:
        super().__init__()
        self.serial = serial
        self.tab = Tab.ELEMENTS
        self.wanted = ""
        self._has_side = True
        self._parts: DeviceParts | None = None

    def compose_body(self) -> ComposeResult:
        with Vertical(id="device-phone"):
            yield PhonePane(id="phone", empty=_GONE)
            yield Composer(id="composer")
        with Vertical(id="device-side"):
            yield PartsLine(id="device-facts")
            yield PartsLine(id="device-tabs")
            for tab in Tab:
                yield RowList(id=tab.value, empty=_EMPTY[tab])
            yield Input(id="filter", placeholder="words; !word excludes", compact=True)
            yield PartsLine(id="device-detail")

    def on_mount(self) -> None:
        self.set_interval(_LOG_EVERY_S, self._on_log_clock, name="log clock")
        self.show_tab(Tab.ELEMENTS)

    # --- what there is ----------

    @property
    def parts(self) -> DeviceParts:
        """What is known of the phone that is shown."""
        if self._parts is None or self._parts.serial != self.serial:
            self._parts = DeviceParts(self.console_app, self.serial, self._came)
        return self._parts

    def parts_of(self, serial: str) -> DeviceParts:
        return self.parts if serial == self.serial else super().parts_of(serial)

    @property
    def table(self) -> RowList:
        """What is listed now."""
        return self.query_one(f"#{self.tab.value}", RowList)

    def shown_serial(self) -> str:
        return self.serial

    def view(self) -> SessionView | None:
        """The session that has a turn on this phone, if there is one."""
        return session_on(self.console_app.bridge.state, self.serial)

    def has_waiting_session(self) -> bool:
        return self.view() is not None

    @property
    def is_worked_on(self) -> bool:
        """Whether a session, and not the operator, has the phone now."""
        view = self.view()
        return view is not None and not self.wheel_of and not view.session.paused

    def elements(self) -> tuple[tuple[Element, ...], str]:
        """Return the newest elements, and whose look they are."""
        look, view = self.parts.look, self.view()
        seen = view.transcript.observation if view and not view.session.target_display else None
        if seen is not None and (look is None or look.at_ms < seen.ended_ms):
            return seen.elements, f"as the session saw it {self._ago(seen.ended_ms)}"
        if look is None:
            return (), ""
        told = f"read {self._ago(look.at_ms)} · {look.foreground.package}"
        return look.elements, look.note or told

    def _look(self) -> Seen | None:
        """Return which look the newest elements are of."""
        look, view = self.parts.look, self.view()
        seen = view.transcript.observation if view and not view.session.target_display else None
        if view is not None and seen is not None and (look is None or look.at_ms < seen.ended_ms):
            return Seen(view.session.last_step, seen.ended_ms)
        return Seen(0, look.at_ms) if look is not None else None

    def _ago(self, at_ms: int) -> str:
        return ago(self.console_app.now_ms() - at_ms)

    def chosen_element(self) -> Element | None:
        """Return the element under the cursor."""
        if self.tab is not Tab.ELEMENTS:
            return None
        key = self.query_one("#elements", RowList).cursor_key
        listed, _ = self.elements()
        return next((e for e in listed if f"{e.number}:{e.key}" == key), None)

    # --- the picture ----------

    def _came(self) -> None:
        if self.is_running and self.is_attached:
            self.refresh_all()

    def show_state(self, state: State) -> None:
        self._show_facts(state)
        self._show_list()
        self.set_class(self.notes_back, "-notes")
        view = self.view()
        if view is not None and view.is_behind:
            app, session_id = self.console_app, view.session.session_id
            app.spawn(app.bridge.read_history(session_id), "reading the transcript")
        if not self.aim_note():
            self.aim_nothing()
        listed, _ = self.elements()
        chosen = self.chosen_element()
        self.phone.show_marks(listed, None, seen=self._look())
        self.phone.frame.show_chosen(chosen.bounds if chosen else None)
        self.want_frames(state)
        self.show_frame()

    def _show_facts(self, state: State) -> None:
        device = state.devices.get(self.serial)
        if device is None:
            self.query_one("#device-facts", PartsLine).show(((_GONE, "$warn"),))
            return
        view = self.view()
        size = f"{device.width_px}×{device.height_px}" if device.width_px else ""
        facts = [device.model, f"Android {device.android}" if device.android else "", size]
        who: Parts = (("not driven", "$muted"),)
        if self.wheel_of:
            who = (("you drive it", "bold $ask"),)
        elif view is not None:
            who = (("● ", "$live"), (session_title(view.session), "$foreground"))
        elif device.driver:
            who = ((f"driven by {device.driver[:40]}", "$warn"),)
        parts: Parts = (
            (device_name(self.serial, state.devices), "bold $foreground"),
            (f"  {' · '.join(filter(None, (self.serial, *facts)))}\n", "$muted"),
            *who,
        )
        facts_line = self.query_one("#device-facts", PartsLine)
        took_ms = self.console_app.bridge.pulse.of(self.serial)
        parts = (*parts, ("\n", ""), *pulse_line(took_ms, max(1, facts_line.size.width - 2)))
        if device.note:
            parts = (*parts, (f"\n{one_line(device.note, _NOTE_CHARS)}", "$warn"))
        facts_line.show(parts)

    def _show_list(self) -> None:
        table, known, told = self.table, self.parts, ""
        detail: Parts = ()
        at_end = not table.rows or table.cursor_key == table.rows[-1].key
        match self.tab:
            case Tab.ELEMENTS:
                listed, told = self.elements()
                table.show_rows(element_rows(listed, width=table.text_width))
                element = self.chosen_element()
                detail = element_detail(element) if element else ()
            case Tab.LOG:
                lines = matching(known.log or (), self.wanted)
                table.show_rows(log_rows(lines))
                if at_end and table.rows:
                    table.move_to(table.rows[-1].key)
                told = f"{len(lines)} of {len(known.log or ())} lines"
                line = table.cursor_key.partition(":")[2]
                detail = log_detail(line) if line else ()
            case Tab.HEALTH:
                table.show_rows(finding_rows(known.findings or ()))
                ill = sum(not one.ok for one in known.findings or ())
                told = f"{ill} to look at" if known.findings else ""
        if self.tab.value in known.busy and self.tab is not Tab.LOG:
            told = "asking the phone…"
        failed = known.failed.get(self.tab.value, "")
        self._show_tabs(failed or told, "$warn" if failed else "$faint")
        self.query_one("#device-detail", PartsLine).show(detail)

    def _show_tabs(self, told: str, style: str) -> None:
        parts: list[tuple[str, str]] = []
        for tab in Tab:
            here = tab is self.tab
            parts.append((f" {self.key_of(f'device.{tab.value}')} ", "$faint"))
            parts.append((f"{tab.value} ", "bold $foreground on $cursor" if here else "$muted"))
        parts.append((f"  {told}", style))
        self.query_one("#device-tabs", PartsLine).show(tuple(parts))

    def show_frame(self) -> None:
        app = self.console_app
        device = app.bridge.state.devices.get(self.serial)
        frame: LiveFrame | None = app.feed.newest
        if frame is not None and frame.serial != self.serial:
            frame = None
        there = device is not None and device.state is DeviceState.ONLINE
        self.phone.empty = "No picture yet." if there else _GONE
        self.text.show()
        lists_elements = self.tab is Tab.ELEMENTS and self.is_current and not self.phone.shows_text
        if there and lists_elements and not self.is_worked_on:
            self.text.follow(self.parts)
        self.phone.show_phone(
            frame,
            name=device_name(self.serial, app.bridge.state.devices),
            proportions=(device.width_px, device.height_px) if device else (0, 0),
            now_ms=app.now_ms(),
        )
        self.phone.show_time(TimeSplit(), "", app.now_ms())

    def still(self) -> Source | None:
        return Source(self.phone.frame, self.console_app.feed.one)

    def want_frames(self, state: State) -> None:
        """Follow the phone at the size it is drawn; nothing while nobody sees it."""
        device = state.devices.get(self.serial)
        width_px, height_px = self.phone.wanted_px
        there = device is not None and device.state is DeviceState.ONLINE
        seen = self.is_current and self.phone.is_seen and width_px > 1
        wanted = Wanted(self.serial, width_px, height_px) if seen and there else None
        self.console_app.feed.want(wanted)

    def on_phone_pane_wants(self, _event: PhonePane.Wants) -> None:
        self.want_frames(self.console_app.bridge.state)

    def on_screen_suspend(self, _event: ScreenSuspend) -> None:
        self.console_app.feed.want(None)

    def on_screen_resume(self, event: ScreenResume) -> None:
        super().on_screen_resume(event)
        self.read_tab()

    # --- reading ----------

    def read_tab(self) -> None:
        """Read what the tab shows, if that can be read now."""
        match self.tab:
            case Tab.ELEMENTS:
                if not self.is_worked_on:
                    self.parts.read_elements()
            case Tab.LOG:
                self.parts.read_log()
            case Tab.HEALTH:
                if self.parts.findings is None:
                    self.parts.examine()

    def _on_log_clock(self) -> None:
        if self.tab is Tab.LOG and self.is_current and self._has_side:
            self.parts.read_log()

    def gesture_done(self, gesture: WheelGesture) -> None:
        if self.tab is Tab.ELEMENTS:
            self.parts.read_elements()

    # --- panes ----------

    def show_tab(self, tab: Tab) -> None:
        """Show the elements, the log or the findings, and put the cursor there."""
        self.tab = tab
        for one in Tab:
            self.query_one(f"#{one.value}", RowList).display = one is tab
        self._go_to_side(True)
        self.focus_now(self.table)
        self.read_tab()
        self.refresh_all()

    def go_to_phone(self) -> None:
        self._go_to_side(False)
        super().go_to_phone()

    def go_to_note(self) -> None:
        self._go_to_side(False)
        super().go_to_note()

    def leave_phone(self) -> None:
        self._go_to_side(True)
        self.focus_now(self.table)

    def _go_to_side(self, side: bool) -> None:
        self._has_side = side or not self.has_class("-narrow")
        self.set_class(side, "-at-side")

    def next_pane(self, by: int) -> None:
        """Go to the next pane."""
        stops: list[Widget] = [self.table, self.phone.hands]
        if not self.note_field.field.disabled:
            stops.append(self.note_field.field)
        at = stops.index(self.focused) if self.focused in stops else 0
        widget = stops[(at + by) % len(stops)]
        self._go_to_side(widget is self.table)
        self.focus_now(widget)

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        if self.is_composed:
            self._go_to_side(event.widget in (self.table, self.query_one("#filter")))
        super().on_descendant_focus(event)

    def on_resize(self, event: Resize) -> None:
        super().on_resize(event)
        # The phone gets the width its height deserves, never more than half.
        rows = max(8, event.size.height - 4)
        columns = min(round(rows * 0.95) + 4, event.size.width // 2)
        wide = event.size.width >= 80
        box = self.query_one("#device-phone")
        if wide:
            box.styles.width = max(26, columns)
        else:
            box.styles.clear_rule("width")

    def on_row_list_highlighted(self, _event: RowList.Highlighted) -> None:
        self.refresh_all()
