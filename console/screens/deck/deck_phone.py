"""The Deck's phone: whose screen is shown, live or stored, and when frames are asked for.

A part of the Deck. Invariant: frames are asked for only while the picture can be seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.events import ScreenSuspend

from agent.records import DeviceState, Frame, LiveFrame, TargetRuntime, TimeSplit
from agent.state.reducer import SessionView, State, StepItem
from console.frames.frame_feed import Wanted
from console.frames.stills import Source
from console.input.gate import Wait
from console.screens.history.step_reader import StepReader
from console.starting_phone import start_virtual
from widgets.lists.session_rows import device_name
from widgets.pictures.mark_age import NEAR_MS, Seen
from widgets.pictures.phone_pane import PhonePane
from widgets.transcript.transcript_view import TranscriptView

if TYPE_CHECKING:
    from console.screens.deck.deck import DeckScreen

NO_DEVICES = "No devices. Plug one in with USB debugging on, or press v for a virtual phone."


class DeckPhone(StepReader):
    """The right column of the Deck."""

    def __init__(self) -> None:
        super().__init__()
        self._reading_frame = ""

    @property
    def deck(self) -> DeckScreen:
        """Itself, by its own type."""
        from console.screens.deck.deck import DeckScreen

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
        seen = self.is_current and self.deck.phone.is_seen and width_px > 1
        there = device is not None and device.state is DeviceState.ONLINE
        wanted = Wanted(serial, width_px, height_px) if seen and there else None
        self.console_app.feed.want(wanted)

    def still(self) -> Source | None:
        # A stored picture has a feed too, of a phone that is away or whose app is on no display.
        frame = self.console_app.feed.newest
        is_live = frame is not None and frame is self.deck.phone.shown
        return Source(self.deck.phone.frame, self.console_app.feed.one) if is_live else None

    def _is_apart(self) -> bool:
        """Whether the app of the session is on another display than the live picture's."""
        view = self.deck.view()
        return view is not None and view.session.target_runtime is TargetRuntime.DETACHED_SHOWN

    def stored_step(self) -> int:
        """Return the step whose look stands in for a live one that cannot be had; 0 for none."""
        view = self.deck.view()
        if view is None or view.transcript.observation is None:
            return 0
        device = self.console_app.bridge.state.devices.get(self.shown_serial())
        away = device is None or device.state is not DeviceState.ONLINE
        has_none = self._is_apart() or (away and self.console_app.feed.newest is None)
        return _newest_step(view) if has_none else 0

    def show_frame(self) -> None:
        app = self.console_app
        state = app.bridge.state
        serial = self.shown_serial()
        device = state.devices.get(serial)
        proportions = (device.width_px, device.height_px) if device else (0, 0)
        frame: LiveFrame | None = None if self._is_apart() else app.feed.newest
        step = 0
        view = self.deck.view()
        kept: Frame | None = None
        past = self.past_step()
        if past is not None and past.frame is not None:
            kept, step = past.frame, past.number
        elif (newest := self.stored_step()) and view is not None:
            observed = view.transcript.observation
            kept, step = observed.frame if observed else None, newest
        if kept is not None:
            frame = self._stored(kept, serial)
            proportions = (kept.width_px, kept.height_px)
        self.deck.phone.empty = self._why_no_picture(serial)
        self.deck.text.show()
        self.deck.phone.show_phone(
            frame,
            name=device_name(serial, state.devices) if serial else "",
            proportions=proportions,
            now_ms=app.now_ms(),
            step=step,
        )

    def _why_no_picture(self, serial: str) -> str:
        """Return why there is no picture, and the next key where one helps."""
        devices = self.console_app.bridge.state.devices.values()
        if not any(device.state is DeviceState.ONLINE for device in devices):
            return self.if_known(NO_DEVICES)
        if serial:
            return "No picture yet."
        return "It works on no phone of its own."

    def show_marks(self, view: SessionView | None) -> None:
        """Show what the model saw and touched, and where the time went."""
        phone, past = self.deck.phone, self.past_step()
        if past is not None:
            seen = self.seen_at(past)
            touched = past.actions[-1] if past.actions else None
            element = touched.element if touched else None
            point = touched.point if touched else None
            phone.show_marks(
                seen.elements if seen else (), point or (element.bounds.center if element else None)
            )
            phone.show_time(past.time, f"Step {past.number}")
            return
        # Numbers belong to what the session saw; on a live picture they hold only while it works.
        # The picture is of the main display: what is seen on another has no place on it.
        at_work = view is not None and view.session.turn_id and not view.session.target_display
        observed = view.transcript.observation if view and at_work else None
        look = Seen(_newest_step(view), observed.ended_ms) if view and observed else None
        phone.show_marks(
            observed.elements if observed else (),
            view.transcript.touch if view and at_work else None,
            view.transcript.path if view and at_work else (),
            seen=look,
        )
        if look is not None and observed is not None and observed.frame is not None:
            self._learn_look(look, observed.frame, phone)
        if view is None:
            phone.show_time(TimeSplit(), "Last step")
        else:
            done = view.session.state.is_terminal
            split = view.session.time if done else view.transcript.last_time
            now_ms = self.console_app.now_ms()
            phone.show_time(split, "All steps" if done else "Last step", now_ms)

    def _learn_look(self, seen: Seen, kept: Frame, phone: PhonePane) -> None:
        """Read what the screen looked like at a look that was before this console looked."""
        shown = phone.shown
        is_far = shown is not None and abs(shown.captured_ms - seen.ended_ms) > NEAR_MS
        if is_far and not phone.knows_look(seen) and (stored := self._stored(kept, "")):
            phone.learn_look(seen, stored)

    def on_transcript_view_pointed(self, _event: TranscriptView.Pointed) -> None:
        """Go to the moment of a step that is open to its record, and back to the present."""
        self.show_marks(self.deck.view())
        self.show_frame()
        self.show_footer()

    def _stored(self, kept: Frame, serial: str) -> LiveFrame | None:
        """Return a stored frame at the size that is drawn; None while it is read."""
        app, size = self.console_app, self.deck.phone.wanted_px
        ready = app.stored.ready(kept, size)
        wanted = f"{kept.digest}:{size}"
        if ready is None and wanted != self._reading_frame:
            self._reading_frame = wanted
            app.spawn(self._read_stored(kept, size, serial), "reading a stored frame", Wait.NOT)
        return ready

    async def _read_stored(self, kept: Frame, size: tuple[int, int], serial: str) -> None:
        try:
            await self.console_app.stored.read(kept, size, serial=serial)
        finally:
            self._reading_frame = ""
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


def _newest_step(view: SessionView) -> int:
    steps = (item.number for item in reversed(view.transcript.items) if isinstance(item, StepItem))
    return next(steps, view.session.steps)
