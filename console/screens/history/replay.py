"""The replay: a stored session in the Deck's own view, on a tape that can be scrubbed and played.

Reads the store and asks the core for nothing else. Invariant: what is shown at a position is the
fold of the events up to it, with the frame that was seen then.
"""

from __future__ import annotations

from time import monotonic
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.timer import Timer

from agent.records import Frame, LiveFrame, TimeSplit
from agent.state.reducer import SessionView, State, Transcript
from console.frames.stills import Source
from console.input.gate import Wait
from console.keys import actions
from console.screens.history.replay_acts import ReplayActs
from console.steps.playback import Playback
from widgets.base.formatting import clock
from widgets.base.header_line import PartsLine
from widgets.base.rich_parts import Parts
from widgets.lists.session_rows import device_name
from widgets.pictures.phone_pane import PhonePane, spread
from widgets.pictures.zoom import FACTORS, Zoom
from widgets.plots.scrubber import scrubber
from widgets.transcript.record_pane import RecordPane
from widgets.transcript.session_pane import SessionPane

_PLAY_HZ = 15
PAGE_EVENTS = 500
"""How many events are read at once, and how far beyond the beginning before it is shown."""
_FASTEST = 64
_AT_START = "The beginning. space plays it, → goes one step forward, G goes to the end, esc leaves."


class ReplayScreen(ReplayActs):
    """One stored session on a tape.

    Args:
        session_id: which.
        alone: whether leaving the replay leaves the console.
        at_seq: the event to begin at; 0 = the beginning of what has ended, else the present.
    """

    WHERE = actions.Where.REPLAY
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings(actions.Where.REPLAY)]
    AUTO_FOCUS = "#transcript"

    def __init__(self, session_id: str, *, alone: bool = False, at_seq: int = 0) -> None:
        super().__init__()
        self.session_id = session_id
        self.playback: Playback | None = None
        self.speed = 1
        self._alone = alone
        self._at_seq = at_seq
        self._played_ms = 0.0
        self._last_s = 0.0
        self._timer: Timer | None = None
        self._reading = ""

    def compose_body(self) -> ComposeResult:
        with Vertical(id="middle"):
            yield SessionPane(id="session", empty="Reading the session…")
            yield PartsLine(id="scrubber")
        with Vertical(id="record"):
            yield PartsLine(id="record-tabs")
            yield RecordPane(id="record-pane")
        with Vertical(id="right"):
            yield PhonePane(id="phone", empty="No frame was stored up to here.")

    def on_mount(self) -> None:
        self.console_app.spawn(self._read(), "reading the session")

    async def _read(self) -> None:
        core = self.console_app.core
        session = await core.session(self.session_id)
        self.session_id = session.session_id
        # What leads to the beginning and a little more: it is shown while the rest is read.
        wanted = self._at_seq + PAGE_EVENTS
        events = await core.history(self.session_id, limit=wanted)
        tape = Playback(events, is_whole=len(events) < wanted)
        # What has ended is read from its beginning; what goes on is picked up where it is.
        if self._at_seq or session.state.is_terminal:
            tape.go_to(self._at_seq)
        else:
            tape.go_to_end()
            await self._read_on(tape)
        self.playback = tape
        self.query_one(SessionPane).empty = _AT_START
        self.refresh_all()
        if not tape.is_whole:
            await self._read_on(tape)
            if self.is_attached:
                self.refresh_all()

    async def _read_on(self, tape: Playback) -> None:
        while not tape.is_whole:
            last = tape.events[-1].seq
            more = await self.console_app.core.history(
                self.session_id, after_seq=last, limit=PAGE_EVENTS
            )
            tape.add(more, is_whole=len(more) < PAGE_EVENTS)

    # --- the picture ----------

    @property
    def is_playing(self) -> bool:
        """Whether the tape runs."""
        return self._timer is not None

    def view(self) -> SessionView | None:
        """The session as it was at this place of the tape."""
        if self.playback is None:
            return None
        return self.playback.state().sessions.get(self.session_id)

    def show_state(self, state: State) -> None:
        tape = self.playback
        if tape is None:
            return
        view = self.view()
        asks = bool(tape.state().questions)
        pane = self.query_one(SessionPane)
        pane.show_view(
            view, devices=state.devices, now_ms=tape.now_ms(), asks=asks, others=state.sessions
        )
        self._show_scrubber(tape)
        phone = self.query_one(PhonePane)
        if view is not None:
            phone.show_time(view.session.time, "All steps so far")
        else:
            phone.show_time(TimeSplit(), "")
        self.show_record()
        self.show_frame()

    def _show_scrubber(self, tape: Playback) -> None:
        place = self.query_one("#scrubber", PartsLine)
        width = max(10, place.size.width)
        signs = [(sign.position, sign.kind) for sign in tape.signs]
        word = "▶ playing" if self.is_playing else "‖ paused"
        left: Parts = (
            (f"{word} {self.speed}×", "$live" if self.is_playing else "$muted"),
            (f"  {clock(tape.played_ms)} of {clock(tape.length_ms)}", "$foreground"),
        )
        right: Parts = ((f"event {tape.position} of {len(tape.events)}", "$faint"),)
        if self.exporting:
            right = ((f"{self.exporting}  ", "$live"), *right)
        line = scrubber(tape.position, len(tape.events), signs, width)
        place.show((*line, ("\n", ""), *spread(left, right, width)))

    def show_frame(self) -> None:
        view = self.view()
        app = self.console_app
        phone = self.query_one(PhonePane)
        kept = view.transcript.observation.frame if view and view.transcript.observation else None
        serial = view.session.serial if view else ""
        frame = None
        if kept is not None:
            frame = app.stored.ready(kept, phone.wanted_px)
            if frame is None:
                # The frame before keeps its own marks and label until this one is there.
                self._read_frame(kept, phone.wanted_px, serial)
                return
        told = view.transcript if view is not None else Transcript()
        seen = told.observation
        phone.show_marks(seen.elements if seen else (), told.touch, told.path)
        phone.show_phone(
            frame,
            name=device_name(serial, app.bridge.state.devices),
            proportions=(kept.width_px, kept.height_px) if kept else (0, 0),
            now_ms=self.playback.now_ms() if self.playback else 0,
            step=self._step_number(view),
        )

    def still(self) -> Source | None:
        view = self.view()
        seen = view.transcript.observation if view is not None else None
        kept = seen.frame if seen is not None else None
        if view is None or kept is None:
            return None
        serial, stored = view.session.serial, self.console_app.stored

        async def read(width_px: int, height_px: int) -> LiveFrame:
            return await stored.large(kept, (width_px, height_px), serial=serial)

        return Source(self.query_one(PhonePane).frame, read)

    @staticmethod
    def _step_number(view: SessionView | None) -> int:
        from agent.state.reducer import StepItem

        if view is None:
            return 0
        for item in reversed(view.transcript.items):
            if isinstance(item, StepItem) and item.frame is not None:
                return item.number
        return 0

    def _read_frame(self, kept: Frame, size: tuple[int, int], serial: str) -> None:
        wanted = f"{kept.digest}:{size}"
        if wanted == self._reading:
            return
        self._reading = wanted

        async def read() -> None:
            try:
                await self.console_app.stored.read(kept, size, serial=serial)
            finally:
                if self._reading == wanted:
                    self._reading = ""
            if self.is_running and self.is_attached:
                self.show_frame()

        self.console_app.spawn(read(), "reading a stored frame", Wait.NOT)

    def on_phone_pane_wants(self, _event: PhonePane.Wants) -> None:
        self.show_frame()

    def footer_keys(self) -> list[tuple[str, str]]:
        word = "hold" if self.is_playing else "play"
        return [
            (self.key_of("replay.play"), word),
            ("← →", "step"),
            ("+ -", "speed"),
            (self.key_of("replay.record"), "tree, prompt, reply"),
            (self.key_of("replay.branch"), "branch"),
            (self.key_of("replay.again"), "do again"),
            (self.key_of("replay.export"), "write to a file"),
            *(() if self._alone else ((self.key_of("replay.compare"), "compare"),)),
            ("g G", "start, end"),
            ("tab", "pane"),
            ("esc", "leave"),
        ]

    def can(self, action_id: str) -> bool:
        return action_id not in {"screen.deck", "replay.compare"} or not self._alone

    # --- the tape ----------

    def _moved(self) -> None:
        if self.playback is not None:
            self._played_ms = self.playback.played_ms
        self.refresh_all()

    def do_replay_play(self) -> None:
        """Play or hold."""
        if self._timer is not None:
            self._hold()
        elif self.playback is not None:
            if self.playback.is_at_end:
                self.playback.go_to(0)
            self._played_ms = self.playback.played_ms
            self._last_s = monotonic()
            self._timer = self.set_interval(1 / _PLAY_HZ, self._run)
        self.refresh_all()

    def _hold(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _run(self) -> None:
        tape = self.playback
        now_s = monotonic()
        if tape is None:
            return
        self._played_ms += (now_s - self._last_s) * 1000 * self.speed
        self._last_s = now_s
        before = tape.position
        tape.play_to(self._played_ms)
        if tape.is_at_end:
            self._hold()
        if tape.position != before or tape.is_at_end:
            self.refresh_all()
        else:
            self._show_scrubber(tape)

    def do_replay_forward(self) -> None:
        """Go a step on."""
        self._by(1)

    def do_replay_backward(self) -> None:
        """Go a step back."""
        self._by(-1)

    def _by(self, steps: int) -> None:
        self._hold()
        if self.playback is not None:
            self.playback.step(steps)
        self._moved()

    def do_replay_start(self) -> None:
        """Go to the beginning."""
        self._hold()
        if self.playback is not None:
            self.playback.go_to(0)
        self._moved()

    def do_replay_end(self) -> None:
        """Go to the end."""
        self._hold()
        if self.playback is not None:
            self.playback.go_to_end()
        self._moved()

    def do_replay_faster(self) -> None:
        """Double the speed."""
        self.speed = min(_FASTEST, self.speed * 2)
        self.refresh_all()

    def do_replay_slower(self) -> None:
        """Halve the speed."""
        self.speed = max(1, self.speed // 2)
        self.refresh_all()

    def do_replay_numbers(self) -> None:
        """Show or hide the element numbers."""
        frame = self.query_one(PhonePane).frame
        frame.show_numbers(not frame.numbers_shown)

    def do_replay_text(self) -> None:
        """Show the screen of this moment as text, or as a picture."""
        phone = self.query_one(PhonePane)
        phone.want_text(not phone.wants_text)
        self._look_closely(phone.wants_text)

    def do_replay_closer(self) -> None:
        """Show the frame closer; from the closest, whole again."""
        zoom = self.query_one(PhonePane).zoom
        self._zoom_to(Zoom() if zoom.factor == FACTORS[-1] else zoom.closer(1))

    def do_replay_farther(self) -> None:
        """Zoom out of the frame."""
        self._zoom_to(self.query_one(PhonePane).zoom.closer(-1))

    def _zoom_to(self, zoom: Zoom) -> None:
        self.query_one(PhonePane).look_at(zoom)
        self._look_closely(zoom.factor > 1)

    def _look_closely(self, closely: bool) -> None:
        phone = self.query_one(PhonePane)
        self.set_class(phone.wants_text or phone.zoom.factor > 1, "-close")
        self.refresh_all()
        self.focus_now(phone.hands if closely else self.query_one("#transcript"))

    def do_replay_compare(self) -> None:
        """Choose another session, to see where the two part."""
        if not self._alone:
            self.console_app.choose_another(self.session_id)

    def back(self) -> bool:
        self._hold()
        if self.query_one(PhonePane).zoom.factor > 1:
            self._zoom_to(Zoom())
            return True
        if self._alone:
            self.console_app.exit(0)
            return True
        return False
