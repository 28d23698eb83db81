"""Control the Deck's phone: whose screen is shown, live or stored, and when frames are requested.

Invariant: frames are requested only while the picture is visible.
"""

from typing import TYPE_CHECKING

from agent.records import DeviceState, Frame, LiveFrame, Point, TargetRuntime, TimeSplit
from agent.state.reducer import SessionView, State, StepItem, children_of
from agent.text import clean
from console.frames.frame_feed import FeedTarget
from console.frames.look_reader import learn_look
from console.frames.stills import Source
from console.screens.device.phone_screen import ShownPhone
from console.screens.history.step_reader import StepReader
from console.starting_phone import start_virtual
from console.steps.stored_frames import FrameReader
from widgets.base.action_line import ActionLine
from widgets.lists.device_line import device_parts
from widgets.lists.session_rows import device_name
from widgets.pictures.mark_age import LookRef
from widgets.pictures.phone_pane import PhonePane, ScreenText
from widgets.transcript.transcript_view import TranscriptView

if TYPE_CHECKING:
    from console.screens.deck.places import BaseDeck

NO_DEVICES = "No devices. Plug one in with USB debugging on, or press v for a virtual phone."
AWAY = "This phone is away. Check its cable or its network."
_NOTE_CHARS = 400


class PhoneController(ShownPhone):
    """The right column of the Deck.

    Args:
        deck: whose column it is.
        steps: reads the opened steps.
    """

    def __init__(self, deck: "BaseDeck", steps: StepReader) -> None:
        super().__init__(deck)
        self._deck = deck
        self._steps = steps
        self._frames = FrameReader(self._show_read)
        self.text.asked_place = self.asked_place

    def shown_serial(self) -> str:
        """Return the visible phone's name; empty if there is none."""
        view, state = self._deck.view(), self.state
        if view is not None:
            if view.session.serial:
                return view.session.serial
            # A parent that only delegates shows the phone of a child at work.
            for other in children_of(state.sessions).get(self._deck.selected, ()):
                if other.session.serial:
                    return other.session.serial
            return ""
        online = [d.serial for d in state.devices.values() if d.state is DeviceState.ONLINE]
        return online[0] if online else ""

    def has_waiting_session(self) -> bool:
        view = self._deck.view()
        return bool(view and view.session.turn_id and not view.session.state.is_terminal)

    def go_to_phone(self) -> None:
        self._deck.panes.go_to("right", self.pane.hands)

    def go_to_note(self) -> None:
        self._deck.places.go_to_composer()

    def leave_phone(self) -> None:
        self._deck.places.go_to_transcript()

    def stored_text(self) -> ScreenText | None:
        """Return the text of the open step, or of the last observation if there is no newer one."""
        past = self._steps.past_step()
        if past is not None:
            seen = self._steps.seen_at(past)
            about = f"of step {past.number}"
            return ScreenText(seen.elements if seen else (), about, "Nothing of it was stored.")
        view, step = self._deck.view(), self._stored_step()
        seen = view.transcript.observation if view is not None and step else None
        if seen is None:
            return None
        return ScreenText(seen.elements, f"of step {step}", "Nothing of it was stored.")

    def asked_place(self) -> Point | None:
        """Return the place of the card's element, while the picture is of its screen."""
        question = self._deck.places.shown_question
        subject = question.subject if question is not None else None
        if subject is None or subject.element is None or self._steps.past_step() is not None:
            return None
        return subject.element.bounds.center

    def view_changed(self) -> None:
        """Make room for the phone where the terminal is too short for its whole picture."""
        self._deck.set_class(self.pane.wants_text or self.pane.zoom.factor > 1, "-close")
        if self._deck.panes.short_of_phone:
            self.leave_phone()

    def want_frames(self, state: State) -> None:
        """Follow the visible device at its drawn size; nothing while it is hidden."""
        serial = self.shown_serial()
        device = state.devices.get(serial)
        width_px, height_px = self.pane.wanted_px
        seen = self._deck.is_current and self.pane.is_seen and width_px > 1
        there = device is not None and device.state is DeviceState.ONLINE
        wanted = FeedTarget(serial, width_px, height_px) if seen and there else None
        self.ops.feed.want(wanted)
        if self._deck.is_current:
            asked = self._deck.card.question
            effect = asked.subject.effect if asked is not None and asked.subject else None
            self.ops.beside.show((effect.phone if effect is not None else "") or serial)

    def still(self) -> Source | None:
        # A stored picture has a feed too, of a phone that is away or whose app is on no display.
        frame = self.ops.feed.newest
        is_live = frame is not None and frame is self.pane.shown
        return Source(self.pane.frame, self.ops.feed.one) if is_live else None

    def _stored_step(self) -> int:
        """Return the step whose observation replaces an unavailable live picture; 0 for none."""
        view = self._deck.view()
        if view is None or view.transcript.observation is None:
            return 0
        device = self.ops.bridge.state.devices.get(self.shown_serial())
        away = device is None or device.state is not DeviceState.ONLINE
        has_none = _is_apart(self._deck.view()) or (away and self.ops.feed.newest is None)
        return _newest_step(view) if has_none else 0

    def show_frame(self) -> None:
        app = self.ops
        state = app.bridge.state
        serial = self.shown_serial()
        device = state.devices.get(serial)
        proportions = (device.width_px, device.height_px) if device else (0, 0)
        frame: LiveFrame | None = None if _is_apart(self._deck.view()) else app.feed.newest
        step = 0
        view = self._deck.view()
        kept: Frame | None = None
        past = self._steps.past_step()
        if past is not None and past.frame is not None:
            kept, step = past.frame, past.number
        elif (newest := self._stored_step()) and view is not None:
            observed = view.transcript.observation
            kept, step = observed.frame if observed else None, newest
        if kept is not None:
            frame = self._frames.get(app, kept, self.pane.wanted_px, serial=serial)
            proportions = (kept.width_px, kept.height_px)
        self.pane.empty = self._why_no_picture(serial)
        self.text.show()
        self.pane.show_phone(
            frame,
            name=device_name(serial, state.devices) if serial else "",
            proportions=proportions,
            now_ms=app.now_ms(),
            step=step,
        )

    def show_devices(self, state: State, *, crowded: bool) -> None:
        """Show the list of phones; `crowded` if the sessions need the room more."""
        line = self._deck.query_one("#devices", ActionLine)
        width = line.content_size.width
        if not width:
            # Its column is not seen: what was laid out for a width stays until there is one again.
            return
        none, height = self._deck.if_known(NO_DEVICES), self._deck.size.height
        line.show_pressable(*device_parts(state, width, none, height=height, crowded=crowded))

    def _why_no_picture(self, serial: str) -> str:
        """Return why there is no picture, with the next key where one helps."""
        devices = self.ops.bridge.state.devices
        shown = devices.get(serial)
        if shown is not None and shown.state is not DeviceState.ONLINE:
            return clean(shown.note, _NOTE_CHARS) or AWAY
        if not any(device.state is DeviceState.ONLINE for device in devices.values()):
            noted = (d for d in devices.values() if d.note and d.state is not DeviceState.GONE)
            if (device := next(noted, None)) is not None:
                # A phone is there, and what keeps it from being used is not that it is missing.
                return f"{device_name(device.serial, devices)}: {clean(device.note, _NOTE_CHARS)}"
            return self._deck.if_known(NO_DEVICES)
        if serial:
            return "No picture yet."
        return "It does not use a phone itself."

    def show_marks(self, view: SessionView | None) -> None:
        """Show what the model saw and touched, and the time split."""
        phone, past = self.pane, self._steps.past_step()
        if past is not None:
            seen = self._steps.seen_at(past)
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
        look = LookRef(_newest_step(view), observed.ended_ms) if view and observed else None
        phone.show_marks(
            observed.elements if observed else (),
            view.transcript.touch if view and at_work else None,
            view.transcript.path if view and at_work else (),
            seen=look,
        )
        if look is not None and observed is not None and observed.frame is not None:
            learn_look(self._frames, self.ops, phone, look, observed.frame)
        if view is None:
            phone.show_time(TimeSplit(), "Last step")
        else:
            done = view.session.state.is_terminal
            split = view.session.time if done else view.transcript.last_time
            now_ms = self.ops.now_ms()
            phone.show_time(split, "All steps" if done else "Last step", now_ms)

    def on_transcript_view_pointed(self, _event: TranscriptView.Pointed) -> None:
        """Show the moment of an open step, or return to the present."""
        self.show_marks(self._deck.view())
        self.show_frame()
        self._deck.show_footer()

    def _show_read(self) -> None:
        # The Deck may have been closed, or not yet be composed, when the blob arrives.
        if self._deck.is_running and self.pane.is_mounted:
            self.show_frame()
            self.show_marks(self._deck.view())

    # --- keys ----------

    def can(self, action_id: str) -> bool:
        match action_id:
            case "device.open":
                return bool(self.shown_serial())
            case "device.virtual":
                return self.ops.start_phone is not None
            case _:
                return True

    def do_device_virtual(self) -> None:
        start_virtual(self.ops)

    def do_device_open(self) -> None:
        """Open the visible phone's screen."""
        serial = self.shown_serial()
        if serial:
            self.ops.navigation.show_device(serial)
        else:
            self.ops.say("No phone here.")

    def do_view_numbers(self) -> None:
        """Show or hide the element numbers."""
        frame = self.pane.frame
        if not frame.has_picture or self.pane.shows_text:
            self.ops.say("No picture here.")
        frame.show_numbers(not frame.numbers_shown)

    def on_phone_pane_wants(self, _event: PhonePane.Wants) -> None:
        self.want_frames(self.ops.bridge.state)


def _is_apart(view: SessionView | None) -> bool:
    """Return whether a session's app is on a display other than the live picture's."""
    return view is not None and view.session.target_runtime is TargetRuntime.DETACHED_SHOWN


def _newest_step(view: SessionView) -> int:
    steps = (item.number for item in reversed(view.transcript.items) if isinstance(item, StepItem))
    return next(steps, view.session.steps)
