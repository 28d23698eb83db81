"""The Deck's phone: whose screen is shown, live or stored, and when frames are asked for.

A part of the Deck. Invariant: frames are asked for only while the picture can be seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.events import ScreenSuspend

from agent.records import DeviceState, Frame, LiveFrame, TargetRuntime
from agent.state import State
from console.frame_feed import Wanted
from console.frames.stills import Source
from console.screens.base import ConsoleScreen
from console.starting_phone import start_virtual
from widgets.phone_pane import PhonePane
from widgets.session_rows import device_name

if TYPE_CHECKING:
    from console.screens.deck import DeckScreen

NO_DEVICES = "No devices. Plug one in with USB debugging on, or press v for a virtual phone."


class DeckPhone(ConsoleScreen):
    """The right column of the Deck."""

    @property
    def deck(self) -> DeckScreen:
        """Itself, by its own type."""
        from console.screens.deck import DeckScreen

        assert isinstance(self, DeckScreen)
        return self

    def shown_serial(self) -> str:
        """Name the phone whose screen is shown; empty when there is none."""
        view = self.deck.view()
        state = self.console_app.bridge.state
        if view is not None:
            if view.session.serial:
                return view.session.serial
            # A parent that only delegates shows the phone of a child at work.
            for other in state.sessions.values():
                if other.session.parent_id == self.deck.selected and other.session.serial:
                    return other.session.serial
            return ""
        online = [d.serial for d in state.devices.values() if d.state is DeviceState.ONLINE]
        return online[0] if online else ""

    def want_frames(self, state: State) -> None:
        """Follow the device that is seen, at the size it is drawn; nothing while nobody sees it."""
        serial = self.shown_serial()
        device = state.devices.get(serial)
        width_px, height_px = self.deck.phone.wanted_px
        seen = self.is_current and self.deck.phone.frame.is_on_screen and width_px > 1
        there = device is not None and device.state is DeviceState.ONLINE
        wanted = Wanted(serial, width_px, height_px) if seen and there else None
        self.console_app.feed.want(wanted)

    def still(self) -> Source | None:
        # A stored picture has a feed too, of a phone that is away or whose app is on no display.
        frame = self.console_app.feed.newest
        is_live = frame is not None and frame is self.deck.phone.shown
        return Source(self.deck.phone.frame, self.console_app.feed.one) if is_live else None

    def show_frame(self) -> None:
        app = self.console_app
        state = app.bridge.state
        serial = self.shown_serial()
        device = state.devices.get(serial)
        proportions = (device.width_px, device.height_px) if device else (0, 0)
        frame: LiveFrame | None = app.feed.newest
        step = 0
        view = self.deck.view()
        # The live picture is the main display's; an app that is shown on another is not on it.
        apart = view is not None and view.session.target_runtime is TargetRuntime.DETACHED_SHOWN
        if apart:
            frame = None
        if frame is None and view is not None and view.transcript.observation is not None:
            kept = view.transcript.observation.frame
            away = device is None or device.state is not DeviceState.ONLINE
            if kept is not None and (apart or away):
                frame = app.stored.ready(kept, self.deck.phone.wanted_px)
                proportions = (kept.width_px, kept.height_px)
                step = view.session.steps
                if frame is None:
                    size = self.deck.phone.wanted_px
                    app.spawn(self._read_stored(kept, size, serial), "reading a stored frame")
        self.deck.phone.empty = self._why_no_picture(serial)
        self.deck.phone.show_phone(
            frame,
            name=device_name(serial, state.devices) if serial else "",
            proportions=proportions,
            now_ms=app.now_ms(),
            step=step,
        )

    def _why_no_picture(self, serial: str) -> str:
        """Say why there is no picture, and the next key where one helps."""
        devices = self.console_app.bridge.state.devices.values()
        if not any(device.state is DeviceState.ONLINE for device in devices):
            return self.if_known(NO_DEVICES)
        if serial:
            return "No picture yet."
        return "It works on no phone of its own."

    async def _read_stored(self, kept: Frame, size: tuple[int, int], serial: str) -> None:
        await self.console_app.stored.read(kept, size, serial=serial)
        # The Deck may have been closed, or not yet be composed, when the blob arrives.
        if self.deck.is_running and self.deck.phone.is_mounted:
            self.show_frame()

    def do_device_virtual(self) -> None:
        """Start a virtual phone, if none is there."""
        start_virtual(self.console_app)

    def on_phone_pane_wants(self, _event: PhonePane.Wants) -> None:
        self.want_frames(self.console_app.bridge.state)

    def on_screen_suspend(self, _event: ScreenSuspend) -> None:
        self.console_app.feed.want(None)
