"""The device screen: one phone large, what is on its screen, its log, how it is; and the wheel.

Shows a phone whether or not a session works on it; composed of controllers.
"""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.events import Resize
from textual.widgets import Input, TextArea

from agent.records import DeviceState, host_of
from agent.state.reducer import State
from agent.text import one_line
from console.frames.stills import Source
from console.keys import actions
from console.screens.device.context import BaseDevice, Tab
from console.screens.device.device_phone import GONE, DevicePhone, TurnController
from console.screens.device.phone_text import PhoneText
from console.screens.device.side import SideController
from console.screens.device.wheel import WheelController
from widgets.base.header_line import PartsLine
from widgets.base.row_list import RowList
from widgets.base.rows import Parts
from widgets.lists.hosts import host_latency
from widgets.lists.session_rows import device_name, session_title
from widgets.pictures.phone_pane import PhonePane
from widgets.plots.latency_line import latency_line
from widgets.questions.composer import Composer, Mode, Purpose

_LOG_EVERY_S = 2.0
_NOTE_CHARS = 600  # As much as says what is wrong with a phone and what to do.
_EMPTY = {
    Tab.ELEMENTS: "No elements were read yet. Press r to read the screen.",
    Tab.LOG: "The log is empty, or nothing of it matches. / changes the filter.",
    Tab.HEALTH: "Press r to examine the phone; it takes some seconds.",
}


class DeviceScreen(BaseDevice):
    """One phone.

    Args:
        serial: which.
    """

    WHERE = actions.Where.DEVICE
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings(actions.Where.DEVICE)]
    AUTO_FOCUS = "#elements"
    CONTROLLERS = (WheelController, PhoneText, DevicePhone, TurnController, SideController)

    side: SideController

    def __init__(self, serial: str) -> None:
        super().__init__()
        self.shown_phone = DevicePhone(self, serial)
        self.side = SideController(self, self.shown_phone)
        self.controllers = (
            self.shown_phone.text,
            self.shown_phone.wheel,
            self.shown_phone,
            TurnController(self, self.shown_phone),
            self.side,
        )

    def compose_body(self) -> ComposeResult:
        with Vertical(id="device-phone"):
            yield PhonePane(id="phone", empty=GONE)
            yield Composer(id="composer")
        with Vertical(id="device-side"):
            yield PartsLine(id="device-facts")
            yield PartsLine(id="device-tabs")
            for tab in Tab:
                yield RowList(id=tab.value, empty=_EMPTY[tab])
            yield Input(id="filter", placeholder="words; !word excludes", compact=True)
            yield PartsLine(id="device-detail")

    def on_mount(self) -> None:
        self.set_interval(_LOG_EVERY_S, self.side.read_log, name="log clock")
        self.side.show_tab(Tab.ELEMENTS)

    # --- the picture ----------

    def show_state(self, state: State) -> None:
        self._show_facts(state)
        self.side.show()
        asked = self._wanted_note()
        self.set_class(asked is not None, "-notes")
        view = self.shown_phone.view()
        if view is not None and view.is_behind:
            app, session_id = self.console_app, view.session.session_id
            app.spawn(app.bridge.read_history(session_id), "reading the transcript")
        if asked is not None:
            self.note.aim(asked[0], asked[1], undeliverable=self._why_not(asked[0]))
        else:
            self.note.aim(Purpose(Mode.NONE, ""), hint="Nothing to write here")
        self.shown_phone.show_marks(self.side.chosen_element())
        self.shown_phone.want_frames()
        self.show_frame()

    def _show_facts(self, state: State) -> None:
        device = state.devices.get(self.shown_phone.serial)
        if device is None:
            self.query_one("#device-facts", PartsLine).show(((GONE, "$warn"),))
            return
        view = self.shown_phone.view()
        size = f"{device.width_px}×{device.height_px}" if device.width_px else ""
        facts = [device.model, f"Android {device.android}" if device.android else "", size]
        who: Parts = (("not driven", "$muted"),)
        if self.shown_phone.wheel.serial:
            who = (("you drive it", "bold $ask"),)
        elif view is not None:
            who = (("● ", "$live"), (session_title(view.session), "$foreground"))
        elif device.driver:
            who = ((f"driven by {device.driver[:40]}", "$warn"),)
        style = "$muted" if device.state is DeviceState.GONE else "bold $foreground"
        parts: Parts = (
            (device_name(self.shown_phone.serial, state.devices), style),
            (f"  {' · '.join(filter(None, (self.shown_phone.serial, *facts)))}\n", "$muted"),
            *who,
        )
        facts_line = self.query_one("#device-facts", PartsLine)
        bridge = self.console_app.bridge
        took_ms = bridge.latencies.of(self.shown_phone.serial)
        parts = (*parts, ("\n", ""), *latency_line(took_ms, max(1, facts_line.size.width - 2)))
        host = host_of(self.shown_phone.serial)
        told = next((host_latency(one) for one in bridge.hosts if one.name == host), "")
        if told:
            parts = (*parts, (f"\n{told}", "$muted"))
        if device.note:
            parts = (*parts, (f"\n{one_line(device.note, _NOTE_CHARS)}", "$warn"))
        facts_line.show(parts)

    def show_frame(self) -> None:
        lists_elements = self.side.tab is Tab.ELEMENTS and self.is_current
        self.shown_phone.show_frame(lists_elements=lists_elements)

    def still(self) -> Source | None:
        return self.shown_phone.still()

    def on_resize(self, event: Resize) -> None:
        # The phone gets the width its height deserves, never more than half.
        rows = max(8, event.size.height - 4)
        columns = min(round(rows * 0.95) + 4, event.size.width // 2)
        wide = event.size.width >= 80
        box = self.query_one("#device-phone")
        if wide:
            box.styles.width = max(26, columns)
        else:
            box.styles.clear_rule("width")

    # --- keys ----------

    def _wanted_note(self) -> tuple[Purpose, Parts] | None:
        """Return what the note is for: one that was begun keeps its phone."""
        note = self.note
        if note.purpose.mode is Mode.NOTE and self.focused is note.field:
            return note.purpose, ()
        return self.shown_phone.wheel.purpose()

    def _why_not(self, purpose: Purpose) -> str:
        if self.shown_phone.wheel.serial == purpose.subject:
            return ""
        devices = self.console_app.bridge.state.devices
        return f"You no longer drive {device_name(purpose.subject, devices)}."

    def on_composer_closed(self) -> None:
        self.focus_now(self.table)
        self.refresh_all()

    def on_composer_sent(self, event: Composer.Sent) -> None:
        if event.purpose.mode is Mode.NOTE:
            self.note.forget(event.purpose)
            self.shown_phone.wheel.hand_back(event.text)

    def footer_keys(self) -> list[tuple[str, str]]:
        driven = bool(self.shown_phone.wheel.serial)
        if isinstance(self.focused, Input | TextArea):
            return super().footer_keys()
        if keys := self.shown_phone.text.keys():
            # The first one leads out: it is there also where there is room for one alone.
            return [keys[0], ("⇧tab", "elements"), *keys[1:]]
        first: list[tuple[str, str]] = []
        if self.focused is self.table and self.side.tab is Tab.ELEMENTS and driven:
            first = [("enter", "tap"), ("L", "long press")]
        elif self.focused is self.phone.map and self.phone.map.entries:
            first = [("enter", "press")]
        return first + super().footer_keys()

    def back(self) -> bool:
        wheel = self.shown_phone.wheel
        if self.note.undeliverable:
            self.note.close()
            self.on_composer_closed()
            return True
        if wheel.leave_note() or self.shown_phone.text.back():
            return True
        if wheel.serial:
            wheel.leave()
            return True
        return self.side.back()
