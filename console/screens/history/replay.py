"""The replay: a stored session in the Deck's own view, on a tape that can be scrubbed and played.

Reads the store and asks the core for nothing else; composed of controllers. Invariant: what is
shown at a position is the fold of the events up to it, with the frame that was seen then.
"""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical

from agent.records import TimeSplit
from agent.state.reducer import State
from console.frames.stills import Source
from console.keys import actions
from console.screens.base.console_screen import ConsoleScreen
from console.screens.history.branching import BranchController
from console.screens.history.record import RecordController
from console.screens.history.replay_frame import FrameController
from console.screens.history.session_export import ExportController
from console.screens.history.step_reader import StepReader
from console.screens.history.tape import TapeController
from widgets.base.header_line import PartsLine
from widgets.pictures.phone_pane import PhonePane
from widgets.plots.scrubber import Scrubber
from widgets.transcript.record_pane import RecordPane
from widgets.transcript.session_pane import SessionPane


class ReplayScreen(ConsoleScreen):
    """One stored session on a tape.

    Args:
        session_id: which.
        alone: whether leaving the replay leaves the console.
        at_seq: the event to begin at; 0 = the beginning of what has ended, else the present.
    """

    WHERE = actions.Where.REPLAY
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings(actions.Where.REPLAY)]
    AUTO_FOCUS = "#transcript"
    CONTROLLERS = (
        TapeController,
        FrameController,
        RecordController,
        StepReader,
        BranchController,
        ExportController,
    )

    def __init__(self, session_id: str, *, alone: bool = False, at_seq: int = 0) -> None:
        super().__init__()
        self._alone = alone
        self.tape = tape = TapeController(self, session_id, at_seq)
        self.seen = FrameController(self, tape)
        self.record = RecordController(self, tape)
        self.controllers = (
            tape,
            self.seen,
            self.record,
            StepReader(self, tape.view, "replay.editor", self.record.record_of),
            BranchController(self, tape, self.record),
            ExportController(self, tape),
        )

    def compose_body(self) -> ComposeResult:
        with Vertical(id="middle"):
            yield SessionPane(id="session", empty="Reading the session…")
            yield Scrubber(id="scrubber")
        with Vertical(id="record"):
            yield PartsLine(id="record-tabs")
            yield RecordPane(id="record-pane")
        with Vertical(id="right"):
            yield PhonePane(id="phone", empty="No frame was stored up to here.")

    def on_mount(self) -> None:
        self.console_app.spawn(self.tape.read(), "reading the session")

    # --- the picture ----------

    def show_state(self, state: State) -> None:
        tape = self.tape.playback
        if tape is None:
            return
        view = self.tape.view()
        asks = bool(tape.state().questions)
        pane = self.query_one(SessionPane)
        pane.show_view(
            view,
            devices=state.devices,
            now_ms=tape.now_ms(),
            asks=asks,
            others=state.sessions,
            is_stored=True,
        )
        self.tape.show(tape)
        phone = self.query_one(PhonePane)
        if view is not None:
            phone.show_time(view.session.time, "All steps so far")
        else:
            phone.show_time(TimeSplit(), "")
        self.record.show()
        self.show_frame()

    def show_frame(self) -> None:
        self.seen.show_frame()

    def still(self) -> Source | None:
        return self.seen.still()

    # --- keys ----------

    def footer_keys(self) -> list[tuple[str, str]]:
        word = "hold" if self.tape.is_playing else "play"
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

    def do_replay_compare(self) -> None:
        """Choose another session, to see where the two part."""
        if not self._alone:
            self.console_app.navigation.choose_another(self.tape.session_id)

    def back(self) -> bool:
        self.tape.hold()
        if self.seen.back():
            return True
        if self._alone:
            self.console_app.exit(0)
        return self._alone
