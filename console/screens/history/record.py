"""The record of a replayed step beside its transcript: tree, prompt or reply."""

from bisect import bisect_left

from agent.state.reducer import StepItem
from console.keys.controllers import Controller
from console.screens.base.console_screen import ConsoleScreen
from console.screens.history.tape import TapeController
from console.steps.step_reading import find_record, read_part
from console.steps.step_record import Part, StepRecord, record_at
from widgets.base.header_line import PartsLine
from widgets.transcript.record_pane import RecordPane


class RecordController(Controller):
    """The record.

    Args:
        screen: the replay.
        tape: what it plays.
    """

    def __init__(self, screen: ConsoleScreen, tape: TapeController) -> None:
        self._screen = screen
        self._tape = tape
        self.part = Part.TREE
        self.is_shown = False
        """Whether the record stands beside the transcript."""

    def at_place(self) -> StepRecord | None:
        """Return the record of the step at this place of the tape; None before it was read."""
        tape = self._tape.playback
        return record_at(tape.events, tape.position) if tape is not None else None

    def show(self) -> None:
        """Show the part of the record that is chosen, of the step at this place."""
        self._screen.set_class(self.is_shown, "-record")
        record = self.at_place()
        if not self.is_shown or record is None:
            return
        parts: list[tuple[str, str]] = [(f" step {record.step or '–'}  ", "$muted")]
        for part in Part:
            style = "bold $foreground on $cursor" if part is self.part else "$muted"
            parts += [(f" {part.value} ", style), (" ", "")]
        parts.append((" i switches", "$faint"))
        self._screen.query_one("#record-tabs", PartsLine).show(tuple(parts))
        self._screen.console_app.spawn(self._show_part(record, self.part), "reading a stored step")

    async def _show_part(self, record: StepRecord, part: Part) -> None:
        parts = await read_part(self._screen.console_app.core, record, part)
        # Another place of the tape may be shown by now.
        if (
            self._screen.is_running
            and self._screen.is_attached
            and (record, part) == (self.at_place(), self.part)
        ):
            key = f"{part.value}:{record.step}:{record.digest_of(part)}"
            self._screen.query_one(RecordPane).show_text(key, parts, part.hang)

    def do_replay_record(self) -> None:
        """Show the next part of the step's record: tree, prompt, reply, none."""
        listed = list(Part)
        if not self.is_shown:
            self.is_shown, self.part = True, listed[0]
        elif self.part is listed[-1]:
            self.is_shown = False
            self._screen.focus_now(self._screen.query_one("#transcript"))
        else:
            self.part = listed[listed.index(self.part) + 1]
        self._screen.refresh_all()

    async def record_of(self, session_id: str, step: StepItem) -> StepRecord:
        """Return the record of a step as far as the tape has come."""
        tape = self._tape.playback
        if tape is None:
            return await find_record(self._screen.console_app.core, session_id, int(step.key))
        # A step's key is the seq of the event that it began with.
        start = bisect_left(tape.events, int(step.key), key=lambda event: event.seq)
        ends = next((stop for stop in tape.stops if stop > start), len(tape.events))
        return record_at(tape.events, min(ends, tape.position))
