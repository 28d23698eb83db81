"""The tape of a replay: it is read from the store, scrubbed and played.

Invariant: what is shown at a position is the fold of the events up to it.
"""

from time import monotonic

from textual.timer import Timer

from agent.state.reducer import SessionView
from console.keys.controllers import Controller
from console.screens.base.console_screen import ConsoleScreen
from console.steps.playback import Playback
from widgets.base.formatting import clock
from widgets.base.rows import Parts
from widgets.pictures.phone_pane import spread
from widgets.plots.scrubber import Scrubber
from widgets.transcript.session_pane import SessionPane

_PLAY_HZ = 15
PAGE_EVENTS = 500
"""How many events are read at once, and how far beyond the beginning before it is shown."""
_FASTEST = 64
_AT_START = "The beginning. space plays it, → goes one step forward, G goes to the end, esc leaves."


class TapeController(Controller):
    """The tape.

    Args:
        screen: the replay.
        session_id: of what.
        at_seq: the event to begin at; 0 = the beginning of what has ended, else the present.
    """

    def __init__(self, screen: ConsoleScreen, session_id: str, at_seq: int) -> None:
        self._screen = screen
        self.session_id = session_id
        self.playback: Playback | None = None
        """None until the session was read."""
        self.speed = 1
        self.doing = ""
        """What is under way beside the tape, in words: an export."""
        self._at_seq = at_seq
        self._played_ms = 0.0
        self._last_s = 0.0
        self._timer: Timer | None = None

    @property
    def is_playing(self) -> bool:
        return self._timer is not None

    def view(self) -> SessionView | None:
        if self.playback is None:
            return None
        return self.playback.state().sessions.get(self.session_id)

    async def read(self) -> None:
        """Read the session from the store."""
        core = self._screen.console_app.core
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
        self._screen.query_one(SessionPane).empty = _AT_START
        self._screen.refresh_all()
        if not tape.is_whole:
            await self._read_on(tape)
            if self._screen.is_attached:
                self._screen.refresh_all()

    async def _read_on(self, tape: Playback) -> None:
        while not tape.is_whole:
            last = tape.events[-1].seq
            more = await self._screen.console_app.core.history(
                self.session_id, after_seq=last, limit=PAGE_EVENTS
            )
            tape.add(more, is_whole=len(more) < PAGE_EVENTS)

    def show(self, tape: Playback) -> None:
        """Show the tape, where it is, and what is under way beside it."""
        place = self._screen.query_one(Scrubber)
        width = max(10, place.content_size.width)
        signs = [(sign.position, sign.kind) for sign in tape.signs]
        word = "▶ playing" if self.is_playing else "‖ paused"
        left: Parts = (
            (f"{word} {self.speed}×", "$live" if self.is_playing else "$muted"),
            (f"  {clock(tape.played_ms)} of {clock(tape.length_ms)}", "$foreground"),
        )
        right: Parts = ((f"event {tape.position} of {len(tape.events)}", "$faint"),)
        if self.doing:
            right = ((f"{self.doing}  ", "$live"), *right)
        line = place.show_tape(tape.position, len(tape.events), signs)
        place.show((*line, ("\n", ""), *spread(left, right, width)))

    def _show_place(self) -> None:
        if self.playback is not None:
            self._played_ms = self.playback.played_ms
        self._screen.refresh_all()

    def do_replay_play(self) -> None:
        if self._timer is not None:
            self.hold()
        elif self.playback is not None:
            if self.playback.is_at_end:
                self.playback.go_to(0)
            self._played_ms = self.playback.played_ms
            self._last_s = monotonic()
            self._timer = self._screen.set_interval(1 / _PLAY_HZ, self._run)
            # What happened at this very moment belongs to the key, not to the first tick.
            self._run()
        self._screen.refresh_all()

    def hold(self) -> None:
        """Play no longer."""
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
            self.hold()
        if tape.position != before or tape.is_at_end:
            self._screen.refresh_all()
        else:
            self.show(tape)

    def do_replay_forward(self) -> None:
        """Go a step on."""
        self._by(1)

    def do_replay_backward(self) -> None:
        """Go a step back."""
        self._by(-1)

    def _by(self, steps: int) -> None:
        self.hold()
        if self.playback is not None:
            self.playback.step(steps)
        self._show_place()

    def on_scrubber_moved(self, event: Scrubber.Moved) -> None:
        """Go to the place that the mouse pressed."""
        self.hold()
        if self.playback is not None:
            self.playback.go_to(event.position)
        self._show_place()

    def do_replay_start(self) -> None:
        """Go to the beginning."""
        self.hold()
        if self.playback is not None:
            self.playback.go_to(0)
        self._show_place()

    def do_replay_end(self) -> None:
        self.hold()
        if self.playback is not None:
            self.playback.go_to_end()
        self._show_place()

    def do_replay_faster(self) -> None:
        """Double the speed."""
        self.speed = min(_FASTEST, self.speed * 2)
        self._screen.refresh_all()

    def do_replay_slower(self) -> None:
        """Halve the speed."""
        self.speed = max(1, self.speed // 2)
        self._screen.refresh_all()
